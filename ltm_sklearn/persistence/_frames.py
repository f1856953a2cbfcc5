"""Tables and times of pandas, polars and pyarrow as plain values. Their libraries are imported when a file has them."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import tzinfo
from importlib import import_module
from typing import Any

import numpy as np

from ._errors import BadFile

#: Bytes of an item of an array, at most: a file could name a dtype of some gigabytes.
_MOST_BYTES = 64


def taking(make: Callable[..., Any], *kinds: Any) -> Callable[..., Any]:
    """The same, but of parts of these kinds only: of a range in the place of a list it would make an endless one."""

    def made(*parts: Any) -> Any:
        wrong = [part for part, kind in zip(parts, kinds, strict=False) if not isinstance(part, kind)]
        if wrong or len(parts) > len(kinds):
            raise BadFile(f"a value is made of other things than it should: {[type(part).__name__ for part in parts]}")
        return make(*parts)

    return made


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
    if kind is pd.Interval:
        return "pandas interval", (thing.left, thing.right, thing.closed)
    if kind is pd.Period:
        return "pandas period", (thing.ordinal, thing.freqstr)
    if isinstance(thing, pd.offsets.BaseOffset):
        return ("pandas offset", (thing.freqstr,)) if _is_said(thing) else None
    return ("pandas missing", (thing is pd.NaT,)) if thing is pd.NaT or thing is pd.NA else None


def _values(thing: Any) -> Any:
    """Of a series or index, NumPy's array where it is one."""
    return thing.to_numpy() if isinstance(thing.dtype, np.dtype) else thing.array


def _is_said(offset: Any) -> bool:
    """Whether its name says all of it: not its holidays, say."""
    try:
        return bool(_offset(offset.freqstr) == offset)
    except (ValueError, NotImplementedError):
        return False


def _offset(freq: str) -> Any:
    return import_module("pandas.tseries.frequencies").to_offset(freq)


def _parts_of_array(array: Any, pd: Any) -> tuple[str, tuple[Any, ...]] | None:
    dtype = array.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "pandas categories", (np.array(array.codes), dtype.categories, dtype.ordered)
    if isinstance(dtype, pd.DatetimeTZDtype):
        return "pandas zoned times", (np.array(array.asi8), dtype.unit, dtype.tz)
    if isinstance(dtype, pd.PeriodDtype):
        return "pandas periods", (np.array(array.asi8), array.freqstr)
    if pd.api.types.pandas_dtype(str(dtype)) != dtype:
        return None
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


def _check_column(values: Any, n_rows: int | None = None) -> None:
    """Raise an error if these are not all there: of one number, or a range, pandas makes as many as an index claims."""
    is_array = isinstance(values, np.ndarray | _pd().api.extensions.ExtensionArray)
    if not is_array or values.ndim != 1 or (n_rows is not None and len(values) != n_rows):
        raise BadFile("a column or index has other values than it should")


def _check_indices(*indices: Any) -> None:
    if not all(isinstance(index, _pd().Index) for index in indices):
        raise BadFile("the rows or columns of a table have no index")


def _index(values: Any, name: Any, freq: Any) -> Any:
    _check_column(values)
    index = _pd().Index(values, name=name)
    if isinstance(freq, _pd().offsets.BaseOffset) and hasattr(index, "_with_freq") and index.freq != freq:
        index.freq = freq
    return index


def _frame(values: Any, index: Any, names: Any) -> Any:
    _check_indices(index, names)
    if values.shape != (len(index), len(names)):
        raise BadFile("a table has another size than it says")
    return _pd().DataFrame(values, index, names, copy=False)


def _columns(columns: list[Any], index: Any, names: Any) -> Any:
    _check_indices(index, names)
    for column in columns:
        _check_column(column, len(index))
    frame = _pd().DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = names
    return frame


def _series(values: Any, index: Any, name: Any) -> Any:
    _check_indices(index)
    _check_column(values, len(index))
    return _pd().Series(values, index, name=name, copy=False)


def _levels(levels: Any, codes: Any, names: Any) -> Any:
    _check_indices(*levels)
    for each in codes:
        _check_column(each)
    return _pd().MultiIndex(levels, codes, names=names, verify_integrity=True)


def _categories(codes: Any, names: Any, ordered: Any) -> Any:
    _check_indices(names)
    return _pd().Categorical.from_codes(codes, names, ordered=ordered)


def _array(values: list[Any], name: str) -> Any:
    dtype = _pd().api.types.pandas_dtype(name)
    item = getattr(dtype, "subtype", dtype)
    if isinstance(item, np.dtype) and item.itemsize > _MOST_BYTES:
        raise BadFile(f"an array has items of {item.itemsize} bytes")
    if any(hasattr(value, "__iter__") and not isinstance(value, str | bytes) for value in values):
        raise BadFile("an array of pandas has other items than single values")
    return _pd().array(values, dtype=dtype)


def _time(moment: Any, zone: Any) -> Any:
    time = _pd().Timestamp(moment)
    return time if zone is None else time.tz_localize("UTC").tz_convert(zone)


def _zoned(numbers: Any, unit: str, zone: Any) -> Any:
    times = _pd().Series(numbers.view(f"M8[{unit}]"))
    return times.dt.tz_localize("UTC").dt.tz_convert(zone).array


def _periods(ordinals: Any, freq: str) -> Any:
    return _pd().PeriodIndex.from_ordinals(ordinals, freq=freq).array


def _range(start: int, stop: int, step: int, name: Any) -> Any:
    return _pd().RangeIndex(start, stop, step, name=name)


_INTEGERS = (int, np.integer)
_ZONES = (tzinfo, type(None))

#: How one is made, by the name in a file.
MADE_OF_FRAMES: dict[str, Callable[..., Any]] = {
    "pandas frame": taking(_frame, np.ndarray, object, object),
    "pandas columns": taking(_columns, list, object, object),
    "pandas series": taking(_series, object, object, object),
    "pandas range": taking(_range, _INTEGERS, _INTEGERS, _INTEGERS, object),
    "pandas levels": taking(_levels, list, list, list),
    "pandas index": taking(_index, object, object, object),
    "pandas categories": taking(_categories, np.ndarray, object, object),
    "pandas zoned times": taking(_zoned, np.ndarray, str, tzinfo),
    "pandas periods": taking(_periods, np.ndarray, str),
    "pandas array": taking(_array, list, str),
    "pandas time": taking(_time, np.datetime64, _ZONES),
    "pandas span": taking(lambda span: _pd().Timedelta(span), np.timedelta64),
    "pandas interval": taking(lambda left, right, closed: _pd().Interval(left, right, closed), object, object, str),
    "pandas period": taking(lambda ordinal, freq: _pd().Period(ordinal=ordinal, freq=freq), _INTEGERS, str),
    "pandas offset": taking(_offset, str),
    "pandas missing": lambda is_time: _pd().NaT if is_time else _pd().NA,
    "polars frame": taking(lambda data: import_module("polars").read_ipc(io.BytesIO(data)), bytes),
    "pyarrow table": taking(lambda data: import_module("pyarrow.ipc").open_stream(data).read_all(), bytes),
}
