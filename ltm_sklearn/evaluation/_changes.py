"""What changes of the concept cost, and how soon a model is itself again."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

NEVER = float("inf")
FIRST_ROWS = 1024  #: for which there is room from the start


class Changes:
    """Mean losses in the first rows after each change, and recovery times.

    A model has recovered from a change when its mean loss over ``window`` rows in a row, all of them after the change,
    is no worse than its mean over the last ``window`` rows before it, but for the tolerance. The recovery time is the
    number of rows from the change to the first of those rows: 0 if the model never suffered, infinite if another
    change, or the end of the stream, came first.

    Parameters
    ----------
    n_models : int
    window : int
    tolerance : float
        Of a share of mistakes it is added to the level before; for ``relative`` losses it is the part of the level.
    relative : bool
        Whether losses have a scale of their own.
    """

    def __init__(self, n_models: int, window: int, tolerance: float, relative: bool) -> None:
        self._window, self._tolerance, self._relative = window, tolerance, relative
        #: Losses of the latest rows, in a ring, which grows with the stream until it is as long as the window.
        self._last = np.full((min(window, FIRST_ROWS), n_models), np.nan)
        self._row = 0
        self._concept: Any = None
        self._seen: set[Any] = set()
        self._since = window  #: rows since the latest change
        self._returned = False
        self._goal = np.full(n_models, np.nan)
        self._suffering = np.zeros(n_models, dtype=np.bool_)
        self._sums = np.zeros((2, n_models))  #: over all changes, and over returns
        self._counts = np.zeros((2, n_models))
        self._times: list[Counter[float]] = [Counter() for _ in range(n_models)]
        self.n_changes, self.n_returns = 0, 0

    def add(self, losses: Floats, in_force: NDArray[Any]) -> None:
        """Take in rows: losses of shape (n_rows, n_models), NaN where a model has no answer."""
        for row, concept in zip(losses, in_force.tolist(), strict=True):
            if concept != self._concept:
                if self._row:
                    self._change(concept)
                self._concept = concept
                self._seen.add(concept)
            if self._row == len(self._last) < self._window:
                more = min(self._row, self._window - self._row)
                self._last = np.pad(self._last, ((0, more), (0, 0)), constant_values=np.nan)
            self._last[self._row % self._window] = row
            self._row += 1
            if self.n_changes:
                self._after(row)

    def _change(self, concept: Any) -> None:
        self._give_up()
        self.n_changes += 1
        self._returned = concept in self._seen
        self.n_returns += self._returned
        level = _means(self._last)
        self._goal = level * (1.0 + self._tolerance) if self._relative else level + self._tolerance
        self._suffering[:] = True
        self._since = 0

    def _after(self, row: Floats) -> None:
        self._since += 1
        if self._since <= self._window:
            which = slice(2) if self._returned else slice(1)
            self._sums[which] += np.nan_to_num(row)
            self._counts[which] += ~np.isnan(row)
        if self._since >= self._window and self._suffering.any():
            recovered = self._suffering & (_means(self._last) <= self._goal + 1e-12)
            for model in np.flatnonzero(recovered):
                self._times[model][self._since - self._window] += 1
            self._suffering &= ~recovered

    def _give_up(self) -> None:
        for model in np.flatnonzero(self._suffering):
            self._times[model][NEVER] += 1
        self._suffering[:] = False

    def end(self) -> None:
        """The stream has ended."""
        self._give_up()

    def mean_losses(self) -> Floats:
        """In the first rows after a change, and after a return: shape (2, n_models)."""
        means = np.full(self._sums.shape, np.nan)
        return np.divide(self._sums, self._counts, out=means, where=self._counts > 0.0)

    def recovery_times(self) -> list[float]:
        """Each model's median."""
        return [_median(times) for times in self._times]


def _means(ring: Floats) -> Floats:
    known = ~np.isnan(ring)
    counts = known.sum(axis=0)
    sums = np.where(known, ring, 0.0).sum(axis=0)
    return np.divide(sums, counts, out=np.full(len(counts), np.nan), where=counts > 0)


def _median(times: Counter[float]) -> float:
    """Of values that have been counted."""
    if not times:
        return float("nan")
    values = sorted(times)
    up_to = np.cumsum([times[value] for value in values])
    middle = [values[int(np.searchsorted(up_to, rank))] for rank in ((up_to[-1] + 1) // 2, up_to[-1] // 2 + 1)]
    return sum(middle) / 2.0
