"""Losses over time, at a resolution that bounded memory allows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

MOST_POINTS = 1000


class LossCurve:
    """Mean losses of blocks of rows; when there are too many blocks, their size is doubled and neighbours are joined.

    Parameters
    ----------
    n_models : int
    block : int
        Rows of a block at the start.
    """

    def __init__(self, n_models: int, block: int) -> None:
        self._block = block
        self._sums = np.zeros((MOST_POINTS, n_models))
        self._counts = np.zeros((MOST_POINTS, n_models))
        self._n_rows = 0

    def add(self, losses: Floats) -> None:
        """Add losses of shape (n_rows, n_models); NaN does not count."""
        start = 0
        while start < len(losses):
            if self._n_rows == MOST_POINTS * self._block:
                self._double_blocks()
            at, n_filled = divmod(self._n_rows, self._block)
            part = losses[start : start + self._block - n_filled]
            self._sums[at] += np.nansum(part, axis=0)
            self._counts[at] += (~np.isnan(part)).sum(axis=0)
            self._n_rows += len(part)
            start += len(part)

    def _double_blocks(self) -> None:
        for table in (self._sums, self._counts):
            table[: MOST_POINTS // 2] = table[0::2] + table[1::2]
            table[MOST_POINTS // 2 :] = 0.0
        self._block *= 2

    def points(self) -> tuple[NDArray[np.intp], Floats]:
        """Return the last row of each block, counted from 1, and the mean losses of the models in it."""
        counts = self.counts()
        n_points = len(counts)
        rows = np.minimum(np.arange(1, n_points + 1) * self._block, self._n_rows)
        means = np.full(counts.shape, np.nan)
        return rows, np.divide(self._sums[:n_points], counts, out=means, where=counts > 0.0)

    def counts(self) -> Floats:
        """Return the number of rows of each block that count for each model."""
        return self._counts[: -(-self._n_rows // self._block)]
