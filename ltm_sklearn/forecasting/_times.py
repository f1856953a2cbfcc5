"""Times of rows, from columns or indices of any library."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._frames import is_known, listed

#: Parts of a time by which rows can be grouped.
CALENDAR = ("hour", "weekday", "month")


class Times(NamedTuple):
    """Times of rows, as they are shown and as they are ordered."""

    shown: NDArray[Any]  #: datetime64 in local time, or numbers
    order: NDArray[Any]  #: the same in UTC, which goes up also where clocks are put back


def times_of(values: Any, what: str) -> Times:
    """Read times from a column or an index: datetimes with or without a time zone, dates as text, or numbers."""
    dtype = getattr(values, "dtype", None)
    arrow_zone = getattr(getattr(dtype, "pyarrow_dtype", None), "tz", None)
    if arrow_zone is not None:  # converting a column of Arrow in pandas would give UTC, not local time
        import pandas as pd

        values = values.astype(pd.DatetimeTZDtype("us", arrow_zone))
    if arrow_zone is not None or getattr(dtype, "tz", None) is not None:  # pandas
        accessor: Any = getattr(values, "dt", values)
        shown, order = accessor.tz_localize(None), accessor.tz_convert("UTC")
        order = getattr(order, "dt", order).tz_localize(None)
        times = Times(np.asarray(shown, dtype="datetime64[us]"), np.asarray(order, dtype="datetime64[us]"))
    else:
        aware = getattr(dtype, "time_zone", None) or getattr(getattr(values, "type", None), "tz", None)
        array = np.asarray(listed(values), dtype=object) if aware else np.asarray(values)  # polars, pyarrow
        times = _stamps(array, what) if array.dtype.kind in "OUT" else Times(array, array)
    kind = times.order.dtype.kind
    if kind not in "Miuf":
        raise ValueError(f"{what} has no times but {times.order.dtype}")
    missing = np.isnat(times.order) if kind == "M" else ~np.isfinite(times.order.astype(np.float64))
    if missing.any():
        raise ValueError(f"{what} has no time in row {int(missing.argmax())}")
    return times


def _stamps(values: NDArray[Any], what: str) -> Times:
    """Read dates as text or as objects of Python."""
    shown, order = [], []
    for row, value in enumerate(values.tolist()):
        if not is_known(value):
            raise ValueError(f"{what} has no time in row {row}")
        try:
            stamp = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
        except ValueError:
            raise ValueError(f"{what} has no time in row {row} but {value!r}") from None
        shown.append(stamp.replace(tzinfo=None))
        order.append(stamp.astimezone(UTC).replace(tzinfo=None) if stamp.tzinfo is not None else shown[-1])
    return Times(np.array(shown, dtype="datetime64[us]"), np.array(order, dtype="datetime64[us]"))


def calendar_part(name: Any, times: Times | None) -> NDArray[Any] | None:
    """Return the hour, weekday or month of each row; None for other names, or without times."""
    if name not in CALENDAR or times is None or times.shown.dtype.kind != "M":
        return None
    if name == "hour":
        return times.shown.astype("datetime64[h]").astype(np.int64) % 24
    if name == "month":
        return times.shown.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return (times.shown.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday; Monday is 0
