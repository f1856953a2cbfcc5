"""What a model was made with, in words that two models can be compared by."""

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
from re import Pattern
from typing import Any
from uuid import UUID

import numpy as np
import scipy.sparse as sp

SHOWN = 3  #: differences that a message names
WORDS = 60  #: letters of a value that are shown

#: Values that say in words all that they are.
_SAID: tuple[type, ...] = (bool, int, float, complex, str, bytes, bytearray, type(None), range, slice, np.dtype, Enum)
_SAID += (date, time, timedelta, tzinfo, Decimal, Fraction, UUID, PurePath, Pattern)


def setting_of(thing: Any, name: str = "model", above: tuple[int, ...] = ()) -> dict[str, str]:
    """Parameters by their path, of a model of scikit-learn's or River's kind, or of several in a dictionary.

    Arrays and generators of random numbers are known by their content, and what else has no parameters by its type.
    ``above`` are the ids of what it is a part of.
    """
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, _SAID):
        return {name: repr(thing)}
    if isinstance(thing, type) or (callable(thing) and hasattr(thing, "__qualname__")):
        return {name: f"{thing.__module__}.{thing.__qualname__}"}
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    if id(thing) in above:  # a list may be in itself
        return {name: f"{kind} that it is in, {len(above) - above.index(id(thing))} up"}
    above = (*above, id(thing))
    content = _content_of(thing, above)
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
    setting = {name: kind}
    for part, value in parts.items():
        setting |= setting_of(value, f"{name}.{part}", above)
    return setting


def _content_of(thing: Any, above: tuple[int, ...]) -> str | None:
    """What is in an array, set, table or generator, in words; None if it is none of these."""
    library = type(thing).__module__.partition(".")[0]
    if library == "pandas" and hasattr(thing, "to_numpy"):
        thing = thing.to_numpy()
    if sp.issparse(thing):
        entries = thing.tocoo()
        return f"of shape {thing.shape}, {_short(_words([entries.row, entries.col, entries.data]))}"
    if isinstance(thing, np.ndarray):
        has_objects = thing.dtype.hasobject or thing.dtype.kind == "T"
        items = _words(thing.ravel().tolist(), above).encode() if has_objects else np.ascontiguousarray(thing).tobytes()
        return f"of {thing.dtype}, shape {thing.shape}, checksum {zlib.crc32(items):08x}"
    if isinstance(thing, set | frozenset):
        return f"of {len(thing)}: {_short(' '.join(sorted(_words([each]) for each in thing)))}"
    if isinstance(thing, random.Random):
        return f"with the checksum {_checksum(repr(thing.getstate()))}"
    if isinstance(thing, np.random.Generator):
        return f"with the checksum {_checksum(_words([thing.bit_generator.state]))}"
    if isinstance(thing, np.random.RandomState):
        if thing is np.random.mtrand._rand:  # whose state is another one in the next process
            return "of the process"
        return f"with the checksum {_checksum(_words([thing.get_state(legacy=False)]))}"
    return repr(thing) if library == "pandas" else None  # times between times, say


def _words(things: list[Any], above: tuple[int, ...] = ()) -> str:
    return " ".join([*setting_of(things, "", above).values()][1:])


def _short(text: str) -> str:
    """The words, or their beginning and checksum."""
    return text if len(text) <= WORDS else f"{text[:WORDS]}..., checksum {_checksum(text)}"


def _checksum(text: str) -> str:
    return f"{zlib.crc32(text.encode(errors='surrogatepass')):08x}"


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Where two settings differ, in words; nothing if they do not."""
    found = []
    for name in dict.fromkeys([*now, *before]):
        if now.get(name) != before.get(name):
            found.append(f"{name} is {now.get(name, 'absent')} and was {before.get(name, 'absent')}")
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more
