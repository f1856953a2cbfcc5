"""Estimators, forecasters and bandit policies for River: ensembles with long-term memory over River's models."""

try:
    import river as _  # noqa: F401
except ImportError:
    raise ImportError("ltm_sklearn.river needs River: pip install 'ltm_sklearn[river]'") from None

from ._bandit_policy import BanditPolicy
from ._classifier import LongTermMemoryClassifier
from ._expert_policy import ExpertPolicy
from ._expert_selection import ExpertSelectionClassifier, ExpertSelectionRegressor
from ._forecaster import LongTermMemoryForecaster
from ._from_sklearn import FromSklearnClassifier, FromSklearnRegressor
from ._regressor import LongTermMemoryRegressor

__all__ = [
    "BanditPolicy",
    "ExpertPolicy",
    "ExpertSelectionClassifier",
    "ExpertSelectionRegressor",
    "FromSklearnClassifier",
    "FromSklearnRegressor",
    "LongTermMemoryClassifier",
    "LongTermMemoryForecaster",
    "LongTermMemoryRegressor",
]
