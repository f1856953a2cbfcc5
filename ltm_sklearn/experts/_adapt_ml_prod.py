"""Adapt-ML-Prod: Prod with a learning rate for each expert that adapts to its second moment."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import softmax
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret


class AdaptMLProd(ExpertAlgorithm):
    """Adapt-ML-Prod [1]_: parameter-free second-order regret, with a learning rate for each expert.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    ``η(i) = min(1/2, sqrt(ln(1/prior(i)) / (1 + Σ r(i)²)))``. The weights are ``p ∝ η w``, and a round computes
    ``w ← (w (1 + η r))^(η'/η)`` where η' is the new rate. Regret against expert i is of order
    ``sqrt(ln(K) Σ r(i)²)``.

    References
    ----------
    .. [1] Gaillard, Stoltz, van Erven: A second-order bound with excess losses. 2014.

    Examples
    --------
    >>> from ltm_sklearn.experts import AdaptMLProd
    >>> AdaptMLProd().update([0.0, 1.0]).weights()
    array([0.625, 0.375])
    """

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        # With one expert, ln(1/prior) = 0 would make the rate zero; any positive number gives the same weights.
        complexity = np.maximum(-np.log(prior), 1e-3)
        return {"log_weight": np.log(prior), "complexity": complexity, "second_moment": np.zeros_like(prior)}

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        after = super()._joined(state, prior, scale, rate)
        after["complexity"][-len(prior) :] = np.maximum(-np.log(prior / (1.0 + prior.sum())), 1e-3)
        return after

    def _rate(self, state: State) -> Floats:
        return np.minimum(0.5, np.sqrt(state["complexity"] / (1.0 + state["second_moment"])))

    def _distribution(self, state: State) -> Floats:
        return softmax(np.log(self._rate(state)) + state["log_weight"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        rate = self._rate(state)
        after = {**state, "second_moment": state["second_moment"] + regret**2}
        grown = state["log_weight"] + np.log1p(rate * regret)
        return {**after, "log_weight": self._rate(after) / rate * grown}
