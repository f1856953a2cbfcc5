"""Imports of modules that may be missing: optional dependencies and compiled kernels."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


def import_extra(module: str, what: str, extra: str = "pandas") -> Any:
    """Import an optional dependency; if it is missing, raise an ImportError with the command that installs it.

    ``what`` is the subject of the message, in the plural.
    """
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{what} need {module.partition('.')[0]}: pip install 'ltm_sklearn[{extra}]'") from None


def import_kernel(name: str, package: str | None) -> ModuleType | None:
    """Import the compiled kernel ``name`` of a package; return None if it was not compiled."""
    try:
        return import_module(f"{package}.{name}")
    except ImportError:
        return None
