"""Whether skops gives an object back as it was.

It writes what it does not keep, and says nothing: a dictionary's key False comes back as True, a function inside of a
class does not come back. So it is looked at first.
"""

from __future__ import annotations

import copyreg
import json
import sys
from collections import OrderedDict
from datetime import datetime, time
from functools import partial
from math import copysign, isnan
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._arrays import is_plain
from ._names import PACKAGES

_SCALARS = (type(None), bool, int, str, bytes)
_NOT_BY_SKOPS = (*PACKAGES, "pandas", "polars", "pyarrow")


def kept_by_skops(root: Any) -> dict[int, Any] | None:
    """All that an object holds, by identity; None if it has what skops does not keep, as objects of ours or River.

    Nor does it keep what is a part of itself.
    """
    left, above = [root], set[int]()
    seen: dict[int, Any] = {}  # by which they live on, and nothing else has their ids
    while left:
        thing = left[-1]
        if id(thing) in seen:
            above.discard(id(left.pop()))  # all that it holds was looked at
            continue
        held = _held(thing)
        if held is None:
            return None
        seen[id(thing)] = thing
        above.add(id(thing))
        parts = [part for part in held if type(part) not in _SCALARS]
        if any(id(part) in above for part in parts):
            return None
        left += [part for part in parts if id(part) not in seen]
    return seen


def _held(thing: Any) -> list[Any] | None:
    """What an object holds; None if it would not be kept."""
    kind = type(thing)
    if kind in _SCALARS:
        return []
    if kind is float:
        return None if isnan(thing) and copysign(1.0, thing) < 0.0 else []
    if kind is np.ndarray:
        if thing.dtype == object:
            return thing.tolist() if thing.ndim == 1 else None
        return [] if is_plain(thing) else None
    if kind is np.ma.MaskedArray:
        return _held_by_masked(thing)
    if kind in (list, tuple, set):
        return list(thing)
    if kind is dict or kind is OrderedDict:
        return list(thing.values()) if _keeps_keys(thing) else None
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        return [] if _is_global(thing) else None
    if isinstance(thing, np.generic):
        return [] if thing.dtype.kind in "biufcmMU" else None
    if isinstance(thing, np.dtype):
        return [] if is_plain(np.empty(0, thing)) and np.empty(0, thing).dtype == thing else None
    if isinstance(thing, np.ufunc | np.random.RandomState | np.random.Generator) or sp.issparse(thing):
        return []
    if kind is partial:
        return [thing.func, *thing.args, *thing.keywords.values()]
    if kind.__module__.partition(".")[0] in _NOT_BY_SKOPS or not _is_global(kind):
        return None
    if isinstance(thing, dict | list | tuple | set | str | int | float | np.ndarray):
        return None  # what a subclass adds would be lost
    return _held_by_object(thing)


def _keeps_keys(things: dict[Any, Any]) -> bool:
    """Whether keys are of kinds that come back, and remain apart as those of JSON, which are text."""
    if {*map(type, things)} <= {str}:
        return True
    as_text = {key if type(key) is str else json.dumps(key) for key in things if type(key) in (str, int, float)}
    return len(as_text) == len(things)


def _held_by_masked(thing: Any) -> list[Any] | None:
    is_usual = thing._fill_value is None or bool(thing._fill_value == np.ma.default_fill_value(thing.dtype))
    return [thing.data, np.ma.getmaskarray(thing)] if is_usual and not thing.hardmask else None


def _held_by_object(thing: Any) -> list[Any] | None:
    """By skops an object is made of its class and a state, or by a call if that is all that it needs."""
    kind = type(thing)
    try:
        make, args, *rest = thing.__reduce_ex__(4)
        called, values, *more = thing.__reduce__()
    except (TypeError, ValueError):
        return None
    if called is kind and not any(part is not None for part in more):
        return None if isinstance(thing, datetime | time) and thing.fold else list(values)
    state = rest[0] if rest else None
    if any(items is not None for items in rest[1:]):
        return None
    is_of_sklearn = kind.__module__.partition(".")[0] == "sklearn"  # whose compiled classes skops knows
    is_bare = make is getattr(copyreg, "__newobj__") and args == (kind,)  # noqa: B009 -- which mypy does not know
    has_way = state is None or type(state) is dict or hasattr(kind, "__setstate__")
    if not is_of_sklearn and not (is_bare and has_way):
        return None
    return [part for part in (*args, state) if not isinstance(part, type)]


def _is_global(thing: Any) -> bool:
    """Whether it is found by its plain name in its module, which is all that skops writes of it."""
    return getattr(sys.modules.get(thing.__module__ or ""), thing.__name__, None) is thing
