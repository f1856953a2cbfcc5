"""Exp3 and Exp3.S: exponential weights on importance-weighted gains."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..experts._base import State
from ..experts._validation import Floats, check_number
from ._base import BanditAlgorithm, importance_weighted
from ._validation import Arms


class Exp3S(BanditAlgorithm):
    """Placeholder, to be completed."""

    def __init__(self, exploration: float = 0.05, switching: float = 1e-3, *, random_state: Any = None) -> None:
        self.exploration = exploration
        self.switching = switching
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_number("exploration", self.exploration, 0.0, 1.0, low_open=True)
        check_number("switching", self.switching, 0.0, 1.0)

    def _initial_state(self, n_arms: int) -> State:
        return {"weights": np.full(n_arms, 1.0 / n_arms)}

    def _distribution(self, state: State) -> Floats:
        weights = state["weights"]
        return (1.0 - self.exploration) * weights + self.exploration / len(weights)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        n_arms = len(state["weights"])
        gains = importance_weighted(n_arms, arms, (1.0 - losses) / 2.0, chances)
        grown = state["weights"] * np.exp(self.exploration / n_arms * gains)
        grown = grown / grown.sum()
        return {**state, "weights": (1.0 - self.switching) * grown + self.switching / n_arms}
