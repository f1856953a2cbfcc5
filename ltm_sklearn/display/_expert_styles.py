"""Colours and labels of a run's experts, the same in all displays of the run."""

from __future__ import annotations

from collections import Counter

import numpy as np

from .._typing import Floats
from ..recording import RunRecord

#: Paul Tol's muted scheme: nine colours that are distinguishable with colour-vision deficiencies.
PALETTE = ("#332288", "#CC6677", "#DDCC77", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933", "#AA4499")
OTHERS = "0.8"  #: grey of the experts without a colour
MIXTURE = "black"
PLAIN_MEAN = "0.45"

MAX_NAME_LENGTH = 22


class ExpertStyles:
    """Colours and labels of a run's experts: the nine with the largest mean weights have colours, the others are grey.

    Parameters
    ----------
    run_record : RunRecord

    Attributes
    ----------
    order : list of int
        All experts, the largest mean weight first.
    coloured, others : list of int
        The experts with a colour of their own, and the remaining ones, in the same order.
    labels : list of str
        Short, distinct labels of the experts.
    """

    def __init__(self, run_record: RunRecord) -> None:
        mean_weights = np.average(run_record.weights, axis=0, weights=run_record.counts)
        self.order: list[int] = np.argsort(-mean_weights, kind="stable").tolist()
        self.coloured = self.order[: len(PALETTE)]
        self.others = self.order[len(PALETTE) :]
        self.labels = short_names(run_record.names)
        self._colours = dict(zip(self.coloured, PALETTE, strict=False))

    def colour(self, expert: int, otherwise: str = OTHERS) -> str:
        """Return the expert's colour, or ``otherwise`` if it has none of its own."""
        return self._colours.get(expert, otherwise)

    def layers(self, table: Floats) -> tuple[Floats, list[str], list[str]]:
        """Return the layers of a table (R, K), shape (n_layers, R), with their labels and colours.

        Experts without a colour are summed up in the last layer.
        """
        layers = [table[:, expert] for expert in self.coloured]
        labels = [self.labels[expert] for expert in self.coloured]
        colours = [self.colour(expert) for expert in self.coloured]
        if self.others:
            layers.append(table[:, self.others].sum(axis=1))
            labels.append(others_label(len(self.others)))
            colours.append(OTHERS)
        return np.stack(layers), labels, colours


def others_label(n_experts: int) -> str:
    """Return the label of experts that are drawn together."""
    return "1 other" if n_experts == 1 else f"{n_experts} others"


def short_names(names: list[str]) -> list[str]:
    """Return distinct labels that fit beside a plot: the middle of a long name is replaced by an ellipsis."""
    shorter = [_shortened(unambiguous(name)) for name in names]
    count = Counter(shorter)
    distinct = [name if count[name] == 1 else f"{name} #{at}" for at, name in enumerate(shorter)]
    return [name.replace("$", r"\$") for name in distinct]  # matplotlib would typeset them as formulas


def unambiguous(name: str) -> str:
    """Return an expert's name, marked as an expert's if the displays use the same name for something else."""
    return f"{name} (expert)" if name in ("mixture", "plain mean") else str(name)


def _shortened(name: str) -> str:
    if len(name) <= MAX_NAME_LENGTH:
        return name
    tail = MAX_NAME_LENGTH // 2 - 1
    return f"{name[: MAX_NAME_LENGTH - tail - 1]}…{name[-tail:]}"
