"""scikit-learn estimators: online ensembles with long-term memory, sliding windows, incremental pipelines."""

from ..engine import ExpertSummary, ExpertWarning
from ._classifier import LongTermMemoryClassifier
from ._from_river import FromRiverClassifier, FromRiverRegressor
from ._incremental_pipeline import IncrementalPipeline
from ._regressor import LongTermMemoryRegressor
from ._sliding_window import SlidingWindow

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
from ._default_pools import classifiers as classifiers
from ._default_pools import regressors as regressors
from ._from_river import as_sklearn_model as as_sklearn_model
from ._metadata_routing import takes_sample_weight as takes_sample_weight
from ._models_adapter import SklearnModelsAdapter as SklearnModelsAdapter
from ._named_estimators import named_pairs as named_pairs
from ._parameters import check_frozen as check_frozen
from ._parameters import check_is_estimator as check_is_estimator
from ._validation import is_frozen as is_frozen
from ._validation import takes_nan as takes_nan
