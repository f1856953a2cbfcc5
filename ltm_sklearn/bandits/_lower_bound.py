"""The adversary of the lower-bound theorem: two sparse losses are enough to make every bandit pay for switches."""

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

#: The arm that is good all the time, though not the best; its loss, and that of a better one.
DECOY = 0
GOOD, BETTER = -0.5, -1.0


@dataclass(frozen=True)
class LowerBoundGame:
    """How a bandit fared against the adversary.

    Parameters
    ----------
    losses : ndarray of shape (n_rounds, n_arms)
        At most two of a round are not zero.
    arms : ndarray of shape (n_rounds,)
        What the bandit played.
    benchmark : ndarray of shape (n_rounds,)
        The best arm of each round, in at most ``n_segments`` segments.
    guarantee : float
        What the proof promises the expected regret to be at least, estimates apart.
    """

    losses: Floats
    arms: Arms
    benchmark: Arms
    guarantee: float

    @property
    def regret(self) -> float:
        """What the bandit lost more than the benchmark."""
        rounds = np.arange(len(self.losses))
        return float((self.losses[rounds, self.arms] - self.losses[rounds, self.benchmark]).sum())


class LowerBoundAdversary(BaseEstimator):
    """Losses that follow the bandit's habits, with at most two in a round that are not zero.

    The rounds are cut into ``n_segments // 2`` intervals. Before each, copies of the bandit are run from where it
    stands, with random numbers of their own, on losses -1/2 of arm 0 and 0 of all others. If they leave arm 0 often,
    those are the losses of the interval. If not, there is an arm that they hardly ever try, and a stretch in which they
    try it least: from the start of this to the end of the interval that arm has loss -1, unseen by the bandit.

    The adversary knows the bandit and its past, but not its draws to come.

    Parameters
    ----------
    n_rounds : int
        Number T of rounds.
    n_segments : int
        Number S >= 2 of segments that the benchmark may have.
    n_arms : int
        Number K >= 2 of arms.
    n_simulations : int, default=100
        How many copies of the bandit are run to learn its habits.
    random_state : int, RandomState or None
        For the copies, and for which of several arms that are equally rare becomes good.

    Notes
    -----
    **What is guaranteed.** An interval has length L = 2T/S (S even); let B = √(LK/2) = √(TK/S). *If arm 0 is left B
    times or more*, in expectation, each time costs 1/2: the regret against arm 0 is at least B/2. *If not*, some other
    arm i is played less than B/(K - 1) <= 2B/K times. Cut the interval into 2L/B stretches of length B/2: in one of
    them i is played less than (2B/K)/(2L/B) = B²/(KL) = 1/2 times, so with probability above 1/2 not once. As long as
    i is not played the losses look the same whether i is good or not, so this is also the probability when i is good
    from the start of that stretch on; every round of it then costs 1/2 or more, in expectation (1/2)(1/2)(B/2) = B/8.
    No round has negative regret against the benchmark, "arm 0, then i". So over S/2 intervals

        E[regret] >= (S/2) B/8 = √(TKS)/16.

    With whole numbers for lengths, and for odd S, it is a little less: the game has the exact
    ``guarantee``. It is a theorem for expectations that are known; here they are means over ``n_simulations`` runs, so
    that a rare arm or a quiet stretch may be somewhat less rare or quiet than it seemed.

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
        """Let a bandit play all rounds, from where it stands; it learns from them.

        Parameters
        ----------
        bandit : BanditAlgorithm

        Returns
        -------
        LowerBoundGame
        """
        self._check_parameters()
        if not isinstance(bandit, BanditAlgorithm):
            raise ValueError(f"bandit={bandit!r} must be an instance of a subclass of BanditAlgorithm")
        random = np.random.default_rng(seed_of(self.random_state))
        self._rehearse(bandit)
        bandit.run(np.empty((0, self.n_arms)))  # that there is something to copy
        losses = np.zeros((self.n_rounds, self.n_arms))
        losses[:, DECOY] = GOOD
        arms, benchmark = np.empty((2, self.n_rounds), dtype=np.intp)
        guarantee = 0.0
        for interval in _intervals(self.n_rounds, self.n_segments // 2):
            length = interval.stop - interval.start
            benchmark[interval] = DECOY
            surprise = self._surprise(bandit, length, random)
            if surprise is not None:
                better, start = surprise
                losses[interval.start + start : interval.stop, better] = BETTER
                benchmark[interval.start + start : interval.stop] = better
            arms[interval] = bandit.run(losses[interval])[0]
            guarantee += _guarantee(length, self.n_arms)
        return LowerBoundGame(losses, arms, benchmark, guarantee)

    def _rehearse(self, bandit: BanditAlgorithm) -> None:
        """Raise the error of a bandit that cannot play, before it has learned anything."""
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
            raise ValueError(f"n_rounds={self.n_rounds!r} with n_arms={self.n_arms!r} are more losses than a table has")
        if self.n_rounds < self.n_segments // 2:
            raise ValueError(f"n_rounds={self.n_rounds!r} must be at least half of n_segments={self.n_segments!r}")

    def _surprise(self, bandit: BanditAlgorithm, length: int, random: np.random.Generator) -> tuple[int, int] | None:
        """The arm that becomes the best, and when in the interval; None if the bandit leaves arm 0 often enough."""
        habits = self._habits(bandit, length, random)
        if length - habits[:, DECOY].sum() >= _threshold(length, self.n_arms):
            return None
        plays = habits.sum(axis=0)
        plays[DECOY] = np.inf
        rarest = int(random.choice(np.flatnonzero(plays == plays.min())))
        up_to = np.concatenate([[0.0], np.cumsum(habits[:, rarest])])
        stretch = _stretch(length, self.n_arms)
        within = up_to[stretch:] - up_to[:-stretch]
        return rarest, int(np.argmax(within <= within.min() + 1e-12))  # the first of them hurts longest

    def _habits(self, bandit: BanditAlgorithm, length: int, random: np.random.Generator) -> Floats:
        """How often, in the mean, each arm is played in each round of an interval in which only arm 0 is good."""
        double = copy.deepcopy(bandit)
        double.random_ = np.random.default_rng(random.integers(2**63))  # not those that the bandit will use itself
        losses = np.zeros((length, self.n_arms))
        losses[:, DECOY] = GOOD
        habits = np.zeros((length, self.n_arms))
        for arms in double.run(losses, self.n_simulations):
            habits[np.arange(length), arms] += 1.0 / self.n_simulations
        return habits


def _intervals(n_rounds: int, n_intervals: int) -> list[slice]:
    cuts = [n_rounds * at // n_intervals for at in range(n_intervals + 1)]
    return [slice(start, stop) for start, stop in pairwise(cuts)]


def _threshold(length: int, n_arms: int) -> float:
    """B: how often arm 0 must be left for that to be regret enough."""
    return float(np.sqrt(length * n_arms / 2.0))


def _stretch(length: int, n_arms: int) -> int:
    """B/2, as a whole number that fits into the interval."""
    return min(max(round(_threshold(length, n_arms) / 2.0), 1), length)


def _guarantee(length: int, n_arms: int) -> float:
    """The lesser of the two cases of the proof, with lengths that are whole numbers."""
    threshold, stretch = _threshold(length, n_arms), _stretch(length, n_arms)
    plays = threshold / (n_arms - 1) / (length // stretch)
    return min(threshold / 2.0, max(1.0 - plays, 0.0) * stretch / 2.0)
