"""The compiled kernels. Each is None where the package was installed without a C compiler; one warning says so."""

from __future__ import annotations

import warnings

from .._optional import compiled

kernel = compiled("_kernel", __package__)
if kernel is None:
    warnings.warn(
        "ltm_sklearn runs without its compiled kernels, many times slower. It was installed without a C compiler, or "
        "Python imports the source folder instead of the installed package. Install it where there is a C compiler; "
        "to work on its sources, install it editable, as CONTRIBUTING.md shows.",
        RuntimeWarning,
        stacklevel=2,
    )
