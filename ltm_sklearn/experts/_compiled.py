"""The compiled kernel of the expert algorithms, and for which algorithms it may run the rounds."""

from __future__ import annotations

import warnings
from typing import Any

from .._optional import import_kernel
from ._base import ExpertAlgorithm

#: None where the package was installed without a C compiler; one warning says so.
kernel = import_kernel("_kernel", __package__)
if kernel is None:
    warnings.warn(
        "ltm_sklearn runs without its compiled kernels, many times slower. It was installed without a C compiler, or "
        "Python imports the source folder instead of the installed package. Install it where there is a C compiler; "
        "to work on its sources, install it editable, as CONTRIBUTING.md shows.",
        RuntimeWarning,
        stacklevel=2,
    )


def rule_is_changed(algorithm: Any, base: type) -> bool:
    """Return whether a subclass outside the package of ``base`` defines private names, perhaps another update rule."""
    package = base.__module__.rpartition(".")[0]
    classes = (cls for cls in type(algorithm).__mro__ if issubclass(cls, base))
    foreign = (cls for cls in classes if not cls.__module__.startswith(f"{package}."))
    names = (name for cls in foreign for name in vars(cls) if name != "_abc_impl")
    return any(name.startswith("_") and not name.startswith("__") for name in names)


def kernel_of(algorithm: ExpertAlgorithm) -> Any:
    """Return the compiled kernel, or None if a subclass outside this package may have changed the update rule."""
    return None if rule_is_changed(algorithm, ExpertAlgorithm) else kernel
