"""From targets and predictions to losses in [0, 1], which is what the expert algorithms learn from.

Public are the losses of forecasts. Underneath, two kinds of scores share their methods, so that the engine need not
know which it has: ``ClassScore`` knows the range of its losses beforehand, ``TargetScore`` learns it on the way.
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
