"""Base class of Exp3 and UCB bandits: gains in [0, 1], settings that follow the horizon, and compiled rounds."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from .._optional import import_kernel
from .._param_checks import check_count, check_horizon
from .._typing import Floats, State
from ._base import BanditAlgorithm, kernel_applies
from ._validation import Arms, check_loss_range

kernel = import_kernel("_rival_rounds", __package__)

#: Limit of learning rates; larger ones would bring exponents near the largest float.
LARGEST_RATE = 1e6


class ScaledBandit(BanditAlgorithm):
    """Base class of bandits that learn from gains in [0, 1] and whose settings depend on the horizon.

    Without a horizon, round t (counted from 0) uses the settings for the smallest power of two above t. They change
    only when this assumed horizon doubles. The state is kept.
    """

    horizon: int | None
    loss_range: tuple[float, float]

    @abstractmethod
    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        """Return the state after rounds with constant settings, and write the arms into ``played``."""

    def check_parameters(self) -> None:
        check_horizon(self.horizon)
        check_loss_range(self.loss_range)

    def known_loss_range(self) -> tuple[float, float]:
        low, high = self.loss_range
        return float(low), float(high)

    def _gains(self, losses: Floats) -> Floats:
        low, high = self.known_loss_range()
        return (high - losses) / (high - low)

    def _assumed_horizon(self, state: State) -> float:
        return float(self.horizon or 1 << int(state["rounds"]).bit_length())

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not kernel_applies(self):
            return super()._play_rounds(state, losses, uniforms)
        played = np.empty(len(losses), dtype=np.intp)
        first, start = int(state["rounds"]), 0
        while start < len(losses):  # stretches of constant settings
            doubles = 1 << (first + start).bit_length()
            stop = len(losses) if self.horizon else min(len(losses), doubles - first)
            part = slice(start, stop)
            after = self._compiled_rounds(kernel, state, losses[part], uniforms[part], played[part])
            state = {**after, "rounds": first + stop}
            start = stop
        return played, state


def check_segments(n_segments: Any) -> None:
    """Check that a number of segments is None or a positive integer."""
    if n_segments is not None:
        check_count("n_segments", n_segments)
