"""What may be a label, and what a target."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from numbers import Real
from typing import Any

from .._river_models import is_known


def check_labels(y: Iterable[Any]) -> None:
    """Raise a ValueError that names a label that is missing or cannot be one."""
    for label in y:
        if not isinstance(label, Hashable):
            raise ValueError(f"the label is {label!r}, which is not hashable")
        if not is_known(label):
            raise ValueError(f"the label is {label!r}")


def check_numbers(y: Iterable[Any]) -> None:
    """Raise a ValueError that names a target that is no finite number."""
    for target in y:
        if not isinstance(target, Real) or not _is_finite(target):
            raise ValueError(f"the target is {target!r}")


def _is_finite(number: Any) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:  # a whole number beyond all floats
        return False
