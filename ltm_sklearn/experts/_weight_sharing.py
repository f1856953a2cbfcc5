"""Base class of Fixed Share, Share-θ and Mixing Past Posteriors, which give experts weight back after each round.

They keep a distribution ``w``. A round turns it into the posterior ``ẇ ∝ w · exp(-η ℓ)`` and then mixes the posterior:
Fixed Share with the prior, the others with an average ``v`` of past posteriors, their memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import normalise, restrict_to_awake, softmax
from .._param_checks import check_horizon, check_number
from .._typing import Floats, State
from ._base import ExpertAlgorithm, over_experts
from ._compiled import kernel_of

#: Lower limit of the weights, so that no weight underflows to zero and no number is denormal.
WEIGHT_FLOOR = 1e-100

#: Largest learning rates for which the bounds hold; beyond a million, rounding errors decide between equal experts.
LARGEST_RATE = {"exponential": 1e6, "second_order": 0.2, "prod": 0.5}

#: Entries of the state that are distributions over the experts, or sums of such.
_DISTRIBUTED = {"weights", "memory", "decayed_sums"}


class WeightSharing(ExpertAlgorithm):
    """Base class of the algorithms that share weight: the loss update, the learning rates and their schedules."""

    rate: float | None
    switching: float | None
    horizon: int | None

    def check_parameters(self) -> None:
        check_number("rate", self.rate, 0.0, LARGEST_RATE["exponential"], low_open=True)
        check_number("switching", self.switching, 0.0, 1.0)
        check_horizon(self.horizon)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        rate = self.rate if rate is None else np.asarray(rate, dtype=np.float64)
        return {"prior": prior, "weights": normalise(prior), "rate": rate, "horizon": horizon}

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        after = super()._joined(state, prior, scale, rate)
        part = prior / state["prior"].sum()
        for name in _DISTRIBUTED & after.keys():  # a new expert has its prior's part of the totals
            after[name][..., -len(prior) :] = part * state[name].sum(axis=-1, keepdims=True)
        return _with_totals_of(state, after)

    def _left(self, state: State, index: int | slice, scale: float) -> State:
        return _with_totals_of(state, super()._left(state, index, scale))

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

    def _shared(self, state: State, posterior: Floats, memory: Floats) -> Floats:
        """Return the weights after a round: the posterior mixed with the memory at the switching rate."""
        switching = self._share(self.switching, state)
        return normalise(np.maximum((1.0 - switching) * posterior + switching * memory, WEIGHT_FLOOR))

    def _share(self, value: float | None, state: State, rounds: Any = None) -> Any:
        """Return a sharing rate after the coming round t, or after given rounds: ``value``, 1/horizon, or 1/(t + 2)."""
        if value is not None:
            return float(value)
        rounds = state["rounds"] if rounds is None else rounds
        return 1.0 / (state["horizon"] or rounds + 3)

    # Compiled rounds ------------------------------------------------------------------------------------------------

    def _memory_rates(self, state: State, rounds: Floats) -> Any:
        """Return the memory rates θ of the given rounds, or None if the compiled rounds cannot run this rule."""
        return None

    def _play_rounds(self, losses: Floats, confidence: Floats | None) -> Floats:
        state = self.state_
        rounds = state["rounds"] + np.arange(len(losses), dtype=np.float64)
        memory_rates = self._memory_rates(state, rounds)
        kernel = kernel_of(self)
        if kernel is None or memory_rates is None or state["rate"] is None:
            return super()._play_rounds(losses, confidence)
        own, weights, memory, learned = kernel.share_rounds(
            losses,
            confidence,
            state["weights"],
            state["memory"] if "memory" in state else normalise(state["prior"]),
            float(state["rate"]),
            np.broadcast_to(self._share(self.switching, state, rounds), rounds.shape).astype(np.float64),
            np.broadcast_to(memory_rates, rounds.shape).astype(np.float64),
            WEIGHT_FLOOR,
        )
        after = {"weights": weights, "memory": memory, "rounds": state["rounds"] + learned}
        after["n_past"] = state.get("n_past", 0.0) + learned
        self.state_ = {**state, **{name: after[name] for name in after.keys() & state.keys()}}
        return own if confidence is None else restrict_to_awake(own, confidence)


def _with_totals_of(before: State, after: State) -> State:
    """Return the state of a changed pool with distributions that sum to what they summed to before."""
    for name in _DISTRIBUTED & after.keys():
        after[name] = before[name].sum(axis=-1, keepdims=True) * normalise(after[name])
    return after
