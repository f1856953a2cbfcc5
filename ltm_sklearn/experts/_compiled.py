"""The compiled kernel, or None with one warning where the package was installed without it."""

from __future__ import annotations

import warnings
from types import ModuleType

kernel: ModuleType | None
try:
    from . import _kernel as kernel
except ImportError:
    kernel = None
    warnings.warn(
        "ltm_sklearn runs without its compiled kernel, many times slower: it was installed without a C compiler, "
        "or is imported from its source folder. Installing it again where a compiler is will mend that.",
        RuntimeWarning,
        stacklevel=2,
    )
