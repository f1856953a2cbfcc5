"""The one channel for what is worth knowing of a run: the standard logger ``ltm_sklearn``."""

from __future__ import annotations

import logging
import warnings

logger = logging.getLogger("ltm_sklearn")
logger.addHandler(logging.NullHandler())  # what is heard, and where, is up to the application


def warn_of(message: str, category: type[Warning], stacklevel: int) -> None:
    """Log a warning, and issue it; ``stacklevel`` as if the caller did."""
    logger.warning(message)
    warnings.warn(message, category, stacklevel=stacklevel + 1)
