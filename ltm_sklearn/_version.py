"""Version of the installed package, and versions of its dependencies for bug reports."""

import platform
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec

from ._optional import import_kernel

try:
    __version__ = version("ltm_sklearn")
except PackageNotFoundError:  # source files without an installation
    __version__ = "0+unknown"


#: Packages that are always required.
REQUIRED = ("numpy", "scipy", "scikit-learn", "joblib", "narwhals")

#: Packages that the extras install.
EXTRAS = ("river", "pandas", "pyarrow", "polars", "matplotlib", "sktime", "rich", "skops", "jinja2")


def versions(packages: Sequence[str]) -> dict[str, str | None]:
    """Return the versions of this package, of Python and of the named packages; None if a package is not installed."""
    kernel = "" if import_kernel("_kernel", "ltm_sklearn.experts") is not None else " (without its compiled kernel)"
    return {
        "ltm_sklearn": __version__ + kernel,
        "Python": platform.python_version(),
        **{package: _version_of(package) for package in packages},
    }


def _version_of(package: str) -> str | None:
    """Return the version of a package; None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def show_versions() -> None:
    """Print the versions of the installed packages, for bug reports.

    Examples
    --------
    >>> from ltm_sklearn import show_versions
    >>> show_versions()  # doctest: +ELLIPSIS
    ltm_sklearn   ...
    """
    found = versions([*REQUIRED, *EXTRAS])
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
