"""Classes and functions of this package by name, for files that hold objects of them."""

from __future__ import annotations

import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from pkgutil import walk_packages
from types import FunctionType
from typing import Any

from sklearn.base import BaseEstimator
from sklearn.utils._metadata_requests import MetadataRequest, MethodMetadataRequest

from ._archive import BadFileError

PACKAGE = __name__.partition(".")[0]
_HEAP_TYPE = 1 << 9  #: flag of a class that a ``class`` statement has made, not C


def is_own(thing: Any) -> bool:
    """Return whether a class or function is defined in this package, and found there by its name."""
    module = getattr(thing, "__module__", None)
    if not isinstance(module, str) or module.partition(".")[0] != PACKAGE:
        return False
    return _at(sys.modules.get(module), thing.__qualname__) is thing


def has_plain_state(kind: type) -> bool:
    """Return whether ``__getstate__`` has all of an object: no part of it is a builtin container or compiled."""
    return all(base is object or base.__flags__ & _HEAP_TYPE for base in kind.__mro__)


def name_of(thing: type | FunctionType) -> str:
    """Return the name under which :func:`find_own` finds a class or function."""
    return f"{thing.__module__}:{thing.__qualname__}"


def is_taken_apart(thing: Any) -> bool:
    """Return whether an object of scikit-learn is written as this package's objects are.

    These are estimators with one of this package among their parameters, and, since they refer to each other, which
    skops cannot write, estimators that request metadata and their requests.
    """
    if not _is_of_sklearn(type(thing)):
        return False
    is_estimator = isinstance(thing, BaseEstimator) and not hasattr(thing, "_metadata_request")
    return not is_estimator or any(is_own(type(value)) for value in thing.get_params().values())


def _is_of_sklearn(kind: Any) -> bool:
    in_sklearn = isinstance(kind, type) and kind.__module__.partition(".")[0] == "sklearn"
    return in_sklearn and issubclass(kind, BaseEstimator | MetadataRequest | MethodMetadataRequest)


def find_class(name: str) -> Any:
    """Return a class of this package, or one of scikit-learn that is written likewise, by its name in a file."""
    module, _, path = name.partition(":")
    if module.partition(".")[0] == "sklearn":
        with suppress(ImportError):
            if _is_of_sklearn(found := _at(import_module(module), path)):
                return found
    found = find_own(name)
    if not isinstance(found, type):
        raise BadFileError(f"it has an object of {name!r}, which is no class")
    return found


@cache
def find_own(name: str) -> Any:
    """Return a class or function of this package by its name in a file.

    Modules may have moved since the file was written: what is not in its module is looked for in all of them.
    """
    module, _, path = name.partition(":")
    if module.partition(".")[0] == PACKAGE:
        with suppress(ImportError):
            if is_own(found := _at(import_module(module), path)):
                return found
        everywhere = {id(found): found for each in _modules() if is_own(found := _at(each, path))}
        folder = module.split(".")[:2]  # estimators for River have the names of those for scikit-learn
        near = [found for found in everywhere.values() if found.__module__.split(".")[:2] == folder]
        for candidates in (near, [*everywhere.values()]):
            if len(candidates) == 1:
                return candidates[0]
    raise BadFileError(f"it has an object of {name!r}, which this version of ltm_sklearn does not know")


def _at(module: Any, path: str) -> Any:
    thing = module
    for part in path.split("."):
        thing = getattr(thing, part, None)
    return thing


def _modules() -> list[Any]:
    """Import and return all modules of this package whose dependencies are installed."""
    found = []
    for module in walk_packages(sys.modules[PACKAGE].__path__, f"{PACKAGE}."):
        with suppress(ImportError):
            if not module.name.endswith("__main__"):
                found.append(import_module(module.name))
    return found
