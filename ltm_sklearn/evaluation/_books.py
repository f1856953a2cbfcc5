"""Everything that is counted in a run."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._changes import Changes
from ._curve import Curve, Schedule
from ._leaders import Leaders
from ._regret import Comparators
from ._result import PrequentialResult
from ._scores import ClassScores, Majority, NumberScores

BOOKED_TOGETHER = 500


class Said(NamedTuple):
    """Rows that were predicted together, and what the models said of them, each in its turn."""

    y: list[Any]
    answers: list[list[Any]]
    chances: list[Floats | None]
    leaders: list[str | None]
    concept: NDArray[Any] | None
    in_force: NDArray[Any] | None


class Books:
    """The expert_stats of all models; none of them grows with the stream."""

    def __init__(
        self, names: list[Any], classes: bool, window: int, tolerance: float, experts: list[int], max_switches: int
    ) -> None:
        self._names, self._classes, self._window = names, classes, window
        self._scores = [ClassScores() if classes else NumberScores() for _ in names]
        self.majority = Majority()
        self._curve = Curve(len(names), window)
        self._comparators = Comparators(len(names), experts, max_switches)
        self._schedule = Schedule()
        self._changes = Changes(len(names), window, tolerance, relative=not classes)
        self._leaders = [Leaders() for _ in names]
        self._n_rows = 0
        self._held: list[Said] = []
        self._n_held = 0

    def add(self, said: Said) -> None:
        """Take in rows. They are booked many at a time, which takes far less time than one by one."""
        self._held.append(said)
        self._n_held += len(said.y)
        if self._n_held >= BOOKED_TOGETHER:
            self._book()

    def _book(self) -> None:
        held, self._held, self._n_held = self._held, [], 0
        y = [label for said in held for label in said.y]
        losses = np.empty((len(y), len(self._names)))
        for at, scores in enumerate(self._scores):
            answers = [answer for said in held for answer in said.answers[at]]
            chances = [chance for said in held if (chance := said.chances[at]) is not None]
            losses[:, at] = scores.add(y, answers, np.concatenate(chances) if chances else None)
        concept = _together([said.concept for said in held])
        in_force = _together([said.in_force for said in held])
        self._n_rows += len(y)
        self._curve.add(losses)
        self._comparators.add(losses**2, concept)  # a mistake squared is still one mistake
        if concept is not None and in_force is not None:
            self._schedule.add(in_force)
            self._changes.add(losses, in_force)
            for at, table in enumerate(self._leaders):
                table.add([said.leaders[at] for said in held for _ in said.y], concept.tolist())

    def result(self, seconds: dict[Any, dict[str, float]], concept_names: list[Any] | None) -> PrequentialResult:
        """Close the books; seconds are those that each model took, by column."""
        if self._held:
            self._book()
        self._changes.end()
        scores = {name: self._summary(at) for at, name in enumerate(self._names)}
        segments = self._schedule.segments
        if segments:
            after = self._as_measured(self._changes.mean_losses())
            for at, name in enumerate(self._names):
                scores[name]["after_change"], scores[name]["after_return"] = after[:, at].tolist()
                scores[name]["recovery"] = self._changes.recovery_times()[at]
                scores[name]["c_f1"] = self._leaders[at].score()
        for name, taken in seconds.items():
            scores[name].update(taken)
        rows, losses = self._curve.points()
        return PrequentialResult(
            n_rows=self._n_rows,
            measure="accuracy" if self._classes else "mae",
            window=self._window,
            scores=scores,
            curve_rows=rows,
            curve_values=self._as_measured(losses),
            curve_counts=self._curve.counts(),
            segments=segments,
            concept_names=concept_names,
            n_changes=self._changes.n_changes,
            n_returns=self._changes.n_returns,
            losses=dict(zip(self._names, self._comparators.losses.tolist(), strict=True)),
            comparators=self._comparators.totals(),
            n_compared=self._comparators.n_rows,
        )

    def _summary(self, at: int) -> dict[str, float]:
        scores = self._scores[at]
        return scores.summary(self.majority.accuracy) if isinstance(scores, ClassScores) else scores.summary()

    def _as_measured(self, losses: Floats) -> Floats:
        return 1.0 - losses if self._classes else losses


def _together(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None
