"""Columns of frames: numbers, labels, and names of two levels."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .._frames import is_known
from .._typing import Floats, Integers


def flat_name(name: Any) -> Any:
    """Return the name of a column; of a name of two levels with an empty second one, the first level."""
    if isinstance(name, tuple) and len(name) > 1 and not any(str(part) for part in name[1:]):
        return name[0]
    return name


def quantile_of(output: Any, quantiles: Any) -> float:
    """Return the quantile to which a column belongs."""
    try:
        level = float(output)
    except (TypeError, ValueError):
        raise ValueError(f"columns must be pairs of expert and quantile; got {output!r} for a quantile") from None
    near = [float(each) for each in quantiles if abs(float(each) - level) < 1e-9]
    if not near:
        raise ValueError(f"there are forecasts of quantile {level}, which is none of {list(quantiles)!r}")
    return near[0]


def numeric_columns(frame: nw.DataFrame[Any], names: list[Any]) -> Floats:
    """Return columns as floats of shape (n_rows, n_columns), NaN where a value is missing.

    A value that is not a number raises a ValueError that names column and row.
    """
    if all(isinstance(name, str) for name in names):
        values = frame.select(names).to_numpy()
        if values.dtype.kind in "biuf":
            return values.astype(np.float64)
    return np.column_stack([_numeric_column(frame.get_column(name), name) for name in names])


def _numeric_column(column: nw.Series[Any], name: Any) -> Floats:
    values = column.to_numpy()
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    entries = column.to_list()
    for row, value in enumerate(entries):
        if is_known(value) and not isinstance(value, Real | Decimal):
            raise ValueError(f"column {name!r} is not numeric: row {row} has {value!r}")
    try:
        return np.array([float(value) if is_known(value) else np.nan for value in entries])
    except OverflowError as error:
        raise ValueError(f"column {name!r} has a number that is too large: {error}") from None


def codes_of(values: Any, codes: dict[Any, int], what: str) -> Integers:
    """Return the integer codes of labels; new labels are added to ``codes``."""
    array = np.asarray(values)
    try:
        unique, inverse = _factorised(array)
    except TypeError as error:  # lists, for example, or text beside numbers
        raise ValueError(f"{what} must hold text or numbers, all of one kind: {error}") from None
    for row_of, label in unique:
        if not is_known(label):
            raise ValueError(f"{what} has no value in row {row_of}")
    new = np.array([codes.setdefault(label, len(codes)) for _, label in unique], dtype=np.int64)
    return new[inverse]


def _factorised(array: NDArray[Any]) -> tuple[list[tuple[int, Any]], NDArray[np.intp]]:
    """Return the distinct labels with their first rows, in order of appearance, and the label number of each row."""
    if array.dtype.kind == "O":
        seen: dict[Any, tuple[int, int]] = {}
        inverse = np.array([seen.setdefault(label, (len(seen), row))[0] for row, label in enumerate(array.tolist())])
        return [(row, label) for label, (_, row) in seen.items()], inverse.astype(np.intp)
    values, first, inverse = np.unique(array, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    labels = values[order].tolist() if array.dtype.kind != "M" else list(values[order])
    return list(zip(first[order].tolist(), labels, strict=True)), place[inverse.ravel()]
