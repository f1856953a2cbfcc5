"""Prod: multiplicative weights with second-order regret."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._typing import Floats, State
from ._base import instantaneous_regret
from ._exponential_weights import ExponentialWeights

#: Logarithm of the lower limit of a weight, so that no weight underflows to zero.
LOG_FLOOR = float(np.log(1e-290))


class Prod(ExponentialWeights):
    """Prod [1]_: multiplicative weights ``w(i) *= 1 + η r(i)`` with the instantaneous regret ``r = p·ℓ - ℓ``.

    Parameters
    ----------
    rate : float or array-like of shape (n_experts,), optional
        Learning rate η <= 1/2, one for all or one for each expert (then ``p ∝ η w``).
        None: falls with the rounds, or is set from ``horizon``.
    horizon : int, optional
        Number of rounds, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Regret against expert i is at most ``ln(1/prior(i))/η + η Σ r(i)²``.

    References
    ----------
    .. [1] Cesa-Bianchi, Mansour, Stoltz: Improved second-order bounds for prediction with expert advice. 2007.

    Examples
    --------
    >>> from ltm_sklearn.experts import Prod
    >>> Prod(rate=0.5).update([0.0, 1.0]).weights()
    array([0.625, 0.375])
    """

    def __init__(self, rate: Any = None, *, horizon: int | None = None, prior: ArrayLike | None = None) -> None:
        self.rate = rate
        self.horizon = horizon
        self.prior = prior

    def _has_own_second_order(self) -> bool:
        return True

    def _largest_rate(self) -> float:
        return 0.5

    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        return np.log1p(rate * instantaneous_regret(weights, losses)) / rate

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        after = super()._next_state(state, weights, losses)
        floor = (LOG_FLOOR - state["log_prior"]) / self._rate(state)
        return {**after, "gain": np.maximum(after["gain"], floor)}
