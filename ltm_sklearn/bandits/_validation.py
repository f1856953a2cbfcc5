"""Checks of the input to bandits. Messages name the argument, the round, the arm and the value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from .._param_checks import ROUNDING, as_floats
from .._typing import Floats

Arms = NDArray[np.intp]
Range = tuple[float, float]


def seed_of(random_state: Any) -> int | None:
    """Return a seed drawn from a ``random_state``, or None for None."""
    if random_state is None:
        return None
    try:
        return int(check_random_state(random_state).randint(2**31))
    except ValueError:
        message = f"random_state={random_state!r} must be None, an integer or a numpy.random.RandomState"
        raise ValueError(message) from None


def check_table(values: Any, name: str, n_arms: int | None, first_round: int, known: Range) -> Floats:
    """Check losses or rewards of many rounds, (n_rounds, n_arms), and clip rounding errors to their range."""
    table = as_floats(values, name)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(f"{name} must have one column per arm, shape (n_rounds, n_arms); got shape {table.shape}")
    if n_arms is not None and table.shape[1] != n_arms:
        raise ValueError(f"{name} have {table.shape[1]} columns, but this bandit has {n_arms} arms")
    low, high = known
    inside = (table >= low - ROUNDING) & (table <= high + ROUNDING)
    if not inside.all():  # NaN is outside
        at, arm = np.argwhere(~inside)[0]
        raise ValueError(
            f"{name} must lie in {_interval(known)}: round {first_round + at}, arm {arm} has {float(table[at, arm])!r} "
            "(rounds and arms are counted from 0)"
        )
    return np.ascontiguousarray(np.clip(table, low, high))


def check_seen(values: Any, name: str, arms: Arms, at_round: int, known: Range) -> Floats:
    """Check the losses or rewards of drawn arms, (n_drawn,), and clip rounding errors to their range."""
    low, high = known
    seen = np.atleast_1d(as_floats(values, name))
    if seen.shape != arms.shape:
        raise ValueError(f"{name} has shape {seen.shape} for {len(arms)} arms; pass one number per arm")
    for arm, value in zip(arms.tolist(), seen.tolist(), strict=True):
        if not low - ROUNDING <= value <= high + ROUNDING:  # NaN is outside
            raise ValueError(f"{name} must lie in {_interval(known)}: round {at_round}, arm {arm} has {value!r}")
    return np.clip(seen, low, high)


def _interval(known: Range) -> str:
    low, high = known
    return f"[{low:g}, {high:g}]{'' if known == (-1.0, 1.0) else ' (loss_range)'}"


def check_loss_range(loss_range: Any) -> None:
    """Check two numbers in [-1, 1], of which the first is smaller."""
    try:
        low, high = as_floats(loss_range, "loss_range").tolist()
        valid = low >= -1.0 and low + ROUNDING < high and high <= 1.0
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise ValueError(f"loss_range={loss_range!r} must be the lowest and the highest loss, within [-1, 1]")


def check_arms(arm: Any, n_arms: int) -> Arms:
    """Check one arm, or several distinct arms, and return them as an array."""
    array = np.asarray(arm)
    listed = array.ravel().tolist() if array.ndim <= 1 and (array.dtype.kind in "biu" or not array.size) else [arm]
    for each in listed:
        if isinstance(each, bool) or not isinstance(each, int):
            raise ValueError(f"there is no arm {each!r}: arms are integers from 0 to {n_arms - 1}")
        if not 0 <= each < n_arms:
            raise ValueError(f"there is no arm {each}: there are {n_arms} arms, counted from 0")
    if not listed or len(set(listed)) < len(listed):
        raise ValueError(f"arm={arm!r} must be one arm, or several distinct arms")
    return np.array(listed, dtype=np.intp)


def check_probabilities(probability: Any, arms: Arms) -> Floats:
    """Check the probabilities in (0, 1] that each arm was among those drawn."""
    chances = np.atleast_1d(as_floats(probability, "probability"))
    if chances.shape != arms.shape:
        raise ValueError(f"probability has shape {chances.shape} for {len(arms)} arms; pass one number per arm")
    if not ((chances > 0.0) & (chances <= 1.0 + ROUNDING)).all():
        raise ValueError(f"probability={probability!r} must lie in (0, 1]")
    return np.minimum(chances, 1.0)


def check_distribution(chances: Floats, n_arms: int, name: str) -> None:
    """Check the probabilities that a rule, possibly a custom one, computed for its arms."""
    if chances.shape != (n_arms,) or not (chances >= 0.0).all() or not 0.0 < chances.sum() < np.inf:
        raise ValueError(f"{name}._distribution returned no distribution over {n_arms} arms: {chances!r}")


def check_awake(awake: ArrayLike | None, n_arms: int) -> NDArray[np.bool_] | None:
    """Check which arms can be drawn; return None if all can."""
    if awake is None:
        return None
    mask = np.asarray(awake)
    if mask.dtype != np.bool_ or mask.shape != (n_arms,):
        raise ValueError(f"awake must be True or False for each of {n_arms} arms; got {awake!r}")
    if not mask.any():
        raise ValueError("awake is False for all arms: at least one must be awake to be drawn")
    return None if mask.all() else mask
