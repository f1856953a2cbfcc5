"""Whether skops gives an object back as it was.

It writes what it does not keep, and says nothing: a dictionary's key False comes back as True, a function inside of a
class does not come back. So it is looked at first.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
import scipy.sparse as sp

from ._arrays import is_plain
from ._names import PACKAGES

_SCALARS = (type(None), bool, int, float, str, bytes)


def skops_keeps(root: Any) -> bool:
    """Whether all that an object holds is of a kind that skops keeps; objects of ours, River and sktime are not."""
    left, seen = [root], {id(root): root}
    while left:
        thing = left.pop()
        held = _held(thing)
        if held is None:
            return False
        for part in held:
            if type(part) not in _SCALARS and id(part) not in seen:
                seen[id(part)] = part  # by which it lives on, and nothing else has its id
                left.append(part)
    return True


def _held(thing: Any) -> list[Any] | None:
    """What an object holds; None if it would not be kept."""
    kind = type(thing)
    if kind in _SCALARS:
        return []
    if kind is np.ndarray:
        if thing.dtype == object:
            return thing.tolist() if thing.ndim == 1 else None
        return [] if is_plain(thing) else None
    if kind in (list, tuple, set):
        return list(thing)
    if kind is dict or kind is OrderedDict:
        return list(thing.values()) if {*map(type, thing)} <= {str, int, float} else None
    if isinstance(thing, type | FunctionType | BuiltinFunctionType):
        return [] if _is_global(thing) else None
    if isinstance(thing, np.generic | np.dtype | np.ufunc | np.random.RandomState) or sp.issparse(thing):
        return []
    if kind.__module__.partition(".")[0] in PACKAGES or not _is_global(kind):
        return None
    if isinstance(thing, dict | list | tuple | set | str | int | float):
        return None  # what a subclass adds would be lost
    try:
        reduced = thing.__reduce_ex__(4)
    except TypeError:
        return None
    if isinstance(reduced, str) or any(items is not None for items in reduced[3:]):
        return None
    return [part for part in (*reduced[1], *reduced[2:3]) if not isinstance(part, type)]


def _is_global(thing: Any) -> bool:
    """Whether it is found by its plain name in its module, which is all that skops writes of it."""
    return getattr(sys.modules.get(thing.__module__ or ""), thing.__name__, None) is thing
