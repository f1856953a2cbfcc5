"""From targets and predictions to losses in [0, 1], which is what the expert algorithms learn from.

Public are the losses of forecasts. Underneath, two kinds of scores share their methods, so that the engine need not
know which it has: ``ClassificationScore`` knows the range of its losses beforehand, ``RegressionScore`` learns it.
"""

from ._regression_losses import LOSSES, Absolute, Huber, LogCosh, Percentage, Pinball, RegressionLoss, Squared

__all__ = ["LOSSES", "Absolute", "Huber", "LogCosh", "Percentage", "Pinball", "RegressionLoss", "Squared"]

# for the other packages
from ._classification import ROUNDING_OF_PROBABILITIES as ROUNDING_OF_PROBABILITIES
from ._classification import SAFE_MARGIN as SAFE_MARGIN
from ._classification import SMALLEST_PROBABILITY as SMALLEST_PROBABILITY
from ._classification import ClassificationScore as ClassificationScore
from ._classification import brier as brier
from ._classification import log as log
from ._classification import zero_one as zero_one
from ._custom import ABSURD as ABSURD
from ._custom import LARGEST as LARGEST
from ._custom import bounded as bounded
from ._custom import within_floats as within_floats
from ._names import loss_name as loss_name
from ._range_tracker import SeenRange as SeenRange
from ._regression import FADING as FADING
from ._regression import MARGIN as MARGIN
from ._regression import RANGE_GROWTH as RANGE_GROWTH
from ._regression import LossRange as LossRange
from ._regression import RegressionScore as RegressionScore
from ._regression_losses import ROUNDING_OF_MIXTURE as ROUNDING_OF_MIXTURE
from ._regression_losses import OutputLosses as OutputLosses
from ._regression_losses import apart as apart
