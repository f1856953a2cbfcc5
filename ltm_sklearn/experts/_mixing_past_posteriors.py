"""Mixing Past Posteriors: what was a good weighting once is kept and mixed in again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._base import State, normalise, over_experts, softmax
from ._exponential import mixture_loss
from ._sharing import WEIGHT_FLOOR, Sharing
from ._validation import Floats, check_number, check_option

# 1/d = Σ_m step·e^{u_m} exp(-d e^{u_m}) with u_m on a grid, to 2 % for d = 1 … 1e9: a few geometric traces stand for
# the decaying past at constant cost.
_STEP = 1.4
_DECAY = np.exp(np.arange(np.log(12.0) + _STEP, np.log(1e-9) - 4.2, -_STEP))


class MixingPastPosteriors(Sharing):
    """Mixing Past Posteriors [1]_: tracks sequences that return to few experts.

    Parameters
    ----------
    rate : float, optional
        Learning rate η. None: falls with the rounds, or is set from ``horizon``. Not used with ``doubling``.
    switching : float, optional
        Weight α given to the past in each round. None: ``1/horizon``, or ``1/(t + 2)``.
    past : {"uniform", "decaying"}, default="uniform"
        All past posteriors alike, or the one d rounds ago in proportion to 1/d (kept as geometric traces, whose
        sum is within 2 % of 1/d up to a billion rounds).
    doubling : bool, default=False
        The algorithm of the paper's appendix "A weaker best-of-both-worlds result": losses mapped to [-1, 1], rate
        ``min(1/5, sqrt((S ln T + n ln K)/D))``, restart with D doubled whenever ``Σ p r²`` since the last
        restart exceeds D. In the first round after a restart there is no past: the weights are uniform.
    n_segments, n_distinct : int, default=1
        S and n in that rate.
    horizon : int, optional
        Number of rounds T, if known. With ``doubling`` and no horizon, T is the number of rounds so far.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Uniform past: with k switches among n experts the regret is at most
    ``(1/η) [n ln K + k ln(T/α) + (T-1-k) ln(1/(1-α))] + η T/8``.

    References
    ----------
    .. [1] Bousquet, Warmuth: Tracking a small set of experts by mixing past posteriors. 2002.

    Examples
    --------
    >>> from ltm_sklearn.experts import MixingPastPosteriors
    >>> MixingPastPosteriors(rate=1.0, switching=0.1).update([0.0, 1.0]).weights().round(3)
    array([0.708, 0.292])
    """

    def __init__(
        self,
        rate: float | None = None,
        switching: float | None = None,
        past: str = "uniform",
        *,
        doubling: bool = False,
        n_segments: int = 1,
        n_distinct: int = 1,
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.rate = rate
        self.switching = switching
        self.past = past
        self.doubling = doubling
        self.n_segments = n_segments
        self.n_distinct = n_distinct
        self.horizon = horizon
        self.prior = prior

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_option("past", self.past, ("uniform", "decaying"))
        check_number("n_segments", self.n_segments, 1, np.inf)
        check_number("n_distinct", self.n_distinct, 1, self.n_segments)
        if self.doubling and (self.past != "uniform" or self.rate is not None):
            raise ValueError("doubling=True sets its own rate and mixes the uniform past: leave rate and past alone")

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        state = super()._initial_state(prior, rate, horizon)
        start = normalise(prior) if self.past == "uniform" else np.repeat(normalise(prior)[np.newaxis], len(_DECAY), 0)
        state |= {"past_sum": self._aged(start), "n_past": np.ones(prior.shape[:-1])}
        if self.doubling:
            state |= {"budget": np.ones(prior.shape[:-1]), "spent": np.zeros(prior.shape[:-1])}
        return state

    def _aged(self, past_sum: Floats) -> Floats:
        """The past one round later: the traces of a decaying past fade."""
        if self.past == "uniform":
            return past_sum
        return (np.exp(-_DECAY) * past_sum.T).T

    def _past_mean(self, state: State) -> Floats:
        if self.past == "uniform":
            return state["past_sum"] / over_experts(state["n_past"], state["prior"])
        return normalise(np.tensordot(_DECAY, state["past_sum"], axes=1))

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        if self.doubling:
            posterior, budgets = self._doubling_posterior(state, weights, losses)
        else:
            posterior, budgets = self._posterior(state, weights, losses), {}
        switching = self._share(self.switching, state)
        after = {
            **state,
            "weights": (1.0 - switching) * posterior + switching * self._past_mean(state),
            "past_sum": self._aged(state["past_sum"] + posterior),
            "n_past": state["n_past"] + 1,
        }
        return self._restarted(after, budgets) if self.doubling else after

    def _doubling_posterior(self, state: State, weights: Floats, losses: Floats) -> tuple[Floats, State]:
        regret = 2.0 * (mixture_loss(weights, losses) - losses)  # of the losses mapped to [-1, 1]
        rounds = max(state["horizon"] or state["rounds"] + 1, 2)
        complexity = self.n_segments * np.log(rounds) + self.n_distinct * np.log(losses.shape[-1])
        rate = np.minimum(0.2, np.sqrt(complexity / state["budget"]))
        log_posterior = np.log(np.maximum(weights, WEIGHT_FLOOR)) + over_experts(rate, regret) * regret
        return softmax(log_posterior), {"spent": state["spent"] + (weights * regret**2).sum(axis=-1)}

    def _restarted(self, after: State, budgets: State) -> State:
        """Start again, with twice the budget, wherever it is spent."""
        spent, start = budgets["spent"], normalise(after["prior"])
        over = spent > after["budget"]
        return {
            **after,
            "weights": np.where(over[..., np.newaxis], start, after["weights"]),
            "past_sum": np.where(over[..., np.newaxis], start, after["past_sum"]),
            "n_past": np.where(over, 1.0, after["n_past"]),
            "budget": np.where(over, 2.0, 1.0) * after["budget"],
            "spent": np.where(over, 0.0, spent),
        }

