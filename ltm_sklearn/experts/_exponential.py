"""Hedge and Prod: weights that are exponential in a gain, with a learning rate that may fall over time.

The weights are ``p(i) ∝ prior(i) · rate(i) · exp(rate(i) · gain(i))``; the algorithms differ in the gain of a round.
If all experts have the same rate and it never rises, ``(1/rate) ln Σ prior exp(rate · gain)`` does not grow when the
rate falls (power means). So each bound for a fixed rate also holds for falling rates, with the last rate in its first
term and the rate of each round in the second.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import softmax
from .._param_checks import check_horizon, check_number, check_option
from .._typing import Floats, State
from ._base import ExpertAlgorithm, instantaneous_regret, over_experts

#: Logarithm of the lower limit of a Prod weight, so that no expert is lost to underflow.
LOG_FLOOR = float(np.log(1e-290))


class ExponentialWeights(ExpertAlgorithm):
    """Base class of Hedge and Prod: exponential weights on a gain that subclasses define."""

    rate: Any
    horizon: int | None

    def _check_parameters(self) -> None:
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

    def _newcomer_state(self, state: State, prior: Floats, rate: Any = None) -> State:
        if rate is None and np.ndim(state["rate"]) == 1:
            rate = np.repeat(state["rate"][-1:], len(prior))  # the last expert's
        return super()._newcomer_state(state, prior, rate)

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
        rate = self._rate(state)
        gain = state["gain"] + self._gain(weights, losses, rate)
        return {**state, "gain": gain}

    @abstractmethod
    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        """Return the gain of each expert in one round."""


class Hedge(ExponentialWeights):
    """Hedge (exponential weights), plain or in one of the paper's two second-order variants.

    Parameters
    ----------
    rate : float or array-like of shape (n_experts,), optional
        Learning rate η; one for each expert with ``variant=2``. None: falls with the rounds (or is set from
        ``horizon``) so that both terms of the bound below are equal.
    variant : {0, 1, 2}, default=0
        0: ``p ∝ exp(-η Σ ℓ)``. 1: ``p ∝ exp(-Σ (η ℓ + η² ℓ²))``. 2: ``p ∝ η exp(Σ (η r - η² r²))`` with the
        instantaneous regret ``r = p·ℓ - ℓ``.
    horizon : int, optional
        Number of rounds, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Regret against expert i after T rounds, for losses in [0, 1], is at most ``ln(1/prior(i))/η +`` (0) ``η T/8``,
    (1) ``η Σ ℓ(i)²``, (2) ``η Σ r(i)²``, with η = η(i) in variant 2. Variants 1 and 2 are Algorithm 4 ("Hedge
    Variant 1") and Algorithm 6 ("Hedge Variant 2") of the paper; rates up to 1/5.

    Examples
    --------
    >>> from ltm_sklearn.experts import Hedge
    >>> hedge = Hedge(rate=1.0)
    >>> hedge.run([[0.0, 1.0], [0.0, 1.0]])
    array([[0.5       , 0.5       ],
           [0.73105858, 0.26894142]])
    >>> hedge.weights().round(3)
    array([0.881, 0.119])
    """

    def __init__(
        self,
        rate: Any = None,
        variant: int = 0,
        *,
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.rate = rate
        self.variant = variant
        self.horizon = horizon
        self.prior = prior

    def _has_own_second_order(self) -> bool:
        return self.variant != 0

    def _largest_rate(self) -> float:
        return np.inf if self.variant == 0 else 0.2

    def _balanced_rate(self, log_experts: float, rounds: int) -> float:
        return super()._balanced_rate(8.0 * log_experts if self.variant == 0 else log_experts, rounds)

    def _check_parameters(self) -> None:
        check_option("variant", self.variant, (0, 1, 2))
        super()._check_parameters()
        if self.variant != 2 and np.ndim(self.rate) != 0:
            raise ValueError("a rate for each expert needs variant=2")

    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        regret = instantaneous_regret(weights, losses)
        if self.variant == 0:
            return regret
        return regret - rate * (losses if self.variant == 1 else regret) ** 2


class Prod(ExponentialWeights):
    """Prod [1]_: multiplicative weights ``w(i) *= 1 + η r(i)`` with the instantaneous regret ``r = p·ℓ - ℓ``.

    Parameters
    ----------
    rate : float or array-like of shape (n_experts,), optional
        Learning rate η <= 1/2, one for all or one for each expert (then ``p ∝ η w``).
        None: falls with the rounds, or is set from ``horizon``.
    horizon : int, optional
        Number of rounds, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Regret against expert i is at most ``ln(1/prior(i))/η + η Σ r(i)²``.

    References
    ----------
    .. [1] Cesa-Bianchi, Mansour, Stoltz: Improved second-order bounds for prediction with expert advice. 2007.

    Examples
    --------
    >>> from ltm_sklearn.experts import Prod
    >>> Prod(rate=0.5).update([0.0, 1.0]).weights()
    array([0.625, 0.375])
    """

    def __init__(self, rate: Any = None, *, horizon: int | None = None, prior: ArrayLike | None = None) -> None:
        self.rate = rate
        self.horizon = horizon
        self.prior = prior

    def _has_own_second_order(self) -> bool:
        return True

    def _largest_rate(self) -> float:
        return 0.5

    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        return np.log1p(rate * instantaneous_regret(weights, losses)) / rate

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        after = super()._next_state(state, weights, losses)
        floor = (LOG_FLOOR - state["log_prior"]) / self._rate(state)
        return {**after, "gain": np.maximum(after["gain"], floor)}
