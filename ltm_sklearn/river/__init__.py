"""The same estimators for River: ``learn_one``, ``predict_one``, any models of River as experts."""

try:
    import river as _  # noqa: F401
except ImportError:
    raise ImportError("ltm_sklearn.river needs River: pip install 'ltm_sklearn[river]'") from None

from ._bandit_policy import BanditPolicy
from ._estimators import LongTermMemoryClassifier, LongTermMemoryRegressor
from ._expert_policy import ExpertPolicy
from ._forecaster import LongTermMemoryForecaster
from ._from_sklearn import FromSklearnClassifier, FromSklearnRegressor
from ._selection import ExpertSelectionClassifier, ExpertSelectionRegressor

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
