"""Time stamps of rows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

#: What groups may be made of times.
CALENDAR = ("hour", "weekday", "month")


class Times(NamedTuple):
    """Of rows."""

    shown: NDArray[Any]  #: datetime64, as the clock on the wall says it, or numbers
    order: NDArray[Any]  #: what goes up with time, also where clocks are put back


def times_of(values: Any, what: str) -> Times:
    """Times from a column or an index: datetimes, with or without a time zone, dates as text, or numbers."""
    zone = getattr(values, "tz", None) or getattr(getattr(values, "dt", None), "tz", None)
    if zone is not None:
        accessor: Any = getattr(values, "dt", values)
        shown, order = accessor.tz_localize(None), accessor.tz_convert("UTC")
        order = getattr(order, "dt", order).tz_localize(None)
        return Times(np.asarray(shown, dtype="datetime64[us]"), np.asarray(order, dtype="datetime64[us]"))
    array = np.asarray(values)
    if array.dtype.kind in "OUT":
        try:
            array = array.astype("datetime64[us]")
        except (TypeError, ValueError):
            raise ValueError(f"{what} has no times but {array[0]!r}") from None
    if array.dtype.kind not in "Miuf":
        raise ValueError(f"{what} has no times but {array.dtype}")
    missing = np.isnat(array) if array.dtype.kind == "M" else np.isnan(array.astype(np.float64))
    if missing.any():
        raise ValueError(f"{what} has no time in row {int(missing.argmax())}")
    return Times(array, array)


def calendar_part(name: Any, times: Times | None) -> NDArray[Any] | None:
    """The hour, weekday or month of each row; None if it is not that, or times are not known."""
    if name not in CALENDAR or times is None or times.shown.dtype.kind != "M":
        return None
    if name == "hour":
        return times.shown.astype("datetime64[h]").astype(np.int64) % 24
    if name == "month":
        return times.shown.astype("datetime64[M]").astype(np.int64) % 12 + 1
    return (times.shown.astype("datetime64[D]").astype(np.int64) + 3) % 7  # 1970-01-01 was a Thursday; Monday is 0
