"""Models side by side on a stream: test, then train; scores, what changes cost, regret, and a picture.

Also :mod:`~ltm_sklearn.evaluation.oracles`, what could have been reached in hindsight, and a score of quantiles.
"""

from . import oracles
from ._crps import crps
from ._difference import Difference
from ._display import PrequentialDisplay
from ._prequential import prequential
from ._result import PrequentialResult

__all__ = ["Difference", "PrequentialDisplay", "PrequentialResult", "crps", "oracles", "prequential"]

# for the other packages
from ._baselines import LastTarget as LastTarget
from ._baselines import MostFrequent as MostFrequent
from ._baselines import RunningMean as RunningMean
from ._resuming import checksum as checksum
