"""Online ensembles and model selection with long-term memory, for scikit-learn and River."""

from ._version import __version__, show_versions
from .engine import Snapshots
from .ensemble import LongTermMemoryClassifier, LongTermMemoryRegressor
from .forecasting import ExpertMixture

__all__ = [
    "ExpertMixture",
    "LongTermMemoryClassifier",
    "LongTermMemoryRegressor",
    "Snapshots",
    "__version__",
    "show_versions",
]
