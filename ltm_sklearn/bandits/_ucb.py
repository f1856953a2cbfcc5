"""Upper confidence bounds for changing arms: with a sliding window, and with discounts."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._numerics import TINY
from .._param_checks import check_count, check_number, check_required_number
from .._typing import Floats, State
from ._scaled import LARGEST_RATE, ScaledBandit, check_segments
from ._validation import Arms

#: Upper bounds that differ by no more are ties.
ROUNDING_OF_BOUND = 1e-9

#: Index in the window of an arm that has been dropped.
GONE = -1

#: Limit of the window.
LARGEST_WINDOW = 2**53


class UpperConfidenceBandit(ScaledBandit):
    """Base class of UCB bandits: draw uniformly among the arms with the largest upper confidence bound."""

    exploration: float
    n_segments: int | None

    @abstractmethod
    def _statistics(self, state: State) -> tuple[Floats, Floats, float]:
        """Return the counts N of the arms, the sums of their gains, and the factor of ``1/√N`` in the width."""

    def _upper_bounds(self, state: State) -> Floats:
        """Return the upper confidence bound of each arm; infinite for arms without losses."""
        counts, sums, spread = self._statistics(state)
        known = counts > TINY
        safe = np.where(known, counts, 1.0)
        return np.where(known, sums / safe + spread / np.sqrt(safe), np.inf)

    def check_parameters(self) -> None:
        super().check_parameters()
        check_required_number("exploration", self.exploration, 0.0, LARGEST_RATE)
        check_segments(self.n_segments)

    def _assumed_changes(self) -> int:
        return max((self.n_segments or 1) - 1, 1)

    def _distribution(self, state: State) -> Floats:
        return _even_among_largest(self._upper_bounds(state))

    def _awake_distribution(self, state: State, awake: NDArray[np.bool_]) -> Floats:
        return _even_among_largest(np.where(awake, self._upper_bounds(state), -np.inf))


class SlidingWindowUCB(UpperConfidenceBandit):
    """Sliding-window UCB (Garivier and Moulines 2008): means and confidence widths of the most recent losses.

    Parameters
    ----------
    window : int, optional
        Number τ of recent losses that are used. None: ``2 √(T ln T / Υ)``, where Υ is the number of changes.
    exploration : float, default=0.5
        ξ in the width ``√(ξ ln(min(t, τ)) / N)`` of an arm with N losses in the window. The bound is for ξ > 1/2.
    n_segments : int, optional
        Expected number Υ + 1 of segments, for a window that is None. None: 2.
    horizon : int, optional
        Number T of rounds, for a window that is None. Further rounds raise a ValueError. None: the smallest power of
        two above the number of rounds so far; the window grows with it.
    loss_range : tuple of two floats, default=(-1, 1)
        The lowest and the highest possible loss; gains are ``(high - loss)/(high - low)``.
    random_state : int, RandomState or None
        Seed of the draws among ties.

    Notes
    -----
    An arm without losses in the window is played first. A round in which several arms are queried adds each of their
    losses to the window. ``draw`` and ``update`` take time in proportion to the window; ``run`` does not.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import SlidingWindowUCB
    >>> losses = np.zeros((4000, 5))
    >>> losses[:2000, 3] = losses[2000:, 1] = -1
    >>> played = SlidingWindowUCB(500, loss_range=(-1, 0), random_state=0).run(losses)
    >>> [int(np.bincount(played[0, t - 100 : t], minlength=5).argmax()) for t in (2000, 4000)]
    [3, 1]
    """

    def __init__(
        self,
        window: int | None = None,
        exploration: float = 0.5,
        *,
        n_segments: int | None = None,
        horizon: int | None = None,
        loss_range: tuple[float, float] = (-1, 1),
        random_state: Any = None,
    ) -> None:
        self.window = window
        self.exploration = exploration
        self.n_segments = n_segments
        self.horizon = horizon
        self.loss_range = loss_range
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        if self.window is not None:
            check_count("window", self.window, LARGEST_WINDOW)

    def _current_window(self, state: State) -> int:
        if self.window is not None:
            return int(self.window)
        horizon = max(self._assumed_horizon(state), 2)
        width = 2.0 * np.sqrt(horizon * np.log(horizon) / self._assumed_changes())
        return int(min(np.ceil(width), LARGEST_WINDOW))

    def _initial_state(self, n_arms: int) -> State:
        return {"n_arms": n_arms, "seen": np.empty(0, dtype=np.intp), "gains": np.empty(0)}

    def _check_state(self) -> None:
        seen, gains = self.state_["seen"], self.state_["gains"]
        if seen.shape != gains.shape or not ((seen >= GONE) & (seen < self.n_arms_)).all():
            raise ValueError("state_['seen'] contains arms that do not exist: it is damaged")

    def _statistics(self, state: State) -> tuple[Floats, Floats, float]:
        left = state["seen"] != GONE
        seen, gains = state["seen"][left], state["gains"][left]
        counts = np.bincount(seen, minlength=state["n_arms"]).astype(np.float64)
        sums = np.bincount(seen, gains, minlength=state["n_arms"]).astype(np.float64)
        spread = self.exploration * np.log(max(len(state["seen"]), 1))
        return counts, sums, np.sqrt(spread)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        window, order = (
            self._current_window(state),
            np.argsort(arms),
        )  # arms of one round leave in order
        return {
            **state,
            "seen": np.append(state["seen"], arms[order])[-window:],
            "gains": np.append(state["gains"], self._gains(losses)[order])[-window:],
        }

    def _with_newcomer(self, state: State) -> State:
        return {**state, "n_arms": state["n_arms"] + 1}

    def _without(self, state: State, arm: int) -> State:
        seen = state["seen"]
        moved = np.where(seen == arm, GONE, seen - (seen > arm))
        return {**state, "n_arms": state["n_arms"] - 1, "seen": moved}

    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        window = self._current_window(state)
        seen, gains = kernel.window_rounds(
            losses, uniforms, played, state["seen"], state["gains"], window, self.exploration,
            ROUNDING_OF_BOUND, *self.known_loss_range(),
        )  # fmt: skip
        return {**state, "seen": seen, "gains": gains}


class DiscountedUCB(UpperConfidenceBandit):
    """Discounted UCB (Garivier and Moulines 2008): means and confidence widths of discounted losses.

    Parameters
    ----------
    discount : float, optional
        Factor in (0, 1] by which the weight of a loss falls per round. With 1, and ξ = 1/2, this is UCB1. None:
        ``1 - √(Υ/T)/4``, where Υ is the number of changes.
    exploration : float, default=0.5
        ξ in the width ``2 √(ξ ln(n) / N)`` of an arm, where N is the sum of the weights of its losses and n that of
        all arms. The regret bound is for ξ > 1/2.
    n_segments : int, optional
        Expected number Υ + 1 of segments, for a discount that is None. None: 2.
    horizon : int, optional
        Number T of rounds, for a discount that is None. Further rounds raise a ValueError. None: the smallest power of
        two above the number of rounds so far.
    loss_range : tuple of two floats, default=(-1, 1)
        The lowest and the highest possible loss; gains are ``(high - loss)/(high - low)``.
    random_state : int, RandomState or None
        Seed of the draws among ties.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import DiscountedUCB
    >>> losses = np.zeros((4000, 5))
    >>> losses[:2000, 3] = losses[2000:, 1] = -1
    >>> played = DiscountedUCB(0.998, loss_range=(-1, 0), random_state=0).run(losses)
    >>> [int(np.bincount(played[0, t - 100 : t], minlength=5).argmax()) for t in (2000, 4000)]
    [3, 1]
    """

    def __init__(
        self,
        discount: float | None = None,
        exploration: float = 0.5,
        *,
        n_segments: int | None = None,
        horizon: int | None = None,
        loss_range: tuple[float, float] = (-1, 1),
        random_state: Any = None,
    ) -> None:
        self.discount = discount
        self.exploration = exploration
        self.n_segments = n_segments
        self.horizon = horizon
        self.loss_range = loss_range
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("discount", self.discount, 0.0, 1.0, low_open=True)

    def _current_discount(self, state: State) -> float:
        if self.discount is not None:
            return self.discount
        return 1.0 - min(1.0, float(np.sqrt(self._assumed_changes() / self._assumed_horizon(state)))) / 4.0

    def _initial_state(self, n_arms: int) -> State:
        return {"counts": np.zeros(n_arms), "sums": np.zeros(n_arms)}

    def _statistics(self, state: State) -> tuple[Floats, Floats, float]:
        spread = 4.0 * self.exploration * np.log(max(state["counts"].sum(), 1.0))
        return state["counts"], state["sums"], np.sqrt(spread)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        discount = self._current_discount(state)
        counts, sums = discount * state["counts"], discount * state["sums"]
        counts[arms] += 1.0
        sums[arms] += self._gains(losses)
        return {**state, "counts": counts, "sums": sums}

    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        counts, sums = state["counts"].copy(), state["sums"].copy()
        kernel.discounted_rounds(
            losses, uniforms, played, counts, sums, self._current_discount(state), self.exploration,
            TINY, ROUNDING_OF_BOUND, *self.known_loss_range(),
        )  # fmt: skip
        return {**state, "counts": counts, "sums": sums}


def _even_among_largest(bounds: Floats) -> Floats:
    largest = bounds.max()
    best = bounds >= largest - ROUNDING_OF_BOUND
    return best / best.sum()
