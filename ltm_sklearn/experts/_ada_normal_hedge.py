"""AdaNormalHedge: static regret without parameters that adapts to the size of the instantaneous regrets."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret


def log_potential_weight(regret: Floats, magnitude: Floats) -> Floats:
    """Return the logarithm of ``(Φ(R+1, C+1) - Φ(R-1, C+1)) / 2`` with ``Φ(R, C) = exp(max(R, 0)² / 3C)``."""
    scale = 3.0 * (magnitude + 1.0)
    above = np.maximum(regret + 1.0, 0.0) ** 2 / scale
    below = np.maximum(regret - 1.0, 0.0) ** 2 / scale
    with np.errstate(divide="ignore"):
        return above + np.log(-np.expm1(below - above)) - np.log(2.0)


def softmax_or(log_weights: Floats, fallback: Floats) -> Floats:
    """Return normalised exponentials of log-weights, or the normalised fallback where all weights are zero."""
    top = log_weights.max(axis=-1, keepdims=True)
    weights = np.exp(log_weights - np.where(np.isfinite(top), top, 0.0))
    weights = np.where(np.isfinite(top), weights, fallback)
    return weights / weights.sum(axis=-1, keepdims=True)


class AdaNormalHedge(ExpertAlgorithm):
    """AdaNormalHedge [1]_: parameter-free static regret that adapts to the size of the instantaneous regrets.

    Parameters
    ----------
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    With ``R = Σ r`` and ``C = Σ |r|``, ``p ∝ prior · (Φ(R+1, C+1) - Φ(R-1, C+1))`` where
    ``Φ(R, C) = exp(max(R, 0)² / 3C)``; the prior if all weights are zero. Regret against expert i is at most
    ``sqrt(3 C(i) (ln(1/prior(i)) + ln B))``, ``B = 1 + 3/2 Σ prior (1 + ln(1 + C))``.

    References
    ----------
    .. [1] Luo, Schapire: Achieving all with no parameters: AdaNormalHedge. 2015.

    Examples
    --------
    >>> from ltm_sklearn.experts import AdaNormalHedge
    >>> AdaNormalHedge().update([0.0, 1.0]).weights().round(3)
    array([0.919, 0.081])
    """

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {"prior": prior, "regret": np.zeros_like(prior), "magnitude": np.zeros_like(prior)}

    def _distribution(self, state: State) -> Floats:
        log_weights = np.log(state["prior"]) + log_potential_weight(state["regret"], state["magnitude"])
        return softmax_or(log_weights, state["prior"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        return {**state, "regret": state["regret"] + regret, "magnitude": state["magnitude"] + np.abs(regret)}
