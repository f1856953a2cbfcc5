"""Many objects of one make: one of them, and the values of the others side by side.

A panel has some fifty small objects for each of its series, the same fifty for all. To pickle, copy or save them one
by one takes many times as long as their numbers do.
"""

from __future__ import annotations

import copyreg
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

#: What an object is made of, as nested tuples: two objects with equal plans differ in their leaves only.
Plan = tuple[Any, ...]

LEAF, ARRAY, AGAIN, DICT, LIST, TUPLE, OBJECT = range(7)

#: Kinds of leaves of which it does not matter whether two of them are one.
_ATOMS = (type(None), bool, int, float, complex, str, bytes, type, np.generic)


class Alike(NamedTuple):
    """Objects with one plan."""

    first: Any
    columns: list[Any]  #: a leaf of all others each: an array or a list; None if all have the one of the first


def alike(things: Sequence[Any]) -> tuple[list[Alike], list[int]]:
    """Objects by their plans, and for each of them which plan it has."""
    numbers: dict[Plan, int] = {}
    firsts: list[Any] = []
    leaves: list[list[list[Any]]] = []  #: of each plan, those of its objects
    which = []
    for thing in things:
        walk = _Walk(thing)
        number = numbers.setdefault(walk.plan, len(firsts))
        if number == len(firsts):
            firsts.append(thing)
            leaves.append([])
        leaves[number].append(walk.leaves)
        which.append(number)
    columns = [[_column(column) for column in zip(*own, strict=True)] for own in leaves]
    return [Alike(*group) for group in zip(firsts, columns, strict=True)], which


def _column(values: tuple[Any, ...]) -> Any:
    first, others = values[0], values[1:]
    if all(value is first for value in others):
        return None
    return np.stack(others) if _is_stacked(first) else list(others)


def _is_stacked(value: Any) -> bool:
    """Another order in memory could mean other last digits."""
    return type(value) is np.ndarray and not value.dtype.hasobject and value.flags.c_contiguous


def unlike(groups: Sequence[Alike], which: Sequence[int]) -> list[Any]:
    """The objects that :func:`alike` was given, in their order."""
    sizes = Counter(which)
    made = [_members(group, sizes[number] - 1) for number, group in enumerate(groups)]
    return [next(made[number]) for number in which]


def _members(group: Alike, n_others: int) -> Iterator[Any]:
    """The first, and then the others."""
    walk = _Walk(group.first)
    columns = [_leaves(*each, n_others) for each in zip(walk.leaves, group.columns, strict=True)]
    yield group.first
    for leaves in zip(*columns, strict=True) if columns else [()] * n_others:
        yield _made(walk.plan, iter(leaves), [])


def _leaves(first: Any, column: Any, n_others: int) -> Sequence[Any]:
    """Those of a column."""
    if column is None:
        return [first] * n_others
    if len(column) != n_others:
        raise ValueError("of objects that are alike, some have no values")
    if not _is_stacked(first):
        return list(column)
    if (column.dtype, column.shape[1:]) != (first.dtype, first.shape):
        raise ValueError("of objects that are alike, the arrays are not")
    return [part.copy() for part in column]  # as a part of an array would keep all of it


class _Walk:
    """Through an object: its plan, and its leaves in an order that the plan tells."""

    def __init__(self, thing: Any) -> None:
        self.leaves: list[Any] = []
        self._numbers: dict[int, int] = {}  #: of what was met, by identity
        self._met: list[Any] = []  #: which therefore has to live on
        self.plan = self._plan(thing)

    def _plan(self, thing: Any) -> Plan:
        kind = type(thing)
        if isinstance(thing, _ATOMS):
            self.leaves.append(thing)
            return (LEAF,)
        if kind is tuple:
            return (TUPLE, *map(self._plan, thing))
        number = self._numbers.setdefault(id(thing), len(self._met))
        if number < len(self._met):
            return (AGAIN, number)
        self._met.append(thing)
        if _is_stacked(thing):
            self.leaves.append(thing)
            return (ARRAY, thing.dtype, thing.shape)
        if kind is list:
            return (LIST, *map(self._plan, thing))
        if kind is dict and all(type(key) is str for key in thing):
            return (DICT, tuple(thing), *map(self._plan, thing.values()))
        state = _state_of(thing)
        if state is None:
            self.leaves.append(thing)
            return (LEAF, None)
        self._met[-1] = thing, state  # parts of a state may have been made for it
        return (OBJECT, kind, tuple(state), *map(self._plan, state.values()))


def _state_of(thing: Any) -> dict[str, Any] | None:
    """The attributes by which pickle would bring it back; None if it takes more than these."""
    kind = type(thing)
    if kind.__reduce_ex__ is not object.__reduce_ex__ or kind.__reduce__ is not object.__reduce__:
        return None
    make, args, state, items, pairs = [*thing.__reduce_ex__(4), None, None, None][:5]
    if make is not getattr(copyreg, "__newobj__") or args != (kind,) or items or pairs:  # noqa: B009 -- mypy
        return None
    return state if type(state) is dict and state and all(type(key) is str for key in state) else None


def _made(plan: Plan, leaves: Iterator[Any], met: list[Any]) -> Any:
    """An object with a plan and these leaves."""
    kind = plan[0]
    if kind in (LEAF, ARRAY):
        leaf = next(leaves)
        if len(plan) > 1:
            met.append(leaf)
        return leaf
    if kind == AGAIN:
        return met[plan[1]]
    if kind == TUPLE:
        return tuple([_made(part, leaves, met) for part in plan[1:]])
    made: Any
    if kind == LIST:
        made = []
        met.append(made)
        made.extend([_made(part, leaves, met) for part in plan[1:]])
        return made
    if kind == DICT:
        made = {}
        met.append(made)
        made.update(zip(plan[1], [_made(part, leaves, met) for part in plan[2:]], strict=True))
        return made
    made = plan[1].__new__(plan[1])
    met.append(made)
    state = dict(zip(plan[2], [_made(part, leaves, met) for part in plan[3:]], strict=True))
    if hasattr(made, "__setstate__"):
        made.__setstate__(state)
    else:
        made.__dict__.update(state)
    return made
