"""Parameters of a model as text, by which a checkpoint recognizes the run that it is of."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ._archive import to_json
from ._state import StateWriter

_SHOWN = 3  #: differences that a message names
_BY_REPR = (bool, int, float, complex, str, bytes, type(None), range, slice, np.dtype)


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


def _described(thing: Any, name: str, above: tuple[int, ...]) -> dict[str, str]:
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, _BY_REPR):
        return {name: repr(thing)}
    if isinstance(thing, type) or (callable(thing) and hasattr(thing, "__qualname__")):
        return {name: f"{thing.__module__}.{thing.__qualname__}"}
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if id(thing) in above:
        return {name: f"{kind} that it is a part of"}
    parts: Mapping[Any, Any] = {}
    if isinstance(thing, Mapping | list | tuple | deque):
        parts = thing if isinstance(thing, Mapping) else dict(enumerate(thing))
        kind += f" of {len(parts)}"
    elif isinstance(thing, partial):
        parts = {"func": thing.func, "args": thing.args, "keywords": thing.keywords}
    elif hasattr(thing, "get_params"):
        parts = thing.get_params(deep=False)
    elif hasattr(thing, "_get_params"):  # River's
        parts = thing._get_params()
    else:
        kind = f"{kind} {_content(thing) or ''}".rstrip()
    described = {name: kind}
    for part, value in parts.items():
        described |= _described(value, f"{name}.{part}", (*above, id(thing)))
    return described


def _content(thing: Any) -> str | None:
    """Return a checksum of an array, a generator of random numbers or another value; None for other objects."""
    if thing is np.random.mtrand._rand:
        return "of the process"  # its state differs in the next process
    if isinstance(thing, set | frozenset):
        thing = sorted(map(repr, thing))
    writer = StateWriter()
    state = to_json([writer.value(thing), writer.nodes])
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
