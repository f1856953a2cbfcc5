"""Forecasters of sktime as experts: a forecaster of our own, and weights for sktime's ``OnlineEnsembleForecaster``."""

try:
    import sktime as _  # noqa: F401
except ImportError:
    raise ImportError("ltm_sklearn.sktime needs sktime: pip install 'ltm_sklearn[sktime]'") from None

from ._ensemble_algorithm import LongTermMemoryEnsemble
from ._forecaster import LongTermMemoryForecaster

__all__ = ["LongTermMemoryEnsemble", "LongTermMemoryForecaster"]
