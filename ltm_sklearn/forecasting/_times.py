"""Times of rows, and parts of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .._frames import is_known

#: Parts of a time that may serve as groups.
CALENDAR = ("hour", "weekday", "month")


class Times(NamedTuple):
    """The times of rows, twice: to show, and to compare."""

    shown: NDArray[Any]  #: datetime64 in local time, or numbers
    order: NDArray[Any]  #: datetime64 in UTC, or numbers: these increase even when clocks are set back


def times_of(values: Any, what: str) -> Times:
    """Parse times: datetimes with or without a time zone, dates as text, or numbers.

    Parameters
    ----------
    values : series of pandas, Polars or pyarrow, or array
    what : str
        What an error message calls the values.
    """
    column = nw.from_native(values, series_only=True, pass_through=True)
    dtype = getattr(column, "dtype", None)
    if isinstance(dtype, nw.Datetime) and dtype.time_zone is not None:
        local, utc = column.dt.replace_time_zone(None), column.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        times = Times(local.to_numpy().astype("datetime64[us]"), utc.to_numpy().astype("datetime64[us]"))
    else:
        array = np.asarray(values)
        times = _parse_dates(array, what) if array.dtype.kind in "OUT" else Times(array, array)
    kind = times.order.dtype.kind
    if kind not in "Miuf":
        raise ValueError(f"{what} must hold times; it has the type {times.order.dtype}")
    missing = np.isnat(times.order) if kind == "M" else ~np.isfinite(times.order.astype(np.float64))
    if missing.any():
        raise ValueError(f"{what} has no time in row {int(missing.argmax())}")
    return times


def _parse_dates(values: NDArray[Any], what: str) -> Times:
    """Parse ISO 8601 text, or datetime objects of Python."""
    shown, order = [], []
    for row, value in enumerate(values.tolist()):
        if not is_known(value):
            raise ValueError(f"{what} has no time in row {row}")
        try:
            stamp = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f"{what} has {value!r} in row {row}, which is not a time") from None
        shown.append(stamp.replace(tzinfo=None))
        order.append(stamp.astimezone(UTC).replace(tzinfo=None) if stamp.tzinfo is not None else shown[-1])
    return Times(np.array(shown, dtype="datetime64[us]"), np.array(order, dtype="datetime64[us]"))


def calendar_part(name: Any, times: Times | None) -> NDArray[Any] | None:
    """Return the hour, weekday or month of each row; None if ``name`` is another name, or if there are no dates."""
    if name not in CALENDAR or times is None or times.shown.dtype.kind != "M":
        return None
    if name == "hour":
        return times.shown.astype("datetime64[h]").astype(np.int64) % 24
    if name == "month":
        return times.shown.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return (times.shown.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday; Monday is 0
