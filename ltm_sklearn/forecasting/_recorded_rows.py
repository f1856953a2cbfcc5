"""Recorded rows of a mixture: what its history and its callback get."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from .._typing import Floats
from ..losses import OutputLosses
from ..recording import LATELY, Record, RowHistory, RunCallback
from ._forecast_table import ForecastTable, plain_mean


class RowHistorySource:
    """Source of the log file: the history's records as means over the outputs."""

    def __init__(self) -> None:
        self.history: RowHistory | None = None
        self.names: list[str] = []

    @property
    def stride(self) -> int:
        """Number of rows of a record."""
        return 1 if self.history is None else self.history.stride

    def __len__(self) -> int:
        return 0 if self.history is None else len(self.history.counts)

    def items(self, start: int) -> list[tuple[Record, float, Any]]:
        """Return records from ``start`` on, when each was complete, and the times of their last rows."""
        history = self.history
        if history is None:
            return []
        means = {name: history.means(name, None, start).tolist() for name in history.sums if name != "awake"}
        ends, counts = np.cumsum(history.counts)[start:].tolist(), history.counts[start:].tolist()
        times = [None] * len(ends) if history.times is None else [_plain(each) for each in history.times[start:]]
        items = []
        for at, (end, count) in enumerate(zip(ends, counts, strict=True)):
            record = Record(
                end,
                count,
                means["loss"][at],
                self._named(means["weights"][at]),
                self._named(means["losses"][at]),
                end,
                count,
                means["uniform"][at],
                means["targets"][at],
                means["predictions"][at],
                self._named(means["forecasts"][at]),
            )
            items.append((record, float(history.moments[start + at]), times[at]))
        return items

    def _named(self, values: list[float]) -> dict[str, float]:
        return {name: value for name, value in zip(self.names, values, strict=True) if value == value}  # not NaN


def _plain(when: Any) -> Any:
    return str(when) if isinstance(when, np.datetime64) else when.item()


def rows_to_record(
    table: ForecastTable, losses: OutputLosses, weights: Floats, predictions: Floats
) -> dict[str, Floats]:
    """Return what a history records of rows that were issued with these weights."""
    forecasts, y = table.forecasts, table.targets
    n_rows, n_experts, n_outputs = forecasts.shape
    outputs = np.tile(np.arange(n_outputs), n_rows) if n_outputs > 1 else None
    awake = ~np.isnan(forecasts)
    if table.awake is not None:
        awake &= (table.awake > 0.0)[:, :, np.newaxis]
    means = plain_mean(forecasts, table.awake)
    filled = np.where(awake, forecasts, means[:, np.newaxis])

    def loss_of(values: Floats) -> Floats:
        return losses.of(y.ravel(), np.ascontiguousarray(values).ravel(), outputs).reshape(y.shape)

    return {
        "weights": weights,
        "forecasts": np.where(awake, forecasts, 0.0),
        "awake": awake.astype(np.float64),
        "losses": np.stack([loss_of(filled[:, at]) for at in range(n_experts)], axis=1) * awake,
        "targets": y,
        "predictions": predictions,
        "loss": loss_of(predictions),
        "uniform": loss_of(means),
    }


def show_rows(callback: RunCallback, rows: dict[str, Floats], names: list[str], n_before: int) -> None:
    """Show rows to a callback: the last ones, and those where another expert begins to lead."""
    weights, loss, uniform = (rows[name].mean(axis=-1) for name in ("weights", "loss", "uniform"))
    leaders = weights.argmax(axis=1)
    n_rows = len(leaders)
    changes = np.flatnonzero(np.diff(leaders, prepend=-1))
    when = time.time()
    for at in np.union1d(changes, np.arange(max(n_rows - LATELY, 0), n_rows)).tolist():
        end, leader = n_before + at + 1, int(leaders[at])
        led = {names[leader]: float(weights[at, leader])}
        callback.on_round(Record(end, 1, float(loss[at]), led, {}, end, 1, float(uniform[at])), when)
