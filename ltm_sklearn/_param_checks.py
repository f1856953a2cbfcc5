"""Checks of parameters and input. Error messages name the argument, the value and, of losses, round and expert."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import _check_sample_weight

from ._typing import Floats

#: Losses that are outside [0, 1] by at most this are clipped, as rounding errors.
ROUNDING = 1e-9

#: Smallest prior weight of an expert, as a share of the sum; smaller ones would underflow to zero.
SMALLEST_PRIOR = 1e-100


def check_rounds(
    losses: ArrayLike, awake: ArrayLike | None, n_experts: int | None, first_round: int
) -> tuple[Floats, Floats | None]:
    """Return losses (T, K) in [0, 1] and confidences (T, K), None if all are 1; sleeping experts have loss 0.

    ``first_round`` is the number of rounds learned before; messages count rounds from it.
    """
    losses = _as_table(losses, "losses")
    if n_experts is not None and losses.shape[1] != n_experts:
        raise ValueError(f"losses have {losses.shape[1]} experts, but this algorithm runs over {n_experts}")
    if awake is None and losses.size and losses.min() >= 0.0 and losses.max() <= 1.0:  # False if any loss is NaN
        return np.ascontiguousarray(losses), None
    asleep = np.isnan(losses)
    confidence = np.where(asleep, 0.0, 1.0)
    if awake is not None:
        awake = _as_table(awake, "awake")
        if awake.shape != losses.shape:
            raise ValueError(f"awake has shape {awake.shape}, losses have {losses.shape}")
        _check_unit_interval(awake, "awake", first_round, tolerance=0.0)
        confidence *= awake
    losses = np.where(asleep, 0.0, losses)
    _check_unit_interval(losses, "losses", first_round, tolerance=ROUNDING)
    all_awake = bool((confidence == 1.0).all())
    return np.ascontiguousarray(np.clip(losses, 0.0, 1.0)), None if all_awake else np.ascontiguousarray(confidence)


def _as_table(values: ArrayLike, name: str) -> Floats:
    """Return values as floats of shape (n_rounds, n_experts); raise a ValueError for any other shape."""
    table = as_floats(values, name)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(
            f"{name} must have one column per expert, shape (n_rounds, n_experts) in run and (n_experts,) "
            f"in update; got shape {table.shape if table.ndim == 2 else np.shape(values)}"
        )
    return table


def as_floats(values: ArrayLike, name: str) -> Floats:
    """Return values as an array of floats, NaN where masked; raise a ValueError for text and complex numbers."""
    try:
        if isinstance(values, np.ma.MaskedArray):
            values = np.ma.filled(values.astype(np.float64), np.nan)
        array = np.asarray(values)
        if array.dtype == object and any(isinstance(value, str | bytes) for value in array.flat):
            raise TypeError("got text")
        if array.dtype.kind == "c":
            raise TypeError("got complex numbers")
        floats = array.astype(np.float64, copy=False)
        if array.dtype.kind not in "biufO":
            raise TypeError(f"got {array.dtype}")
        return floats
    except MemoryError:
        raise
    except Exception as error:  # frames of other libraries raise errors of any class
        raise ValueError(f"{name} must be numbers in a regular table: {error}") from None


def _check_unit_interval(table: Floats, name: str, first_round: int, tolerance: float) -> None:
    """Raise a ValueError that names the first round and expert whose value is outside [0, 1]."""
    inside = (table >= -tolerance) & (table <= 1.0 + tolerance)
    if not inside.all():  # NaN is outside
        at, expert = np.argwhere(~inside)[0]
        raise ValueError(
            f"{name} must lie in [0, 1]: round {first_round + at}, expert {expert} has {float(table[at, expert])!r} "
            "(rounds and experts are counted from 0)"
        )


def check_prior(prior: ArrayLike | None, n_experts: int) -> Floats:
    """Return the prior as positive weights that sum to one; None is uniform."""
    if prior is None:
        return np.full(n_experts, 1.0 / n_experts)
    weights = as_floats(prior, "prior")
    if weights.shape != (n_experts,):
        raise ValueError(f"prior has shape {weights.shape}, but there are {n_experts} experts")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        worst = int(np.argmin(np.where(np.isfinite(weights), weights, -np.inf)))
        raise ValueError(f"prior must be positive and finite: expert {worst} has {float(weights[worst])!r}")
    weights = weights / weights.max()  # first, as the sum of huge weights would overflow
    weights = weights / weights.sum()
    if weights.min() < SMALLEST_PRIOR:
        least = f"prior of expert {int(weights.argmin())} is {float(weights.min()):g} of the whole"
        raise ValueError(f"{least}; it must be at least {SMALLEST_PRIOR:g}")
    return weights


def check_option(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """Raise a ValueError if a value is not one of the options."""
    try:
        is_known = not isinstance(value, bool) and bool(value in options)
    except (TypeError, ValueError):  # an array, for example, compares item by item
        is_known = False
    if not is_known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, options))}")


def check_flag(name: str, value: Any) -> None:
    """Raise a ValueError if a value is not True or False."""
    if not isinstance(value, bool | np.bool):
        raise ValueError(f"{name}={value!r} must be True or False")


def check_number(
    name: str,
    value: Any,
    low: float,
    high: float,
    *,
    low_open: bool = False,
    high_open: bool = False,
    max_axes: int = 0,
) -> None:
    """Raise a ValueError if a number lies outside an interval; None passes.

    With ``max_axes=1`` a list of numbers is accepted, too.
    """
    if value is None:
        return
    interval = f"{'(' if low_open else '['}{low:g}, {high:g}{')' if high_open else ']'}"
    try:
        values = as_floats(value, name)
        if values.ndim > max_axes or values.size == 0 or isinstance(value, bool | np.bool_):
            raise ValueError
    except ValueError:
        raise ValueError(f"{name}={value!r} must be a number{' or a list of them' * max_axes} in {interval}") from None
    above = values > low if low_open else values >= low
    below = values < high if high_open else values <= high
    if not (above & below).all():
        raise ValueError(f"{name}={value!r} must lie in {interval}")


def check_required_number(name: str, value: Any, low: float, high: float, **ends: bool) -> None:
    """Raise a ValueError if a number is None or lies outside an interval, as :func:`check_number` has it."""
    if value is None:
        raise ValueError(f"{name}=None must be a number")
    check_number(name, value, low, high, **ends)


def is_integer(value: Any) -> bool:
    """Return whether a value is an integer; booleans and time spans, whose types derive from integers, are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def _is_count(value: Any) -> bool:
    """Return whether a value is a positive integer."""
    return is_integer(value) and bool(value >= 1)


def check_count(name: str, value: Any, high: float = np.inf) -> None:
    """Raise a ValueError if a value is not a positive integer of at most ``high``."""
    if not _is_count(value) or value > high:
        limit = "" if high == np.inf else f" up to {high}"
        raise ValueError(f"{name}={value!r} must be a positive integer{limit}")


def check_horizon(horizon: Any) -> None:
    """Raise a ValueError if a horizon is neither None nor a positive integer within the range of floats."""
    if horizon is not None and not (_is_count(horizon) and horizon <= sys.float_info.max):
        raise ValueError(f"horizon={horizon!r} must be a positive integer or None")


def check_hashable(values: Iterable[Any], what: str) -> None:
    """Raise a ValueError that names the first value that is not hashable."""
    for value in values:
        try:
            hash(value)
        except TypeError:  # its type does not show it: a tuple may contain a list
            raise ValueError(f"{what} {value!r} is not hashable; pass a string or a number, for example") from None


@contextmanager
def named_value_errors(what: str) -> Iterator[None]:
    """Make errors about an argument name it; integers that are too large for floats become a ValueError."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{what} has a number that is too large: {error}") from None
    except TypeError as error:
        raise TypeError(f"{what} is invalid: {error}") from None
    except ValueError as error:
        raise naming_argument(error, what) from None


def naming_argument(error: ValueError, what: str) -> ValueError:
    """Return the error if its message names the argument or its class is a subclass; else one that names it."""
    is_named = type(error) is not ValueError or re.search(rf"\b{what}\b", str(error))
    return error if is_named else ValueError(f"{what} is invalid: {error}")


def require_targets(estimator: Any, y: Any) -> None:
    """Raise a ValueError if there are no targets."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Return the weights of the rows, None if none are given; raise a ValueError if one is negative or all are zero."""
    if sample_weight is None:
        return None
    with named_value_errors("sample_weight"):
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.isfinite(weights).all():  # scikit-learn does not check a single number for all rows
        raise ValueError(f"sample_weight={sample_weight!r} must be finite")
    if not weights.max() > 0.0:
        raise ValueError("sample_weight must have a positive sum: all rows have weight zero")
    return weights


def check_jobs(n_jobs: Any) -> None:
    """Raise a ValueError if ``n_jobs`` is neither None nor a number of jobs for joblib."""
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0 or abs(int(n_jobs)) >= 2**31):
        raise ValueError(f"n_jobs={n_jobs!r} must be None or a nonzero integer between -2**31 and 2**31")
