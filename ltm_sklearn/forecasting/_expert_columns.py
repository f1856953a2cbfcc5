"""Expert columns: the forecasts of experts as arrays, from arrays and from frames with a column for each expert."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.utils.validation import _check_feature_names, check_array, validate_data

from .._frames import default_names
from .._param_checks import named_value_errors
from .._typing import Floats
from ._columns import flat_name, numeric_columns, quantile_of
from ._labels import TableLabels


class ExpertColumns:
    """Reads the forecasts of experts and adds their names to the labels.

    ``special`` are the columns that are no experts, by the names of their parameters. Of the estimator, only
    scikit-learn's ``n_features_in_`` and ``feature_names_in_`` change.
    """

    def __init__(
        self, estimator: Any, parameters: Any, labels: TableLabels, special: dict[str, Any], first: bool
    ) -> None:
        self.estimator, self.parameters, self.labels = estimator, parameters, labels
        self.special, self.first = special, first
        self.positions: list[int] = []  #: among all experts, of those in the table

    def read(self, X: Any, frame: nw.DataFrame[Any] | None, learn: bool) -> Floats:
        """Return forecasts (n_rows, n_experts, n_outputs), NaN where there is none; the last axis may have length 1."""
        return self._array(X, learn) if frame is None else self._frame(frame, learn)

    def column(self, expert: int) -> str:
        """Return the column of an expert as error messages name it."""
        return f"column {self.labels.experts[expert]!r}" if self.labels.named else f"column {expert}"

    def _array(self, X: Any, learn: bool) -> Floats:
        if self.special:
            which, name = next(iter(self.special.items()))
            raise ValueError(f"{which}={name!r} is the name of a column: the forecasts must be a frame")
        checks: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False, "allow_nd": True}
        with named_value_errors("X"):
            if self.labels.named:
                _check_feature_names(self.estimator, X, reset=False)  # which warns
                values = check_array(X, estimator=self.estimator, input_name="X", **checks)
            else:
                values = validate_data(self.estimator, X, reset=self.first and learn, **checks)
        if values.ndim > 3:
            raise ValueError(
                f"forecasts have shape {values.shape}; it should be (rows, experts) or (rows, experts, outputs)"
            )
        if self.first:
            self.labels.experts = default_names(values.shape[1])
        elif values.shape[1] != len(self.labels.experts):
            raise ValueError(
                f"X has {values.shape[1]} experts, but there are {len(self.labels.experts)}: {self.labels.experts}"
            )
        self.positions = list(range(values.shape[1]))
        return np.ascontiguousarray(values if values.ndim == 3 else values[:, :, np.newaxis])

    def _frame(self, frame: nw.DataFrame[Any], learn: bool) -> Floats:
        names = frame.columns
        if not self.first and not self.labels.named:
            raise ValueError("the forecasts were an array without names so far, and are a frame now")
        no_experts = set(self.special.values())
        columns = [name for name in names if flat_name(name) not in no_experts]
        if not columns:
            raise ValueError(f"there is no column of forecasts among {names!r}")
        values = numeric_columns(frame, columns)
        if len(values) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        experts = [flat_name(name) for name in columns]
        two_levels = [isinstance(name, tuple) for name in experts]
        if any(two_levels):
            if not all(two_levels) or any(len(pair) != 2 for pair in experts):
                raise ValueError(
                    f"columns must be experts, or pairs of expert and output, all of them; got {experts!r}"
                )
            forecasts = self._two_levels(values, experts)
        else:
            self._add_experts(experts)
            forecasts = np.full((len(values), len(self.labels.experts), 1), np.nan)
            forecasts[:, self.positions, 0] = values
        if learn:
            self._add_columns(names)
        return forecasts

    def _two_levels(self, values: Floats, pairs: list[tuple[Any, Any]]) -> Floats:
        """Return forecasts (n_rows, n_experts, n_outputs) from columns that are pairs of expert and output."""
        quantiles = self.parameters.quantiles
        if quantiles is not None:
            pairs = [(expert, quantile_of(output, quantiles)) for expert, output in pairs]
            outputs = [float(level) for level in quantiles]
        else:
            outputs = self.labels.outputs or list(dict.fromkeys(output for _, output in pairs))
        unknown = [pair for pair in pairs if pair[1] not in outputs]
        if unknown:
            raise ValueError(f"column {unknown[0]!r} is of an output that is none of {outputs!r}")
        self.labels.outputs = outputs
        self._add_experts(list(dict.fromkeys(expert for expert, _ in pairs)))
        forecasts = np.full((len(values), len(self.labels.experts), len(outputs)), np.nan)
        for at, (expert, output) in enumerate(pairs):
            forecasts[:, self.labels.experts.index(expert), outputs.index(output)] = values[:, at]
        return forecasts

    def _add_experts(self, experts: list[Any]) -> None:
        """Append the names of new experts."""
        self.labels.named = True
        self.labels.experts = self.labels.experts + [name for name in experts if name not in self.labels.experts]
        self.positions = [self.labels.experts.index(name) for name in experts]

    def _add_columns(self, names: list[Any]) -> None:
        self.labels.columns = self.labels.columns + [name for name in names if name not in self.labels.columns]
        self.estimator.n_features_in_ = len(self.labels.columns)
        if all(isinstance(name, str) for name in self.labels.columns):
            self.estimator.feature_names_in_ = np.array(self.labels.columns, dtype=object)
