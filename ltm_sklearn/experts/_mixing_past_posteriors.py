"""Mixing Past Posteriors: exponential weights that mix in the weights of earlier rounds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import normalise, softmax
from .._param_checks import check_count, check_flag, check_option
from .._typing import Floats, State
from ._base import instantaneous_regret, over_experts
from ._weight_sharing import WEIGHT_FLOOR, WeightSharing

# 1/d = Σ_m step·e^{u_m} exp(-d e^{u_m}) with u_m on a grid, to 2 % for d = 1 … 1e9: a few geometrically decayed sums
# replace the past at constant cost.
_STEP = 1.4
_DECAY = np.exp(np.arange(np.log(12.0) + _STEP, np.log(1e-9) - 4.2, -_STEP))


class MixingPastPosteriors(WeightSharing):
    """Mixing Past Posteriors [1]_: tracks sequences of best experts that return to a few of them.

    Parameters
    ----------
    rate : float, optional
        Learning rate η. None: falls with the rounds, or is set from ``horizon``. Not used with ``doubling``.
    switching : float, optional
        Weight α of the past in each round. None: ``1/horizon``, or ``1/(t + 2)``.
    past : {"uniform", "decaying"}, default="uniform"
        All past posteriors alike, or the one d rounds ago in proportion to 1/d (kept as geometrically
        decayed sums, which together are within 2 % of 1/d up to a billion rounds).
    doubling : bool, default=False
        Run Algorithm 7 of the paper: losses mapped to [-1, 1], rate ``min(1/5, sqrt((S ln T + n ln K)/D))``, and a
        restart with D doubled whenever ``Σ p r²`` since the last restart exceeds D. In the first round after a restart
        there is no past, and the weights are uniform. The pseudocode line by line:
        :func:`ltm_sklearn.experts.reference.mixing_past_posteriors`.
    n_segments, n_distinct : int, default=1
        Number S of segments and number n of distinct experts of the comparator; they set this rate.
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

    def check_parameters(self) -> None:
        super().check_parameters()
        check_option("past", self.past, ("uniform", "decaying"))
        check_count("n_segments", self.n_segments)
        check_count("n_distinct", self.n_distinct, self.n_segments)
        check_flag("doubling", self.doubling)
        if self.doubling and (self.past != "uniform" or self.rate is not None):
            raise ValueError(
                "doubling=True sets its own rate and mixes the uniform past: leave rate=None and past='uniform'"
            )

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        state = {**super()._initial_state(prior, rate, horizon), "n_past": np.ones(prior.shape[:-1])}
        if self.past == "uniform":
            state["memory"] = normalise(prior)
        else:
            state["decayed_sums"] = _aged(np.repeat(normalise(prior)[np.newaxis], len(_DECAY), axis=0))
        if self.doubling:
            state |= {"budget": np.ones(prior.shape[:-1]), "spent": np.zeros(prior.shape[:-1])}
        return state

    def _memory_rates(self, state: State, rounds: Floats) -> Any:
        """Return 1/(t + 2), the rate at which a running mean over the past includes the newest posterior."""
        return 1.0 / (rounds + 2.0) if self.past == "uniform" and not self.doubling else None

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        if self.doubling:
            posterior, spent = self._doubling_posterior(state, weights, losses)
        else:
            posterior = self._posterior(state, weights, losses)
        after = {**state, "n_past": state["n_past"] + 1.0}
        if self.past == "uniform":
            past = state["memory"]
            mean = past + (posterior - past) / over_experts(after["n_past"], past)
            after["memory"] = np.maximum(mean, WEIGHT_FLOOR)
        else:
            past = normalise(np.tensordot(_DECAY, state["decayed_sums"], axes=1))
            after["decayed_sums"] = _aged(state["decayed_sums"] + posterior)
        after["weights"] = self._shared(state, posterior, past)
        return self._restarted(after, spent) if self.doubling else after

    def _doubling_posterior(self, state: State, weights: Floats, losses: Floats) -> tuple[Floats, Floats]:
        regret = 2.0 * instantaneous_regret(weights, losses)  # Alg. 7, line 5, with the losses mapped to [-1, 1]
        rounds = max(state["horizon"] or state["rounds"] + 1, 2)
        complexity = self.n_segments * np.log(rounds) + self.n_distinct * np.log(losses.shape[-1])
        rate = np.minimum(0.2, np.sqrt(complexity / state["budget"]))
        log_posterior = np.log(np.maximum(weights, WEIGHT_FLOOR)) + over_experts(rate, regret) * regret
        return softmax(log_posterior), state["spent"] + (weights * regret**2).sum(axis=-1)  # Alg. 7, line 6: V

    def _restarted(self, after: State, spent: Floats) -> State:
        """Restart with twice the budget D where the sum V of ``p r²`` exceeds it."""
        over, start = spent > after["budget"], normalise(after["prior"])  # Alg. 7, lines 7 and 8
        return {
            **after,
            "weights": np.where(over[..., np.newaxis], start, after["weights"]),
            "memory": np.where(over[..., np.newaxis], start, after["memory"]),
            "n_past": np.where(over, 1.0, after["n_past"]),
            "budget": np.where(over, 2.0, 1.0) * after["budget"],
            "spent": np.where(over, 0.0, spent),
        }


def _aged(decayed_sums: Floats) -> Floats:
    """Return the geometrically decayed sums of past posteriors, one for each rate of decay, one round later."""
    aged: Floats = (np.exp(-_DECAY) * decayed_sums.T).T
    return aged
