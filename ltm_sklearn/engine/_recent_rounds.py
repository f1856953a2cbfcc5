"""The last rows, and what was said of them."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._models import Expert, Models, ask


class Part(NamedTuple):
    """The rows of a round."""

    X: Any
    targets: Any
    experts: list[Expert | None]  #: whose answers they are; one object for all rounds between two changes of the pool
    said: Floats  #: (n_experts, n_rows, n_outputs); NaN where asleep


class RecentRounds:
    """As many of the last rounds as have so many rows, with the answers of experts that do not learn.

    They were asked in the rounds; to ask them again would double their cost.
    """

    def __init__(self, n_rows: int) -> None:
        self.most = n_rows
        self.parts: list[Part] = []
        self.n_rows = 0
        self.follow([])

    def follow(self, experts: list[Expert]) -> None:
        """From now on keep the answers of the snapshots among these."""
        self.seats = [at for at, expert in enumerate(experts) if expert.kind == "snapshot"]
        self.experts: list[Expert | None] = [experts[seat] for seat in self.seats]

    def forget(self, expert: Expert) -> None:
        """What it has said means nothing any more."""
        for experts in [self.experts, *(part.experts for part in self.parts)]:
            if expert in experts:
                experts[experts.index(expert)] = None

    def add(self, models: Models, X: Any, targets: Any, said: Floats, awake: NDArray[np.bool_] | None) -> None:
        """A round, in which the experts said (n_experts, n_rows, n_outputs), in the place of the oldest ones."""
        said = said[self.seats, -self.most :]
        if awake is not None:
            said[~awake[self.seats, -self.most :]] = np.nan
        targets = targets[-self.most :].copy()
        self.parts.append(Part(models.last_rows(X, self.most), targets, self.experts, said))
        self.n_rows += len(targets)
        while self.n_rows - len(self.parts[0].targets) >= self.most:
            self.n_rows -= len(self.parts.pop(0).targets)

    def targets(self) -> Any:
        """The targets of the rows."""
        return np.concatenate([part.targets for part in self.parts])

    def answers(self, models: Models, model: Any, n_outputs: int) -> Floats:
        """What a model says of the rows, (n_rows, n_outputs); NaN if it cannot."""
        return _answers(models, model, self.parts, n_outputs)

    def answers_of(self, models: Models, experts: list[Expert], n_outputs: int) -> Floats:
        """What experts said of the rows, or say now of those in which they were not asked."""
        answers = np.empty((len(experts), self.n_rows, n_outputs))
        start = 0
        for _, group in groupby(self.parts, key=lambda part: id(part.experts)):
            parts = list(group)
            asked, said = parts[0].experts, np.concatenate([_wide(part.said, n_outputs) for part in parts], axis=1)
            here = slice(start, start + said.shape[1])
            for at, expert in enumerate(experts):
                if expert in asked:
                    answers[at, here] = said[asked.index(expert)]
                else:
                    answers[at, here] = _answers(models, expert.model, parts, n_outputs)
            start = here.stop
        return answers


def _wide(said: Floats, n_outputs: int) -> Floats:
    """Classes that came later were given no chance."""
    missing = n_outputs - said.shape[2]
    return np.pad(said, ((0, 0), (0, 0), (0, missing))) if missing else said


def _answers(models: Models, model: Any, parts: list[Part], n_outputs: int) -> Floats:
    shape = sum(len(part.targets) for part in parts), n_outputs
    try:
        with np.errstate(all="ignore"):
            answers = ask(models, model, models.concatenated([part.X for part in parts]), shape)
    except Exception:  # it will be reported when it is asked in a round
        answers = None
    return np.full(shape, np.nan) if answers is None else answers
