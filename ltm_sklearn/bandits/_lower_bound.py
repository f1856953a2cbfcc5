"""The adversary of the lower-bound theorem: with two nonzero losses per round, every bandit pays for switches."""

from __future__ import annotations

import copy
import sys
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._param_checks import check_count
from .._typing import Floats
from ._base import BanditAlgorithm
from ._validation import Arms, seed_of

#: The arm that is always good but not always the best, its loss, and the loss of a better arm.
DECOY = 0
GOOD, BETTER = -0.5, -1.0


@dataclass(frozen=True)
class LowerBoundGame:
    """Result of a bandit against the adversary of the lower bound.

    Parameters
    ----------
    losses : ndarray of shape (n_rounds, n_arms)
        Losses, of which at most two per round are not zero.
    arms : ndarray of shape (n_rounds,)
        Arms that the bandit played.
    benchmark : ndarray of shape (n_rounds,)
        The best arm of each round, in at most ``n_segments`` segments.
    guarantee : float
        Lower bound of the expected regret from the proof, which ignores errors of the simulations.
    """

    losses: Floats
    arms: Arms
    benchmark: Arms
    guarantee: float

    @property
    def regret(self) -> float:
        """Loss of the bandit minus the loss of the benchmark."""
        rounds = np.arange(len(self.losses))
        return float((self.losses[rounds, self.arms] - self.losses[rounds, self.benchmark]).sum())


class LowerBoundAdversary(BaseEstimator):
    """Adversary of the lower bound: losses adapted to the bandit, of which at most two per round are not zero.

    The rounds are divided into ``n_segments // 2`` intervals. Before each interval, copies of the bandit with other
    random numbers play it with loss -1/2 for arm 0 and 0 for all others. If they often leave arm 0, these are the
    losses of the interval. Otherwise some arm is rarely drawn, most rarely in some stretch of the interval. From the
    start of this stretch to the end of the interval, that arm has loss -1.

    The adversary knows the bandit and its past, but not its future draws.

    Parameters
    ----------
    n_rounds : int
        Number T of rounds.
    n_segments : int
        Largest number S >= 2 of segments of the benchmark.
    n_arms : int
        Number K >= 2 of arms.
    n_simulations : int, default=100
        Number of copies of the bandit that are simulated before each interval.
    random_state : int, RandomState or None
        Seed of the copies, and of the choice among equally rare arms.

    Notes
    -----
    The expected regret against the benchmark, the best arm of each round, is at least ``√(TKS)/16`` up to rounding of
    lengths; ``LowerBoundGame.guarantee`` is the exact number. The theory page has the proof. The proof uses exact
    expectations. The adversary estimates them by means over ``n_simulations`` runs.

    Examples
    --------
    >>> from ltm_sklearn.bandits import Exp3S, LowerBoundAdversary
    >>> adversary = LowerBoundAdversary(n_rounds=4000, n_segments=8, n_arms=10, random_state=0)
    >>> game = adversary.play(Exp3S(n_segments=8, horizon=4000, random_state=0))
    >>> game.regret > game.guarantee
    True
    >>> bool(((game.losses != 0).sum(axis=1) <= 2).all())
    True
    """

    def __init__(
        self, n_rounds: int, n_segments: int, n_arms: int, *, n_simulations: int = 100, random_state: Any = None
    ) -> None:
        self.n_rounds = n_rounds
        self.n_segments = n_segments
        self.n_arms = n_arms
        self.n_simulations = n_simulations
        self.random_state = random_state

    def play(self, bandit: BanditAlgorithm) -> LowerBoundGame:
        """Let a bandit play all rounds, starting from its current state, and learn from them.

        Parameters
        ----------
        bandit : BanditAlgorithm
            The player; it is changed.

        Returns
        -------
        LowerBoundGame
        """
        self._check_parameters()
        if not isinstance(bandit, BanditAlgorithm):
            raise ValueError(f"bandit={bandit!r} must be an instance of a subclass of BanditAlgorithm")
        random = np.random.default_rng(seed_of(self.random_state))
        self._rehearse(bandit)
        bandit.run(np.empty((0, self.n_arms)))  # starts the bandit, so that it can be copied
        losses = np.zeros((self.n_rounds, self.n_arms))
        losses[:, DECOY] = GOOD
        arms, benchmark = np.empty((2, self.n_rounds), dtype=np.intp)
        guarantee = 0.0
        for interval in _intervals(self.n_rounds, self.n_segments // 2):
            length = interval.stop - interval.start
            benchmark[interval] = DECOY
            change = self._change_of_best_arm(bandit, length, random)
            if change is not None:
                better, start = change
                losses[interval.start + start : interval.stop, better] = BETTER
                benchmark[interval.start + start : interval.stop] = better
            arms[interval] = bandit.run(losses[interval])[0]
            guarantee += _guarantee(length, self.n_arms)
        return LowerBoundGame(losses, arms, benchmark, guarantee)

    def _rehearse(self, bandit: BanditAlgorithm) -> None:
        """Raise the error of a bandit that cannot play, before it learns."""
        double = copy.deepcopy(bandit)
        double.run(np.array([[GOOD, BETTER, *[0.0] * (self.n_arms - 2)]]))
        double._check_horizon(self.n_rounds - 1)

    def _check_parameters(self) -> None:
        for name in ("n_rounds", "n_segments", "n_arms", "n_simulations"):
            check_count(name, getattr(self, name), high=sys.maxsize)
        for name in ("n_segments", "n_arms"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name}={getattr(self, name)!r} must be at least 2")
        if self.n_rounds * self.n_arms > sys.maxsize // 8:
            raise ValueError(f"n_rounds={self.n_rounds!r} times n_arms={self.n_arms!r} exceeds the size of an array")
        if self.n_rounds < self.n_segments // 2:
            raise ValueError(f"n_rounds={self.n_rounds!r} must be at least half of n_segments={self.n_segments!r}")

    def _change_of_best_arm(
        self, bandit: BanditAlgorithm, length: int, random: np.random.Generator
    ) -> tuple[int, int] | None:
        """Return the arm that becomes the best and its first round, or None if the bandit leaves arm 0 often enough."""
        frequencies = self._simulated_frequencies(bandit, length, random)
        if length - frequencies[:, DECOY].sum() >= _threshold(length, self.n_arms):
            return None
        plays = frequencies.sum(axis=0)
        plays[DECOY] = np.inf
        rarest = int(random.choice(np.flatnonzero(plays == plays.min())))
        up_to = np.concatenate([[0.0], np.cumsum(frequencies[:, rarest])])
        stretch = _stretch(length, self.n_arms)
        within = up_to[stretch:] - up_to[:-stretch]
        return rarest, int(np.argmax(within <= within.min() + 1e-12))  # the first minimum costs the bandit most

    def _simulated_frequencies(self, bandit: BanditAlgorithm, length: int, random: np.random.Generator) -> Floats:
        """Return how often each arm is played in each round of an interval in which only arm 0 is good."""
        double = copy.deepcopy(bandit)
        double.random_ = np.random.default_rng(random.integers(2**63))  # not those of the bandit itself
        losses = np.zeros((length, self.n_arms))
        losses[:, DECOY] = GOOD
        frequencies = np.zeros((length, self.n_arms))
        for arms in double.run(losses, self.n_simulations):
            frequencies[np.arange(length), arms] += 1.0 / self.n_simulations
        return frequencies


def _intervals(n_rounds: int, n_intervals: int) -> list[slice]:
    cuts = [n_rounds * at // n_intervals for at in range(n_intervals + 1)]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def _threshold(length: int, n_arms: int) -> float:
    """Return B of the proof: how often leaving arm 0 costs enough regret."""
    return float(np.sqrt(length * n_arms / 2.0))


def _stretch(length: int, n_arms: int) -> int:
    """Return B/2, rounded to an integer from 1 to the length of the interval."""
    return min(max(round(_threshold(length, n_arms) / 2.0), 1), length)


def _guarantee(length: int, n_arms: int) -> float:
    """Return the smaller regret of the two cases of the proof, for integer lengths."""
    threshold, stretch = _threshold(length, n_arms), _stretch(length, n_arms)
    plays = threshold / (n_arms - 1) / (length // stretch)
    return min(threshold / 2.0, max(1.0 - plays, 0.0) * stretch / 2.0)
