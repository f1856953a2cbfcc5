"""The compiled kernels. Where the package was installed without them each is None, of which one warning tells."""

from __future__ import annotations

import warnings

from .._optional import compiled

kernel = compiled("_kernel", __package__)
if kernel is None:
    warnings.warn(
        "ltm_sklearn runs without its compiled kernel, many times slower: it was installed without a C compiler, "
        "or is imported from its source folder. Installing it again where a compiler is will mend that.",
        RuntimeWarning,
        stacklevel=2,
    )
