"""Fixed Share and Share-θ: exponential weights that give every expert a little weight back after each round.

Both keep a distribution ``w``. A round turns it into the posterior ``ẇ ∝ w · exp(-η ℓ)`` and then mixes the posterior:
Fixed Share with the prior, Share-θ with an average ``v`` of past posteriors, its memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import normalise, restrict, softmax
from .._param_checks import check_horizon, check_number, check_option
from .._typing import Floats, State
from ._base import ExpertAlgorithm, over_experts

#: Lower limit of the weights, so that no expert is lost to underflow and no number is denormal.
WEIGHT_FLOOR = 1e-100

#: Largest learning rates for which the bounds hold; beyond a million, rounding errors decide between equal experts.
_LARGEST_RATE = {"exponential": 1e6, "second_order": 0.2, "prod": 0.5}


class Sharing(ExpertAlgorithm):
    """Base class of Fixed Share and Share-θ: the loss update, the learning rates and their schedules."""

    rate: float | None
    switching: float | None
    horizon: int | None

    def _check_parameters(self) -> None:
        check_number("rate", self.rate, 0.0, _LARGEST_RATE["exponential"], low_open=True)
        check_number("switching", self.switching, 0.0, 1.0)
        check_horizon(self.horizon)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        rate = self.rate if rate is None else np.asarray(rate, dtype=np.float64)
        return {"prior": prior, "weights": normalise(prior), "rate": rate, "horizon": horizon}

    def _newcomer_state(self, state: State, prior: Floats, rate: Any = None) -> State:
        # The weight and memory of a new expert are its prior's part of the totals.
        part = prior / state["prior"].sum()
        newcomer = super()._newcomer_state(state, prior, rate)
        for name in ("weights", "memory", "run_records"):
            if name in state:
                newcomer[name] = part * state[name].sum(axis=-1, keepdims=True)
        return newcomer

    def _with_newcomer(self, state: State, newcomer: State) -> State:
        return _normalised(super()._with_newcomer(state, newcomer), state)

    def _without(self, state: State, index: int | slice) -> State:
        return _normalised(super()._without(state, index), state)

    def _distribution(self, state: State) -> Floats:
        weights: Floats = state["weights"]
        return weights

    def _rate(self, state: State, round_: int) -> Floats:
        """Return the learning rate of a round; rounds are counted from 1."""
        if state["rate"] is not None:
            return over_experts(state["rate"], state["weights"])
        return np.asarray(self._scheduled_rate(state["weights"].shape[-1], state["horizon"] or round_))

    def _scheduled_rate(self, n_experts: int, rounds: int) -> float:
        return float(np.sqrt(8.0 * np.log(max(n_experts, 2) * (rounds + 1.0)) / rounds))

    def _posterior(self, state: State, weights: Floats, losses: Floats) -> Floats:
        """Return the posterior ``ẇ ∝ w · exp(-η ℓ)``, flattened towards the prior if the learning rate falls.

        The ratio to the prior is raised to the power ``η'/η``, where η' is the next rate. Then ``ln(1/w)/η`` grows by
        at most ``(1/η' - 1/η) ln K``, and the bound holds for falling rates.
        """
        now = state["rounds"] + 1
        rate = self._rate(state, now)
        log_posterior = np.log(np.maximum(weights, WEIGHT_FLOOR)) + self._log_factor(rate, losses)
        if state["rate"] is None:
            log_prior = np.log(state["prior"])
            log_posterior = log_prior + (log_posterior - log_prior) * (self._rate(state, now + 1) / rate)
        return softmax(log_posterior)

    def _log_factor(self, rate: Floats, losses: Floats) -> Floats:
        # The smallest loss is subtracted: with a large rate, rounding would otherwise hide the weights.
        return -rate * (losses - losses.min(axis=-1, keepdims=True))

    def _shared(self, posterior: Floats, switching: Floats, memory: Floats) -> Floats:
        return normalise(np.maximum((1.0 - switching) * posterior + switching * memory, WEIGHT_FLOOR))

    def _share(self, value: Any, state: State) -> Floats:
        """Return a sharing rate after the coming round t: the given value, 1/horizon, or 1/(t + 2)."""
        if value is None:
            value = 1.0 / (state["horizon"] or state["rounds"] + 3)
        return over_experts(value, state["weights"])

    # Compiled rounds ------------------------------------------------------------------------------------------------

    def _memory_rates(self, state: State, rounds: Floats) -> Floats | None:
        """Return the memory rates θ of the given rounds, or None if the compiled rounds cannot run this rule."""
        return None

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        state = self.state_
        rounds = state["rounds"] + np.arange(len(losses), dtype=np.float64)
        memory_rates = self._memory_rates(state, rounds)
        kernel = self._kernel()
        if kernel is None or memory_rates is None or state["rate"] is None:
            return super()._play_rounds(losses, confidence)
        switching = self.switching
        if switching is None:
            switching = 1.0 / (state["horizon"] or rounds + 3.0)
        remembers = "memory" in state
        own, weights, memory, learned = kernel.share_rounds(
            losses,
            confidence,
            state["weights"],
            state["memory"] if remembers else normalise(state["prior"]),
            float(state["rate"]),
            np.broadcast_to(switching, rounds.shape).astype(np.float64),
            np.broadcast_to(memory_rates, rounds.shape).astype(np.float64),
            WEIGHT_FLOOR,
        )
        after = {**state, "weights": weights, "rounds": state["rounds"] + learned}
        after |= {"memory": memory} if remembers else {}
        after |= {"n_past": state["n_past"] + learned} if "n_past" in state else {}
        self.state_ = after
        return own if confidence is None else restrict(own, confidence)


def _normalised(after: State, before: State) -> State:
    """What is handed out among the experts sums to what it did, after the pool has changed."""
    for name in ("weights", "memory", "run_records"):
        if name in after:
            after[name] = before[name].sum(axis=-1, keepdims=True) * normalise(after[name])
    return after


class FixedShare(Sharing):
    """Fixed Share [1]_: exponential weights that track a sequence of best experts, without memory.

    Parameters
    ----------
    rate : float, optional
        Learning rate η. None: falls with the rounds, or is set from ``horizon``.
    switching : float, optional
        Share α of the weight that is redistributed by the prior after each round. None: ``1/horizon``, or ``1/(t +
        2)``.
    rule : {"exponential", "second_order", "prod"}, default="exponential"
        Each weight is multiplied by ``exp(-η ℓ)``, ``exp(-η ℓ - η² ℓ²)`` (Algorithm 5 of the paper, "Fixed-share
        Variant"; rates up to 1/5) or ``1 - η ℓ`` (rates up to 1/2).
    horizon : int, optional
        Number of rounds, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    The regret against a sequence of S segments is at most ``(1/η) [S ln K + (S-1) ln(1/α) + (T-S) ln(1/(1-α))]`` plus
    ``η T/8`` ("exponential") or ``η Σ ℓ²`` along the sequence (the others).

    References
    ----------
    .. [1] Herbster, Warmuth: Tracking the best expert. 1998.

    Examples
    --------
    >>> from ltm_sklearn.experts import FixedShare
    >>> FixedShare(rate=1.0, switching=0.1).update([0.0, 1.0]).weights().round(3)
    array([0.708, 0.292])
    """

    def __init__(
        self,
        rate: float | None = None,
        switching: float | None = None,
        rule: str = "exponential",
        *,
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.rate = rate
        self.switching = switching
        self.rule = rule
        self.horizon = horizon
        self.prior = prior

    def _check_parameters(self) -> None:
        check_option("rule", self.rule, tuple(_LARGEST_RATE))
        super()._check_parameters()
        check_number("rate", self.rate, 0.0, _LARGEST_RATE[self.rule])

    def _has_own_second_order(self) -> bool:
        return self.rule != "exponential"

    def _scheduled_rate(self, n_experts: int, rounds: int) -> float:
        return min(_LARGEST_RATE[self.rule], super()._scheduled_rate(n_experts, rounds))

    def _log_factor(self, rate: Floats, losses: Floats) -> Floats:
        if self.rule == "exponential":
            return super()._log_factor(rate, losses)
        if self.rule == "second_order":
            return -rate * losses - (rate * losses) ** 2
        return np.log1p(-rate * losses)

    def _memory_rates(self, state: State, rounds: Floats) -> Floats | None:
        return np.zeros_like(rounds) if self.rule == "exponential" else None

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        switching = self._share(self.switching, state)
        posterior = self._posterior(state, weights, losses)
        return {
            **state,
            "weights": self._shared(posterior, switching, normalise(state["prior"])),
        }


class ShareTheta(Sharing):
    """Share-θ [1]_: Fixed Share that mixes in a running average of its own past weights as a memory.

    Parameters
    ----------
    rate : float, optional
        Learning rate η. None: falls with the rounds, or is set from ``horizon``.
    switching : float, optional
        Share α of the weight that is taken from memory after each round. None: ``1/horizon``, or ``1/(t + 2)``.
    memory : float, optional
        Rate θ of the running average; 0 gives Fixed Share. None: ``1/horizon``, or ``1/(t + 2)``.
    horizon : int, optional
        Number of rounds, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    ``w ← (1-α) ẇ + α v`` and then ``v ← (1-θ) v + θ ẇ``. With k switches among n experts the regret is at most
    ``(1/η) [n ln K + k ln(1/α) + (T-1-k) ln(1/(1-α)) + (k-n+1) ln(1/θ) + A ln(1/(1-θ))] + η T/8`` where A is
    the total number of rounds that the n experts spend before their first segment or between two of their segments; at
    most ``n T``.

    References
    ----------
    .. [1] Robinson, Herbster: Improved regret bounds for tracking experts with memory. 2021.

    Examples
    --------
    >>> from ltm_sklearn.experts import ShareTheta
    >>> tracker = ShareTheta(rate=1.0, switching=0.1, memory=0.01)
    >>> tracker.update([0.0, 1.0]).weights().round(3)
    array([0.708, 0.292])
    """

    def __init__(
        self,
        rate: float | None = None,
        switching: float | None = None,
        memory: float | None = None,
        *,
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.rate = rate
        self.switching = switching
        self.memory = memory
        self.horizon = horizon
        self.prior = prior

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("memory", self.memory, 0.0, 1.0)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {**super()._initial_state(prior, rate, horizon), "memory": normalise(prior)}

    def _memory_rates(self, state: State, rounds: Floats) -> Floats | None:
        if self.memory is not None:
            return np.full_like(rounds, self.memory)
        return np.broadcast_to(1.0 / (state["horizon"] or rounds + 3.0), rounds.shape)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        switching, theta = self._share(self.switching, state), self._share(self.memory, state)
        posterior = self._posterior(state, weights, losses)
        memory = state["memory"]
        return {
            **state,
            "weights": self._shared(posterior, switching, memory),
            "memory": np.maximum((1.0 - theta) * memory + theta * posterior, WEIGHT_FLOOR),
        }
