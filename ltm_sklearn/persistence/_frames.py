"""Tables and times of pandas, polars and pyarrow as plain values. Their libraries are imported when a file has them."""

from __future__ import annotations

import io
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np


def parts_of(thing: Any) -> tuple[str, tuple[Any, ...]] | None:
    """The name of its kind in a file, and the values that it is made of; None if it is none of these."""
    library = type(thing).__module__.partition(".")[0]
    if library not in ("pandas", "polars", "pyarrow"):
        return None
    return (_parts_of_pandas if library == "pandas" else _parts_of_arrow)(thing, import_module(library))


def _parts_of_pandas(thing: Any, pd: Any) -> tuple[str, tuple[Any, ...]] | None:
    kind = type(thing)
    if kind is pd.DataFrame:
        kinds = {*thing.dtypes}
        if len(kinds) == 1 and isinstance(kinds.pop(), np.dtype):  # as it lies in memory, which sums depend on
            return "pandas frame", (thing.to_numpy(), thing.index, thing.columns)
        columns = [_values(thing.iloc[:, at]) for at in range(thing.shape[1])]
        return "pandas columns", (columns, thing.index, thing.columns)
    if kind is pd.Series:
        return "pandas series", (_values(thing), thing.index, thing.name)
    if kind is pd.RangeIndex:
        return "pandas range", (thing.start, thing.stop, thing.step, thing.name)
    if kind is pd.MultiIndex:
        return "pandas levels", (list(thing.levels), [np.array(codes) for codes in thing.codes], list(thing.names))
    if isinstance(thing, pd.Index):
        return "pandas index", (_values(thing), thing.name, getattr(thing, "freq", None))
    if isinstance(thing, pd.api.extensions.ExtensionArray):
        return _parts_of_array(thing, pd)
    if kind is pd.Timestamp:
        return "pandas time", (thing.tz_localize(None).asm8 if thing.tz is None else thing.asm8, thing.tz)
    if kind is pd.Timedelta:
        return "pandas span", (thing.asm8,)
    if kind is pd.Period:
        return "pandas period", (thing.ordinal, thing.freqstr)
    if isinstance(thing, pd.offsets.BaseOffset):
        return "pandas offset", (thing.freqstr,)
    return ("pandas missing", (thing is pd.NaT,)) if thing is pd.NaT or thing is pd.NA else None


def _values(thing: Any) -> Any:
    """Of a series or index, NumPy's array where it is one."""
    return thing.to_numpy() if isinstance(thing.dtype, np.dtype) else thing.array


def _parts_of_array(array: Any, pd: Any) -> tuple[str, tuple[Any, ...]]:
    dtype = array.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "pandas categories", (np.array(array.codes), dtype.categories, dtype.ordered)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "pandas zoned times", (np.array(array.asi8), dtype.unit, dtype.tz)
    if isinstance(dtype, pd.PeriodDtype):
        return "pandas periods", (np.array(array.asi8), array.freqstr)
    missing = array.isna()
    return "pandas array", ([None if no else each for no, each in zip(missing, array, strict=True)], str(dtype))


def _parts_of_arrow(thing: Any, library: Any) -> tuple[str, tuple[Any, ...]] | None:
    buffer = io.BytesIO()
    if library.__name__ == "polars" and type(thing) is library.DataFrame:
        thing.write_ipc(buffer)
        return "polars frame", (buffer.getvalue(),)
    if library.__name__ == "pyarrow" and type(thing) is library.Table:
        with import_module("pyarrow.ipc").new_stream(buffer, thing.schema) as stream:
            stream.write_table(thing)
        return "pyarrow table", (buffer.getvalue(),)
    return None


def _pd() -> Any:
    return import_module("pandas")


def _index(values: Any, name: Any, freq: Any) -> Any:
    index = _pd().Index(values, name=name)
    if freq is not None and hasattr(index, "_with_freq") and index.freq != freq:
        index.freq = freq
    return index


def _columns(columns: list[Any], index: Any, names: Any) -> Any:
    frame = _pd().DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


def _levels(levels: Any, codes: Any, names: Any) -> Any:
    return _pd().MultiIndex(levels, codes, names=names, verify_integrity=True)


def _time(moment: Any, zone: Any) -> Any:
    time = _pd().Timestamp(moment)
    return time if zone is None else time.tz_localize("UTC").tz_convert(zone)


def _zoned(numbers: Any, unit: str, zone: Any) -> Any:
    times = _pd().Series(numbers.view(f"M8[{unit}]"))
    return times.dt.tz_localize("UTC").dt.tz_convert(zone).array


def _periods(ordinals: Any, freq: str) -> Any:
    return _pd().PeriodIndex.from_ordinals(ordinals, freq=freq).array


#: How one is made, by the name in a file.
MADE_OF_FRAMES: dict[str, Callable[..., Any]] = {
    "pandas frame": lambda values, index, names: _pd().DataFrame(values, index, names, copy=False),
    "pandas columns": _columns,
    "pandas series": lambda values, index, name: _pd().Series(values, index, name=name, copy=False),
    "pandas range": lambda start, stop, step, name: _pd().RangeIndex(start, stop, step, name=name),
    "pandas levels": _levels,
    "pandas index": _index,
    "pandas categories": lambda codes, names, ordered: _pd().Categorical.from_codes(codes, names, ordered=ordered),
    "pandas zoned times": _zoned,
    "pandas periods": _periods,
    "pandas array": lambda values, dtype: _pd().array(values, dtype=dtype),
    "pandas time": _time,
    "pandas span": lambda span: _pd().Timedelta(span),
    "pandas period": lambda ordinal, freq: _pd().Period(ordinal=ordinal, freq=freq),
    "pandas offset": lambda freq: import_module("pandas.tseries.frequencies").to_offset(freq),
    "pandas missing": lambda is_time: _pd().NaT if is_time else _pd().NA,
    "polars frame": lambda data: import_module("polars").read_ipc(io.BytesIO(data)),
    "pyarrow table": lambda data: import_module("pyarrow.ipc").open_stream(data).read_all(),
}
