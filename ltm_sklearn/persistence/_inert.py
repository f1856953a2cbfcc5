"""So that a file's objects do nothing while they are made.

Making a date or a table, or putting a key into a dictionary, asks the parts for methods. An object of a crafted file
could bring methods along, as attributes that are functions. So such parts have to be plain values, and no attribute may
take the place of a method that others call.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from types import BuiltinFunctionType, FunctionType, MemberDescriptorType, MethodType
from typing import Any

import numpy as np

from ._errors import BadFile
from ._plain import PARTS

_CONTAINERS = frozenset(["list", "tuple", "set", "frozenset", "dict", "OrderedDict", "objects"])
_LEAVES = frozenset(["array", "scalar", "bytes", "bytearray", "dtype", "numbers", "model"])
_KEYS = frozenset([type(None), bool, int, float, str, bytes, type, FunctionType, BuiltinFunctionType, *PARTS])


def check_asked(nodes: list[Any], children: Callable[[Any], Iterable[int]]) -> None:
    """Raise an error if a node that asks its parts for methods has others than plain values.

    Of a partial function's arguments only the tuple and the dictionary are asked.
    """
    is_plain = [False] * len(nodes)
    for node in nodes:
        if node[0] == "made" and node[1] == "partial":
            parts = [nodes[value[0]][0] for value in node[3:] if isinstance(value, list) and type(value[0]) is int]
            if parts != ["tuple", "dict"]:
                raise BadFile("a partial function is described wrongly")
        elif node[0] in ("made", "called"):
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
                    raise BadFile(f"a {node[1]} is made of other things than plain values")


def check_key(key: Any, trusted: Collection[str]) -> None:
    """Raise an error if a key's class has ways of its own to compare: these would ask for attributes."""
    left = [key]
    while left:
        thing = left.pop()
        kind = type(thing)
        if kind in _KEYS or isinstance(thing, np.generic) or kind.__module__.partition(".")[0] == "pandas":
            continue
        if isinstance(thing, tuple) and kind.__hash__ is tuple.__hash__ and kind.__eq__ is tuple.__eq__:
            left += thing
            continue
        if kind is frozenset or (kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__):
            continue
        name = f"{kind.__module__}.{kind.__qualname__}"
        if name not in trusted:
            raise BadFile(f"it has a {name} as a key: look at it, and name it in trusted=")


def check_attributes(cls: type, names: Iterable[Any]) -> None:
    """Raise an error if attributes would take the place of methods that others call."""
    for name in names:
        if not isinstance(name, str) or (name.startswith("__") and name.endswith("__")):
            raise BadFile(f"an object of {cls.__qualname__} has an attribute {name!r}")
        if not name.startswith("_") and isinstance(getattr(cls, name, None), FunctionType | MethodType):
            raise BadFile(f"an object of {cls.__qualname__} has {name!r}, a method, as an attribute")


def check_slots(cls: type, names: Iterable[Any]) -> None:
    """Raise an error if what is to be set is no slot: setting a property runs it."""
    for name in names:
        if not any(isinstance(vars(base).get(name), MemberDescriptorType) for base in cls.__mro__):
            raise BadFile(f"an object of {cls.__qualname__} has no slot {name!r}")
