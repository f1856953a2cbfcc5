"""Losses: from targets and predictions to losses in [0, 1], from which the expert algorithms learn.

The public names are losses of real predictions. Inside the package, ``ClassScore`` scores class probabilities, whose
losses have a known range, and ``TargetScore`` scores real predictions, whose range is learned. The two have the same
methods.
"""

from ._numbers import (
    LOSSES,
    AbsoluteError,
    AbsolutePercentageError,
    Huber,
    LogCosh,
    Pinball,
    RegressionLoss,
    SquaredError,
)

__all__ = [
    "LOSSES",
    "AbsoluteError",
    "AbsolutePercentageError",
    "Huber",
    "LogCosh",
    "Pinball",
    "RegressionLoss",
    "SquaredError",
]
