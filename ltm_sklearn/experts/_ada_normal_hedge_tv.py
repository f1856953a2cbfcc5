"""AdaNormalHedge.TV: AdaNormalHedge over copies of the experts, for switching regret."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import check_option
from .._typing import Floats, State
from ._ada_normal_hedge import log_potential_weight, softmax_or
from ._base import ExpertAlgorithm, instantaneous_regret


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

    def check_parameters(self) -> None:
        check_option("copies", self.copies, ("pruned", "all"))

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        nothing = np.zeros((1, *prior.shape))
        return {"prior": prior, "born": (1,), "regret": nothing, "magnitude": nothing}

    def _distribution(self, state: State) -> Floats:
        born = np.array(state["born"], dtype=np.float64).reshape(-1, *[1] * state["prior"].ndim)
        log_copies = log_potential_weight(state["regret"], state["magnitude"]) - 2.0 * np.log(born)
        top = log_copies.max(axis=0)  # finite, since the newest copy has regret 0
        log_weights = top + np.log(np.exp(log_copies - top).sum(axis=0))
        return softmax_or(np.log(state["prior"]) + log_weights, state["prior"])

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
