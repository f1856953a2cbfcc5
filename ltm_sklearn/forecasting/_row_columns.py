"""Row columns: series, group, block and time of each row, from the columns of a frame that are no experts."""

from __future__ import annotations

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np

from .._typing import Integers
from ._columns import codes_of, flat_name
from ._labels import TableLabels
from ._times import CALENDAR, Times, calendar_part, times_of


class RowColumns:
    """Reads the series, group, block and time of rows, and adds new ones to the labels.

    ``special`` are the names of these columns, by the names of their parameters.
    """

    def __init__(self, labels: TableLabels, special: dict[str, Any]) -> None:
        self.labels, self.special = labels, special

    def _find(self, frame: nw.DataFrame[Any] | None, which: str) -> Any:
        """Return the column that a parameter names; None if there is none."""
        names = [] if frame is None else frame.columns
        found = [name for name in names if flat_name(name) == self.special[which]]
        return frame.get_column(found[0]).to_native() if frame is not None and found else None

    def _column(self, frame: nw.DataFrame[Any] | None, which: str) -> Any:
        """Return the column that a parameter names, which must exist."""
        assert frame is not None  # arrays were refused
        column = self._find(frame, which)
        if column is None:
            raise ValueError(f"there is no column {self.special[which]!r} ({which}=) among {frame.columns!r}")
        return column

    def _codes(self, frame: nw.DataFrame[Any] | None, n_rows: int, which: str, codes: dict[Any, int]) -> Integers:
        if which not in self.special:
            codes.setdefault(None, 0)
            return np.zeros(n_rows, dtype=np.int64)
        return codes_of(self._column(frame, which), codes, f"column {self.special[which]!r} ({which}=)")

    def series(self, frame: nw.DataFrame[Any] | None, n_rows: int) -> Integers:
        """Return the code of the series of each row."""
        return self._codes(frame, n_rows, "series", self.labels.series)

    def groups(self, frame: nw.DataFrame[Any] | None, n_rows: int, times: Times | None) -> Integers:
        """Return the code of the group of each row, by a column or by a part of its time."""
        if "group" not in self.special:
            return np.zeros(n_rows, dtype=np.int64)
        name = self.special["group"]
        if self._find(frame, "group") is not None:
            return self._codes(frame, n_rows, "group", self.labels.groups)
        part = calendar_part(name, times)
        if part is None:
            names = None if frame is None else frame.columns
            no_times = f", and no times to take the {name} from" if name in CALENDAR else ""
            raise ValueError(f"there is no column {name!r} (group=) among {names!r}{no_times}")
        return codes_of(part, self.labels.groups, f"group={name!r}")

    def times(self, frame: nw.DataFrame[Any] | None, learn: bool) -> Times | None:
        """Return the times of the rows, from a column or from the index; to predict, they are not needed."""
        if "time" in self.special and (learn or self._find(frame, "time") is not None):
            return times_of(self._column(frame, "time"), f"column {self.special['time']!r} (time=)")
        index = None if frame is None else nw.maybe_get_index(frame)
        if index is not None and getattr(index, "dtype", np.dtype(int)).kind == "M":
            return times_of(index.to_series(), "the index")
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

    def blocks(self, frame: nw.DataFrame[Any] | None, series: Integers) -> Integers | None:
        """Return a number for each row that changes where a block ends; None if no column says so."""
        if "block" not in self.special:
            return None
        labels: dict[Any, int] = {}
        codes = codes_of(self._column(frame, "block"), labels, f"column {self.special['block']!r} (block=)")
        names = list(labels)
        order = np.argsort(series, kind="stable")
        heads = order[np.flatnonzero(np.diff(series[order], prepend=-1))]
        tails = order[np.append(np.flatnonzero(np.diff(series[order])), len(order) - 1)]
        last_block = self.labels.last_block
        for row in heads.tolist():
            code = int(series[row])
            if code in last_block and last_block[code] == names[codes[row]]:
                raise ValueError(
                    f"row {row} goes on with block {names[codes[row]]!r}: pass all rows of a block in one call"
                )
        last_block.update({int(series[row]): names[codes[row]] for row in tails.tolist()})
        return codes
