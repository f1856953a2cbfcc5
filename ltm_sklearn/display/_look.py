"""How experts look, the same in all pictures of a run: colours, names, and who is worth one."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .._typing import Floats
from ..recording import RunRecord

#: Paul Tol's muted scheme: nine colours that people who see few colours tell apart, too.
PALETTE = ("#332288", "#CC6677", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
OTHERS = "0.8"  #: the grey of experts that have no colour
MIXTURE = "black"
UNIFORM = "0.45"

LONGEST_NAME = 22

#: Weights that are missing from their sum of one, because the records dropped the lightest experts, count from here.
ROUNDING = 1e-6


class Look:
    """Names and colours of a run's experts.

    Colours go by mean weight, and only so many experts have one: the others are grey.
    """

    def __init__(self, run_record: RunRecord) -> None:
        self.mean_weights: Floats = np.average(run_record.weights, axis=0, weights=run_record.counts)
        #: the experts, the weightiest first
        self.order: list[int] = np.argsort(-self.mean_weights, kind="stable").tolist()
        self.named = self.order[: len(PALETTE)]
        self.others = self.order[len(PALETTE) :]
        self.names = short_names(run_record.names)
        self._colours = dict(zip(self.named, PALETTE, strict=False))

    def colour(self, expert: int) -> str:
        """Its own one, or grey."""
        return self._colours.get(expert, OTHERS)

    def layers(self, table: Floats) -> tuple[Floats, list[str], list[str]]:
        """Columns (n_layers, R) of those with a colour and, summed up, of the others; with labels and colours."""
        layers = [table[:, expert] for expert in self.named]
        labels = [self.names[expert] for expert in self.named]
        colours = [self.colour(expert) for expert in self.named]
        if self.others:
            layers.append(table[:, self.others].sum(axis=1))
            labels.append(others_called(len(self.others)))
            colours.append(OTHERS)
        return np.stack(layers), labels, colours


def others_called(number: int) -> str:
    """What experts are called that are not shown one by one."""
    return "1 other" if number == 1 else f"{number} others"


def short_names(names: list[str]) -> list[str]:
    """Names that fit beside a picture: of long ones the middle is left out, as ends tell more; no two are the same."""
    shorter = [_short(expert_called(name)) for name in names]
    count = Counter(shorter)
    unlike = [name if count[name] == 1 else f"{name} #{at}" for at, name in enumerate(shorter)]
    return [name.replace("$", r"\$") for name in unlike]  # which are no formulas


def expert_called(name: str) -> str:
    """An expert's name, unless something else in the picture is called so."""
    return f"{name} (expert)" if name in ("mixture", "plain mean") else str(name)


def _short(name: str) -> str:
    if len(name) <= LONGEST_NAME:
        return name
    tail = LONGEST_NAME // 2 - 1
    return f"{name[: LONGEST_NAME - tail - 1]}…{name[-tail:]}"


#: What losses are called, as a mean and as a sum.
_LOSSES = {
    "zero_one": ("share of mistakes", "mistakes"),
    "brier": ("mean Brier loss", "sum of Brier losses"),
    "log_loss": ("mean log loss", "sum of log losses"),
    "squared_error": ("mean squared error", "sum of squared errors"),
    "absolute_error": ("mean absolute error", "sum of absolute errors"),
    "pinball": ("mean pinball loss", "sum of pinball losses"),
    "absolute_percentage_error": ("mean absolute percentage error / 100", "sum of percentage errors / 100"),
    "huber": ("mean Huber loss", "sum of Huber losses"),
    "log_cosh": ("mean log-cosh loss", "sum of log-cosh losses"),
}


def mean_called(loss_name: str) -> str:
    """What a mean of losses is called."""
    return _LOSSES.get(loss_name, (f"mean loss ({loss_name})", ""))[0]


def sum_called(loss_name: str) -> str:
    """What a sum of losses is called."""
    return _LOSSES.get(loss_name, ("", f"sum of losses ({loss_name})"))[1]
