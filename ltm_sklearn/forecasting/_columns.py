"""Columns of frames of any library: names, numbers, codes of labels."""

from __future__ import annotations

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._frames import is_known, listed
from .._typing import Floats, Integers


def flat_name(name: Any) -> Any:
    """Return the name of a column; the first level where the other levels are empty."""
    if isinstance(name, tuple) and len(name) > 1 and not any(str(part) for part in name[1:]):
        return name[0]
    return name


def quantile_of(output: Any, quantiles: Any) -> float:
    """Return the quantile that a column is of."""
    try:
        level = float(output)
    except (TypeError, ValueError):
        raise ValueError(f"columns must be pairs of expert and quantile; got {output!r} for a quantile") from None
    near = [float(each) for each in quantiles if abs(float(each) - level) < 1e-9]
    if not near:
        raise ValueError(f"there are forecasts of quantile {level}, which is none of {list(quantiles)!r}")
    return near[0]


def numbers_of(X: Any, name: Any) -> Floats:
    """Return a column of a frame as numbers; missing values are NaN."""
    column = X[name]
    try:
        if hasattr(column, "isna") and hasattr(column, "to_numpy"):  # pandas
            if column.dtype.kind not in "biuf":
                raise TypeError
            return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
        if hasattr(column, "cast") and hasattr(column, "null_count"):  # polars, pyarrow
            values = np.asarray(column.to_numpy())
        else:
            values = np.asarray(column)
        if values.dtype.kind not in "biuf":
            raise TypeError
        return values.astype(np.float64)
    except (TypeError, ValueError):
        values = listed(column)
        for row, value in enumerate(values):
            if is_known(value) and not isinstance(value, Real | Decimal):
                raise ValueError(f"column {name!r} is not numeric: row {row} has {value!r}") from None
        try:
            return np.array([float(value) if is_known(value) else np.nan for value in values])
        except OverflowError as error:
            raise ValueError(f"column {name!r} has a number that is too large: {error}") from None


def codes_of(values: Any, codes: dict[Any, int], what: str) -> Integers:
    """Return the codes of labels; new labels get new codes, which are added to ``codes``."""
    array = np.asarray(values)
    try:
        unique, inverse = _factorised(array)
    except TypeError as error:  # lists, say, or text beside numbers
        raise ValueError(f"{what} has values that are no labels: {error}") from None
    for row_of, label in unique:
        if not is_known(label):
            raise ValueError(f"{what} has no value in row {row_of}")
    new = np.array([codes.setdefault(label, len(codes)) for _, label in unique], dtype=np.int64)
    return new[inverse]


def _factorised(array: NDArray[Any]) -> tuple[list[tuple[int, Any]], NDArray[np.intp]]:
    """Return each label with its first row, in the order of these, and the position of each row's label among them."""
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
