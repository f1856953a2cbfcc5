"""Bernstein online aggregation (BOA) with the adaptive learning rates of the R package opera."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import softmax
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret

#: The constant in front of the second moment, as in opera 1.2.2.
CURVATURE = 2.2


class BOA(ExpertAlgorithm):
    """Bernstein online aggregation [1]_ with the adaptive learning rates of the R package opera 1.2.2.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    ``Q += 2.2 r²``, ``η = 1/sqrt(Q)``, ``G += r - η r²``, ``p ∝ prior · η · exp(η G)``. An expert whose regret
    has always been exactly zero (asleep, or equal to the mixture) has no rate of its own and uses the largest rate of
    the others. Multiplying all losses by a constant does not change the weights.

    References
    ----------
    .. [1] Wintenberger: Optimal learning with Bernstein online aggregation. 2017.

    Examples
    --------
    >>> from ltm_sklearn.experts import BOA
    >>> BOA().update([0.0, 1.0]).weights().round(3)
    array([0.794, 0.206])
    """

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {"log_prior": np.log(prior), "gain": np.zeros_like(prior), "second_moment": np.zeros_like(prior)}

    def _rate(self, state: State) -> Floats:
        seen = state["second_moment"] > 0.0
        rate = np.where(seen, 1.0 / np.sqrt(np.where(seen, state["second_moment"], 1.0)), 0.0)
        largest = rate.max(axis=-1, keepdims=True)
        return np.where(seen, rate, np.where(largest > 0.0, largest, 1.0))

    def _distribution(self, state: State) -> Floats:
        rate = self._rate(state)
        return softmax(state["log_prior"] + np.log(rate) + rate * state["gain"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        after = {**state, "second_moment": state["second_moment"] + CURVATURE * regret**2}
        return {**after, "gain": state["gain"] + regret - self._rate(after) * regret**2}
