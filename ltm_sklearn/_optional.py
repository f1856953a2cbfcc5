"""Parts that may be absent: optional dependencies and compiled kernels."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType
from typing import Any


def import_extra(module: str, what: str, extra: str = "pandas") -> Any:
    """An optional dependency, or an error that says how to get it."""
    try:
        return import_module(module)
    except ImportError:
        raise ImportError(f"{what} need {module.partition('.')[0]}: pip install 'ltm_sklearn[{extra}]'") from None


def compiled(name: str, package: str | None) -> ModuleType | None:
    """The kernel of that name in a package, if there is one."""
    try:
        return import_module(f"{package}.{name}")
    except ImportError:
        return None
