"""Packed series: many series states as a few arrays, in which they are pickled, copied and saved.

A series state is some fifty small objects, the same fifty for every series. One by one they take many times as long to
write and to read as their numbers do. States of the default aggregator are split into arrays, class by class; a state
that contains objects of any other class is stored as one object.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..aggregation import Aggregator, ForecastMember
from ..experts import LongTermMemory, MLPoly, SteadyMemory
from ..losses import LossRange
from ._series_state import SeriesState

Key = tuple[int, int, int]  #: codes of series, group and output

#: Structure of a state as nested tuples of plain values: states with the same structure differ in their numbers only.
Structure = tuple[Any, ...]

#: A structure, how many states have it, and their numbers: an array for each number of the structure.
Group = tuple[Structure, int, list[NDArray[Any]]]

UNPACKED = -1  #: instead of the number of a group: the state is left as it is

_CLASSES: dict[str, type] = {
    kind.__name__: kind
    for kind in (SeriesState, Aggregator, ForecastMember, LossRange, LongTermMemory, SteadyMemory, MLPoly)
}
_DTYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64)}
_NUMBERS = (*_DTYPES, "array")


class _CannotPack(Exception):
    """A state holds an object of an unknown class."""


def packed_series(states: Mapping[Key, SeriesState]) -> tuple[Any, ...]:
    """Return plain values: keys, the number of the group that each state is in, groups, and states left as they are."""
    numbers: dict[Structure, int] = {}
    values: list[list[list[Any]]] = []  #: of each group, the numbers of its states
    which, unpacked = [], []
    for state in states.values():
        own: list[Any] = []
        try:
            structure = _structure(state, own)
        except _CannotPack:
            which.append(UNPACKED)
            unpacked.append(state)
            continue
        number = numbers.setdefault(structure, len(values))
        if number == len(values):
            values.append([])
        values[number].append(own)
        which.append(number)
    groups = [
        (structure, len(own), [_column(column) for column in zip(*own, strict=True)])
        for structure, own in zip(numbers, values, strict=True)
    ]
    keys = np.array([*states], dtype=np.int64).reshape(-1, 3)
    return keys, np.array(which, dtype=np.int64), groups, unpacked


def unpacked_series(
    keys: NDArray[Any], which: NDArray[Any], groups: Sequence[Group], unpacked: Sequence[SeriesState]
) -> dict[Key, SeriesState]:
    """Return the states that :func:`packed_series` was given, by their keys and in their order."""
    states = [*(_states(*group) for group in groups), iter(unpacked)]  # the last has the number UNPACKED
    return {tuple(key): next(states[number]) for key, number in zip(keys.tolist(), which.tolist(), strict=True)}


def _structure(thing: Any, values: list[Any]) -> Structure:
    """Return the structure of an object; its numbers are appended to ``values``."""
    kind = type(thing)
    if thing is None or kind is bool or kind is str:
        return "constant", thing
    if kind is float or (kind is int and thing.bit_length() < 64):
        values.append(thing)
        return (kind.__name__,)
    if kind is np.ndarray:
        # another order in memory could mean other last digits
        if thing.dtype not in _DTYPES.values() or not thing.flags.c_contiguous:
            raise _CannotPack
        values.append(thing)
        return "array", thing.dtype.kind, thing.shape
    if kind is list:
        return ("list", *[_structure(part, values) for part in thing])
    if kind is dict and all(type(key) is str for key in thing):
        return ("dict", tuple(thing), *[_structure(part, values) for part in thing.values()])
    if _CLASSES.get(kind.__name__) is not kind:
        raise _CannotPack
    state = thing.__getstate__()
    return (kind.__name__, tuple(state), *[_structure(part, values) for part in state.values()])


def _column(values: tuple[Any, ...]) -> NDArray[Any]:
    first = values[0]
    return np.stack(values) if type(first) is np.ndarray else np.array(values, dtype=_DTYPES[type(first).__name__])


def _states(structure: Structure, n_states: int, columns: Sequence[NDArray[Any]]) -> Iterator[Any]:
    """Yield the states of a group."""
    # copies, because a part of an array would keep all of it in memory; reshaped, as an array may have no dimension
    values = [
        column.tolist() if shape is None else [column[at : at + 1].reshape(shape).copy() for at in range(n_states)]
        for shape, column in zip(_shapes(structure), columns, strict=True)
    ]
    for own in zip(*values, strict=True):
        yield _object(structure, iter(own))


def _shapes(structure: Structure) -> Iterator[tuple[int, ...] | None]:
    """Yield the shape of each array in a structure, and None for a number."""
    kind = structure[0]
    if kind in _NUMBERS:
        yield structure[2] if kind == "array" else None
    elif kind != "constant":
        for part in structure[1 if kind == "list" else 2 :]:
            yield from _shapes(part)


def _object(structure: Structure, values: Iterator[Any]) -> Any:
    """Return an object of this structure with these numbers."""
    kind = structure[0]
    if kind == "constant":
        return structure[1]
    if kind in _NUMBERS:
        return next(values)
    if kind == "list":
        return [_object(part, values) for part in structure[1:]]
    parts = dict(zip(structure[1], [_object(part, values) for part in structure[2:]], strict=True))
    if kind == "dict":
        return parts
    made: Any = object.__new__(_CLASSES[kind])
    made.__dict__.update(parts)
    return made
