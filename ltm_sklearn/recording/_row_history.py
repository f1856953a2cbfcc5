"""Records of the rows of a forecast combination, which cover a whole stream in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats

#: Sums over the rows of a record: those of the experts have shape (n_experts, n_outputs), the others (n_outputs,).
OF_EXPERTS = ("weights", "forecasts", "awake", "losses")
OF_MIXTURE = ("targets", "predictions", "loss", "uniform")


class RowHistory:
    """At most ``limit`` records of rows: when there are more rows, neighbouring ones are averaged.

    Parameters
    ----------
    limit : int
    n_experts, n_outputs : int
    """

    def __init__(self, limit: int, n_experts: int, n_outputs: int) -> None:
        self.limit, self.stride = limit, 1
        self.counts = np.zeros(0, dtype=np.int64)  #: rows of each record
        self.times: NDArray[Any] | None = None  #: time of the last row of each record
        self.moments = np.zeros(0)  #: when the last row of each record was learned, in seconds since 1970
        self.sums: dict[str, Floats] = {name: np.zeros((0, n_experts, n_outputs)) for name in OF_EXPERTS}
        self.sums |= {name: np.zeros((0, n_outputs)) for name in OF_MIXTURE}

    def add_expert(self) -> None:
        """Add an expert."""
        for name in OF_EXPERTS:
            self.sums[name] = np.pad(self.sums[name], ((0, 0), (0, 1), (0, 0)))

    def add(self, rows: dict[str, Floats], times: NDArray[Any] | None, moment: float) -> None:
        """Add rows; forecasts and losses of sleeping experts are 0."""
        n_rows = len(rows["loss"])
        if times is not None and self.times is None and len(self.counts):
            times = None  # the rows before had none
        old_times = None if times is None or not len(self.counts) else self.times
        self.sums = {name: np.concatenate([self.sums[name], rows[name]]) for name in self.sums}
        self.counts = np.append(self.counts, np.ones(n_rows, dtype=np.int64))
        self.moments = np.append(self.moments, np.full(n_rows, moment))
        self.times = times if old_times is None else np.concatenate([old_times, np.asarray(times)])
        n_before = int(self.counts.sum())
        while -(-n_before // self.stride) > self.limit:
            self.stride *= 2
        if self.stride > 1:
            self._join()

    def _join(self) -> None:
        """Sum neighbouring records so that each one, except perhaps the last, covers ``stride`` rows."""
        last = np.cumsum(self.counts)
        record_of = (last - 1) // self.stride
        starts = np.flatnonzero(np.diff(record_of, prepend=-1))
        self.sums = {name: np.add.reduceat(values, starts, axis=0) for name, values in self.sums.items()}
        self.counts = np.add.reduceat(self.counts, starts)
        last_of = np.append(starts[1:], len(record_of)) - 1
        self.moments = self.moments[last_of]
        if self.times is not None:
            self.times = self.times[last_of]

    def means(self, name: str, output: int | None, start: int = 0) -> Floats:
        """Return the means of the records from ``start`` on, (n_records, n_experts) or (n_records,).

        They are NaN where an expert slept throughout. ``output=None`` takes the mean over the outputs.
        """
        sums = self.sums[name][start:]
        if name in ("forecasts", "losses"):
            awake = self.sums["awake"][start:]
            counts = awake[..., output] if output is not None else awake.sum(axis=-1)
        else:
            n_outputs = 1 if output is not None else sums.shape[-1]
            counts = n_outputs * self.counts[start:].reshape(-1, *[1] * (sums.ndim - 2))
        total = sums[..., output] if output is not None else sums.sum(axis=-1)
        counts = np.broadcast_to(counts, total.shape)
        return np.divide(total, counts, out=np.full(total.shape, np.nan), where=counts > 0)
