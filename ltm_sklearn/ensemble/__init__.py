"""scikit-learn estimators: an online ensemble with long-term memory, and what helps its experts follow a stream."""

from ..engine import ExpertSummary, ExpertWarning
from ._classifier import LongTermMemoryClassifier
from ._from_river import FromRiverClassifier, FromRiverRegressor
from ._pipeline import IncrementalPipeline
from ._regressor import LongTermMemoryRegressor
from ._window import SlidingWindow

__all__ = [
    "ExpertSummary",
    "ExpertWarning",
    "FromRiverClassifier",
    "FromRiverRegressor",
    "IncrementalPipeline",
    "LongTermMemoryClassifier",
    "LongTermMemoryRegressor",
    "SlidingWindow",
]

# for the other packages
from ._from_river import as_sklearn_model as as_sklearn_model
from ._parameters import check_frozen as check_frozen
from ._parameters import check_is_estimator as check_is_estimator
from ._parameters import pairs_of as pairs_of
from ._pools import classifiers as classifiers
from ._pools import regressors as regressors
from ._routing import takes_sample_weight as takes_sample_weight
from ._skin import SklearnModels as SklearnModels
from ._validation import is_frozen as is_frozen
from ._validation import takes_nan as takes_nan
