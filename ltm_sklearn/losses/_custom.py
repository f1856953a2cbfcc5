"""Loss functions of anybody, called with care."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats

#: Losses beyond this are as good as this one; their differences stay finite.
LARGEST = 1e300

#: A prediction beyond so many times the largest target, or a sum of probabilities beyond it, is no answer.
ABSURD = 1e100


def checked(loss: Callable[..., Any], y: Any, predictions: Floats, name: str = "loss") -> Floats:
    """What a function returns, if it is one number a row."""
    try:
        values = np.asarray(loss(y, predictions), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} has failed, or has returned no numbers: {error}") from error
    if values.shape != y.shape:
        raise ValueError(f"{name} must return one value a row, shape {y.shape}; got shape {values.shape}")
    if np.isnan(values).any():  # which would pass for an expert that sleeps
        raise ValueError(f"{name} must return numbers; got NaN for row {int(np.isnan(values).argmax())}")
    return values


def within_floats(means: Floats) -> Floats:
    """Means of finite numbers: what rounding has put beyond the largest float is that float."""
    return np.clip(means, -sys.float_info.max, sys.float_info.max)


def bounded(values: Floats) -> Floats:
    """Values that can be subtracted from one another."""
    return np.clip(values, -LARGEST, LARGEST)
