"""What the rivals share: losses as gains in [0, 1], settings that follow the horizon, and compiled rounds."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from .._optional import compiled
from .._param_checks import check_count, check_horizon
from .._typing import Floats, State
from ._base import BanditAlgorithm
from ._validation import Arms, check_loss_range

kernel = compiled("_rival_rounds", __package__)

#: A larger learning rate would only bring numbers near the largest that there are.
LARGEST_RATE = 1e6


class ScaledBandit(BanditAlgorithm):
    """A bandit whose rule speaks of gains in [0, 1], with settings that depend on the horizon.

    Without a horizon, round t has the settings for the smallest power of two above t (t counted from 0): they change
    only when the fallback doubles, and nothing is forgotten then.
    """

    horizon: int | None
    loss_range: tuple[float, float]

    @abstractmethod
    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        """The state after rounds of the same settings; the arms are written into ``played``."""

    def _check_parameters(self) -> None:
        check_horizon(self.horizon)
        check_loss_range(self.loss_range)

    def _known_range(self) -> tuple[float, float]:
        low, high = self.loss_range
        return float(low), float(high)

    def _gains(self, losses: Floats) -> Floats:
        low, high = self._known_range()
        return (high - losses) / (high - low)

    def _assumed_horizon(self, state: State) -> float:
        return float(self.horizon or 1 << int(state["rounds"]).bit_length())

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not self._own_rule():
            return super()._play_rounds(state, losses, uniforms)
        played = np.empty(len(losses), dtype=np.intp)
        for part in self._parts_of_one_setting(int(state["rounds"]), len(losses)):
            after = self._compiled_rounds(kernel, state, losses[part], uniforms[part], played[part])
            state = {**after, "rounds": state["rounds"] + part.stop - part.start}
        return played, state

    def _parts_of_one_setting(self, first: int, n_rounds: int) -> Iterator[slice]:
        start = 0
        while start < n_rounds:
            doubles = 1 << (first + start).bit_length()
            stop = n_rounds if self.horizon else min(n_rounds, doubles - first)
            yield slice(start, stop)
            start = stop


def check_segments(n_segments: Any) -> None:
    """A number of segments is None or a positive whole number."""
    if n_segments is not None:
        check_count("n_segments", n_segments)
