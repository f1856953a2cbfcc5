"""The logger ``ltm_sklearn``, and warnings that point to the caller's code."""

from __future__ import annotations

import logging
import sys
import warnings

logger = logging.getLogger("ltm_sklearn")
logger.addHandler(logging.NullHandler())  # handlers and levels are up to the application

#: Frames of these packages are skipped: a warning is shown at the line that called this package.
INTERNAL_PACKAGES = (__name__.partition(".")[0], "contextlib")


def issue_warning(message: str, category: type[Warning]) -> None:
    """Issue a warning at the innermost line outside this package."""
    level, frame = 2, sys._getframe(1).f_back
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in INTERNAL_PACKAGES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)


def warn_user(message: str, category: type[Warning]) -> None:
    """Log a warning and issue it."""
    logger.warning(message)
    issue_warning(message, category)
