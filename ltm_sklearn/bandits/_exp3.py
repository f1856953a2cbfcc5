"""Exp3, Exp3-IX and Exp3.S: exponential weights on importance-weighted gains or losses."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from .._numerics import TINY, normalise, softmax
from .._param_checks import check_number
from .._typing import Floats, State
from ._base import SMALLEST_CHANCE, importance_weighted
from ._scaled import LARGEST_RATE, ScaledBandit, check_segments
from ._validation import Arms

#: Limit of exponents; this one raises even the smallest weight, TINY, to the sum of all others.
LARGEST_EXPONENT = float(-np.log(TINY))


class ExponentialSettings(NamedTuple):
    """Settings of exponential weights in one round."""

    rate: float
    exploration: float  #: share of the draws that is uniform
    implicit_exploration: float  #: added to the probability by which a gain is divided


class ExponentialBandit(ScaledBandit):
    """Base class of Exp3 and Exp3-IX: weights ``w(i) ∝ exp(rate · G(i))`` for sums G of estimated gains."""

    rate: float | None
    exploration: float | None
    baseline: float  #: subtracted from the gains; with 1, they are minus the losses in [0, 1]

    @abstractmethod
    def _settings(self, state: State) -> ExponentialSettings:
        """Return the settings of the coming round."""

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("rate", self.rate, 0.0, LARGEST_RATE, low_open=True)

    def _initial_state(self, n_arms: int) -> State:
        return {"gains": np.zeros(n_arms)}

    def _distribution(self, state: State) -> Floats:
        rate, exploration, _ = self._settings(state)
        weights = softmax(rate * (state["gains"] - state["gains"].max()))
        return (1.0 - exploration) * weights + exploration / len(weights)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        chances = chances + self._settings(state).implicit_exploration
        estimates = importance_weighted(len(state["gains"]), arms, self._gains(losses) - self.baseline, chances)
        return {**state, "gains": state["gains"] + estimates}

    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        settings, gains = self._settings(state), state["gains"].copy()
        limits = SMALLEST_CHANCE, *self.known_loss_range()
        kernel.exponential_rounds(losses, uniforms, played, gains, *settings, self.baseline, *limits)
        return {**state, "gains": gains}

    def _with_newcomer(self, state: State) -> State:
        """Return the state with a new arm, whose weight is the mean of the others', 1/K of the sum."""
        gains, rate = state["gains"], self._settings(state).rate
        mean = gains.max() + np.log(np.exp(rate * (gains - gains.max())).mean()) / rate
        return {**state, "gains": np.append(gains, mean)}


class Exp3(ExponentialBandit):
    """Exp3 (Auer, Cesa-Bianchi, Freund and Schapire 2002): regret against the best single arm.

    Parameters
    ----------
    exploration : float, optional
        Share γ of the draws that is uniform, in (0, 1]. None: ``min(1, √(K ln K / ((e - 1) T)))``.
    rate : float, optional
        Learning rate. None: ``γ/K``, as in the regret bound.
    horizon : int, optional
        Number T of rounds, for settings that are None. Further rounds raise a ValueError. None: the smallest power of
        two above the number of rounds so far.
    loss_range : tuple of two floats, default=(-1, 1)
        The lowest and the highest possible loss; gains are ``(high - loss)/(high - low)``.
    random_state : int, RandomState or None
        Seed of the draws.

    Notes
    -----
    Arm i is drawn with probability ``p(i) = (1 - γ) w(i) + γ/K``. The weight of the drawn arm is multiplied by
    ``exp(rate · gain/p(i))``. With K arms, T rounds and the default settings, the expected regret in gains is at most
    ``2 √((e - 1) T K ln K)``. In losses it is ``high - low`` times as much.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import Exp3
    >>> losses = np.zeros((2000, 5))
    >>> losses[:, 3] = -1
    >>> played = Exp3(loss_range=(-1, 0), random_state=0).run(losses)
    >>> np.bincount(played[0, -100:], minlength=5).argmax()
    np.int64(3)
    """

    baseline = 0.0

    def __init__(
        self,
        exploration: float | None = None,
        rate: float | None = None,
        *,
        horizon: int | None = None,
        loss_range: tuple[float, float] = (-1, 1),
        random_state: Any = None,
    ) -> None:
        self.exploration = exploration
        self.rate = rate
        self.horizon = horizon
        self.loss_range = loss_range
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("exploration", self.exploration, 0.0, 1.0, low_open=True)

    def _settings(self, state: State) -> ExponentialSettings:
        n_arms, exploration = len(state["gains"]), self.exploration
        if exploration is None:
            complexity = n_arms * np.log(max(n_arms, 2)) / (math.e - 1.0)
            exploration = min(1.0, float(np.sqrt(complexity / self._assumed_horizon(state))))
        return ExponentialSettings(exploration / n_arms if self.rate is None else self.rate, exploration, 0.0)


class Exp3IX(ExponentialBandit):
    """Exp3-IX (Neu 2015): exponential weights on losses, with a regret bound that holds with high probability.

    Parameters
    ----------
    exploration : float, optional
        Implicit exploration γ >= 0: the loss of the drawn arm is divided by ``p + γ``. None: half the rate.
    rate : float, optional
        Learning rate. None: ``√(2 ln K / (K T))``.
    horizon : int, optional
        Number T of rounds, for a rate that is None. Further rounds raise a ValueError. None: the smallest power of two
        above the number of rounds so far.
    loss_range : tuple of two floats, default=(-1, 1)
        The lowest and the highest possible loss; the rule uses ``(loss - low)/(high - low)``.
    random_state : int, RandomState or None
        Seed of the draws.

    Notes
    -----
    Arm i is drawn with probability ``p(i) ∝ exp(-rate · L(i))``, where L are the sums of the estimated losses. With the
    default settings and losses in [0, 1], the regret is at most ``2 √(2KT ln K) + (√(2KT / ln K) + 1) ln(2/δ)`` with
    probability 1 - δ. For other ranges it is ``high - low`` times as much.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import Exp3IX
    >>> losses = np.ones((2000, 5))
    >>> losses[:, 3] = 0
    >>> played = Exp3IX(loss_range=(0, 1), random_state=0).run(losses)
    >>> np.bincount(played[0, -100:], minlength=5).argmax()
    np.int64(3)
    """

    baseline = 1.0

    def __init__(
        self,
        exploration: float | None = None,
        rate: float | None = None,
        *,
        horizon: int | None = None,
        loss_range: tuple[float, float] = (-1, 1),
        random_state: Any = None,
    ) -> None:
        self.exploration = exploration
        self.rate = rate
        self.horizon = horizon
        self.loss_range = loss_range
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("exploration", self.exploration, 0.0, np.inf, high_open=True)

    def _settings(self, state: State) -> ExponentialSettings:
        n_arms, rate = len(state["gains"]), self.rate
        if rate is None:
            rate = float(np.sqrt(2.0 * np.log(max(n_arms, 2)) / (n_arms * self._assumed_horizon(state))))
        return ExponentialSettings(rate, 0.0, rate / 2.0 if self.exploration is None else self.exploration)


class Exp3S(ScaledBandit):
    """Exp3.S (Auer, Cesa-Bianchi, Freund and Schapire 2002): Exp3 with weight sharing, for switching regret.

    Parameters
    ----------
    exploration : float, optional
        Share γ of the draws that is uniform, in (0, 1]. None: with ``n_segments`` S,
        ``min(1, √(K (S ln(K T) + e) / ((e - 1) T)))``; without, ``min(1, √(K ln(K T) / T))``.
    switching : float, optional
        Sharing α in [0, 1]: in each round every arm receives ``e α/K`` of the sum of the weights. None: ``1/T``.
    rate : float, optional
        Learning rate. None: ``γ/K``, as in the regret bound.
    n_segments : int, optional
        Number S of segments of the sequence of arms that is the comparator.
    horizon : int, optional
        Number T of rounds, for settings that are None. Further rounds raise a ValueError. None: the smallest power of
        two above the number of rounds so far.
    loss_range : tuple of two floats, default=(-1, 1)
        The lowest and the highest possible loss; gains are ``(high - loss)/(high - low)``.
    random_state : int, RandomState or None
        Seed of the draws.

    Notes
    -----
    The update is ``w(i) <- w(i) exp(rate · gain/p(i) [i drawn]) + e α/K Σ_j w(j)``; draws are as in Exp3. With the
    default settings, the expected regret in gains against any sequence of S segments is at most
    ``2 √((e - 1) K T (S ln(K T) + e))`` if ``n_segments`` is S, and ``S √(K T ln(K T)) + 2e √(K T / ln(K T))`` if it is
    None. In losses it is ``high - low`` times as much.

    The state holds weights, not their logarithms. No weight falls below 1e-300 of the sum, and no round multiplies
    one by more than 1e300. With the default settings no weight comes near these limits.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import Exp3S
    >>> losses = np.zeros((4000, 5))
    >>> losses[:2000, 3] = losses[2000:, 1] = -1
    >>> played = Exp3S(n_segments=2, horizon=4000, loss_range=(-1, 0), random_state=0).run(losses)
    >>> [int(np.bincount(played[0, t - 100 : t], minlength=5).argmax()) for t in (2000, 4000)]
    [3, 1]
    """

    def __init__(
        self,
        exploration: float | None = None,
        switching: float | None = None,
        rate: float | None = None,
        *,
        n_segments: int | None = None,
        horizon: int | None = None,
        loss_range: tuple[float, float] = (-1, 1),
        random_state: Any = None,
    ) -> None:
        self.exploration = exploration
        self.switching = switching
        self.rate = rate
        self.n_segments = n_segments
        self.horizon = horizon
        self.loss_range = loss_range
        self.random_state = random_state

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("exploration", self.exploration, 0.0, 1.0, low_open=True)
        check_number("switching", self.switching, 0.0, 1.0)
        check_number("rate", self.rate, 0.0, LARGEST_RATE, low_open=True)
        check_segments(self.n_segments)

    def _settings(self, state: State) -> tuple[float, float, float]:
        """Return the exploration, the rate, and the share of the sum of the weights that each arm receives."""
        n_arms, horizon = len(state["weights"]), self._assumed_horizon(state)
        exploration = self.exploration
        if exploration is None:
            complexity = np.log(max(n_arms * horizon, 2))
            if self.n_segments is not None:
                complexity = (self.n_segments * complexity + math.e) / (math.e - 1.0)
            exploration = min(1.0, float(np.sqrt(n_arms * complexity / horizon)))
        rate = exploration / n_arms if self.rate is None else self.rate
        return exploration, rate, math.e * (1.0 / horizon if self.switching is None else self.switching) / n_arms

    def _initial_state(self, n_arms: int) -> State:
        return {"weights": np.full(n_arms, 1.0 / n_arms)}

    def _distribution(self, state: State) -> Floats:
        exploration, *_ = self._settings(state)
        weights = state["weights"]
        return (1.0 - exploration) * weights + exploration / len(weights)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        _, rate, share = self._settings(state)
        estimates = importance_weighted(len(state["weights"]), arms, self._gains(losses), chances)
        grown = state["weights"] * np.exp(np.minimum(rate * estimates, LARGEST_EXPONENT))
        return {**state, "weights": np.maximum(normalise(grown + share), TINY)}

    def _with_newcomer(self, state: State) -> State:
        n_arms = len(state["weights"])
        return {**state, "weights": np.append(state["weights"] * n_arms, 1.0) / (n_arms + 1)}

    def _without(self, state: State, arm: int) -> State:
        left = super()._without(state, arm)
        return {**left, "weights": np.maximum(normalise(left["weights"]), TINY)}

    def _compiled_rounds(self, kernel: Any, state: State, losses: Floats, uniforms: Floats, played: Arms) -> State:
        exploration, rate, share = self._settings(state)
        weights = state["weights"].copy()
        limits = SMALLEST_CHANCE, LARGEST_EXPONENT, TINY
        kernel.sharing_rounds(
            losses, uniforms, played, weights, rate, exploration, share, *limits, *self.known_loss_range()
        )
        return {**state, "weights": weights}
