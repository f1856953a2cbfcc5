"""From nodes back to objects: all of them are checked before the first object is made."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Collection, Iterator, Sequence
from enum import Enum
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ._arrays import Unshelf, size_of
from ._errors import BadFile
from ._inert import Effort, check_asked, check_attributes, check_key, check_keys, check_new, check_slots
from ._names import CALLED, OF_PYTHON, PACKAGES, looked_up, may_be_bound
from ._plain import MADE

_NUMBERS = ("nan", "-nan", "inf", "-inf")
_SEQUENCES: dict[str, Callable[[Any], Any]] = {"tuple": tuple, "frozenset": frozenset}
_DICTS: dict[str, type[dict[Any, Any]]] = {"dict": dict, "OrderedDict": OrderedDict, "Counter": Counter}
_ARRAYS = ("array", "scalar", "bytes", "bytearray", "dtype")

#: Kinds of nodes, and how many of their first parts are not values.
_KINDS = {"list": 1, "set": 1, "tuple": 1, "frozenset": 1, "defaultdict": 1, "deque": 2, "objects": 2, "made": 2}
_KINDS |= dict.fromkeys(_DICTS, 1)

_NOT_MADE: Any = object()
_OF_PACKAGES = (*PACKAGES, "sklearn")


class Decoder:
    """The objects of one file.

    Parameters
    ----------
    nodes : list
        As :class:`Encoder` writes them.
    names : list of str
        Of the classes and functions that the nodes refer to.
    arrays : Unshelf
    n_models : int
        How many models others have written.
    trusted : collection of str
        Names of other classes and functions that may be used.
    """

    def __init__(
        self, nodes: list[Any], names: list[str], arrays: Unshelf, n_models: int, trusted: Collection[str]
    ) -> None:
        self._nodes, self._names, self._arrays, self._n_models = nodes, names, arrays, n_models
        self._trusted = trusted
        self._things = [looked_up(name, trusted) for name in names]
        for node in nodes:
            self._check(node)
        check_asked(nodes, self._children)
        self._effort = Effort(arrays.n_bytes + 8 * sum(map(_n_values, nodes)))
        self._made: list[Any] = [_NOT_MADE] * len(nodes)
        self._models: Sequence[Any] = ()

    # Checks ------------------------------------------------------------------------------------------------------

    def _check(self, node: Any) -> None:
        kind = node[0] if isinstance(node, list) and node and isinstance(node[0], str) else None
        if kind in _KINDS:
            if kind == "made" and node[1] not in MADE:
                raise BadFile(f"it has {node[1]!r}, which is unknown here")
            if kind == "objects" and size_of(node[1]) != len(node) - 2:
                raise BadFile("an array of objects has another size than it says")
        elif kind in _ARRAYS:
            self._arrays.check(node[-1])
        elif kind == "numbers" and node[1] in ("list", "tuple"):
            self._arrays.check(node[2], 1)
        elif kind in ("object", "built", "called"):
            cls, name = self._thing(node[1]), self._names[node[1]]
            is_class = isinstance(cls, type) and not issubclass(cls, type)
            if not is_class or name in OF_PYTHON or (kind == "called" and name not in CALLED):
                raise BadFile(f"no object of {name} is made here")
        elif kind == "named":
            self._thing(node[1])
        elif kind == "member":
            cls = self._thing(node[1])
            if not (isinstance(cls, type) and issubclass(cls, Enum) and node[2] in cls._member_map_):
                raise BadFile(f"{self._names[node[1]]} has no member {str(node[2])[:60]}")
        elif kind == "model":
            if type(node[1]) is not int or not 0 <= node[1] < self._n_models:
                raise BadFile("a model is missing")
        elif kind != "method":
            raise BadFile(f"it has a node of an unknown kind: {str(node)[:60]}")
        for _ in self._children(node):  # which looks at each
            pass

    def _thing(self, number: Any) -> Any:
        if type(number) is not int or not 0 <= number < len(self._things):
            raise BadFile("a name is missing")
        return self._things[number]

    def _children(self, node: list[Any]) -> Iterator[int]:
        """Numbers of the nodes that a node refers to."""
        kind = node[0]
        if kind in _KINDS:
            values: Any = node[_KINDS[kind] :]
        elif kind == "object":
            values = node[2].values()
        elif kind in ("built", "called"):
            values = [*node[2], *node[3], *node[4], node[5]]
        else:
            values = node[1:2] if kind == "method" else ()
        for value in values:
            number = self._number(value)
            if number is not None:
                yield number

    def _number(self, value: Any) -> int | None:
        """Of the node that a value refers to; None if it is there itself."""
        if not isinstance(value, list):
            if isinstance(value, dict):
                raise BadFile("a value is described wrongly")
            return None
        if len(value) == 1 and isinstance(value[0], str):
            return None
        if len(value) != 1 or type(value[0]) is not int or not 0 <= value[0] < len(self._nodes):
            raise BadFile("it refers to an object that it does not have")
        return value[0]

    # Objects -----------------------------------------------------------------------------------------------------

    def decode(self, root: Any, models: Sequence[Any]) -> Any:
        """The object of a value, with the models that others have read."""
        self._models = models
        number = self._number(root)
        if number is not None:
            self._make_all(number)
        return self._value(root)

    def _make_all(self, root: int) -> None:
        """Children before parents; a parent that waits for its children is there already, but empty."""
        opened = [False] * len(self._nodes)
        done = [False] * len(self._nodes)
        stack = [root]
        while stack:
            at = stack[-1]
            if done[at]:
                stack.pop()
            elif not opened[at]:
                opened[at] = True
                self._made[at] = self._shell(self._nodes[at])
                stack += [child for child in self._children(self._nodes[at]) if not opened[child]][::-1]
            else:
                stack.pop()
                done[at] = True
                self._fill(at)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, list):
            return value
        if isinstance(value[0], str):
            if value[0] not in _NUMBERS:
                return int(value[0], 16)
            return -float(value[0][1:]) if value[0][0] == "-" else float(value[0])  # a new one: two are two keys
        made = self._made[value[0]]
        if made is _NOT_MADE:
            raise BadFile("an object is a part of itself")
        return made

    def _values(self, values: list[Any]) -> list[Any]:
        return [self._value(value) for value in values]

    def _pairs(self, values: list[Any]) -> Iterator[tuple[Any, Any]]:
        return zip(self._keys(values[::2]), self._values(values[1::2]), strict=True)

    def _keys(self, values: list[Any]) -> list[Any]:
        keys = self._values(values)
        for key in keys:
            check_key(key, self._trusted, self._effort)
        check_keys(keys)
        return keys

    def _shell(self, node: list[Any]) -> Any:
        """What can be referred to before it has its parts."""
        kind = node[0]
        if kind == "list":
            return []
        if kind == "set":
            return set()
        if kind in _DICTS:
            return _DICTS[kind]()
        if kind == "defaultdict":
            return defaultdict()
        if kind == "deque":
            return deque(maxlen=node[1])
        if kind == "objects":
            return np.empty(node[1], dtype=object)
        if kind == "object" or (kind == "built" and not node[2]):
            cls = self._things[node[1]]
            check_new(cls, [])
            return cls.__new__(cls)
        return _NOT_MADE

    def _fill(self, at: int) -> None:
        node = self._nodes[at]
        kind, made = node[0], self._made[at]
        if kind == "list":
            made.extend(self._values(node[1:]))
        elif kind == "set":
            made.update(self._keys(node[1:]))
        elif kind in _DICTS:
            for key, value in self._pairs(node[1:]):
                made[key] = value
        elif kind == "defaultdict":
            made.default_factory = self._value(node[1])
            made.update(self._pairs(node[2:]))
        elif kind == "deque":
            made.extend(self._values(node[2:]))
        elif kind == "objects":
            made.reshape(-1)[:] = _flat(self._values(node[2:]))
        elif kind == "object":
            _set_state(made, {key: self._value(value) for key, value in node[2].items()})
        else:
            self._made[at] = self._whole(node, made)

    def _whole(self, node: list[Any], shell: Any) -> Any:
        """What is made in one go, or of a shell."""
        kind = node[0]
        if kind in _SEQUENCES:
            return _SEQUENCES[kind]((self._values if kind == "tuple" else self._keys)(node[1:]))
        if kind in _ARRAYS:
            array = self._arrays.get(node[1])
            return _OF_ARRAY[kind](array)
        if kind == "numbers":
            numbers = self._arrays.get(node[2]).tolist()
            return numbers if node[1] == "list" else tuple(numbers)
        if kind == "made":
            parts = self._values(node[2:])
            if node[1] != "partial":  # which copies nothing
                self._effort.spend_on(parts)
            return MADE[node[1]](*parts)
        if kind == "named":
            return self._things[node[1]]
        if kind == "member":
            return self._things[node[1]]._member_map_[node[2]]
        if kind == "model":
            return self._models[node[1]]
        if kind == "method":
            return self._method(self._value(node[1]), node[2])
        made = shell if shell is not _NOT_MADE else self._new(kind, self._things[node[1]], self._values(node[2]))
        if node[3]:  # by the methods of the plain containers, whatever the class makes of them
            (deque if isinstance(made, deque) else list).extend(made, self._values(node[3]))
        for key, value in self._pairs(node[4]):
            (OrderedDict if isinstance(made, OrderedDict) else dict).__setitem__(made, key, value)
        state = self._value(node[5])
        if state is not None:
            _set_state(made, state)
        return made

    def _new(self, kind: str, cls: Any, args: list[Any]) -> Any:
        if not issubclass(cls, tuple):  # those of named fields copy nothing
            self._effort.spend_on(args)
        check_new(cls, args)
        return cls(*args) if kind == "called" else cls.__new__(cls, *args)

    def _method(self, owner: Any, name: str) -> Any:
        """Bound, without asking the owner for an attribute, which may run code."""
        holder = owner if isinstance(owner, type) else type(owner)
        for cls in holder.__mro__:
            found = vars(cls).get(name)
            if found is not None:
                break
        function = found.__func__ if isinstance(found, classmethod) and holder is owner else found
        if not isinstance(function, FunctionType):
            raise BadFile(f"{holder.__qualname__} has no method {name!r}")
        if not may_be_bound(function, self._trusted):
            told = f"{function.__module__}.{function.__qualname__}"
            raise BadFile(f"it has the method {told}: look at it, and name it in trusted=")
        return MethodType(function, owner)


_OF_ARRAY: dict[str, Callable[[Any], Any]] = {
    "array": lambda array: array,
    "scalar": lambda array: array[()],
    "bytes": lambda array: array.tobytes(),
    "bytearray": lambda array: bytearray(array.tobytes()),
    "dtype": lambda array: array.dtype,
}


def _n_values(node: list[Any]) -> int:
    return sum(len(part) if isinstance(part, list | dict) else 1 for part in node)


def _flat(values: list[Any]) -> Any:
    """As an array, none of whose items is taken for several."""
    array = np.empty(len(values), dtype=object)
    for at, value in enumerate(values):
        array[at] = value
    return array


def _set_state(thing: Any, state: Any) -> None:
    """As pickle does."""
    cls = type(thing)
    if type(state) is dict:
        check_attributes(cls, state)
    own = getattr(cls, "__setstate__", None)
    if own is not None:
        # other states of compiled classes only: a method in Python may take pairs for attributes, and does not look
        is_known = isinstance(own, FunctionType) and own.__module__.partition(".")[0] in _OF_PACKAGES
        if type(state) not in ((dict,) if is_known else (dict, tuple, list, bytes)):
            raise BadFile(f"an object of {cls.__qualname__} has no state")
        own(thing, state)
        return
    attributes, slots = state if type(state) is tuple else (state, None)
    if {type(attributes), type(slots)} - {dict, type(None)}:
        raise BadFile(f"an object of {cls.__qualname__} has no state")
    if attributes:
        check_attributes(cls, attributes)
        thing.__dict__.update(attributes)
    if slots:
        check_slots(cls, slots)
        for name, value in slots.items():
            setattr(thing, name, value)
