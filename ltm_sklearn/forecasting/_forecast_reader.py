"""Tables of forecasts as people have them: frames with an expert a column, and arrays; checked, and with codes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _check_feature_names, check_array, check_consistent_length, validate_data

from .._frames import as_frame, default_names
from .._param_checks import as_floats, check_weights, named_value_errors, require
from .._typing import Floats, Integers
from ._columns import coded, flat_name, level_of, numeric_columns
from ._panel import Table
from ._times import CALENDAR, Times, calendar_part, times_of


@dataclass
class Vocabulary:
    """What has been seen so far: names, and where each series stands."""

    experts: list[Any] = field(default_factory=list)
    columns: list[Any] = field(default_factory=list)  #: all of the frames
    outputs: list[Any] = field(default_factory=list)  #: names of the outputs, where the columns have two levels
    targets: list[Any] = field(default_factory=list)  #: names of the targets, where they have columns
    n_outputs: int = 1
    flat: bool = True  #: whether targets have one dimension
    named: bool = False  #: whether tables are frames
    series: dict[Any, int] = field(default_factory=dict)
    groups: dict[Any, int] = field(default_factory=dict)
    last_block: dict[int, Any] = field(default_factory=dict)  #: of each series
    last_time: dict[int, Any] = field(default_factory=dict)
    largest_weight: float = 0.0  #: of a row

    def copy(self) -> Vocabulary:
        """One that can be changed."""
        return Vocabulary(
            **{name: value.copy() if hasattr(value, "copy") else value for name, value in vars(self).items()}
        )


class Reading(NamedTuple):
    """What was read."""

    table: Table
    times: NDArray[Any] | None  #: for pictures
    vocabulary: Vocabulary


class Reader:
    """Reads tables for an estimator, whose parameters say which columns are no experts.

    Nothing of the estimator changes but scikit-learn's own ``n_features_in_`` and ``feature_names_in_``; what was
    learned about names comes back as a new vocabulary.
    """

    def __init__(self, estimator: Any, known: Vocabulary | None) -> None:
        self.estimator, self.first = estimator, known is None
        self.parameters = estimator if known is None else estimator._in_force
        self.known = Vocabulary() if known is None else known.copy()
        self.special = {
            which: name
            for which in ("series", "group", "block", "time")
            if (name := getattr(self.parameters, which)) is not None and (which != "block" or isinstance(name, str))
        }

    def read(self, X: Any, y: Any = None, sample_weight: Any = None, awake: Any = None, learn: bool = True) -> Reading:
        """Forecasts, with targets if they are to be learned."""
        if learn:
            require(self.estimator, y)
        frame = as_frame(X)
        forecasts = self._array(X, learn) if frame is None else self._frame(frame, learn)
        n_rows = len(forecasts)
        targets = self._targets(y, n_rows) if learn else np.full((n_rows, self.known.n_outputs), np.nan)
        forecasts = self._outputs(forecasts)
        times = self._times(frame, learn)
        series = self._codes(frame, n_rows, "series", self.known.series)
        groups = self._groups(frame, n_rows, times)
        if learn and times is not None:
            self._check_times(times, series)
        blocks = self._blocks(frame, series) if learn and "block" in self.special else None
        confidences = self._confidences(awake, forecasts)
        self._check_forecasts(forecasts, confidences, times)
        weights = None if sample_weight is None else self._row_weights(sample_weight, forecasts)
        table = Table(forecasts, targets, confidences, weights, series, groups, blocks)
        return Reading(table, None if times is None else times.shown, self.known)

    # Forecasts ------------------------------------------------------------------------------------------------------

    def _array(self, X: Any, learn: bool) -> Floats:
        if self.special:
            which, name = next(iter(self.special.items()))
            raise ValueError(f"{which}={name!r} is the name of a column: the forecasts must be a frame")
        checks: dict[str, Any] = {"dtype": np.float64, "ensure_all_finite": False, "allow_nd": True}
        if self.known.named:
            _check_feature_names(self.estimator, X, reset=False)  # which warns
            with named_value_errors("X"):
                values = check_array(X, estimator=self.estimator, input_name="X", **checks)
        else:
            with named_value_errors("X"):
                values = validate_data(self.estimator, X, reset=self.first and learn, **checks)
        if values.ndim > 3:
            raise ValueError(
                f"forecasts have shape {values.shape}; it should be (rows, experts) or (rows, experts, outputs)"
            )
        if self.first:
            self.known.experts = default_names(values.shape[1])
        elif values.shape[1] != len(self.known.experts):
            raise ValueError(
                f"X has {values.shape[1]} experts, but there are {len(self.known.experts)}: {self.known.experts}"
            )
        self.seats = list(range(values.shape[1]))
        return np.ascontiguousarray(values if values.ndim == 3 else values[:, :, np.newaxis])

    def _frame(self, frame: nw.DataFrame[Any], learn: bool) -> Floats:
        names = frame.columns
        if not self.first and not self.known.named:
            raise ValueError("the forecasts were an array without names so far, and are a frame now")
        no_experts = set(self.special.values())
        experts = [name for name in names if flat_name(name) not in no_experts]
        if not experts:
            raise ValueError(f"there is no column of forecasts among {names!r}")
        values = numeric_columns(frame, experts)
        if len(values) == 0:
            raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
        pairs = [flat_name(name) for name in experts]
        two_levels = [isinstance(pair, tuple) for pair in pairs]
        if any(two_levels):
            if not all(two_levels) or any(len(pair) != 2 for pair in pairs):
                raise ValueError(f"columns must be experts, or pairs of expert and output, all of them; got {pairs!r}")
            table = self._two_levels(values, pairs)
        else:
            self._meet(pairs)
            table = np.full((len(values), len(self.known.experts), 1), np.nan)
            table[:, self.seats, 0] = values
        if learn:
            self._meet_columns(names)
        return table

    def _two_levels(self, values: Floats, pairs: list[tuple[Any, Any]]) -> Floats:
        """Forecasts (n_rows, n_experts, n_outputs) from columns that are pairs of both."""
        quantiles = self.parameters.quantiles
        if quantiles is not None:
            pairs = [(expert, level_of(output, quantiles)) for expert, output in pairs]
            outputs = [float(level) for level in quantiles]
        else:
            outputs = self.known.outputs or list(dict.fromkeys(output for _, output in pairs))
        unknown = [pair for pair in pairs if pair[1] not in outputs]
        if unknown:
            raise ValueError(f"column {unknown[0]!r} is of an output that is none of {outputs!r}")
        self.known.outputs = outputs
        self._meet(list(dict.fromkeys(expert for expert, _ in pairs)))
        table = np.full((len(values), len(self.known.experts), len(outputs)), np.nan)
        for at, (expert, output) in enumerate(pairs):
            table[:, self.known.experts.index(expert), outputs.index(output)] = values[:, at]
        return table

    def _meet(self, experts: list[Any]) -> None:
        """Those that are new take the last seats."""
        self.known.named = True
        self.known.experts = self.known.experts + [name for name in experts if name not in self.known.experts]
        self.seats = [self.known.experts.index(name) for name in experts]  #: of this table's

    def _meet_columns(self, names: list[Any]) -> None:
        self.known.columns = self.known.columns + [name for name in names if name not in self.known.columns]
        self.estimator.n_features_in_ = len(self.known.columns)
        if all(isinstance(name, str) for name in self.known.columns):
            self.estimator.feature_names_in_ = np.array(self.known.columns, dtype=object)

    def _outputs(self, forecasts: Floats) -> Floats:
        """Forecasts for each output; where there is one for all, they say the same for each."""
        n_outputs = self.known.n_outputs
        if forecasts.shape[2] == 1 and n_outputs > 1:
            return np.repeat(forecasts, n_outputs, axis=2)
        if forecasts.shape[2] != n_outputs:
            what = "quantiles" if self.parameters.quantiles is not None else "targets"
            raise ValueError(f"there are forecasts of {forecasts.shape[2]} outputs, and {n_outputs} {what}")
        return forecasts

    def _check_forecasts(self, forecasts: Floats, awake: Floats | None, times: Times | None) -> None:
        infinite = np.isinf(forecasts)
        if infinite.any():
            row, expert, _ = np.argwhere(infinite)[0]
            raise ValueError(
                f"{self._column(expert)} is infinite in {_row(row, times)}; NaN says that there is no forecast"
            )
        silent = np.isnan(forecasts)
        if awake is not None:
            silent |= (awake == 0.0)[:, :, np.newaxis]
        nobody: NDArray[np.bool_] = np.any(silent.all(axis=1), axis=1)
        if nobody.any():
            row = int(nobody.argmax())
            raise ValueError(
                f"no expert has a forecast in {_row(row, times)}: leave such rows out, or add a column that has one"
            )

    def check_history(self, reading: Reading, lag: int) -> None:
        """What cannot be right in a whole history."""
        forecasts, series = reading.table.forecasts, reading.table.series
        never = np.isnan(forecasts).all(axis=(0, 2))
        if never.any():
            raise ValueError(f"{self._column(int(never.argmax()))} has no forecast in any row")
        longest = int(np.bincount(series).max())
        if lag >= longest:
            raise ValueError(
                f"lag={lag}, but there are only {longest} rows (n_samples={longest}): no target would be known in time"
            )

    def _column(self, expert: int) -> str:
        name = self.known.experts[expert]
        return f"column {name!r}" if self.known.named else f"column {expert}"

    # Targets, weights, confidences -----------------------------------------------------------------------------------

    def _targets(self, y: Any, n_rows: int) -> Floats:
        quantiles = self.parameters.quantiles
        frame = as_frame(y) if hasattr(y, "columns") and quantiles is None else None
        if frame is not None:
            labels = frame.columns
            expected = self.known.outputs or self.known.targets or labels
            if {*labels} != {*expected}:
                raise ValueError(f"y has the columns {labels!r}, and should have {expected!r}")
            self.known.targets = expected
            y = np.column_stack([frame.get_column(name).to_numpy() for name in expected])
        with named_value_errors("y"):
            values: Floats = check_array(
                y, ensure_2d=False, dtype=np.float64, ensure_all_finite=False, input_name="y", estimator=self.estimator
            )
        if values.ndim not in (1, 2):
            raise ValueError(f"y has shape {values.shape}; it should be (rows,) or (rows, targets)")
        flat = values.ndim == 1
        values = values.reshape(len(values), -1)
        unknown = ~np.isfinite(values).all(axis=1)
        if unknown.any():
            row = int(unknown.argmax())
            bad = values[row][~np.isfinite(values[row])][0]
            what = "NaN" if np.isnan(bad) else "infinity"
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
            self.known.n_outputs, self.known.flat = values.shape[1], flat
        elif values.shape[1] != self.known.n_outputs:
            raise ValueError(f"y has {values.shape[1]} targets, but there were {self.known.n_outputs}")
        return values

    def _confidences(self, awake: Any, forecasts: Floats) -> Floats | None:
        """In the order of the table's experts, or by name."""
        if awake is None:
            return None
        given, frame = self.seats, as_frame(awake)
        if frame is not None and self.known.named:
            unknown = [name for name in frame.columns if name not in self.known.experts]
            if unknown:
                raise ValueError(
                    f"awake has a column {unknown[0]!r}, which is none of the experts {self.known.experts}"
                )
            given = [self.known.experts.index(name) for name in frame.columns]
        values = as_floats(awake, "awake")
        if values.shape != (len(forecasts), len(given)):
            shape = (len(forecasts), len(given))
            raise ValueError(f"awake has shape {values.shape}, but there are {shape} rows and experts in the table")
        inside = (values >= 0.0) & (values <= 1.0)
        if not inside.all():
            row, at = np.argwhere(~inside)[0]
            raise ValueError(f"awake must lie in [0, 1]: {self._column(given[at])} has {values[row, at]} in row {row}")
        confidences = np.ones(forecasts.shape[:2])
        confidences[:, given] = values
        return confidences

    def _row_weights(self, sample_weight: Any, forecasts: Floats) -> Floats:
        """Relative to the largest so far, so that they mean the same in whatever pieces the rows come."""
        given = np.asarray(sample_weight)
        if not self.first and given.shape == (len(forecasts),) and not given.any():
            return np.zeros(len(forecasts))  # rows that count for nothing, on the way
        weights = check_weights(sample_weight, forecasts[:, :, 0])
        assert weights is not None
        largest = np.maximum.accumulate(np.append(self.known.largest_weight, weights))[1:]
        self.known.largest_weight = float(largest[-1])
        return np.divide(weights, largest, out=np.zeros_like(weights), where=largest > 0.0)

    # Series, groups, blocks, times ------------------------------------------------------------------------------------

    def _special(self, frame: nw.DataFrame[Any] | None, which: str) -> Any:
        """Return a column that is not an expert; it must exist."""
        assert frame is not None  # arrays were refused
        column = self._find(frame, self.special[which])
        if column is None:
            raise ValueError(f"there is no column {self.special[which]!r} ({which}=) among {frame.columns!r}")
        return column

    @staticmethod
    def _find(frame: nw.DataFrame[Any] | None, name: Any) -> Any:
        """Return the column of this name, or None."""
        found = [] if frame is None else [column for column in frame.columns if flat_name(column) == name]
        return frame.get_column(found[0]).to_native() if frame is not None and found else None

    def _codes(self, frame: nw.DataFrame[Any] | None, n_rows: int, which: str, codes: dict[Any, int]) -> Integers:
        if which not in self.special:
            codes.setdefault(None, 0)
            return np.zeros(n_rows, dtype=np.int64)
        return coded(self._special(frame, which), codes, f"column {self.special[which]!r} ({which}=)")

    def _groups(self, frame: nw.DataFrame[Any] | None, n_rows: int, times: Times | None) -> Integers:
        if "group" not in self.special:
            return np.zeros(n_rows, dtype=np.int64)
        name = self.special["group"]
        if self._find(frame, name) is not None:
            return self._codes(frame, n_rows, "group", self.known.groups)
        part = calendar_part(name, times)
        if part is None:
            no_times = f", and no times to take the {name} from" if name in CALENDAR else ""
            names = None if frame is None else frame.columns
            raise ValueError(f"there is no column {name!r} (group=) among {names!r}{no_times}")
        return coded(part, self.known.groups, f"group={name!r}")

    def _times(self, frame: nw.DataFrame[Any] | None, learn: bool) -> Times | None:
        name = self.special.get("time")
        if name is not None and (learn or self._find(frame, name) is not None):  # to predict, times are not needed
            return times_of(self._special(frame, "time"), f"column {name!r} (time=)")
        index = None if frame is None else nw.maybe_get_index(frame)
        if index is not None and getattr(index, "dtype", np.dtype(int)).kind == "M":
            return times_of(index.to_series(), "the index")
        return None

    def _check_times(self, times: Times, series: Integers) -> None:
        """Times go up in each series, and go on from the last call."""
        order = np.argsort(series, kind="stable")
        sorted_series, keys = series[order], times.order[order]
        same = sorted_series[1:] == sorted_series[:-1]
        wrong = same & ~(keys[1:] > keys[:-1])
        heads = np.flatnonzero(np.append(True, ~same))
        for at in heads.tolist():
            code = int(sorted_series[at])
            last = self.known.last_time.get(code)
            if last is None:
                continue
            if (np.asarray(last).dtype.kind == "M") != (keys.dtype.kind == "M"):
                told = f"cannot be compared with {last}, of an earlier call: dates or numbers"
                raise ValueError(self._time_error(times, int(order[at]), code, told))
            if not keys[at] > last:
                raise ValueError(self._time_error(times, int(order[at]), code, "was there before, in an earlier call"))
        if wrong.any():
            at = int(wrong.argmax()) + 1
            again = "is there twice" if keys[at] == keys[at - 1] else f"comes after {times.shown[order[at - 1]]}"
            raise ValueError(self._time_error(times, int(order[at]), int(sorted_series[at]), again))
        ends = np.append(heads[1:], len(series)) - 1
        self.known.last_time.update(zip(sorted_series[ends].tolist(), keys[ends], strict=True))

    def _time_error(self, times: Times, row: int, code: int, what: str) -> str:
        label = next(label for label, each in self.known.series.items() if each == code)
        of_series = "" if "series" not in self.special else f" of series {label!r}"
        where = f"column {self.special['time']!r}" if "time" in self.special else "the index"
        return f"{where}: the time {times.shown[row]} of row {row}{of_series} {what}"

    def _blocks(self, frame: nw.DataFrame[Any] | None, series: Integers) -> Integers:
        labels: dict[Any, int] = {}
        codes = coded(self._special(frame, "block"), labels, f"column {self.special['block']!r} (block=)")
        names = list(labels)
        order = np.argsort(series, kind="stable")
        heads = order[np.flatnonzero(np.diff(series[order], prepend=-1))]
        tails = order[np.append(np.flatnonzero(np.diff(series[order])), len(order) - 1)]
        for row in heads.tolist():
            code = int(series[row])
            if code in self.known.last_block and self.known.last_block[code] == names[codes[row]]:
                raise ValueError(
                    f"row {row} goes on with block {names[codes[row]]!r}: hand in all rows of a block in one call"
                )
        self.known.last_block.update({int(series[row]): names[codes[row]] for row in tails.tolist()})
        return codes


def _row(row: int, times: Times | None) -> str:
    return f"row {row}" if times is None else f"row {row} ({times.shown[row]})"
