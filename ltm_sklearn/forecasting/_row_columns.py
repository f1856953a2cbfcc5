"""Row columns: series, group, block and time of each row, from the columns of a frame that are no experts."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._frames import column_names
from .._typing import Integers
from ._columns import codes_of, flat_name
from ._labels import TableLabels
from ._times import CALENDAR, Times, calendar_part, times_of


class RowColumns:
    """Reads the columns that say which series, group, block and time a row is of.

    Parameters
    ----------
    labels : TableLabels
        Change.
    special : dict
        Names of these columns, by the names of their parameters.
    """

    def __init__(self, labels: TableLabels, special: dict[str, Any]) -> None:
        self.labels, self.special = labels, special

    def _column(self, X: Any, which: str) -> Any:
        name = self.special[which]
        found = [column for column in column_names(X) or [] if flat_name(column) == name]
        if not found:
            raise ValueError(f"there is no column {name!r} ({which}=) among {column_names(X)!r}")
        return X[found[0]]

    def _codes(self, X: Any, n_rows: int, which: str, codes: dict[Any, int]) -> Integers:
        if which not in self.special:
            codes.setdefault(None, 0)
            return np.zeros(n_rows, dtype=np.int64)
        return codes_of(self._column(X, which), codes, f"column {self.special[which]!r} ({which}=)")

    def series(self, X: Any, n_rows: int) -> Integers:
        """Return the code of the series of each row."""
        return self._codes(X, n_rows, "series", self.labels.series)

    def groups(self, X: Any, n_rows: int, times: Times | None) -> Integers:
        """Return the code of the group of each row, by a column or by a part of its time."""
        if "group" not in self.special:
            return np.zeros(n_rows, dtype=np.int64)
        name, names = self.special["group"], column_names(X)
        if any(flat_name(column) == name for column in names or []):
            return self._codes(X, n_rows, "group", self.labels.groups)
        derived = calendar_part(name, times)
        if derived is None:
            no_times = f", and no times to take the {name} from" if name in CALENDAR else ""
            raise ValueError(f"there is no column {name!r} (group=) among {names!r}{no_times}")
        return codes_of(derived, self.labels.groups, f"group={name!r}")

    def times(self, X: Any, learn: bool) -> Times | None:
        """Return the times of the rows, from a column or from the index; to predict, they are not needed."""
        names = column_names(X)
        there = any(flat_name(column) == self.special.get("time", names) for column in names or [])
        if "time" in self.special and (there or learn):
            return times_of(self._column(X, "time"), f"column {self.special['time']!r} (time=)")
        if names is not None and hasattr(X, "index") and getattr(X.index, "dtype", np.dtype(int)).kind == "M":
            return times_of(X.index, "the index")
        return None

    def check_order(self, times: Times, series: Integers) -> None:
        """Check that times go up in each series, also from the last call to this one; remember the last times."""
        order = np.argsort(series, kind="stable")
        sorted_series, keys = series[order], times.order[order]
        same = sorted_series[1:] == sorted_series[:-1]
        heads = np.flatnonzero(np.append(True, ~same))
        for at in heads.tolist():
            last = self.labels.last_time.get(int(sorted_series[at]))
            if last is None:
                continue
            if (np.asarray(last).dtype.kind == "M") != (keys.dtype.kind == "M"):
                problem = f"cannot be compared with {last}, of an earlier call: dates or numbers"
                raise ValueError(self._time_error(times, series, int(order[at]), problem))
            if not keys[at] > last:
                problem = "was there before, in an earlier call"
                raise ValueError(self._time_error(times, series, int(order[at]), problem))
        wrong = same & ~(keys[1:] > keys[:-1])
        if wrong.any():
            at = int(wrong.argmax()) + 1
            problem = "is there twice" if keys[at] == keys[at - 1] else f"comes after {times.shown[order[at - 1]]}"
            raise ValueError(self._time_error(times, series, int(order[at]), problem))
        ends = np.append(heads[1:], len(series)) - 1
        self.labels.last_time.update(zip(sorted_series[ends].tolist(), keys[ends], strict=True))

    def _time_error(self, times: Times, series: Integers, row: int, problem: str) -> str:
        label = next(label for label, code in self.labels.series.items() if code == series[row])
        of_series = "" if "series" not in self.special else f" of series {label!r}"
        where = f"column {self.special['time']!r}" if "time" in self.special else "the index"
        return f"{where}: the time {times.shown[row]} of row {row}{of_series} {problem}"

    def blocks(self, X: Any, series: Integers) -> Integers | None:
        """Return a number for each row that changes where a block ends; None if no column says so."""
        if "block" not in self.special:
            return None
        labels: dict[Any, int] = {}
        codes = codes_of(self._column(X, "block"), labels, f"column {self.special['block']!r} (block=)")
        names = list(labels)
        order = np.argsort(series, kind="stable")
        heads = order[np.flatnonzero(np.diff(series[order], prepend=-1))]
        tails = order[np.append(np.flatnonzero(np.diff(series[order])), len(order) - 1)]
        last_block = self.labels.last_block
        for row in heads.tolist():
            code = int(series[row])
            if code in last_block and last_block[code] == names[codes[row]]:
                raise ValueError(
                    f"row {row} goes on with block {names[codes[row]]!r}: hand in all rows of a block in one call"
                )
        last_block.update({int(series[row]): names[codes[row]] for row in tails.tolist()})
        return codes
