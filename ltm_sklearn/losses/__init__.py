"""From targets and predictions to losses in [0, 1], which is what the expert algorithms learn from.

Two kinds of scores share their methods, so that the engine need not know which it has:
:class:`ClassScore` knows the range of its losses beforehand, :class:`TargetScore` learns it on the way.
"""

from ._classes import (
    CLASS_LOSSES,
    ROUNDING_OF_PROBABILITIES,
    SAFE_MARGIN,
    SMALLEST_PROBABILITY,
    ClassScore,
    brier,
    log,
    zero_one,
)
from ._names import loss_name
from ._numbers import (
    LOSSES,
    ROUNDING_OF_MIXTURE,
    Absolute,
    Huber,
    LogCosh,
    OutputLosses,
    Percentage,
    Pinball,
    RegressionLoss,
    Squared,
)
from ._own import LARGEST
from ._seen import SeenRange
from ._targets import FADING, MARGIN, RANGE_GROWTH, LossRange, TargetScore

__all__ = [
    "CLASS_LOSSES",
    "FADING",
    "LARGEST",
    "LOSSES",
    "MARGIN",
    "RANGE_GROWTH",
    "ROUNDING_OF_MIXTURE",
    "ROUNDING_OF_PROBABILITIES",
    "SAFE_MARGIN",
    "SMALLEST_PROBABILITY",
    "Absolute",
    "ClassScore",
    "Huber",
    "LogCosh",
    "LossRange",
    "OutputLosses",
    "Percentage",
    "Pinball",
    "RegressionLoss",
    "SeenRange",
    "Squared",
    "TargetScore",
    "brier",
    "log",
    "loss_name",
    "zero_one",
]
