"""Classes and functions by name: of the packages that are known here, and of those that the caller trusts."""

from __future__ import annotations

import copy
import sys
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable
from importlib import import_module
from types import BuiltinFunctionType, FunctionType
from typing import Any

from ._errors import BadFile

#: Their objects are made as pickle makes them, by ``__new__`` and their state, and written as plain values. skops would
#: lose what River keeps in dictionaries: their keys ``False`` and ``None``, functions inside of classes, cycles.
PACKAGES = ("ltm_sklearn", "river", "sktime", "skbase")

#: Modules of these that nothing in a file may name: they read files, or open what was pickled.
_APART = (
    "ltm_sklearn.cli",
    "ltm_sklearn.distributed._bench",
    "ltm_sklearn.distributed._remote",
    "ltm_sklearn.persistence",
    "river.checks",
    "river.datasets",
    "river.stream",
    "sktime.datasets",
)

#: Packages whose methods may be bound: the others have some that open what was pickled.
_CALLABLE = ("ltm_sklearn", "river")

#: Where the functions are that models hold: they compute, and do nothing else.
_COMPUTING = ("ltm_sklearn.experts", "ltm_sklearn.losses", "river")

#: But for these, which show, convert and run models.
_RUNNING = (
    "river.api",
    "river.bandit.evaluate",
    "river.base",
    "river.compat",
    "river.evaluate",
    "river.time_series.evaluate",
    "river.tree.viz",
    "river.utils.param_grid",
    "river.utils.pretty",
)

#: Modules whose methods are not bound: they call whatever they are given.
_CALLERS = ("ltm_sklearn.engine._model_calls", "ltm_sklearn.distributed")

#: Of Python's own, what occurs as a value: factories of default dictionaries, what River's text features call.
_PYTHONS = (
    bool,
    int,
    float,
    str,
    bytes,
    list,
    tuple,
    dict,
    set,
    Counter,
    OrderedDict,
    defaultdict,
    deque,
    copy.deepcopy,
)
OF_PYTHON: dict[str, Any] = {f"{thing.__module__}:{thing.__qualname__}": thing for thing in _PYTHONS}
OF_PYTHON["builtins:str.lower"] = str.lower

#: Of scikit-learn, what is no estimator and in them: which metadata they ask for.
_OF_SKLEARN = tuple(f"sklearn.utils._metadata_requests:{name}" for name in ("MetadataRequest", "MethodMetadataRequest"))

#: Objects of these are made by a call, as they have no other way. None does more than to take its values.
CALLED = frozenset(
    [
        "river._river_rust.vectordict:VectorDict",
        "river.time_series.holt_winters:AdditiveLevel",
        "river.time_series.holt_winters:AdditiveSeason",
        "river.time_series.holt_winters:MultiplicativeLevel",
        "river.time_series.holt_winters:MultiplicativeSeason",
        "river.time_series.holt_winters:Trend",
    ]
)


def has_shell(node: list[Any]) -> bool:
    """Whether the object of a node can be referred to before its parts are there."""
    kind = node[0]
    return kind not in ("tuple", "frozenset", "made", "method", "called") and not (kind == "built" and node[2])


def name_of(thing: Any) -> str | None:
    """Of a class or function that can be found again by its name; None if it cannot."""
    if thing is str.lower:  # which does not know its module
        return "builtins:str.lower"
    module, path = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str):
        return None
    try:
        return f"{module}:{path}" if _found(module, path) is thing else None
    except (ImportError, AttributeError):
        return None


def is_known(name: str) -> bool:
    """Whether a name is in one of the packages, or one of Python's that occur as values."""
    return name in OF_PYTHON or name in _OF_SKLEARN or name.partition(":")[0].partition(".")[0] in PACKAGES


def untrusted(names: Iterable[str], trusted: Collection[str]) -> set[str]:
    """Those names that may not be used, as a caller would write them."""
    dotted = {name: name.replace(":", ".") for name in names if not is_known(name)}
    return {told for name, told in dotted.items() if told not in trusted and not _is_estimator(*_parted(name))}


def looked_up(name: str, trusted: Collection[str]) -> Any:
    """The class or function of this name, which is not untrusted. Imports its module, and runs nothing else."""
    if name in OF_PYTHON:
        return OF_PYTHON[name]
    module, path = _parted(name)
    parts = [*([] if module == "__main__" else module.split(".")), *path.split(".")]  # a script, or a notebook
    if not all(part.isidentifier() and not part.startswith("__") for part in parts):
        raise BadFile(f"{name!r} is no name of a class or function")
    try:
        thing = _found(module, path)
    except (ImportError, AttributeError):
        told = "another version has written it, or it is not installed"
        raise BadFile(f"there is no {module}.{path} here: {told}") from None
    if not isinstance(thing, type | FunctionType | BuiltinFunctionType):
        raise BadFile(f"{module}.{path} is neither a class nor a function")
    if (thing.__module__, thing.__qualname__) != (module, path):
        raise BadFile(f"{module}.{path} is defined elsewhere, as {thing.__module__}.{thing.__qualname__}")
    is_trusted = f"{module}.{path}" in trusted
    is_let_in = isinstance(thing, type) or (_is_within(module, _COMPUTING) and not _is_within(module, _RUNNING))
    if not is_trusted and (_is_within(module, _APART) or not is_let_in):
        raise BadFile(f"it has {module}.{path}, which no model needs: look at it, and name it in trusted=")
    if not is_trusted and _loads_more(thing):
        raise BadFile(f"it has {module}.{path}, which loads more than its values: look at it, and name it in trusted=")
    return thing


def _parted(name: str) -> tuple[str, str]:
    module, _, path = name.partition(":")
    return module, path


def may_be_bound(function: FunctionType, trusted: Collection[str]) -> bool:
    """Whether a method may be an attribute: of the packages, or of a class that is trusted."""
    module, path = function.__module__, function.__qualname__
    is_trusted = f"{module}.{path.rpartition('.')[0]}" in trusted or f"{module}.{path}" in trusted
    is_known = module == "random" or _is_callable(module)  # River's clusters draw by Random.gauss
    return is_trusted or (is_known and not _is_within(module, _APART))


def _is_callable(module: str) -> bool:
    """Whether its methods may be bound."""
    return module.partition(".")[0] in _CALLABLE and not _is_within(module, _CALLERS)


def _is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in packages)


def _loads_more(thing: Any) -> bool:
    """Whether it is a class of sktime with a way of its own to come back: some of these load networks."""
    own = getattr(thing, "__setstate__", None) if isinstance(thing, type) else None
    return (getattr(own, "__module__", None) or "").partition(".")[0] in ("sktime", "skbase")


def _is_estimator(module: str, path: str) -> bool:
    """Whether it is an estimator of scikit-learn, which skops trusts as well."""
    if not module.startswith("sklearn."):
        return False
    from sklearn.base import BaseEstimator

    try:
        thing = _found(module, path)
    except (ImportError, AttributeError):
        return False
    return isinstance(thing, type) and issubclass(thing, BaseEstimator)


def _found(module: str, path: str) -> Any:
    thing: Any = sys.modules.get(module)
    if thing is None:
        thing = import_module(module)
    for part in path.split("."):
        thing = getattr(thing, part)
    return thing
