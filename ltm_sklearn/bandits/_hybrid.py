"""Follow the regularised leader with entropy and a log barrier: the step of the sparse bandits' master."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from .._typing import Floats

#: By how much the logarithm of the weights' sum may miss 0, before they are normalised.
TOLERANCE = 1e-13

#: Enough for bisection alone; Newton's steps need about three from the last round's multiplier, ten from none.
MOST_STEPS = 200

#: Where ``y`` is below this, ``u + ln u = y`` has ``u = exp(y)`` to the last digit.
LOWEST = -40.0

#: What a loss beyond the least counts as at most, times the rate: sums stay finite.
LARGEST = 1e300


def hybrid_weights(losses: Floats, rate: float, barrier: float, multiplier: float = 0.0) -> tuple[Floats, float]:
    """The distribution ``w`` with the least ``w·C + (1/η) Σ w ln w + γ Σ ln(1/w)``, and its multiplier.

    With ``x = η (C - min C)`` and ``β = ηγ`` it is where ``ln w(i) - β/w(i) = ν - x(i)`` for all i and ``Σ w = 1``. The
    left side grows and is concave in ``ln w(i)``, so ``ln w(i)``, and with it ``ln Σ w``, is convex in ``ν``: Newton's
    steps come down to its zero from above, and bisection helps where they would leave the bracket. The largest weight
    is between 1/K and 1 and has ``x = 0``, which is the first bracket.

    Parameters
    ----------
    losses : ndarray of shape (n_arms,)
        Cumulative losses ``C``; any finite numbers.
    rate, barrier : float
        ``η > 0`` and ``γ >= 0``.
    multiplier : float
        Where to begin: the multiplier of the last round.
    """
    n_arms = len(losses)
    with np.errstate(over="ignore"):
        beyond = np.minimum(rate * (losses - losses.min()), LARGEST)
    strength = rate * barrier
    # a little lower, as with all losses equal the solution is at the end and steps are rounded
    low, high = -(1.0 + 1e-9) * (np.log(n_arms) + strength * n_arms), -strength
    multiplier = min(max(multiplier, low), high)
    for _ in range(MOST_STEPS):
        weights = _solved(multiplier - beyond, strength)
        total = float(weights.sum())
        excess = np.log(total)
        if abs(excess) <= TOLERANCE:
            break
        low, high = (low, multiplier) if excess > 0.0 else (multiplier, high)
        slope = float((weights / (1.0 + _ratio(strength, weights))).sum())
        following = float(multiplier - excess * total / slope)
        if not low <= following <= high:
            following = 0.5 * (low + high)
        if following == multiplier:
            break
        multiplier = following
    return weights / total, multiplier


def _solved(level: Floats, strength: float) -> Floats:
    """The ``w`` with ``ln w - β/w = a`` in each coordinate: with ``u = β/w``, ``u + ln u = ln β - a``."""
    if strength == 0.0:
        return np.asarray(np.exp(level))
    right = np.log(strength) - level
    inside = strength / wrightomega(np.maximum(right, LOWEST))
    return np.where(right < LOWEST, np.exp(np.minimum(level, 0.0)), inside)


def _ratio(strength: float, weights: Floats) -> Floats:
    return np.divide(strength, weights, out=np.zeros_like(weights), where=weights > 0.0)
