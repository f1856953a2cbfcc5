"""What a run was like over time, at a resolution that memory bounds."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..streams import Segment

MOST_POINTS = 1000
MOST_SEGMENTS = 1000


class Curve:
    """Mean losses of blocks of rows; when there are too many blocks, neighbours are joined and the pace is halved."""

    def __init__(self, n_models: int, block: int) -> None:
        self._block = block
        self._sums = np.zeros((MOST_POINTS, n_models))
        self._counts = np.zeros((MOST_POINTS, n_models))
        self._n_rows = 0

    def add(self, losses: Floats) -> None:
        """Take in rows of shape (n_rows, n_models); NaN does not count."""
        start = 0
        while start < len(losses):
            if self._n_rows == MOST_POINTS * self._block:
                self._halve()
            at, filled = divmod(self._n_rows, self._block)
            part = losses[start : start + self._block - filled]
            self._sums[at] += np.nansum(part, axis=0)
            self._counts[at] += (~np.isnan(part)).sum(axis=0)
            self._n_rows += len(part)
            start += len(part)

    def _halve(self) -> None:
        for table in (self._sums, self._counts):
            table[: MOST_POINTS // 2] = table[0::2] + table[1::2]
            table[MOST_POINTS // 2 :] = 0.0
        self._block *= 2

    def points(self) -> tuple[NDArray[np.intp], Floats]:
        """The last row of each block, counted from 1, and the models' mean losses in it."""
        counts = self.counts()
        n_points = len(counts)
        rows = np.minimum(np.arange(1, n_points + 1) * self._block, self._n_rows)
        means = np.full(counts.shape, np.nan)
        return rows, np.divide(self._sums[:n_points], counts, out=means, where=counts > 0.0)

    def counts(self) -> Floats:
        """Rows of each block that counted for each model."""
        return self._counts[: -(-self._n_rows // self._block)]


class Schedule:
    """Which concept was in force when; when there are too many segments, neighbours become one, named by the longer."""

    def __init__(self) -> None:
        self.segments: list[Segment] = []

    def add(self, in_force: NDArray[Any]) -> None:
        """Take in rows."""
        starts = [0, *(np.flatnonzero(in_force[1:] != in_force[:-1]) + 1).tolist(), len(in_force)]
        for start, stop in pairwise(starts):
            self._extend(in_force[start : start + 1].tolist()[0], stop - start)

    def _extend(self, concept: Any, n_rows: int) -> None:
        begin = 0
        if self.segments:
            last = self.segments[-1]
            if last.concept == concept:
                self.segments[-1] = last._replace(length=last.length + n_rows)
                return
            begin = last.start + last.length
        if len(self.segments) == MOST_SEGMENTS:
            pairs = zip(self.segments[0::2], self.segments[1::2], strict=True)
            self.segments = [
                Segment(max(a, b, key=lambda each: each.length).concept, a.start, a.length + b.length) for a, b in pairs
            ]
        self.segments.append(Segment(concept, begin, n_rows))
