"""Losses: from targets and predictions to losses in [0, 1], from which the expert algorithms learn.

The public names are losses of real predictions. Inside the package, ``ClassificationScore`` scores class probabilities,
whose losses have a known range, and ``RegressionScore`` scores real predictions, whose range is learned. The two have
the same methods.
"""

from ._regression_losses import (
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

# for the other packages
from ._classification_score import ROUNDING_OF_PROBABILITIES as ROUNDING_OF_PROBABILITIES
from ._classification_score import SAFE_MARGIN as SAFE_MARGIN
from ._classification_score import SMALLEST_PROBABILITY as SMALLEST_PROBABILITY
from ._classification_score import ClassificationScore as ClassificationScore
from ._classification_score import brier as brier
from ._classification_score import log_loss as log_loss
from ._classification_score import zero_one as zero_one
from ._custom import IMPLAUSIBLE as IMPLAUSIBLE
from ._custom import LARGEST as LARGEST
from ._custom import clip_large as clip_large
from ._custom import clip_to_floats as clip_to_floats
from ._names import loss_name as loss_name
from ._range_tracker import ObservedRange as ObservedRange
from ._regression_losses import ROUNDING_OF_MIXTURE as ROUNDING_OF_MIXTURE
from ._regression_losses import OutputLosses as OutputLosses
from ._regression_losses import deviation_from_mixture as deviation_from_mixture
from ._regression_score import FADING as FADING
from ._regression_score import MARGIN as MARGIN
from ._regression_score import RANGE_GROWTH as RANGE_GROWTH
from ._regression_score import LossRange as LossRange
from ._regression_score import RegressionScore as RegressionScore
