"""So that a file's objects do nothing while they are made.

Making a date or a table, or putting a key into a dictionary, asks the parts for methods. An object of a crafted file
could bring methods along, as attributes that are functions. So such parts have to be plain values, and no attribute may
take the place of a method that others call.

Nor does a small file keep a process busy: what is done for it is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType
from typing import Any

import numpy as np

from ._errors import BadFile
from ._plain import PARTS

_CONTAINERS = frozenset(["list", "tuple", "set", "frozenset", "deque", "dict", "OrderedDict", "Counter", "objects"])
_LEAVES = frozenset(["array", "scalar", "bytes", "bytearray", "dtype", "numbers", "model", "member"])
#: Methods of arrays, tables and containers. An object that has such an attribute may be taken for one of these.
_ASKED = {name for kind in (list, dict, set, str, np.ndarray) for name in dir(kind) if callable(getattr(kind, name))}
_ASKED |= {"to_dict", "to_list", "to_native", "to_numpy", "toarray", "todense"}
_VERSIONS = ("_sklearn_version", "_ltm_sklearn_version")
_MANY = 1000  #: keys
_KEYS = frozenset([type(None), bool, int, float, str, bytes, type, FunctionType, BuiltinFunctionType, *PARTS])


def check_asked(nodes: list[Any], children: Callable[[Any], Iterable[int]]) -> None:
    """Raise an error if a node that asks its parts for methods has others than plain values.

    Of a partial function's arguments only the tuple and the dictionary are asked.
    """
    for node in nodes:
        if node[0] == "made" and node[1] == "partial":
            parts = [nodes[value[0]][0] for value in node[3:] if isinstance(value, list) and type(value[0]) is int]
            if parts != ["tuple", "dict"]:
                raise BadFile("a partial function is described wrongly")
    if asked(nodes, children) is not None:
        raise BadFile("a table or the like is made of other things than plain values")


def asked(nodes: list[Any], children: Callable[[Any], Iterable[int]]) -> int | None:
    """The first node that is asked for methods, and is no plain value; None if there is none."""
    is_plain = [False] * len(nodes)
    for node in nodes:
        if node[0] in ("made", "called") and node[1] != "partial":
            left = [*children(node)]
            while left:
                at = left.pop()
                if is_plain[at]:
                    continue
                is_plain[at] = True
                part = nodes[at]
                if part[0] in _CONTAINERS or (part[0] == "made" and part[1] != "partial"):
                    left += children(part)
                elif part[0] not in _LEAVES:
                    return at
    return None


#: What is made of a file's parts may take so many times the room of these; what was saved takes a few times of it.
_MOST_TIMES = 20


class Effort:
    """How much is done for a file, at most: a crafted one may refer to one thing over and over.

    Parameters
    ----------
    n_bytes : int
        What the file has.
    """

    def __init__(self, n_bytes: int) -> None:
        self._left: float = _MOST_TIMES * n_bytes + 100_000

    def spend(self, n_values: float) -> None:
        """Raise an error if so many values, of eight bytes each, are more than what is left."""
        self._left -= 8 * n_values
        if self._left < 0:
            raise BadFile("it refers to the same things over and over")

    def spend_on(self, parts: Iterable[Any]) -> None:
        """Likewise for all that is in these: what is made of them copies it, or asks each for its hash."""
        left = [*parts]
        while left:
            thing = left.pop()
            kind = type(thing)
            has_objects = kind is np.ndarray and thing.dtype == object and thing.ndim > 0
            if has_objects or kind is list or isinstance(thing, tuple):
                self.spend(len(thing))
                left.extend(thing)
            elif kind is np.ndarray or kind is bytes:
                self.spend((thing.nbytes if kind is np.ndarray else len(thing)) / 8)
            elif kind is dict or _is_array_of_pandas(thing):  # an index is not copied
                self.spend(len(thing))


def _is_array_of_pandas(thing: Any) -> bool:
    is_of_pandas = type(thing).__module__.partition(".")[0] == "pandas"
    return is_of_pandas and isinstance(thing, import_module("pandas").api.extensions.ExtensionArray)


def check_key(key: Any, trusted: Collection[str], effort: Effort) -> None:
    """Raise an error if a key's class has ways of its own to compare: these would ask for attributes.

    Or if it has more in it than a file has: two tuples in each other fifty times would take years to hash.
    """
    left = [key]
    while left:
        thing = left.pop()
        kind = type(thing)
        if kind in _KEYS or isinstance(thing, np.generic) or kind.__module__.partition(".")[0] == "pandas":
            continue
        is_tuple = isinstance(thing, tuple) and kind.__hash__ is tuple.__hash__ and kind.__eq__ is tuple.__eq__
        if is_tuple or kind is frozenset:
            effort.spend(len(thing))
            left += thing
            continue
        if kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__:
            continue
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name not in trusted:
            raise BadFile(f"it has a {name} as a key: look at it, and name it in trusted=")


def check_keys(keys: list[Any]) -> None:
    """Raise an error if most keys have the hash of another one: each would be compared with all of these."""
    if len(keys) > _MANY and 4 * len({*map(hash, keys)}) < len(keys):
        raise BadFile("most keys of a dictionary or set have the same hash")


def check_new(cls: type, args: list[Any]) -> None:
    """Raise an error if a kind of tuple or number would be made of another thing: of an endless range, say."""
    for base in (tuple, str, bytes, int, float, complex, frozenset):
        if cls.__new__ is base.__new__ and [*map(type, args)] != [base]:
            raise BadFile(f"a {cls.__qualname__} is made of another thing than a {base.__name__}")


def check_attributes(cls: type, attributes: Mapping[Any, Any]) -> None:
    """Raise an error if attributes would take the place of methods that others call."""
    for name, value in attributes.items():
        _check_name(cls, name)
        if name.startswith("__") and name.endswith("__"):
            raise BadFile(f"an object of {cls.__qualname__} has an attribute {name!r}")
        if not name.startswith("_") and isinstance(getattr(cls, name, None), FunctionType | MethodType):
            raise BadFile(f"an object of {cls.__qualname__} has {name!r}, a method, as an attribute")
        if name in _ASKED and callable(value):  # which asks the class only
            raise BadFile(f"an object of {cls.__qualname__} has {name!r}, which arrays and tables have, as a function")
        if name in _VERSIONS and type(value) is not str:  # it goes into a message
            raise BadFile(f"an object of {cls.__qualname__} was written by a version that is no text")


def check_slots(cls: type, names: Iterable[Any]) -> None:
    """Raise an error if what is to be set is no slot: setting a property runs it."""
    for name in names:
        _check_name(cls, name)
        if not any(isinstance(vars(base).get(name), MemberDescriptorType) for base in cls.__mro__):
            raise BadFile(f"an object of {cls.__qualname__} has no slot {name!r}")


def _check_name(cls: type, name: Any) -> None:
    if type(name) is not str:  # nor is it shown, which might run
        raise BadFile(f"an object of {cls.__qualname__} has an attribute whose name is no text")
