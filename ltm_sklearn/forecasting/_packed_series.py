"""The cells of a panel side by side, as a few arrays: so they are pickled, copied and saved.

A cell is some fifty small objects, the same fifty for every series. One by one they take many times as long to write
and to read as their numbers do. What a cell of the default aggregator is made of is known here, class by class; a cell
with anything else in it is left as it is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..aggregation import Aggregator, Member
from ..experts import LongTermMemory, MLPoly, SteadyMemory
from ..losses import LossRange
from ._series_state import SeriesState

#: What a cell is made of, as nested tuples of plain values: cells with one plan differ in their numbers only.
Plan = tuple[Any, ...]

#: A plan, how many cells have it, and their numbers: an array for each place in the plan.
Group = tuple[Plan, int, list[NDArray[Any]]]

ALONE = -1  #: in the place of a group's number: not taken apart

_CLASSES: dict[str, type] = {
    kind.__name__: kind for kind in (SeriesState, Aggregator, Member, LossRange, LongTermMemory, SteadyMemory, MLPoly)
}
_DTYPES = {"float": np.dtype(np.float64), "int": np.dtype(np.int64)}
_NUMBERS = (*_DTYPES, "array")


class _Unknown(Exception):
    """There is something in a cell that is not known here."""


def packed(cells: Mapping[Any, SeriesState]) -> tuple[Any, ...]:
    """Cells as plain values: their keys, the number of the group that each is in, the groups, and those left alone."""
    numbers: dict[Plan, int] = {}
    leaves: list[list[list[Any]]] = []  #: of each group, those of its cells
    which, alone = [], []
    for cell in cells.values():
        own: list[Any] = []
        try:
            plan = _plan(cell, own)
        except _Unknown:
            which.append(ALONE)
            alone.append(cell)
            continue
        number = numbers.setdefault(plan, len(leaves))
        if number == len(leaves):
            leaves.append([])
        leaves[number].append(own)
        which.append(number)
    groups = [
        (plan, len(mine), [_column(values) for values in zip(*mine, strict=True)])
        for plan, mine in zip(numbers, leaves, strict=True)
    ]
    keys = np.array([*cells], dtype=np.int64).reshape(-1, 3)
    return keys, np.array(which, dtype=np.int64), groups, alone


def apart(
    keys: NDArray[Any], which: NDArray[Any], groups: Sequence[Group], alone: Sequence[SeriesState]
) -> dict[Any, SeriesState]:
    """Return the cells that :func:`packed` was given, by their keys and in their order."""
    made = [_members(*group) for group in groups]
    made.append(iter(alone))  # which is the last: the one with the number ALONE
    return {tuple(key): next(made[number]) for key, number in zip(keys.tolist(), which.tolist(), strict=True)}


# Taken apart ---------------------------------------------------------------------------------------------------------


def _plan(thing: Any, leaves: list[Any]) -> Plan:
    """What it is made of; the numbers are put to the others."""
    kind = type(thing)
    if thing is None or kind is bool or kind is str:
        return "is", thing
    if kind is float or (kind is int and thing.bit_length() < 64):
        leaves.append(thing)
        return (kind.__name__,)
    if kind is np.ndarray:
        # another order in memory could mean other last digits
        if thing.dtype not in _DTYPES.values() or not thing.flags.c_contiguous:
            raise _Unknown
        leaves.append(thing)
        return "array", "float" if thing.dtype.kind == "f" else "int", thing.shape
    if kind is list:
        return ("list", *[_plan(part, leaves) for part in thing])
    if kind is dict and all(type(key) is str for key in thing):
        return ("dict", tuple(thing), *[_plan(part, leaves) for part in thing.values()])
    if _CLASSES.get(kind.__name__) is not kind:
        raise _Unknown
    state = thing.__getstate__()
    return (kind.__name__, tuple(state), *[_plan(part, leaves) for part in state.values()])


def _column(values: tuple[Any, ...]) -> NDArray[Any]:
    first = values[0]
    return np.stack(values) if type(first) is np.ndarray else np.array(values, dtype=_DTYPES[type(first).__name__])


# Put together --------------------------------------------------------------------------------------------------------


def _members(plan: Plan, n_cells: int, columns: Sequence[NDArray[Any]]) -> Iterator[Any]:
    """Return the cells of a group one after the other."""
    # copies, as a part of an array would keep all of it in memory; an array without a dimension is one again
    leaves = [
        [column[at : at + 1].reshape(shape).copy() for at in range(n_cells)] if is_array else column.tolist()
        for (is_array, shape), column in zip(_number_parts(plan), columns, strict=True)
    ]
    for own in zip(*leaves, strict=True):
        yield _made(plan, iter(own))


def _number_parts(plan: Plan) -> Iterator[tuple[bool, tuple[int, ...]]]:
    """Return, for each number in a plan, whether it is an array, and the shape of it."""
    if plan[0] in _NUMBERS:
        yield plan[0] == "array", plan[2] if plan[0] == "array" else ()
    elif plan[0] != "is":
        for part in plan[1 if plan[0] == "list" else 2 :]:
            yield from _number_parts(part)


def _made(plan: Plan, leaves: Iterator[Any]) -> Any:
    """An object with these numbers."""
    kind = plan[0]
    if kind == "is":
        return plan[1]
    if kind in _NUMBERS:
        return next(leaves)
    if kind == "list":
        return [_made(part, leaves) for part in plan[1:]]
    parts = dict(zip(plan[1], [_made(part, leaves) for part in plan[2:]], strict=True))
    if kind == "dict":
        return parts
    made: Any = object.__new__(_CLASSES[kind])
    made.__dict__.update(parts)
    return made
