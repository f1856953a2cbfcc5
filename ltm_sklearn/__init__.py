"""Online ensembles and model selection with long-term memory, for scikit-learn and River."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ltm_sklearn")
except PackageNotFoundError:  # the sources, not installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
