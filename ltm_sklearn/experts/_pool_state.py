"""States of algorithms whose pool of experts changes: entries of experts that join or leave, and the prior's scale."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._typing import Floats, State

AxisOf = Callable[[Floats], int | None]


def last_axis(value: Floats) -> int | None:
    """Return -1, the axis of the experts in a plain state; None for a number, which belongs to all experts."""
    return -1 if value.ndim else None


def _with_changed_arrays(state: State, change: Callable[[str, Floats, int], Floats], axis_of: AxisOf) -> State:
    def changed(name: str, value: Any) -> Any:
        axis = axis_of(value) if isinstance(value, np.ndarray) else None
        return value if axis is None else change(name, value, axis)

    return {name: changed(name, value) for name, value in state.items()}


def join(state: State, newcomers: State, axis_of: AxisOf = last_axis) -> State:
    """Append the entries of new experts to every array of the state that has an axis of experts."""

    def joined(name: str, value: Floats, axis: int) -> Floats:
        shape = list(value.shape)
        shape[axis] = newcomers[name].shape[axis]
        return np.concatenate([value, np.broadcast_to(newcomers[name], shape)], axis=axis)

    return _with_changed_arrays(state, joined, axis_of)


def leave(state: State, index: int | slice, axis_of: AxisOf = last_axis) -> State:
    """Delete the entries of some experts from every array of the state that has an axis of experts."""
    return _with_changed_arrays(state, lambda _, value, axis: np.delete(value, index, axis=axis), axis_of)


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
