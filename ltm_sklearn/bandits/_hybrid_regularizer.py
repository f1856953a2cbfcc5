"""Follow the regularised leader with entropy and a log barrier: the step of the master of the sparse bandits."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from .._typing import Floats

#: Tolerance of the logarithm of the weights' sum, before they are normalised.
TOLERANCE = 1e-13

#: Enough for bisection alone. Newton's method needs about three steps from the last multiplier, and ten without it.
MOST_STEPS = 200

#: Below this y, the solution of ``u + ln u = y`` is ``u = exp(y)`` to the last digit.
LOWEST = -40.0

#: Limit of the rate times a loss relative to the least one, so that sums stay finite.
LARGEST = 1e300


def hybrid_weights(losses: Floats, rate: float, barrier: float, multiplier: float = 0.0) -> tuple[Floats, float]:
    """Return the distribution w that minimises ``w·C + (1/η) Σ w ln w + γ Σ ln(1/w)``, and its multiplier ν.

    With ``x = η (C - min C)`` and ``β = ηγ``, the minimiser solves ``ln w(i) - β/w(i) = ν - x(i)`` for all i, and
    ``Σ w = 1``. The left side is increasing and concave in ``ln w(i)``. Therefore ``ln w(i)`` and ``ln Σ w`` are convex
    in ν: Newton's method approaches the zero of ``ln Σ w`` from above. Bisection replaces steps that leave the bracket.
    The largest weight lies between 1/K and 1 and has ``x = 0``, which gives the first bracket.

    Parameters
    ----------
    losses : ndarray of shape (n_arms,)
        Cumulative losses ``C``; any finite numbers.
    rate, barrier : float
        ``η > 0`` and ``γ >= 0``.
    multiplier : float
        Start of the iteration: the multiplier of the last round.
    """
    n_arms = len(losses)
    with np.errstate(over="ignore"):
        beyond = np.minimum(rate * (losses - losses.min()), LARGEST)
    strength = rate * barrier
    # slightly lower: if all losses are equal, the solution is at this end, and steps are rounded
    low, high = -(1.0 + 1e-9) * (np.log(n_arms) + strength * n_arms), -strength
    multiplier = min(max(multiplier, low), high)
    for _ in range(MOST_STEPS):
        weights = _solved(multiplier - beyond, strength)
        total = float(weights.sum())
        excess = np.log(total)
        if abs(excess) <= TOLERANCE:
            break
        low, high = (low, multiplier) if excess > 0.0 else (multiplier, high)
        ratio = np.divide(strength, weights, out=np.zeros_like(weights), where=weights > 0.0)
        slope = float((weights / (1.0 + ratio)).sum())
        following = float(multiplier - excess * total / slope)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if following == multiplier:
            break
        multiplier = following
    return weights / total, multiplier


def _solved(level: Floats, strength: float) -> Floats:
    """Solve ``ln w - β/w = a`` in each coordinate, through ``u + ln u = ln β - a`` with ``u = β/w``."""
    if strength == 0.0:
        return np.asarray(np.exp(level))
    right = np.log(strength) - level
    inside = strength / wrightomega(np.maximum(right, LOWEST))
    return np.where(right < LOWEST, np.exp(np.minimum(level, 0.0)), inside)
