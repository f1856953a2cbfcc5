"""Single values: whether they are there, and whether they are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Real
from typing import Any

import numpy as np

from .experts._validation import Floats

#: What ``float`` takes though it is no number, or only with a warning.
_NO_NUMBERS = (str, bytes, complex, np.complexfloating, np.ma.MaskedArray)


def is_known(value: Any) -> bool:
    """Whether a value is there: neither None nor NaN, nor what pandas has for them."""
    if value is None:
        return False
    try:
        return bool(value == value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return False
    except Exception:  # an array or a column, which compares item by item
        return True


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, of Python or of NumPy."""
    try:
        return isinstance(value, Real) and not isinstance(value, np.timedelta64) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


def as_numbers(answer: Any) -> Floats:
    """A fresh array of what a model predicts, NaN where it is masked; what are no real numbers is an error."""
    if isinstance(answer, np.ma.MaskedArray):
        answer = np.ma.filled(answer.astype(np.float64), np.nan)
    if isinstance(answer, list):  # of single answers, which may be masked, or of rows of them
        try:
            answer = [as_number(each) for each in answer]
        except TypeError:
            rows = list, tuple, np.ndarray
            answer = [as_numbers(each) if isinstance(each, rows) else as_number(each) for each in answer]
    array = np.asarray(answer)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"its predictions are of type {array.dtype}, not numbers")
    return np.array(array, dtype=np.float64)  # a model may change later what it has returned


def as_number(answer: Any) -> float:
    """One of them."""
    return float(as_numbers(answer)) if isinstance(answer, _NO_NUMBERS) else float(answer)


def check_hashable(values: Iterable[Any], what: str) -> None:
    """Raise a ValueError that names one by which nothing could be known again."""
    for value in values:
        try:
            hash(value)
        except TypeError:  # not told by its type: a tuple may hold a list
            raise ValueError(f"{what} {value!r} is not hashable: nothing could be known by it") from None
