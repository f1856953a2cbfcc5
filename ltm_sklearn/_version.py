"""The version that is installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("ltm_sklearn")
except PackageNotFoundError:  # the sources, not installed
    __version__ = "0+unknown"
