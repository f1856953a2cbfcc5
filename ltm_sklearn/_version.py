"""The version that is installed."""

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from ._optional import compiled

try:
    __version__ = version("ltm_sklearn")
except PackageNotFoundError:  # the sources, not installed
    __version__ = "0+unknown"


#: Besides Python and this package: what it needs, then its extras.
NEEDED = ("numpy", "scipy", "scikit-learn", "joblib", "narwhals")


EXTRAS = ("river", "pandas", "pyarrow", "polars", "matplotlib", "sktime", "rich", "skops", "jinja2")


def versions(packages: Sequence[str]) -> dict[str, str | None]:
    """Versions of this package, of Python and of others; None of what is not installed."""
    kernel = "" if compiled("_kernel", "ltm_sklearn.experts") is not None else " (without its compiled kernel)"
    return {
        "ltm_sklearn": __version__ + kernel,
        "Python": platform.python_version(),
        **{package: _version_of(package) for package in packages},
    }


def _version_of(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def show_versions() -> None:
    """Print what is installed: the first thing to put into a bug report.

    Examples
    --------
    >>> from ltm_sklearn import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    ltm_sklearn   ...
    """
    found = versions([*NEEDED, *EXTRAS])
    lines = {name: known or "absent" for name, known in found.items()}
    # The path shows whether the installed package or the source folder is imported.
    spec = find_spec("ltm_sklearn")
    lines |= {
        "imported from": str(spec.origin if spec else None),
        "executable": sys.executable,
        "system": platform.platform(),
    }
    width = max(map(len, lines)) + 1
    print("\n".join(f"{name:<{width}}{value}" for name, value in lines.items()))
