"""State of this package's objects as plain JSON and arrays, and back.

Each container, array and object is a node: a list of its kind and its content. Nodes refer to each other by number, so
that an object with several references stays one object. None, booleans, strings and finite numbers stand where they are
used. Objects of other libraries become nodes of kind "model", which :mod:`._models` writes.
"""

from __future__ import annotations

import random
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import date, datetime, time, timedelta, timezone
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from importlib import import_module
from math import isfinite
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any, ClassVar
from zoneinfo import ZoneInfo

import numpy as np

from ._archive import BadFileError
from ._arrays import ArrayReader, ArrayWriter, is_storable
from ._own_classes import find_class, find_own, has_plain_state, is_own, is_taken_apart, name_of

#: Classes whose objects are made by a call with the arguments that the function here returns.
_BY_CALL: dict[type, Callable[[Any], tuple[Any, ...]]] = {
    complex: lambda c: (c.real, c.imag),
    range: lambda r: (r.start, r.stop, r.step),
    slice: lambda s: (s.start, s.stop, s.step),
    date: lambda d: d.__reduce_ex__(4)[1],
    time: lambda t: t.__reduce_ex__(4)[1],
    datetime: lambda d: d.__reduce_ex__(4)[1],
    timedelta: lambda d: (d.days, d.seconds, d.microseconds),
    timezone: lambda z: z.__getinitargs__(),
    Decimal: lambda d: (str(d),),
    Fraction: lambda f: (f.numerator, f.denominator),
    ZoneInfo: lambda z: (z.key,),
    type(Path()): lambda p: (str(p),),
    bytes: lambda b: (np.frombuffer(b, np.uint8),),
    bytearray: lambda b: (np.frombuffer(b, np.uint8).copy(),),
    frozenset: lambda s: (list(s),),
}
_CALLED: dict[str, Callable[..., Any]] = {f"{kind.__module__}.{kind.__name__}": kind for kind in _BY_CALL}
_CALLED |= {"path": Path, "builtins.bytes": lambda array: array.tobytes()}
_BUILTIN_CLASSES: dict[str, Any] = {kind.__name__: kind for kind in (bool, int, float, str, list, dict, set, tuple)}
_BIT_GENERATORS = {
    kind.__name__: kind
    for kind in (np.random.PCG64, np.random.PCG64DXSM, np.random.MT19937, np.random.Philox, np.random.SFC64)
}


class StateWriter:
    """Turn objects into nodes.

    Attributes
    ----------
    nodes : list
        In JSON's types.
    arrays : ArrayWriter
    models : list of (str, object)
        What is of other libraries: the path that leads to it, and the object.
    """

    def __init__(self) -> None:
        self.nodes: list[list[Any]] = []
        self.arrays = ArrayWriter()
        self.models: list[tuple[str, Any]] = []
        self._numbers: dict[int, int] = {}  #: of nodes, by the id of the object
        self._kept: list[Any] = []  #: objects stay alive, so that no other gets the id of one
        self._open: set[int] = set()  #: nodes under way that are made only after their parts
        self._path: list[str] = []

    def value(self, thing: Any, step: str = "") -> Any:
        """Return an object as a value in JSON; ``step`` is the attribute or item that led to it."""
        kind = type(thing)
        if thing is None or kind is bool or kind is str or kind is int:
            return thing
        if kind is float:
            return thing if isfinite(thing) else ["float", repr(thing)]
        number = self._numbers.get(id(thing))
        if number is None:
            number = self._numbers[id(thing)] = len(self.nodes)
            self._kept.append(thing)
            self.nodes.append([])
            self._path.append(step)
            self.nodes[number] = self._node(thing, number)
            self._path.pop()
        elif number in self._open:
            raise ValueError(f"{''.join(self._path)}{step}: a {kind.__name__} that contains itself cannot be saved")
        return [number]

    def _values(self, things: Any) -> list[Any]:
        return [self.value(thing, f"[{at}]") for at, thing in enumerate(things)]

    def _items(self, pairs: dict[Any, Any]) -> list[Any]:
        return [[self.value(key), self.value(value, f"[{key!r}]")] for key, value in pairs.items()]

    def _node(self, thing: Any, number: int) -> list[Any]:
        kind = type(thing)
        if kind is list or kind is set:
            return [kind.__name__, self._values(thing)]
        if kind in (dict, OrderedDict, Counter):
            return [kind.__name__, self._items(thing)]
        if kind is defaultdict:
            return ["defaultdict", self._items(thing), self.value(thing.default_factory, ".default_factory")]
        if kind is deque:
            return ["deque", self._values(thing), thing.maxlen]
        if kind is np.ndarray and thing.dtype == object:
            return ["objects", self._values(thing.ravel().tolist()), list(thing.shape)]
        if kind is np.ndarray and is_storable(thing.dtype):
            return ["array", self.arrays.add(thing)]
        if isinstance(thing, np.generic) and is_storable(thing.dtype) and thing.dtype.type is kind:
            return ["scalar", self.arrays.add(np.array(thing))]
        if isinstance(thing, np.dtype) and is_storable(thing):
            return ["dtype", thing.str]
        if has_plain_state(kind) and not isinstance(thing, Enum | type) and (is_own(kind) or is_taken_apart(thing)):
            return self._object(thing)
        self._open.add(number)
        node = self._made(thing, kind)
        self._open.discard(number)
        return node

    def _object(self, thing: Any) -> list[Any]:
        """Return the node of an object of this package."""
        if not self._path[-1]:
            self._path[-1] = type(thing).__name__
        state = thing.__getstate__()
        if type(state) is dict and all(type(key) is str for key in state):
            content: Any = {name: self.value(value, f".{name}") for name, value in state.items()}
        else:
            content = self.value(state)
        return ["object", name_of(type(thing)), content]

    def _made(self, thing: Any, kind: type) -> list[Any]:
        """Return the node of an object that is made in one call of its parts, or of a model."""
        if kind is tuple:
            return ["tuple", self._values(thing)]
        if is_own(kind) and issubclass(kind, tuple):
            return ["named tuple", name_of(kind), self._values(thing)]
        if is_own(kind) and isinstance(thing, Enum):
            return ["member", name_of(kind), thing.name]
        if isinstance(thing, type | FunctionType) and is_own(thing):
            return ["named", name_of(thing)]
        if isinstance(thing, type) and thing in _BUILTIN_CLASSES.values():
            return ["builtin", thing.__name__]
        if kind is MethodType:
            return ["method", self.value(thing.__self__, ".__self__"), thing.__func__.__name__]
        if kind is partial:
            return ["partial", *(self.value(getattr(thing, name), f".{name}") for name in ("func", "args", "keywords"))]
        if kind in _BY_CALL:
            name = "path" if isinstance(thing, Path) else f"{kind.__module__}.{kind.__name__}"
            return ["call", name, self._values(_BY_CALL[kind](thing))]
        if kind.__name__ == "Timestamp" and kind.__module__.partition(".")[0] == "pandas":  # as labels of blocks are
            return ["timestamp", self.value(thing.asm8), self.value(thing.tz, ".tz")]
        if kind is np.random.Generator and type(thing.bit_generator).__name__ in _BIT_GENERATORS:
            generator = thing.bit_generator
            return ["generator", type(generator).__name__, self._seed(generator.seed_seq), self.value(generator.state)]
        if kind is np.random.RandomState:
            return ["random state", self.value(thing.get_state(legacy=False))]
        if kind is random.Random:
            return ["random", self.value(thing.getstate())]
        self.models.append(("".join(self._path), thing))
        return ["model", len(self.models) - 1]

    def _seed(self, seed: Any) -> Any:
        """Return what ``Generator.spawn`` needs."""
        is_usual = type(seed) is np.random.SeedSequence
        return self.value([seed.entropy, seed.spawn_key, seed.pool_size, seed.n_children_spawned]) if is_usual else None


class StateReader:
    """Make the objects of nodes.

    Parameters
    ----------
    nodes : list
    arrays : ArrayReader
    models : list
        The models in the order of :attr:`StateWriter.models`.
    """

    def __init__(self, nodes: list[Any], arrays: ArrayReader, models: list[Any]) -> None:
        self._nodes, self._arrays, self._models = nodes, arrays, models
        self._made: dict[int, Any] = {}

    def value(self, value: Any) -> Any:
        """Return the object of a value."""
        if not isinstance(value, list):
            return value
        if len(value) == 2:
            return float(value[1])
        number = value[0]
        if number not in self._made:
            kind, *content = self._nodes[number]
            if kind in self._INCOMPLETE:
                self._INCOMPLETE[kind](self, number, *content)
            else:
                self._made[number] = self._COMPLETE[kind](self, *content)
        return self._made[number]

    def _values(self, values: list[Any]) -> list[Any]:
        return [self.value(value) for value in values]

    # Objects that others may refer to before they are complete -------------------------------------------------------

    def _list(self, number: int, values: list[Any]) -> None:
        made = self._made[number] = []
        made += self._values(values)

    def _set(self, number: int, values: list[Any]) -> None:
        made = self._made[number] = set()
        made |= {*self._values(values)}

    def _deque(self, number: int, values: list[Any], maxlen: int | None) -> None:
        made = self._made[number] = deque(maxlen=maxlen)
        made += self._values(values)

    def _dict(self, number: int, items: list[Any], made: Any) -> None:
        self._made[number] = made
        for key, value in items:
            made[self.value(key)] = self.value(value)

    def _objects(self, number: int, values: list[Any], shape: list[int]) -> None:
        made = self._made[number] = np.empty(shape, dtype=object)
        for at, value in enumerate(values):
            made.reshape(-1)[at] = self.value(value)

    def _object(self, number: int, name: str, state: Any) -> None:
        kind = find_class(name)
        made = self._made[number] = object.__new__(kind)
        named = isinstance(state, dict)
        content = {key: self.value(value) for key, value in state.items()} if named else self.value(state)
        if content is not None and hasattr(kind, "__setstate__"):
            made.__setstate__(content)
        elif content is not None:
            attributes, slots = content if isinstance(content, tuple) else (content, None)
            made.__dict__.update(attributes or {})
            for key, value in (slots or {}).items():
                object.__setattr__(made, key, value)

    _INCOMPLETE: ClassVar[dict[str, Callable[..., None]]] = {
        "list": _list,
        "set": _set,
        "deque": _deque,
        "dict": lambda self, number, items: self._dict(number, items, {}),
        "OrderedDict": lambda self, number, items: self._dict(number, items, OrderedDict()),
        "Counter": lambda self, number, items: self._dict(number, items, Counter()),
        "defaultdict": lambda self, number, items, make: self._dict(number, items, defaultdict(self.value(make))),
        "objects": _objects,
        "object": _object,
    }

    # Objects that are made of complete parts -------------------------------------------------------------------------

    def _partial(self, function: Any, arguments: Any, keywords: Any) -> Any:
        return partial(self.value(function), *self.value(arguments), **self.value(keywords))

    def _timestamp(self, moment: Any, zone: Any) -> Any:
        timestamp = import_module("pandas").Timestamp(self.value(moment))
        return timestamp if zone is None else timestamp.tz_localize("UTC").tz_convert(self.value(zone))

    def _generator(self, name: str, seed: Any, state: Any) -> Any:
        sequence: Any = 0
        if seed is not None:
            entropy, key, pool, n_children = self.value(seed)
            sequence = np.random.SeedSequence(entropy, spawn_key=key, pool_size=pool, n_children_spawned=n_children)
        generator = _BIT_GENERATORS[name](sequence)
        generator.state = self.value(state)
        return np.random.Generator(generator)

    def _random(self, make: Callable[[], Any], setter: str, state: Any) -> Any:
        made = make()
        getattr(made, setter)(self.value(state))
        return made

    _COMPLETE: ClassVar[dict[str, Callable[..., Any]]] = {
        "array": lambda self, where: self._arrays.get(*where),
        "scalar": lambda self, where: self._arrays.get(*where)[()],
        "dtype": lambda self, name: np.dtype(name),
        "tuple": lambda self, values: tuple(self._values(values)),
        "named tuple": lambda self, name, values: tuple.__new__(find_class(name), self._values(values)),
        "member": lambda self, name, member: find_class(name)[member],
        "named": lambda self, name: find_own(name),
        "builtin": lambda self, name: _BUILTIN_CLASSES[name],
        "method": lambda self, owner, name: getattr(self.value(owner), name),
        "partial": _partial,
        "call": lambda self, name, arguments: _CALLED[name](*self._values(arguments)),
        "timestamp": _timestamp,
        "generator": _generator,
        "random state": lambda self, state: self._random(np.random.RandomState, "set_state", state),
        "random": lambda self, state: self._random(random.Random, "setstate", state),
        "model": lambda self, number: self._models[number],
    }


def read_state(state: Any, arrays: ArrayReader, models: list[Any]) -> Any:
    """Return the object that a file holds."""
    try:
        return StateReader(state["nodes"], arrays, models).value(state["root"])
    except (KeyError, IndexError, TypeError, AttributeError) as error:
        raise BadFileError(f"its state does not fit this version of ltm_sklearn ({error!r})") from error
