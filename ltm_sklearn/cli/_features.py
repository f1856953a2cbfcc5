"""Columns of a file as numbers that models can learn from, without a look ahead.

What a row is made of depends on that row and those before it alone. Of the whole file only this is used: which columns
hold numbers, dates or text, which never change, count the rows or hardly ever have the same text twice, and which have
missing values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..forecasting import CALENDAR

MOST_VALUES = 20  #: of a column of text that have a column of their own: the first that come
MOST_WHOLE = 20  #: different whole numbers that may still be names of classes
LARGEST = 1e30  #: numbers beyond it are mistakes, and forests could not take them


class Column(NamedTuple):
    """What became of a column."""

    name: str
    kind: str  #: "numbers", "text", "dates", "flags"; "left out"
    what: str  #: in words
    features: dict[str, Floats]  #: by name


class Features(NamedTuple):
    """All of them."""

    X: Floats
    names: list[str]
    columns: list[Column]


def features_of(frame: Any, as_text: list[str]) -> Features:
    """Raises a ValueError that names the column and the row if a number is none, or if nothing is left."""
    columns = [_column(str(name), frame[name], name in as_text) for name in frame.columns]
    # a column of the file may be called as one that is made here, hence no dictionary
    names = [name for column in columns for name in column.features]
    if not names:
        why = "; ".join(f"{column.name!r}: {column.what}" for column in columns[:3])
        raise ValueError(f"no column is left to learn from ({why or 'the target is the only one'})")
    return Features(np.column_stack([each for column in columns for each in column.features.values()]), names, columns)


def _column(name: str, values: Any, is_text: bool) -> Column:
    missing = values.isna().to_numpy()
    if missing.all():
        return Column(name, "left out", "empty", {})
    if values[~missing].nunique() == 1 and not missing.any():
        return Column(name, "left out", f"the same everywhere: {_shown(values.iloc[0])}", {})
    if not is_text:
        if values.dtype.kind == "M" or getattr(values.dtype, "tz", None) is not None:
            return _dates(name, values, missing)
        numbers, kind = _as_numbers(values, missing)
        if numbers is not None:
            return _numbers(name, numbers, missing, kind)
        dates = _as_dates(values)
        if dates is not None:
            return _dates(name, dates, missing)
        check_no_numbers(values, name)
    return _text(name, values, missing)


def check_no_numbers(values: Any, name: str) -> None:
    """Raise a ValueError if a column of text is one of numbers in which a few are mistaken."""
    pandas = import_extra("pandas", "CSV files")
    known = values.notna().to_numpy()
    numbers = pandas.to_numeric(values, errors="coerce")
    text = known & numbers.isna().to_numpy()
    if text.sum() < 0.1 * known.sum() and numbers.nunique() > MOST_WHOLE:
        row = int(text.argmax())
        raise ValueError(
            f"column {name!r} holds numbers, but row {row} has {values.iloc[row]!r}: mend it, or leave it empty"
        )


def _as_numbers(values: Any, missing: NDArray[np.bool_]) -> tuple[Floats | None, str]:
    """Numbers, or flags as 0 and 1; None for text."""
    pandas = import_extra("pandas", "CSV files")
    if all(isinstance(value, bool | np.bool_) for value in values[~missing]):
        return np.where(missing, np.nan, values.astype(object).where(~missing, False).astype(float)), "flags"
    try:
        return pandas.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan), "numbers"
    except (ValueError, TypeError):
        return None, "text"


def _as_dates(values: Any) -> Any:
    """Dates as ISO 8601 has them; None if some value is none."""
    pandas = import_extra("pandas", "CSV files")
    try:
        return pandas.to_datetime(values, format="ISO8601")
    except (ValueError, TypeError):
        return None


def _numbers(name: str, numbers: Floats, missing: NDArray[np.bool_], kind: str) -> Column:
    with np.errstate(invalid="ignore"):
        far = np.abs(numbers) > LARGEST
    if far.any():
        row = int(far.argmax())
        raise ValueError(f"column {name!r} has {numbers[row]:g} in row {row}, which is no sensible number: --drop it?")
    if kind == "numbers" and len(numbers) > 2 and not missing.any() and (np.diff(numbers) == 1.0).all():
        return Column(name, "left out", "it counts the rows", {})
    words = "as they are" if kind == "numbers" else "as 0 and 1"
    features = {name: _filled(numbers, missing)}
    if missing.any():
        features[f"{name} is missing"] = missing.astype(np.float64)
        words += f"; missing in {int(missing.sum()):,} rows: the last known one, and a column that says so"
    return Column(name, kind, words, features)


def _filled(numbers: Floats, missing: NDArray[np.bool_]) -> Floats:
    """The last known value in place of a missing one; 0 before the first."""
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(numbers))))
    return np.where(last >= 0, numbers[last], 0.0)


def _dates(name: str, dates: Any, missing: NDArray[np.bool_]) -> Column:
    parts = {part: getattr(dates.dt, part).to_numpy(dtype=np.float64, na_value=np.nan) for part in CALENDAR}
    known = {part: values for part, values in parts.items() if len(np.unique(values[~missing])) > 1}
    if not known:
        return Column(name, "left out", "dates whose hour, weekday and month never change", {})
    features = {f"{part} of {name}": _filled(values, missing) for part, values in known.items()}
    return Column(name, "dates", f"their {', '.join(known)}", features)


def _text(name: str, values: Any, missing: NDArray[np.bool_]) -> Column:
    """A column for each of the first values that come, and one for all others."""
    pandas = import_extra("pandas", "CSV files")
    codes, labels = pandas.factorize(values.astype(object).where(~missing, "(missing)").astype(str))
    n_rows, n_labels = len(codes), len(labels)
    if n_labels > MOST_VALUES and n_labels > n_rows / 2:
        return Column(name, "left out", f"text with {n_labels:,} different values in {n_rows:,} rows", {})
    shown = labels[:MOST_VALUES].tolist()
    features = {f"{name} = {label}": (codes == at).astype(np.float64) for at, label in enumerate(shown)}
    words = f"{n_labels} values, a column of 0 and 1 each"
    if n_labels > MOST_VALUES:
        features[f"{name}: another"] = (codes >= MOST_VALUES).astype(np.float64)
        words = f"{n_labels:,} values: a column each for the first {MOST_VALUES} that come, one for all others"
    return Column(name, "text", words, features)


def _shown(value: Any) -> str:
    return str(value) if len(str(value)) <= 40 else f"{str(value)[:39]}…"
