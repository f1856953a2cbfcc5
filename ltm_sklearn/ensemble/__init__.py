"""scikit-learn estimators: an online ensemble with long-term memory, and what helps its experts follow a stream."""

from .._failures import ExpertWarning
from .._shown import ExpertSummary
from ._classifier import LongTermMemoryClassifier
from ._from_river import FromRiverClassifier, FromRiverRegressor
from ._mixture import ExpertMixture
from ._pipeline import IncrementalPipeline
from ._regressor import LongTermMemoryRegressor
from ._window import SlidingWindow

__all__ = [
    "ExpertMixture",
    "ExpertSummary",
    "ExpertWarning",
    "FromRiverClassifier",
    "FromRiverRegressor",
    "IncrementalPipeline",
    "LongTermMemoryClassifier",
    "LongTermMemoryRegressor",
    "SlidingWindow",
]
