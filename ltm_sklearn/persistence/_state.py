"""State of this package's objects as plain JSON and arrays, and back.

Each container, array and object is a node: a list of its kind and its content. A reference to a node is a list of its
number, so that an object with several references stays one object. Immutable values stand where they are used. Objects
of other libraries become nodes of kind "model", which :mod:`._models` writes.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from datetime import date, datetime
from importlib import import_module
from math import isfinite
from operator import attrgetter
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ._archive import BadFileError
from ._arrays import ArrayReader, ArrayWriter, is_storable

_PACKAGE = __name__.partition(".")[0]
_HEAP_TYPE = 1 << 9  #: flag of a class that a ``class`` statement has made, not C
_BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


def _timestamp(text: str) -> Any:
    moment, unit, zone = text.split(" ", 2)
    timestamp = import_module("pandas").Timestamp(moment).as_unit(unit)
    return timestamp if zone == "None" else timestamp.tz_localize("UTC").tz_convert(zone)


#: Labels of series and blocks, and paths, are written as text: how, and how it is read.
_AS_TEXT: dict[str, tuple[Callable[[Any], str], Callable[[str], Any]]] = {
    "date": (date.isoformat, date.fromisoformat),
    "datetime": (datetime.isoformat, datetime.fromisoformat),
    "Timestamp": (lambda timestamp: f"{timestamp.asm8} {timestamp.unit} {timestamp.tz}", _timestamp),
    type(Path()).__name__: (str, Path),
}


class StateWriter:
    """Turn objects into nodes."""

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.arrays = ArrayWriter()
        self.models: list[tuple[str, Any]] = []  #: objects of other libraries, each with the path that leads to it
        self._numbers: dict[int, int] = {}  #: of nodes, by the id of the object
        self._kept: list[Any] = []  #: objects stay alive, so that no other gets the id of one
        self._path: list[str] = []

    def value(self, obj: Any, step: str = "") -> Any:
        """Return an object as a value in JSON; ``step`` is the attribute or item that led to it."""
        kind = type(obj)
        if obj is None or kind is str or kind is int or kind is bool:
            return obj
        if kind is float:
            return obj if isfinite(obj) else ["float", repr(obj)]
        if id(obj) in self._numbers:
            return [self._numbers[id(obj)]]
        self._path.append(step)
        written = self._immutable(obj, kind)
        if written is None:
            number = self._numbers[id(obj)] = len(self.nodes)
            self._kept.append(obj)
            self.nodes.append([])
            self.nodes[number] = self._node(obj, kind)
            written = [number]
        self._path.pop()
        return written

    def _values(self, objects: Any) -> list[Any]:
        return [self.value(obj, f"[{at}]") for at, obj in enumerate(objects)]

    def _immutable(self, obj: Any, kind: type) -> list[Any] | None:
        """Return an immutable value in place; None for objects that are nodes."""
        if kind is tuple:
            return ["tuple", self._values(obj)]
        if issubclass(kind, tuple) and is_own(kind):
            return ["named tuple", name_of(kind), self._values(obj)]
        if isinstance(obj, np.generic) and is_storable(obj.dtype) and obj.dtype.type is kind:
            return ["scalar", self.arrays.add(np.array(obj))]
        if isinstance(obj, type | FunctionType) and is_own(obj):
            return ["named", name_of(obj)]
        if kind.__name__ in _AS_TEXT and kind.__module__.partition(".")[0] in ("datetime", "pandas", "pathlib"):
            write, read = _AS_TEXT[kind.__name__]
            try:
                text = write(obj)
                return ["text", kind.__name__, text] if repr(read(text)) == repr(obj) else None
            except (ValueError, KeyError):  # a time zone without a name
                return None
        return None

    def _node(self, obj: Any, kind: type) -> list[Any]:
        if kind in (list, set, deque):
            return [kind.__name__, self._values(obj), getattr(obj, "maxlen", None)]
        if kind in (dict, Counter):
            items = [[self.value(key), self.value(value, f"[{key!r}]")] for key, value in obj.items()]
            return [kind.__name__, items]
        if kind is np.ndarray and obj.dtype == object:
            return ["objects", self._values(obj.ravel().tolist()), list(obj.shape)]
        if kind is np.ndarray and is_storable(obj.dtype):
            return ["array", self.arrays.add(obj)]
        if kind is np.random.Generator and type(obj.bit_generator).__name__ in _BIT_GENERATORS:
            generator, seed = obj.bit_generator, obj.bit_generator.seed_seq
            seeds = seed.entropy, seed.spawn_key, seed.pool_size, seed.n_children_spawned
            return ["generator", type(generator).__name__, self.value(seeds), self.value(generator.state)]
        # __getstate__ has all of an object if no part of it is a builtin container or compiled
        is_plain = all(base is object or base.__flags__ & _HEAP_TYPE for base in kind.__mro__)
        if (is_own(kind) and is_plain) or has_own_parameter(obj):
            return self._object(obj)
        return self._foreign(obj)

    def _object(self, obj: Any) -> list[Any]:
        """Return the node of an object of this package."""
        if not self._path[-1]:
            self._path[-1] = type(obj).__name__
        state = obj.__getstate__()
        if type(state) is dict and all(type(key) is str for key in state):
            content: Any = {name: self.value(value, f".{name}") for name, value in state.items()}
        else:
            content = self.value(state)
        return ["object", name_of(type(obj)), content]

    def _foreign(self, obj: Any) -> list[Any]:
        """Return the node of an object of another library."""
        self.models.append(("".join(self._path), obj))
        return ["model", len(self.models) - 1]


class StateReader:
    """Make the objects of nodes. The models are in the order of :attr:`StateWriter.models`."""

    def __init__(self, nodes: list[Any], arrays: ArrayReader, models: list[Any]) -> None:
        self._nodes, self._arrays, self._models = nodes, arrays, models
        self._made: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        """Return the object of a value."""
        if not isinstance(value, list):
            return value
        if len(value) == 1:
            if value[0] not in self._made:
                self._make(value[0], *self._nodes[value[0]])
            return self._made[value[0]]
        kind, *content = value
        if kind == "float":
            return float(content[0])
        if kind == "tuple":
            return tuple(self._values(content[0]))
        if kind == "named tuple":
            return tuple.__new__(find_own(content[0]), self._values(content[1]))
        if kind == "scalar":
            return self._arrays.get(*content[0])[()]
        if kind == "named":
            return find_own(content[0])
        _, read = _AS_TEXT[content[0]]
        return read(content[1])

    def _values(self, values: list[Any]) -> list[Any]:
        return [self.value(value) for value in values]

    def _make(self, number: int, kind: str, content: Any, *more: Any) -> None:
        """Make the object of a node. A container is known by its number before its parts, which may refer to it."""
        made: Any
        if kind == "array":
            self._made[number] = self._arrays.get(*content)
        elif kind == "model":
            self._made[number] = self._models[content]
        elif kind in ("list", "deque"):
            made = self._made[number] = [] if kind == "list" else deque(maxlen=more[0])
            made.extend(self._values(content))
        elif kind == "set":
            made = self._made[number] = set()
            made.update(self._values(content))
        elif kind in ("dict", "Counter"):
            made = self._made[number] = {} if kind == "dict" else Counter()
            for key, value in content:
                made[self.value(key)] = self.value(value)
        elif kind == "objects":
            made = self._made[number] = np.empty(more[0], dtype=object)
            for at, value in enumerate(content):
                made.reshape(-1)[at] = self.value(value)
        elif kind == "generator":
            entropy, key, pool_size, n_spawned = self.value(more[0])
            seed = np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool_size, n_children_spawned=n_spawned)
            generator = _BIT_GENERATORS[content](seed)
            generator.state = self.value(more[1])
            self._made[number] = np.random.Generator(generator)
        else:
            self._make_object(number, find_own(content), more[0])

    def _make_object(self, number: int, kind: type, state: Any) -> None:
        made: Any = object.__new__(kind)
        self._made[number] = made
        named = isinstance(state, dict)
        content = {key: self.value(value) for key, value in state.items()} if named else self.value(state)
        if content is not None and hasattr(kind, "__setstate__"):
            made.__setstate__(content)
        elif content is not None:
            attributes, slots = content if isinstance(content, tuple) else (content, None)
            made.__dict__.update(attributes or {})
            for key, value in (slots or {}).items():
                object.__setattr__(made, key, value)


# Classes and functions by name ----------------------------------------------------------------------------------------


def is_own(obj: Any) -> bool:
    """Return whether a class or function is defined in this package, and found there by its name."""
    return _library(obj) == _PACKAGE and _lookup(name_of(obj)) is obj


def has_own_parameter(obj: Any) -> bool:
    """Return whether a scikit-learn estimator, such as a pipeline, has an estimator of this package as a parameter."""
    return is_sklearn_estimator(type(obj)) and any(is_own(type(value)) for value in obj.get_params().values())


def is_sklearn_estimator(kind: Any) -> bool:
    """Return whether a class is one of scikit-learn's estimators."""
    return isinstance(kind, type) and issubclass(kind, BaseEstimator) and _library(kind) == "sklearn"


def name_of(obj: type | FunctionType) -> str:
    """Return the name under which :func:`find_own` finds a class or function."""
    return f"{obj.__module__}:{obj.__qualname__}"


def find_own(name: str) -> Any:
    """Return a class or function of this package, or a class of scikit-learn's estimators, by its name in a file."""
    found = _lookup(name) if name.partition(":")[0].partition(".")[0] in (_PACKAGE, "sklearn") else None
    if is_own(found) or is_sklearn_estimator(found):
        return found
    raise BadFileError(f"it has an object of {name!r}, which this version of ltm_sklearn does not know")


def _library(obj: Any) -> str:
    return str(getattr(obj, "__module__", "")).partition(".")[0]


def _lookup(name: str) -> Any:
    module, _, path = name.partition(":")
    try:
        return attrgetter(path)(import_module(module))
    except (ImportError, AttributeError):  # it is made in a function, or of another version
        return None
