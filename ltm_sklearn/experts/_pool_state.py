"""States of algorithms whose pool of experts changes: entries of experts that join or leave, and the prior's scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import State


def last_axis(value: Any) -> int | None:
    """Return -1, the axis of the experts in an array of a plain state; None for entries without such an axis."""
    return -1 if isinstance(value, np.ndarray) and value.ndim else None


def join(state: State, newcomers: State, axis_of: Callable[[Any], int | None] = last_axis) -> State:
    """Append the entries of new experts to every array of the state that has an axis of experts."""
    after = dict(state)
    for name, value in state.items():
        if (axis := axis_of(value)) is not None:
            shape = list(value.shape)
            shape[axis] = newcomers[name].shape[axis]
            after[name] = np.concatenate([value, np.broadcast_to(newcomers[name], shape)], axis=axis)
    return after


def leave(state: State, index: int | slice, axis_of: Callable[[Any], int | None] = last_axis) -> State:
    """Delete the entries of some experts from every array of the state that has an axis of experts."""
    axes = {name: axis_of(value) for name, value in state.items()}
    return {**state, **{at: np.delete(state[at], index, axis) for at, axis in axes.items() if axis is not None}}


def with_scaled_prior(state: State, factor: float) -> State:
    """Return the state with the prior multiplied by a factor, which does not change the weights.

    Without it, an endless series of joining and leaving experts would overflow.
    """
    after = dict(state)
    if "prior" in after:
        after["prior"] = factor * after["prior"]
    for name in ("log_prior", "log_weight"):
        if name in after:
            after[name] = np.log(factor) + after[name]
    return after
