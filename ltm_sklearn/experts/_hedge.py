"""Hedge: exponential weights, plain or with a second-order term."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import check_option
from .._typing import Floats
from ._base import instantaneous_regret
from ._exponential_weights import ExponentialWeights


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
        self, rate: Any = None, variant: int = 0, *, horizon: int | None = None, prior: ArrayLike | None = None
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

    def check_parameters(self) -> None:
        check_option("variant", self.variant, (0, 1, 2))
        super().check_parameters()
        if self.variant != 2 and np.ndim(self.rate) != 0:
            raise ValueError("a rate for each expert needs variant=2")

    def _gain(self, weights: Floats, losses: Floats, rate: Floats) -> Floats:
        regret = instantaneous_regret(weights, losses)
        if self.variant == 0:
            return regret
        return regret - rate * (losses if self.variant == 1 else regret) ** 2
