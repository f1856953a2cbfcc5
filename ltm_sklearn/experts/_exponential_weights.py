"""Base class of Hedge and Prod: weights that are exponential in a gain, with a learning rate that may fall over time.

The weights are ``p(i) ∝ prior(i) · rate(i) · exp(rate(i) · gain(i))``; the algorithms differ in the gain of a round.
If all experts have the same rate and it never rises, ``(1/rate) ln Σ prior exp(rate · gain)`` does not grow when the
rate falls (power means). So each bound for a fixed rate also holds for falling rates, with the last rate in its first
term and the rate of each round in the second.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._numerics import softmax
from .._param_checks import check_horizon, check_number
from .._typing import Floats, State
from ._base import ExpertAlgorithm, over_experts


class ExponentialWeights(ExpertAlgorithm):
    """Base class of Hedge and Prod: exponential weights on a gain that subclasses define."""

    rate: Any
    horizon: int | None

    def check_parameters(self) -> None:
        largest = self._largest_rate()
        check_number("rate", self.rate, 0.0, largest, low_open=True, high_open=np.isinf(largest), max_axes=1)
        check_horizon(self.horizon)

    def _largest_rate(self) -> float:
        """Return the largest learning rate for which the bound holds."""
        return np.inf

    def _balanced_rate(self, log_experts: float, rounds: int) -> float:
        """Return the learning rate that balances the two terms of the bound after so many rounds."""
        return min(self._largest_rate(), float(np.sqrt(log_experts / rounds)))

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        rate = self.rate if rate is None else rate
        if rate is not None:
            rate = np.asarray(rate, dtype=np.float64)
            if rate.ndim == prior.ndim and rate.shape != prior.shape:
                raise ValueError(f"rate has {rate.shape[-1]} entries, but there are {prior.shape[-1]} experts")
        return {"log_prior": np.log(prior), "gain": np.zeros_like(prior), "rate": rate, "horizon": horizon}

    def _joined(self, state: State, prior: Floats, scale: float, rate: Any = None) -> State:
        if rate is None and np.ndim(state["rate"]) == 1:
            rate = np.repeat(state["rate"][-1:], len(prior))  # that of the last expert
        return super()._joined(state, prior, scale, rate)

    def _rate(self, state: State) -> Floats:
        """Return the learning rate of the coming round."""
        if state["rate"] is not None:
            return over_experts(state["rate"], state["gain"])
        log_experts = np.log(max(state["gain"].shape[-1], 2))
        return np.asarray(self._balanced_rate(log_experts, state["horizon"] or state["rounds"] + 1))

    def _distribution(self, state: State) -> Floats:
        rate = self._rate(state)
        return softmax(state["log_prior"] + np.log(rate) + rate * state["gain"])

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        return {**state, "gain": state["gain"] + self._gain(weights, losses, self._rate(state))}

    @abstractmethod
    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        """Return the gain of each expert in one round."""
