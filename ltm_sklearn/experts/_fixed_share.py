"""Fixed Share: exponential weights that track a sequence of best experts."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import normalise
from .._param_checks import check_number, check_option
from .._typing import Floats, State
from ._weight_sharing import LARGEST_RATE, WeightSharing


class FixedShare(WeightSharing):
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

    def check_parameters(self) -> None:
        check_option("rule", self.rule, tuple(LARGEST_RATE))
        super().check_parameters()
        check_number("rate", self.rate, 0.0, LARGEST_RATE[self.rule])

    def _has_own_second_order(self) -> bool:
        return self.rule != "exponential"

    def _scheduled_rate(self, n_experts: int, rounds: int) -> float:
        return min(LARGEST_RATE[self.rule], super()._scheduled_rate(n_experts, rounds))

    def _log_factor(self, rate: Floats, losses: Floats) -> Floats:
        if self.rule == "exponential":
            return super()._log_factor(rate, losses)
        if self.rule == "second_order":
            return -rate * losses - (rate * losses) ** 2
        return np.log1p(-rate * losses)

    def _memory_rates(self, state: State, rounds: Floats) -> Any:
        return 0.0 if self.rule == "exponential" else None

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        posterior = self._posterior(state, weights, losses)
        return {**state, "weights": self._shared(state, posterior, normalise(state["prior"]))}
