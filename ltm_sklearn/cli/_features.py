"""Numeric features from the columns of a file, computed without looking ahead.

A feature of a row depends on that row and on earlier rows only. Of the whole file only this is used: which columns hold
numbers, dates or text, which are constant, count the rows or hardly ever repeat a text, and which have missing values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..forecasting import CALENDAR
from ._tables import as_numbers, is_dates

MOST_CATEGORIES = 20  #: values of a text column that have a feature of their own: the first that occur
MOST_CLASSES_OF_NUMBERS = 20  #: distinct whole numbers that are still taken for classes
LARGEST_NUMBER = 1e30  #: larger numbers are taken for mistakes; forests cannot handle them


class ColumnEncoding(NamedTuple):
    """The features that were made of a column."""

    name: str
    kind: str  #: "numbers", "text", "dates", "flags" or "left out"
    description: str  #: how the column was used, for the report
    features: dict[str, Floats]  #: by name


def encode_columns(frame: Any, categories: Sequence[str]) -> tuple[Floats, list[str], list[ColumnEncoding]]:
    """Encode the columns of a pandas frame as numeric features; return these, their names, and the encodings.

    ``categories`` are columns of numbers that are encoded as text. Raises a ValueError that names column and row if a
    column of numbers holds something else, or if no feature is left.
    """
    columns = [_encode(str(name), frame[name], name in categories) for name in frame.columns]
    # not a dictionary: a column of the file may have the name of a feature that is made here
    names = [name for column in columns for name in column.features]
    if not names:
        reasons = "; ".join(f"{column.name!r}: {column.description}" for column in columns[:3])
        raise ValueError(f"no column is left to learn from ({reasons or 'the target is the only one'})")
    X = np.column_stack([values for column in columns for values in column.features.values()])
    return X, names, columns


def _encode(name: str, values: Any, is_category: bool) -> ColumnEncoding:
    pandas = import_extra("pandas", "CSV files")
    missing = values.isna().to_numpy()
    if missing.all():
        return ColumnEncoding(name, "left out", "empty", {})
    if values[~missing].nunique() == 1 and not missing.any():
        return ColumnEncoding(name, "left out", f"constant: {values.iloc[0]!s:.40}", {})
    if not is_category:
        if is_flags(values[~missing]):
            flags = values.astype(object).where(~missing, np.nan).to_numpy(dtype=np.float64)
            return _encode_numbers(name, flags, missing, "flags")
        numbers = as_numbers(values)
        if numbers is not None:
            return _encode_numbers(name, numbers, missing, "numbers")
        try:
            dates = values if is_dates(values) else pandas.to_datetime(values, format="ISO8601")
        except (ValueError, TypeError):
            check_not_mostly_numbers(values, name)
        else:
            return _encode_dates(name, dates, missing)
    return _encode_text(name, values, missing)


def check_not_mostly_numbers(values: Any, name: str) -> None:
    """Raise a ValueError if a column of text looks like a column of numbers with a few mistakes."""
    pandas = import_extra("pandas", "CSV files")
    known = values.notna().to_numpy()
    numbers = pandas.to_numeric(values, errors="coerce")
    text = known & numbers.isna().to_numpy()
    if text.sum() < 0.1 * known.sum() and numbers.nunique() > MOST_CLASSES_OF_NUMBERS:
        row = int(text.argmax())
        raise ValueError(
            f"column {name!r} holds numbers, but row {row} has {values.iloc[row]!r}: correct the cell, or empty it"
        )


def is_flags(values: Any) -> bool:
    """Return whether all values are true or false."""
    return all(isinstance(value, bool | np.bool_) for value in values)


def check_not_too_large(numbers: Floats, column: str) -> None:
    """Raise a ValueError if a column has a number that is too large; ``column`` names it in the message."""
    with np.errstate(invalid="ignore"):
        too_large = np.abs(numbers) > LARGEST_NUMBER
    if too_large.any():
        row = int(too_large.argmax())
        raise ValueError(
            f"column {column} has {numbers[row]:g} in row {row}; numbers must lie within ±{LARGEST_NUMBER:g}. "
            "Correct the cell, or empty it"
        )


def _encode_numbers(name: str, numbers: Floats, missing: NDArray[np.bool_], kind: str) -> ColumnEncoding:
    check_not_too_large(numbers, repr(name))
    if kind == "numbers" and len(numbers) > 2 and not missing.any() and (np.diff(numbers) == 1.0).all():
        return ColumnEncoding(name, "left out", "counts the rows", {})
    description = "unchanged" if kind == "numbers" else "as 0 and 1"
    features = {name: _forward_filled(numbers, missing)}
    if missing.any():
        features[f"{name} is missing"] = missing.astype(np.float64)
        description += f"; missing in {int(missing.sum()):,} rows: filled with the last known value, and flagged"
    return ColumnEncoding(name, kind, description, features)


def _forward_filled(numbers: Floats, missing: NDArray[np.bool_]) -> Floats:
    """Replace missing values by the last known one; by 0 before the first."""
    last = np.maximum.accumulate(np.where(missing, -1, np.arange(len(numbers))))
    return np.where(last >= 0, numbers[last], 0.0)


def _encode_dates(name: str, dates: Any, missing: NDArray[np.bool_]) -> ColumnEncoding:
    parts = {part: getattr(dates.dt, part).to_numpy(dtype=np.float64, na_value=np.nan) for part in CALENDAR}
    varying = {part: values for part, values in parts.items() if len(np.unique(values[~missing])) > 1}
    if not varying:
        return ColumnEncoding(name, "left out", "dates with one hour, weekday and month", {})
    features = {f"{part} of {name}": _forward_filled(values, missing) for part, values in varying.items()}
    return ColumnEncoding(name, "dates", ", ".join(varying), features)


def _encode_text(name: str, values: Any, missing: NDArray[np.bool_]) -> ColumnEncoding:
    """One-hot encode the first values that occur; all others share one feature."""
    pandas = import_extra("pandas", "CSV files")
    codes, labels = pandas.factorize(values.astype(object).where(~missing, "(missing)").astype(str))
    n_rows, n_labels = len(codes), len(labels)
    if n_labels > MOST_CATEGORIES and n_labels > n_rows / 2:
        return ColumnEncoding(name, "left out", f"text with {n_labels:,} different values in {n_rows:,} rows", {})
    shown = labels[:MOST_CATEGORIES].tolist()
    features = {f"{name} = {label}": (codes == at).astype(np.float64) for at, label in enumerate(shown)}
    description = f"{n_labels} values, one-hot encoded"
    if n_labels > MOST_CATEGORIES:
        features[f"{name}: another"] = (codes >= MOST_CATEGORIES).astype(np.float64)
        description = (
            f"{n_labels:,} values: one-hot encoded, with one feature for all after the first {MOST_CATEGORIES}"
        )
    return ColumnEncoding(name, "text", description, features)
