"""Custom loss functions: calls that check what they return, and limits that keep differences of losses finite."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats

#: Losses are clipped to this size, so that their differences stay finite.
LARGEST = 1e300

#: Predictions above this multiple of the largest target count as missing, and so do probabilities whose sum exceeds it.
IMPLAUSIBLE = 1e100


def call_loss(loss: Callable[..., Any], y: Any, predictions: Floats, name: str = "loss") -> Floats:
    """Call a loss, or a method of it, and check that it returns one number per row."""
    try:
        values = np.asarray(loss(y, predictions), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} failed, or returned something other than numbers: {error}") from error
    if values.shape != y.shape:
        raise ValueError(f"{name} must return one value per row, shape {y.shape}; got shape {values.shape}")
    if np.isnan(values).any():  # NaN would mean that the expert sleeps
        raise ValueError(f"{name} must return numbers; got NaN for row {int(np.isnan(values).argmax())}")
    return values


def clip_to_floats(means: Floats) -> Floats:
    """Clip means of finite numbers to the largest float, which rounding may exceed."""
    return np.clip(means, -sys.float_info.max, sys.float_info.max)


def clip_large(values: Floats) -> Floats:
    """Clip values to ``±LARGEST``, so that their differences stay finite."""
    return np.clip(values, -LARGEST, LARGEST)
