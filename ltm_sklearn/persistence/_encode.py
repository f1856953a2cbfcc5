"""From objects to a flat list of nodes in plain JSON, which keeps who is who.

A value is written where it stands if JSON has it: None, booleans, numbers, strings. NaN, infinity and very large
integers are lists of a string. All else is a node of its own, and a list of one number stands for it: so an object that
is referred to twice is one object again, and cycles are no matter.
"""

from __future__ import annotations

import copyreg
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from math import copysign, isfinite, isnan
from pathlib import PurePath
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy as np

from ._arrays import Shelf, is_plain
from ._errors import BadFile
from ._exact import kept_by_skops
from ._frames import parts_of
from ._inert import asked, check_attributes
from ._models import met_by_pickle
from ._names import CALLED, PACKAGES, has_shell, is_known, name_of
from ._plain import PARTS

#: Lists of at least so many numbers are written as arrays.
LONG = 32

#: Their arrays are no Python objects inside: put together of parts, some end the process when they are looked at.
_OF_TABLES = ("pandas", "polars", "pyarrow")

#: What nobody changes, so that it may become two. Arrays are replaced by others as models learn, and neighbours share
#: theirs with the window that they were fitted on, whose trees only skops can write.
_UNCHANGED: tuple[type, ...] = (
    str,
    bytes,
    tuple,
    frozenset,
    type,
    FunctionType,
    BuiltinFunctionType,
    np.generic,
    np.dtype,
    np.ufunc,
    Enum,
)
_UNCHANGED += (np.ndarray, date, time, timedelta, tzinfo, Decimal, Fraction, PurePath, range, slice, complex)

#: Nodes that are made in one go of others, and all that have others in them.
_WHOLE = ("tuple", "frozenset", "made", "method", "built", "called")
_WITH_PARTS = (*_WHOLE, "list", "set", "dict", "OrderedDict", "Counter", "defaultdict", "deque", "objects")

_SEQUENCES: dict[type, str] = {list: "list", tuple: "tuple", set: "set", frozenset: "frozenset"}


class Encoder:
    """The nodes of one file.

    Parameters
    ----------
    by_pickle : bool
        Whether models of other libraries are pickled; otherwise skops writes them.
    plainly : collection of int
        Identities of models that neither writes, as they share objects with others.
    """

    def __init__(self, by_pickle: bool, plainly: Collection[int] = ()) -> None:
        self.nodes: list[list[Any]] = []
        self.names: dict[str, int] = {}  #: of classes and functions
        self.shelf = Shelf()
        self.models: list[Any] = []  #: what others have to write
        self.places: list[int] = []  #: the nodes of these
        self._by_pickle, self._plainly = by_pickle, plainly
        self._held: list[dict[int, Any]] = []  #: by identity, what each of the models has in it
        self._met_again: set[int] = set()  #: nodes that are referred to more than once
        self._numbers: dict[int, int] = {}  #: nodes by the identity of their objects
        self._objects: list[Any] = []  #: which therefore have to live on
        self._parents: list[int] = []
        self._at = -1  #: the node that is written

    def encode(self, root: Any) -> Any:
        """The value of an object, and the nodes that it leads to."""
        value = self._value(root)
        while self._at + 1 < len(self.nodes):
            self._at += 1
            self.nodes[self._at] = self._node(self._objects[self._at])
        return value

    def path(self, place: int) -> str:
        """Which attributes and items lead to a node, with the names of experts."""
        steps: list[str] = []
        while place >= 0:
            parent = self._parents[place]
            thing = self._objects[place]
            if parent < 0:
                steps.append(type(thing).__name__)
            else:
                steps.append(_step(self._objects[parent], thing))
            name = getattr(thing, "name", None) if hasattr(type(thing), "learns") else None
            if isinstance(name, str):  # an expert
                steps.append(f" of expert {name!r}")
                break
            place = parent
        return "".join(reversed(steps)) if not steps[-1].startswith(" of") else f"the model{steps[-1]}"

    # Values ------------------------------------------------------------------------------------------------------

    def _value(self, thing: Any) -> Any:
        kind = type(thing)
        if thing is None or kind is bool or kind is str:
            return thing
        if kind is float:
            return (
                thing if isfinite(thing) else ["-nan" if isnan(thing) and copysign(1.0, thing) < 0.0 else repr(thing)]
            )
        if kind is int:
            return thing if thing.bit_length() <= 64 else [hex(thing)]
        number = self._numbers.get(id(thing))
        if number is None:
            number = self._numbers[id(thing)] = len(self.nodes)
            self.nodes.append([])
            self._objects.append(thing)
            self._parents.append(self._at)
        else:
            self._met_again.add(number)
        return [number]

    def _values(self, things: Iterable[Any]) -> list[Any]:
        return [self._value(thing) for thing in things]

    def _pairs(self, items: Iterable[tuple[Any, Any]]) -> list[Any]:
        return [self._value(part) for item in items for part in item]

    def _name(self, name: str) -> int:
        return self.names.setdefault(name, len(self.names))

    def shared(self) -> set[int]:
        """Identities of models that others would write, and that share an object that may change with what they do not.

        It would become two.
        """
        others = {id(thing) for thing in self._objects if not isinstance(thing, _UNCHANGED)}
        others -= {id(model) for model in self.models}
        if not self._by_pickle:
            pairs = zip(self.models, self._held, strict=True)
            return {id(model) for model, held in pairs if not others.isdisjoint(held)}
        if others.isdisjoint(met_by_pickle(self.models)):  # as almost always: one pass will do
            return set()
        return {id(model) for model in self.models if not others.isdisjoint(met_by_pickle(model))}

    def check_cycles(self) -> None:
        """Raise an error if an object that is made in one go, as a tuple, is a part of itself."""
        if not any(self.nodes[at][0] in _WHOLE and not has_shell(self.nodes[at]) for at in self._met_again):
            return
        opened, done = [False] * len(self.nodes), [False] * len(self.nodes)
        stack = [0]
        while stack:  # as the decoder goes
            at = stack[-1]
            parts = [*children(self.nodes[at])]
            if not opened[at]:
                opened[at] = True
                stack += [part for part in parts if not opened[part]][::-1]
                continue
            stack.pop()
            if not done[at]:
                done[at] = True
                missing = [part for part in parts if not done[part] and not has_shell(self.nodes[part])]
                if missing:
                    self._at = missing[0]
                    raise ValueError(f"{self._told()} is a part of itself, and cannot be written")

    def check_asked(self) -> None:
        """Raise an error if it would not be loaded, as what is made of plain values has others in it."""
        at = asked(self.nodes, children)
        if at is not None:
            self._at = at
            raise ValueError(f"{self._told()} is in a table or the like, where only plain values are written")

    def _told(self) -> str:
        return f"{self.path(self._at)}, a {type(self._objects[self._at]).__name__},"

    # Nodes -------------------------------------------------------------------------------------------------------

    def _node(self, thing: Any) -> list[Any]:
        kind = type(thing)
        if kind in _SEQUENCES:
            numbers = _as_numbers(thing) if kind in (list, tuple) and len(thing) >= LONG else None
            if numbers is not None:
                return ["numbers", _SEQUENCES[kind], self.shelf.put(numbers)]
            return [_SEQUENCES[kind], *self._values(thing)]
        if kind is dict or kind is OrderedDict or kind is Counter:
            return [kind.__name__, *self._pairs(thing.items())]
        if kind is defaultdict:
            return ["defaultdict", self._value(thing.default_factory), *self._pairs(thing.items())]
        if kind is deque:
            return ["deque", thing.maxlen, *self._values(thing)]
        if kind is bytes or kind is bytearray:
            return [kind.__name__, self.shelf.put(np.frombuffer(thing, np.uint8))]
        if kind is np.ndarray and thing.dtype == object:
            return ["objects", list(thing.shape), *self._values(thing.ravel().tolist())]
        if kind is np.ndarray and is_plain(thing):
            return ["array", self.shelf.put(thing)]
        if isinstance(thing, np.generic) and is_plain(array := np.array(thing)) and array.dtype.type is kind:
            return ["scalar", self.shelf.put(array)]
        if isinstance(thing, np.dtype) and is_plain(empty := np.empty(0, thing)) and empty.dtype == thing:
            return ["dtype", self.shelf.put(np.empty(0, thing))]
        if kind in PARTS:
            name, parts = PARTS[kind]
            return ["made", name, *self._values(parts(thing))]
        try:
            of_frame = parts_of(thing)
        except Exception as error:  # libraries have errors of many kinds
            raise ValueError(f"{self._told()} cannot be written: {type(error).__name__}: {error}") from error
        if of_frame is not None:
            return ["made", of_frame[0], *self._values(of_frame[1])]
        if isinstance(thing, Enum):
            name_found = name_of(kind)
            is_member = kind._member_map_.get(thing.name or "") is thing
            if name_found is not None and is_member and (is_known(name_found) or not self._by_pickle):
                return ["member", self._name(name_found), thing.name]
        if isinstance(thing, type | FunctionType | BuiltinFunctionType) or thing is str.lower:
            name_found = name_of(thing)
            if name_found is not None and (is_known(name_found) or not self._by_pickle):
                return ["named", self._name(name_found)]
        elif kind is MethodType:
            return ["method", self._value(thing.__self__), thing.__func__.__name__]
        library = kind.__module__.partition(".")[0]
        held: dict[int, Any] | None = {} if self._by_pickle else kept_by_skops(thing)
        is_plain_one = library in PACKAGES or held is None or id(thing) in self._plainly
        if is_plain_one and library not in _OF_TABLES and not isinstance(thing, type | FunctionType):
            node = self._object(thing)
            if node is not None:
                return node
        if self._by_pickle and id(thing) in self._plainly:
            raise ValueError(f"{self._told()} shares objects with other parts, which pickle would make two of")
        if held is None or id(thing) in self._plainly:
            raise ValueError(f'{self._told()} cannot be written so that it comes back the same; models="pickle" may do')
        self.models.append(thing)
        self.places.append(self._at)
        self._held.append(held)
        return ["model", len(self.models) - 1]

    def _object(self, thing: Any) -> list[Any] | None:
        """An object as pickle would take it apart; None if that cannot be told in plain values."""
        kind = type(thing)
        name = name_of(kind)
        if name is None:
            return None
        try:
            reduced = thing.__reduce_ex__(4)
        except TypeError:  # it cannot be pickled
            return None
        if isinstance(reduced, str):
            return None
        make, args, state, items, pairs = [*reduced, None, None, None][:5]
        if make is getattr(copyreg, "__newobj__") and args[0] is kind:  # noqa: B009 -- which mypy does not know
            args = args[1:]
        elif make is not kind or name not in CALLED:
            return None
        for attributes in state if type(state) is tuple else (state,):
            if type(attributes) is dict:
                try:
                    check_attributes(kind, attributes)
                except BadFile as error:
                    raise ValueError(f"{self._told()} would not be loaded: {error}") from None
        if not args and items is None and pairs is None and _is_named(state):
            return ["object", self._name(name), {key: self._value(value) for key, value in (state or {}).items()}]
        parts = [self._values(args), self._values(items or ()), self._pairs(pairs or ())]
        return ["called" if make is kind else "built", self._name(name), *parts, self._value(state)]


def children(node: list[Any]) -> Iterator[int]:
    """Numbers of the nodes that a node refers to."""
    kind = node[0]
    if kind == "object":
        values: Iterable[Any] = node[2].values()
    elif kind in ("built", "called"):
        values = [*node[2], *node[3], *node[4], node[5]]
    else:
        values = node[2 if kind == "objects" else 1 :] if kind in _WITH_PARTS else ()  # a shape looks like a number
    for value in values:
        if isinstance(value, list) and len(value) == 1 and type(value[0]) is int:
            yield value[0]


def _is_named(state: Any) -> bool:
    return state is None or (type(state) is dict and bool(state) and all(type(key) is str for key in state))


def _as_numbers(things: list[Any] | tuple[Any, ...]) -> Any:
    """An array of the same numbers; None if they are not all of one kind, or not numbers."""
    kinds = {*map(type, things)}
    if kinds == {float}:
        return np.array(things, dtype=np.float64)
    if kinds == {int} and min(things) >= -(2**63) and max(things) < 2**63:
        small = min(things) >= 0 and max(things) < 2**32  # as in the states of random generators
        return np.array(things, dtype=np.uint32 if small else np.int64)
    return None


def _step(parent: Any, child: Any) -> str:
    """By which attribute or item one leads to the other."""
    if isinstance(parent, dict):
        found = next((key for key, value in parent.items() if value is child), None)
        return f"[{found!r}]"
    if isinstance(parent, list | tuple | deque):
        return f"[{next((at for at, value in enumerate(parent) if value is child), None)}]"
    names = (name for name, value in getattr(parent, "__dict__", {}).items() if value is child)
    return f".{next(names, '...')}"
