"""What a model was made with, in words that two models can be compared by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

SHOWN = 3  #: differences that a message names


def setting_of(thing: Any, name: str = "model") -> dict[str, str]:
    """Parameters by their path, of a model of scikit-learn's or River's kind, or of several in a dictionary.

    What has no parameters is known by its type. Whatever learning changes, as a generator of random numbers, is too.
    """
    if isinstance(thing, np.generic):
        thing = thing.item()
    if isinstance(thing, bool | int | float | str | bytes | None):
        return {name: repr(thing)}
    if isinstance(thing, type) or (callable(thing) and hasattr(thing, "__qualname__")):
        return {name: f"{thing.__module__}.{thing.__qualname__}"}
    kind = f"{type(thing).__module__}.{type(thing).__qualname__}"
    parts: Mapping[Any, Any] = {}
    if isinstance(thing, Mapping | list | tuple):
        parts = thing if isinstance(thing, Mapping) else dict(enumerate(thing))
        kind += f" of {len(parts)}"
    elif hasattr(thing, "get_params"):
        parts = thing.get_params(deep=False)
    elif hasattr(thing, "_get_params"):  # River's
        parts = thing._get_params()
    setting = {name: kind}
    for part, value in parts.items():
        setting |= setting_of(value, f"{name}.{part}")
    return setting


def differences(now: Mapping[str, str], before: Mapping[str, str]) -> str:
    """Where two settings differ, in words; nothing if they do not."""
    found = []
    for name in dict.fromkeys([*now, *before]):
        if now.get(name) != before.get(name):
            found.append(f"{name} is {now.get(name, 'absent')} and was {before.get(name, 'absent')}")
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    return ", ".join(found[:SHOWN]) + more
