"""Reader of forecast tables: from frames and arrays to checked arrays with codes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_array, check_consistent_length

from .._frames import as_frame
from .._param_checks import as_floats, check_weights, named_value_errors, require_targets
from .._typing import Floats
from ._expert_columns import ExpertColumns
from ._forecast_table import ForecastTable
from ._labels import TableLabels
from ._row_columns import RowColumns
from ._times import Times


class LabelledTable(NamedTuple):
    """Forecasts that were read, with their times and all labels so far."""

    table: ForecastTable
    times: NDArray[Any] | None  #: for pictures
    labels: TableLabels


class ForecastReader:
    """Reads tables for a mixture, whose parameters say which columns are no experts.

    Nothing of the mixture changes but scikit-learn's own ``n_features_in_`` and ``feature_names_in_``; new names and
    codes are in the labels that are returned.

    Parameters
    ----------
    mixture : ExpertMixture
    labels : TableLabels or None
        Labels so far; None before the first table.
    """

    def __init__(self, mixture: Any, labels: TableLabels | None) -> None:
        self.mixture, self.first = mixture, labels is None
        self.parameters = mixture if labels is None else mixture._in_force
        self.labels = TableLabels() if labels is None else labels.copy()
        special = {which: getattr(self.parameters, which) for which in ("series", "group", "block", "time")}
        special = {
            which: name
            for which, name in special.items()
            if name is not None and (which != "block" or isinstance(name, str))
        }
        self.experts = ExpertColumns(mixture, self.parameters, self.labels, special, self.first)
        self.rows = RowColumns(self.labels, special)

    def read(
        self, X: Any, y: Any = None, sample_weight: Any = None, awake: Any = None, learn: bool = True
    ) -> LabelledTable:
        """Read forecasts, and targets if they are to be learned."""
        if learn:
            require_targets(self.mixture, y)
        frame = as_frame(X)
        forecasts = self.experts.read(X, frame, learn)
        n_rows = len(forecasts)
        targets = self._targets(y, n_rows) if learn else np.full((n_rows, self.labels.n_outputs), np.nan)
        forecasts = self._for_each_output(forecasts)
        times = self.rows.times(frame, learn)
        series = self.rows.series(frame, n_rows)
        groups = self.rows.groups(frame, n_rows, times)
        if learn and times is not None:
            self.rows.check_order(times, series)
        blocks = self.rows.blocks(frame, series) if learn else None
        confidences = self._confidences(awake, forecasts)
        self._check_forecasts(forecasts, confidences, times)
        weights = None if sample_weight is None else self._row_weights(sample_weight, forecasts)
        table = ForecastTable(forecasts, targets, confidences, weights, series, groups, blocks)
        return LabelledTable(table, None if times is None else times.shown, self.labels)

    def check_history(self, table: ForecastTable, lag: int) -> None:
        """Raise a ValueError for what cannot be right in a complete history."""
        never = np.isnan(table.forecasts).all(axis=(0, 2))
        if never.any():
            raise ValueError(f"{self.experts.column(int(never.argmax()))} has no forecast in any row")
        longest = int(np.bincount(table.series).max())
        if lag >= longest:
            raise ValueError(
                f"lag={lag}, but there are only {longest} rows (n_samples={longest}): no target would be known in time"
            )

    def _for_each_output(self, forecasts: Floats) -> Floats:
        """Return forecasts of each output; experts with one forecast for all repeat it."""
        n_outputs = self.labels.n_outputs
        if forecasts.shape[2] == 1 and n_outputs > 1:
            return np.repeat(forecasts, n_outputs, axis=2)
        if forecasts.shape[2] != n_outputs:
            what = "quantiles" if self.parameters.quantiles is not None else "targets"
            raise ValueError(f"there are forecasts of {forecasts.shape[2]} outputs, and {n_outputs} {what}")
        return forecasts

    def _check_forecasts(self, forecasts: Floats, awake: Floats | None, times: Times | None) -> None:
        def place(row: int) -> str:
            return f"row {row}" if times is None else f"row {row} ({times.shown[row]})"

        infinite = np.isinf(forecasts)
        if infinite.any():
            row, expert, _ = np.argwhere(infinite)[0]
            column = self.experts.column(expert)
            raise ValueError(f"{column} is infinite in {place(row)}; pass NaN where there is no forecast")
        asleep = np.isnan(forecasts)
        if awake is not None:
            asleep |= (awake == 0.0)[:, :, np.newaxis]
        all_asleep: NDArray[np.bool_] = np.any(asleep.all(axis=1), axis=1)
        if all_asleep.any():
            row = place(int(all_asleep.argmax()))
            raise ValueError(f"no expert has a forecast in {row}: leave such rows out, or add a column that has one")

    def _targets(self, y: Any, n_rows: int) -> Floats:
        """Return targets (n_rows, n_outputs)."""
        quantiles = self.parameters.quantiles
        frame = as_frame(y) if hasattr(y, "columns") and quantiles is None else None
        if frame is not None:
            names = frame.columns
            expected = self.labels.outputs or self.labels.targets or names
            if {*names} != {*expected}:
                raise ValueError(f"y has the columns {names!r}, and should have {expected!r}")
            self.labels.targets = expected
            y = np.column_stack([frame.get_column(name).to_numpy() for name in expected])
        checks: dict[str, Any] = {"ensure_2d": False, "dtype": np.float64, "ensure_all_finite": False}
        with named_value_errors("y"):
            values: Floats = check_array(y, input_name="y", estimator=self.mixture, **checks)
        if values.ndim not in (1, 2):
            raise ValueError(f"y has shape {values.shape}; it should be (rows,) or (rows, targets)")
        flat = values.ndim == 1
        values = values.reshape(len(values), -1)
        unknown = ~np.isfinite(values).all(axis=1)
        if unknown.any():
            row = int(unknown.argmax())
            what = "NaN" if np.isnan(values[row][~np.isfinite(values[row])][0]) else "infinity"
            raise ValueError(f"y contains {what} in row {row}: leave out rows whose target is not known yet")
        check_consistent_length(values, range(n_rows))
        for loss in self.parameters._losses(1 if quantiles is None else len(quantiles)).losses:
            if hasattr(loss, "check_targets"):
                loss.check_targets(values)
        if quantiles is not None:
            if values.shape[1] != 1:
                raise ValueError(f"with quantiles there is one target; y has shape {values.shape}")
            values = np.repeat(values, len(quantiles), axis=1)
            flat = False
        if self.first:
            self.labels.n_outputs, self.labels.flat = values.shape[1], flat
        elif values.shape[1] != self.labels.n_outputs:
            raise ValueError(f"y has {values.shape[1]} targets, but there were {self.labels.n_outputs}")
        return values

    def _confidences(self, awake: Any, forecasts: Floats) -> Floats | None:
        """Return confidences (n_rows, n_experts), given in the order of the table's experts or by name."""
        if awake is None:
            return None
        positions, frame = self.experts.positions, as_frame(awake)
        experts = self.labels.experts
        if frame is not None and self.labels.named:
            unknown = [name for name in frame.columns if name not in experts]
            if unknown:
                raise ValueError(f"awake has a column {unknown[0]!r}, which is none of the experts {experts}")
            positions = [experts.index(name) for name in frame.columns]
        values = as_floats(awake, "awake")
        shape = (len(forecasts), len(positions))
        if values.shape != shape:
            raise ValueError(f"awake has shape {values.shape}, but there are {shape} rows and experts in the table")
        inside = (values >= 0.0) & (values <= 1.0)
        if not inside.all():
            row, at = np.argwhere(~inside)[0]
            column = self.experts.column(positions[at])
            raise ValueError(f"awake must lie in [0, 1]: {column} has {values[row, at]} in row {row}")
        confidences = np.ones(forecasts.shape[:2])
        confidences[:, positions] = values
        return confidences

    def _row_weights(self, sample_weight: Any, forecasts: Floats) -> Floats:
        """Return weights relative to the largest so far, so that the same rows get the same weights in any batches."""
        given = np.asarray(sample_weight)
        if not self.first and given.shape == (len(forecasts),) and not given.any():
            return np.zeros(len(forecasts))  # a batch without weight, in mid-stream
        weights = check_weights(sample_weight, forecasts[:, :, 0])
        assert weights is not None
        largest = np.maximum.accumulate(np.append(self.labels.largest_weight, weights))[1:]
        self.labels.largest_weight = float(largest[-1])
        return np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0.0)
