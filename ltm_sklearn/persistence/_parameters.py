"""Parameters of a model as text, by which a checkpoint recognizes the run that it is of."""

from __future__ import annotations

import random
import zlib
from collections import deque
from collections.abc import Mapping
from datetime import date, time, timedelta, tzinfo
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import partial
from pathlib import PurePath
from typing import Any

import numpy as np
import scipy.sparse as sp

_SHOWN = 3  #: differences that a message names
_LETTERS = 60  #: of a value that are shown

#: Types whose ``repr`` has all of a value.
_BY_REPR = (bool, int, float, complex, str, bytes, type(None), range, slice, np.dtype, Enum)
_BY_REPR += (date, time, timedelta, tzinfo, Decimal, Fraction, PurePath)  # type: ignore[assignment]


def describe_parameters(model: Any, name: str = "model") -> dict[str, str]:
    """Return the parameters of a model as text, by their path.

    Parameters
    ----------
    model : object
        A model of scikit-learn's or River's kind, or several in a list or dictionary. Arrays and generators of random numbers are described by their content, other
        objects without parameters by their class.
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
    content = _content(thing)
    if content is not None:
        return {name: f"{kind} {content}"}
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
    described = {name: kind}
    for part, value in parts.items():
        described |= _described(value, f"{name}.{part}", (*above, id(thing)))
    return described


def _content(thing: Any) -> str | None:
    """Return what is in an array, set, table or generator as text; None for anything else."""
    if type(thing).__module__.partition(".")[0] == "pandas":
        thing = thing.to_numpy() if hasattr(thing, "to_numpy") else repr(thing)
    if sp.issparse(thing):
        entries = thing.tocoo()
        return f"of shape {thing.shape}, {_shortened([each.tolist() for each in (entries.row, entries.col, entries.data)])}"
    if isinstance(thing, np.ndarray):
        return f"of {thing.dtype}, shape {thing.shape}, {_shortened(thing.tolist())}"
    if isinstance(thing, set | frozenset):
        return _shortened(sorted(map(repr, thing)))
    if isinstance(thing, random.Random):
        return _shortened(thing.getstate())
    if isinstance(thing, np.random.Generator):
        return _shortened(thing.bit_generator.state)
    if isinstance(thing, np.random.RandomState):
        if thing is np.random.mtrand._rand:  # its state differs in the next process
            return "of the process"
        return _shortened([each.tolist() if isinstance(each, np.ndarray) else each for each in thing.get_state()])
    return thing if isinstance(thing, str) else None


def _shortened(content: Any) -> str:
    """Return the content as text, or the beginning of it and its checksum."""
    text = repr(content)
    if len(text) <= _LETTERS:
        return text
    return f"{text[:_LETTERS]}..., checksum {zlib.crc32(text.encode(errors='surrogatepass')):08x}"


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Return where two descriptions differ, in words; an empty text if they are equal."""
    found = [
        f"{name} is {now.get(name, 'absent')} and was {before.get(name, 'absent')}"
        for name in dict.fromkeys([*now, *before])
        if now.get(name) != before.get(name)
    ]
    more = f", and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more
