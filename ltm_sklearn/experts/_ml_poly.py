"""ML-Poly: polynomially weighted averages with a learning rate for each expert."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import TINY
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret, over_experts


class MLPoly(ExpertAlgorithm):
    """ML-Poly [1]_ as in the R package opera, whose default it is: weights proportional to positive regret.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    ``R += r``, ``1/η += r² + (B' - B)`` with ``B`` the largest ``r²`` so far, ``p ∝ prior · η · max(R, 0)``;
    the prior if no regret is positive. Multiplying all losses by a constant does not change the weights.

    References
    ----------
    .. [1] Gaillard, Stoltz, van Erven: A second-order bound with excess losses. 2014.

    Examples
    --------
    >>> from ltm_sklearn.experts import MLPoly
    >>> MLPoly().update([0.0, 1.0]).weights()
    array([1., 0.])
    """

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        nothing = np.zeros_like(prior)
        return {"prior": prior, "regret": nothing, "inverse_rate": nothing, "largest": np.zeros(prior.shape[:-1])}

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        after = super()._joined(state, prior, scale, rate)
        # An expert that has slept until now would have this inverse rate: only the term B' - B has grown.
        after["inverse_rate"][-len(prior) :] = state["largest"]
        return after

    def _distribution(self, state: State) -> Floats:
        weights = state["prior"] * np.maximum(state["regret"], 0.0) / np.maximum(state["inverse_rate"], TINY)
        some = (weights > 0.0).any(axis=-1, keepdims=True)
        weights = np.where(some, weights, state["prior"])
        return weights / weights.sum(axis=-1, keepdims=True)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        square = regret**2
        largest = np.maximum(state["largest"], square.max(axis=-1))
        growth = over_experts(largest - state["largest"], square)
        return {
            **state,
            "regret": state["regret"] + regret,
            "inverse_rate": state["inverse_rate"] + square + growth,
            "largest": largest,
        }
