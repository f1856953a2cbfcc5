"""AdaNormalHedge and its time-varying form, AdaNormalHedge.TV."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import check_option
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret


def log_potential_weight(regret: Floats, magnitude: Floats) -> Floats:
    """Return the logarithm of ``(Φ(R+1, C+1) - Φ(R-1, C+1)) / 2`` with ``Φ(R, C) = exp(max(R, 0)² / 3C)``."""
    scale = 3.0 * (magnitude + 1.0)
    above = np.maximum(regret + 1.0, 0.0) ** 2 / scale
    below = np.maximum(regret - 1.0, 0.0) ** 2 / scale
    with np.errstate(divide="ignore"):
        return above + np.log(-np.expm1(below - above)) - np.log(2.0)


def _softmax_or(log_weights: Floats, fallback: Floats) -> Floats:
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

    def __init__(self, *, prior: ArrayLike | None = None) -> None:
        self.prior = prior

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {"prior": prior, "regret": np.zeros_like(prior), "magnitude": np.zeros_like(prior)}

    def _distribution(self, state: State) -> Floats:
        log_weights = np.log(state["prior"]) + log_potential_weight(state["regret"], state["magnitude"])
        return _softmax_or(log_weights, state["prior"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        return {
            **state,
            "regret": state["regret"] + regret,
            "magnitude": state["magnitude"] + np.abs(regret),
        }


class AdaNormalHedgeTV(ExpertAlgorithm):
    """AdaNormalHedge.TV [1]_: AdaNormalHedge over copies of the experts that start in each round, for switching regret.

    Parameters
    ----------
    copies : {"pruned", "all"}, default="pruned"
        "all": one copy starts in each round; round t costs O(K t). "pruned": the copy that starts at ``τ = o 2^k``,
        o odd, is removed after ``2^(k+2) + 1`` rounds. Then O(log t) copies exist at a time, and each interval of
        rounds still has one that started in its first half.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    The copy of expert i that starts at τ has prior ``prior(i)/τ²`` and sleeps before τ.

    References
    ----------
    .. [1] Luo, Schapire: Achieving all with no parameters: AdaNormalHedge. 2015.

    Examples
    --------
    >>> from ltm_sklearn.experts import AdaNormalHedgeTV
    >>> AdaNormalHedgeTV().update([0.0, 1.0]).weights().round(3)
    array([0.827, 0.173])
    """

    def __init__(self, copies: str = "pruned", *, prior: ArrayLike | None = None) -> None:
        self.copies = copies
        self.prior = prior

    def _check_parameters(self) -> None:
        check_option("copies", self.copies, ("pruned", "all"))

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        nothing = np.zeros((1, *prior.shape))
        return {"prior": prior, "born": (1,), "regret": nothing, "magnitude": nothing}

    def _distribution(self, state: State) -> Floats:
        born = np.array(state["born"], dtype=np.float64).reshape(-1, *[1] * state["prior"].ndim)
        log_copies = log_potential_weight(state["regret"], state["magnitude"]) - 2.0 * np.log(born)
        top = log_copies.max(axis=0)  # finite, since the newest copy has regret 0
        log_weights = top + np.log(np.exp(log_copies - top).sum(axis=0))
        return _softmax_or(np.log(state["prior"]) + log_weights, state["prior"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        regret = instantaneous_regret(weights, losses)
        coming = state["rounds"] + 2  # rounds are counted from 1 here
        kept = [at for at, birth in enumerate(state["born"]) if self._is_alive(birth, coming)]
        newborn = np.zeros((1, *regret.shape))
        return {
            **state,
            "born": (*(state["born"][at] for at in kept), coming),
            "regret": np.concatenate([state["regret"][kept] + regret, newborn]),
            "magnitude": np.concatenate([state["magnitude"][kept] + np.abs(regret), newborn]),
        }

    def _is_alive(self, birth: int, now: int) -> bool:
        largest_power_of_two_in_birth = birth & -birth
        return self.copies == "all" or now - birth <= 4 * largest_power_of_two_in_birth
