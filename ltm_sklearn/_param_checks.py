"""Checks of what users hand in. Every message names the round, the expert and the value."""

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

#: How far outside [0, 1] a loss may lie and still count as rounding; it is then clipped.
ROUNDING = 1e-9


#: Below this part of the whole a prior would be lost to rounding sooner or later.
SMALLEST_PRIOR = 1e-100


def check_rounds(
    losses: ArrayLike, awake: ArrayLike | None, n_experts: int | None, first_round: int
) -> tuple[Floats, Floats | None]:
    """Losses (T, K) in [0, 1] and confidences (T, K), None if all are 1; asleep experts have loss 0.

    ``first_round`` is the number of rounds learned before, for messages.
    """
    losses = _as_table(losses, "losses")
    if n_experts is not None and losses.shape[1] != n_experts:
        raise ValueError(f"losses have {losses.shape[1]} experts, but this algorithm runs over {n_experts}")
    if awake is None and losses.size and losses.min() >= 0.0 and losses.max() <= 1.0:  # false if any is NaN
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
    table = as_floats(values, name)
    if table.ndim != 2 or table.shape[1] == 0:
        raise ValueError(
            f"{name} must have one column per expert, shape (n_rounds, n_experts) in run and (n_experts,) "
            f"in update; got shape {table.shape if table.ndim == 2 else np.shape(values)}"
        )
    return table


def as_floats(values: ArrayLike, name: str) -> Floats:
    """An array of floats; text and complex numbers are no numbers here, and masked ones are NaN."""
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
    except Exception as error:  # frames of other libraries have errors of their own
        raise ValueError(f"{name} must be numbers in a regular table: {error}") from None


def _check_unit_interval(table: Floats, name: str, first_round: int, tolerance: float) -> None:
    inside = (table >= -tolerance) & (table <= 1.0 + tolerance)
    if not inside.all():  # NaN is outside
        at, expert = np.argwhere(~inside)[0]
        raise ValueError(
            f"{name} must lie in [0, 1]: round {first_round + at}, expert {expert} has {float(table[at, expert])!r} "
            "(rounds and experts are counted from 0)"
        )


def check_prior(prior: ArrayLike | None, n_experts: int) -> Floats:
    """A distribution over the experts with no zeros; None is uniform."""
    if prior is None:
        return np.full(n_experts, 1.0 / n_experts)
    weights = as_floats(prior, "prior")
    if weights.shape != (n_experts,):
        raise ValueError(f"prior has shape {weights.shape}, but there are {n_experts} experts")
    if not (np.isfinite(weights).all() and (weights > 0).all()):
        worst = int(np.argmin(np.where(np.isfinite(weights), weights, -np.inf)))
        raise ValueError(f"prior must be positive and finite: expert {worst} has {float(weights[worst])!r}")
    weights = weights / weights.max()  # first, or the sum of huge ones would overflow
    weights = weights / weights.sum()
    if weights.min() < SMALLEST_PRIOR:
        least = f"prior of expert {int(weights.argmin())} is {float(weights.min()):g} of the whole"
        raise ValueError(f"{least}; it must be at least {SMALLEST_PRIOR:g}")
    return weights


def check_option(name: str, value: Any, options: tuple[Any, ...]) -> None:
    """An option is one of a few values."""
    try:
        is_known = not isinstance(value, bool) and bool(value in options)
    except (TypeError, ValueError):  # an array, say, compares item by item
        is_known = False
    if not is_known:
        raise ValueError(f"{name}={value!r} is not one of {', '.join(map(repr, options))}")


def check_flag(name: str, value: Any) -> None:
    """True or False."""
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
    """A number, or with ``max_axes=1`` also a list of them, lies in an interval; None passes."""
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


def check_real(name: str, value: Any, low: float, high: float, **ends: bool) -> None:
    """A number in an interval, as of :func:`check_number`, where None is none."""
    if value is None:
        raise ValueError(f"{name}=None must be a number")
    check_number(name, value, low, high, **ends)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number, which flags and spans of time are not, whatever their types descend from."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool | np.timedelta64)


def _is_count(value: Any) -> bool:
    return is_whole(value) and bool(value >= 1)


def check_count(name: str, value: Any, high: float = np.inf) -> None:
    """A positive whole number, at most ``high``."""
    if not _is_count(value) or value > high:
        limit = "" if high == np.inf else f" up to {high}"
        raise ValueError(f"{name}={value!r} must be a positive integer{limit}")


def check_horizon(horizon: Any) -> None:
    """A horizon is None or a positive whole number, which is one of floats, too."""
    if horizon is not None and not (_is_count(horizon) and horizon <= sys.float_info.max):
        raise ValueError(f"horizon={horizon!r} must be a positive integer or None")


def check_hashable(values: Iterable[Any], what: str) -> None:
    """Raise a ValueError that names one by which nothing could be known again."""
    for value in values:
        try:
            hash(value)
        except TypeError:  # not told by its type: a tuple may hold a list
            raise ValueError(f"{what} {value!r} is not hashable: nothing could be known by it") from None


@contextmanager
def named_value_errors(what: str) -> Iterator[None]:
    """Whole numbers beyond all floats are a ValueError, as other wrong numbers are; what is wrong is named."""
    try:
        yield
    except OverflowError as error:
        raise ValueError(f"{what} has a number that is too large: {error}") from None
    except TypeError as error:
        raise TypeError(f"{what} is wrong: {error}") from None
    except ValueError as error:
        raise _named(error, what) from None


def _named(error: ValueError, what: str) -> ValueError:
    """The same, if it says what is wrong or is of a kind of its own; or one that does."""
    is_told = type(error) is not ValueError or re.search(rf"\b{what}\b", str(error))
    return error if is_told else ValueError(f"{what} is wrong: {error}")


def require(estimator: Any, y: Any) -> None:
    """Targets must be given."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")


def check_weights(sample_weight: Any, X: Any) -> Floats | None:
    """Weights of the rows, not negative and not all zero; None stays None."""
    if sample_weight is None:
        return None
    with named_value_errors("sample_weight"):
        weights: Floats = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    if not np.isfinite(weights).all():  # of a single number for all rows scikit-learn does not look
        raise ValueError(f"sample_weight={sample_weight!r} must be finite")
    if not weights.max() > 0.0:
        raise ValueError("sample_weight must have a positive sum: all rows have weight zero")
    return weights


def check_jobs(n_jobs: Any) -> None:
    """It is None, or a number that joblib takes."""
    if n_jobs is not None and (not isinstance(n_jobs, int | np.integer) or n_jobs == 0 or abs(int(n_jobs)) >= 2**31):
        raise ValueError(f"n_jobs={n_jobs!r} is neither None nor a number of jobs")
