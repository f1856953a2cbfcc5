"""Tables of forecasts that have been read and checked, and the plain mean of their experts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._typing import Floats, Integers
from ..losses import clip_to_floats


class ForecastTable(NamedTuple):
    """Forecasts of the experts with targets and the codes of series, groups and blocks."""

    forecasts: Floats  #: (n_rows, n_experts, n_outputs); NaN where an expert sleeps
    targets: Floats  #: (n_rows, n_outputs)
    awake: Floats | None  #: (n_rows, n_experts): confidences of the experts that have a forecast; None if all are 1
    row_weights: Floats | None  #: (n_rows,) in [0, 1]; None if all are 1
    series: Integers  #: (n_rows,)
    groups: Integers  #: (n_rows,)
    blocks: Integers | None  #: (n_rows,): changes where a block ends; None: blocks have a fixed number of rows

    def take(self, rows: Any) -> ForecastTable:
        """Return some of the rows."""
        return ForecastTable(*(None if values is None else values[rows] for values in self))  # type: ignore[arg-type]

    def append(self, other: ForecastTable) -> ForecastTable:
        """Return the rows of both tables; missing weights and confidences of one table are 1."""
        n_rows, n_more = len(self.targets), len(other.targets)

        def joined(values: Any, more: Any, shape: tuple[int, ...]) -> Any:
            if values is None and more is None:
                return None
            values = np.ones((n_rows, *shape)) if values is None else values
            more = np.ones((n_more, *shape)) if more is None else more
            return np.concatenate([values, more])

        return ForecastTable(
            np.concatenate([self.forecasts, other.forecasts]),
            np.concatenate([self.targets, other.targets]),
            joined(self.awake, other.awake, self.forecasts.shape[1:2]),
            joined(self.row_weights, other.row_weights, ()),
            np.concatenate([self.series, other.series]),
            np.concatenate([self.groups, other.groups]),
            other.blocks,  # blocks of a column are complete, so that none of their rows waits in this table
        )


def plain_mean(forecasts: Floats, awake: Floats | None) -> Floats:
    """Average the forecasts of the awake experts, (n_rows, n_outputs); NaN where all sleep."""
    confidence = ~np.isnan(forecasts) * (1.0 if awake is None else awake[:, :, np.newaxis])
    total = confidence.sum(axis=1)
    with np.errstate(over="ignore"):
        sums = (confidence * np.nan_to_num(forecasts)).sum(axis=1)
    return clip_to_floats(np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0.0))


def with_confidences(forecasts: Floats, awake: Floats | None) -> tuple[Floats, Floats | None]:
    """Replace NaN in forecasts (n_rows, n_experts) by the plain mean; return the confidences too, None if all are 1."""
    asleep = np.isnan(forecasts)
    if awake is None and not asleep.any():
        return np.ascontiguousarray(forecasts), None
    confidence = np.where(asleep, 0.0, 1.0 if awake is None else awake)
    return np.where(asleep, plain_mean(forecasts[:, :, np.newaxis], confidence), forecasts), confidence
