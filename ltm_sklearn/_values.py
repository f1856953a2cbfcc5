"""Single values: whether they are there, and whether they are numbers."""

from __future__ import annotations

import math
from numbers import Real
from typing import Any


def is_known(value: Any) -> bool:
    """Whether a value is there: neither None nor NaN, nor what pandas has for them."""
    if value is None:
        return False
    try:
        return bool(value == value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return False
    except ValueError:  # an array, which compares item by item
        return True


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, of Python or of NumPy."""
    try:
        return isinstance(value, Real) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False
