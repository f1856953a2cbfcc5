"""Prequential evaluation of models on streams, oracles in hindsight, and a score of quantile forecasts."""

from . import oracles
from ._baselines import LastTarget as LastTarget
from ._baselines import MostFrequent as MostFrequent
from ._baselines import RunningMean as RunningMean
from ._crps import crps
from ._difference import Difference
from ._display import PrequentialDisplay
from ._prequential import prequential
from ._result import PrequentialResult
from ._resumption import checksum as checksum
from ._text_table import format_table as format_table

# Names that are imported "as" themselves are for the other packages of ltm_sklearn.
__all__ = ["Difference", "PrequentialDisplay", "PrequentialResult", "crps", "oracles", "prequential"]
