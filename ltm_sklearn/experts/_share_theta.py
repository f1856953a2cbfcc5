"""Share-θ: Fixed Share with a memory of its own past weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import normalise
from .._param_checks import check_number
from .._typing import Floats, State
from ._weight_sharing import WEIGHT_FLOOR, WeightSharing


class ShareTheta(WeightSharing):
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

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("memory", self.memory, 0.0, 1.0)

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        return {**super()._initial_state(prior, rate, horizon), "memory": normalise(prior)}

    def _memory_rates(self, state: State, rounds: Floats) -> Any:
        return self._share(self.memory, state, rounds)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        theta = self._share(self.memory, state)
        posterior = self._posterior(state, weights, losses)
        memory = state["memory"]
        return {
            **state,
            "weights": self._shared(state, posterior, memory),
            "memory": np.maximum((1.0 - theta) * memory + theta * posterior, WEIGHT_FLOOR),
        }
