"""Online ensembles and model selection with long-term memory, for scikit-learn and River."""

from ._show_versions import show_versions
from ._version import __version__
from .ensemble import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor
from .memory import Snapshots

__all__ = [
    "ExpertMixture",
    "LongTermMemoryClassifier",
    "LongTermMemoryRegressor",
    "Snapshots",
    "__version__",
    "show_versions",
]
