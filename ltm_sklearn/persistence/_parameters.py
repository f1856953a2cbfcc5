"""Parameters of a model as text, by which a checkpoint recognizes the run that it is of."""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Mapping
from datetime import date, time, timedelta
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np

from ._archive import to_json
from ._state import StateWriter

_SHOWN = 3  #: differences that a message names
_BY_REPR = (bool, int, float, complex, str, bytes, type(None), range, slice, np.dtype, date, time, timedelta, PurePath)


def describe_parameters(model: Any, name: str = "model") -> dict[str, str]:
    """Return the parameters of a model as text, by their path.

    Parameters
    ----------
    model : object
        A model of scikit-learn's or River's kind, or several in a list or dictionary. Arrays and generators of random
        numbers are described by their content, other objects without parameters by their class.
    name : str, default="model"
        The first part of each path.

    Returns
    -------
    parameters : dict of str to str
    """
    return _described(model, name, ())


def _described(obj: Any, name: str, above: tuple[int, ...]) -> dict[str, str]:
    if isinstance(obj, np.generic):
        obj = obj.item()
    if isinstance(obj, _BY_REPR):
        return {name: repr(obj)}
    if isinstance(obj, type) or (callable(obj) and hasattr(obj, "__qualname__")):
        return {name: f"{obj.__module__}.{obj.__qualname__}"}
    kind = f"{type(obj).__module__}.{type(obj).__qualname__}"
    if id(obj) in above:
        return {name: f"{kind} that it is a part of"}
    parts: Mapping[Any, Any] = {}
    if isinstance(obj, Mapping | list | tuple | deque):
        parts = obj if isinstance(obj, Mapping) else dict(enumerate(obj))
        kind += f" of {len(parts)}"
    elif isinstance(obj, partial):
        parts = {"func": obj.func, "args": obj.args, "keywords": obj.keywords}
    elif hasattr(obj, "get_params"):
        parts = obj.get_params(deep=False)
    elif hasattr(obj, "_get_params"):  # River's
        parts = obj._get_params()
    else:
        kind = f"{kind} {_content(obj) or ''}".rstrip()
    described = {name: kind}
    for part, value in parts.items():
        described |= _described(value, f"{name}.{part}", (*above, id(obj)))
    return described


def _content(obj: Any) -> str | None:
    """Return a checksum of an array, a generator of random numbers or another value; None for other objects."""
    if obj is np.random.mtrand._rand:
        return "of the process"  # its state differs in the next process
    if isinstance(obj, set | frozenset):
        obj = sorted(map(repr, obj))
    elif isinstance(obj, np.random.RandomState):
        obj = obj.get_state(legacy=False)
    elif isinstance(obj, random.Random):
        obj = obj.getstate()
    writer = StateWriter()
    state = to_json([writer.value(obj), writer.nodes])
    return None if writer.models else f"with checksum {zlib.crc32(writer.arrays.dump(), zlib.crc32(state)):08x}"


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Return where two descriptions differ, in words; an empty text if they are equal."""
    found = [
        f"{name} is {now.get(name, 'absent')} and was {before.get(name, 'absent')}"
        for name in dict.fromkeys([*now, *before])
        if now.get(name) != before.get(name)
    ]
    more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
