"""Concepts over time, and the losses and recovery times of models after concept changes."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..streams import Segment

MOST_SEGMENTS = 1000
NEVER = float("inf")
FIRST_ROWS = 1024  #: rows of the ring of losses at the start; a window may be far longer than the stream


class ConceptTimeline:
    """Segments of a stream, in each of which one concept is in force.

    When there are too many segments, neighbours are joined and keep the concept of the longer one.
    """

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def add(self, scheduled: NDArray[Any]) -> None:
        """Add rows with these scheduled concepts."""
        starts = [0, *(np.flatnonzero(scheduled[1:] != scheduled[:-1]) + 1).tolist(), len(scheduled)]
        for start, stop in pairwise(starts):
            self._extend(scheduled[start : start + 1].tolist()[0], stop - start)

    def _extend(self, concept: Any, n_rows: int) -> None:
        start = 0
        if self.segments:
            last = self.segments[-1]
            if last.concept == concept:
                self.segments[-1] = last._replace(length=last.length + n_rows)
                return
            start = last.start + last.length
        if len(self.segments) == MOST_SEGMENTS:
            pairs = zip(self.segments[0::2], self.segments[1::2], strict=True)
            self.segments = [
                Segment(max(a, b, key=lambda each: each.length).concept, a.start, a.length + b.length) for a, b in pairs
            ]
        self.segments.append(Segment(concept, start, n_rows))


class ConceptChanges:
    """Mean losses in the first rows after each concept change, and recovery times.

    A model has recovered from a change when its mean loss over ``window`` consecutive rows after the change is, within
    the tolerance, no larger than its mean loss over the last ``window`` rows before the change. The recovery time is
    the number of rows from the change to the first of those rows: 0 if the loss did not rise, infinite if another
    change or the end of the stream comes first.

    Parameters
    ----------
    n_models : int
    window : int
    tolerance : float
        Added to the mean loss before the change; for ``relative`` losses, a share of that loss.
    relative : bool
        Whether the losses have a unit, as errors of regressors have.
    """

    def __init__(self, n_models: int, window: int, tolerance: float, relative: bool) -> None:
        self._window, self._tolerance, self._relative = window, tolerance, relative
        #: Ring of the losses of the last rows; it grows until it has ``window`` rows.
        self._ring = np.full((min(window, FIRST_ROWS), n_models), np.nan)
        self._n_rows = 0
        self._concept: Any = None
        self._past_concepts: set[Any] = set()
        self._n_since_change = window
        self._is_return = False
        self._goal = np.full(n_models, np.nan)  #: mean loss at which a model has recovered
        self._is_recovering = np.zeros(n_models, dtype=np.bool_)
        self._sums = np.zeros((2, n_models))  #: of losses after all changes, and after returns
        self._counts = np.zeros((2, n_models))
        self._times: list[Counter[float]] = [Counter() for _ in range(n_models)]
        self.n_changes, self.n_returns = 0, 0

    def add(self, losses: Floats, scheduled: NDArray[Any]) -> None:
        """Add rows: losses of shape (n_rows, n_models), NaN without a prediction, and the scheduled concepts."""
        for row, concept in zip(losses, scheduled.tolist(), strict=True):
            if concept != self._concept:
                if self._n_rows:
                    self._begin_change(concept)
                self._concept = concept
                self._past_concepts.add(concept)
            if self._n_rows == len(self._ring) < self._window:
                n_more = min(self._n_rows, self._window - self._n_rows)
                self._ring = np.pad(self._ring, ((0, n_more), (0, 0)), constant_values=np.nan)
            self._ring[self._n_rows % self._window] = row
            self._n_rows += 1
            if self.n_changes:
                self._add_after_change(row)

    def _begin_change(self, concept: Any) -> None:
        self.end()
        self.n_changes += 1
        self._is_return = concept in self._past_concepts
        self.n_returns += self._is_return
        level = _column_means(self._ring)
        self._goal = level * (1.0 + self._tolerance) if self._relative else level + self._tolerance
        self._is_recovering[:] = True
        self._n_since_change = 0

    def _add_after_change(self, row: Floats) -> None:
        self._n_since_change += 1
        if self._n_since_change <= self._window:
            which = slice(2) if self._is_return else slice(1)
            self._sums[which] += np.nan_to_num(row)
            self._counts[which] += ~np.isnan(row)
        if self._n_since_change >= self._window and self._is_recovering.any():
            recovered = self._is_recovering & (_column_means(self._ring) <= self._goal + 1e-12)
            for model in np.flatnonzero(recovered):
                self._times[model][self._n_since_change - self._window] += 1
            self._is_recovering &= ~recovered

    def end(self) -> None:
        """Record that models which have not recovered from the last change never do."""
        for model in np.flatnonzero(self._is_recovering):
            self._times[model][NEVER] += 1
        self._is_recovering[:] = False

    def mean_losses(self) -> Floats:
        """Return the mean losses in the first rows after changes and after returns, shape (2, n_models)."""
        means = np.full(self._sums.shape, np.nan)
        return np.divide(self._sums, self._counts, out=means, where=self._counts > 0.0)

    def recovery_times(self) -> list[float]:
        """Return the median recovery time of each model."""
        return [_median(times) for times in self._times]


def _column_means(losses: Floats) -> Floats:
    known = ~np.isnan(losses)
    counts = known.sum(axis=0)
    sums = np.where(known, losses, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _median(counts: Counter[float]) -> float:
    """Return the median of a value-to-count mapping, NaN if it is empty."""
    if not counts:
        return float("nan")
    values = sorted(counts)
    up_to = np.cumsum([counts[value] for value in values])
    middle = [values[int(np.searchsorted(up_to, rank))] for rank in ((up_to[-1] + 1) // 2, up_to[-1] // 2 + 1)]
    return sum(middle) / 2.0
