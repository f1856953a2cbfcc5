"""Only the experts that are drawn in a round are asked, and what the others would have lost is never known."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._typing import Floats, State
from ..bandits import BanditAlgorithm, LongTermMemoryBandit, add_other_arms, draw_from
from ._round_weighting import RoundLosses, SelectedExperts

#: How far the usual loss moves at least towards that of a round.
USUAL_FADING = 0.01


def new_bandit(algorithm: BanditAlgorithm | None) -> BanditAlgorithm:
    """A bandit algorithm before its first round; None: the default."""
    return LongTermMemoryBandit() if algorithm is None else clone(algorithm)


@dataclass(frozen=True)
class SelectedRoundLosses(RoundLosses):
    """What rows cost the experts that were asked about them."""

    chances: Floats  #: (n_experts, n_rows): the probability that each was asked; 0 where it was not

    @cached_property
    def row_losses(self) -> Floats:
        """(n_experts, n_rows), in the loss's own units; 0 where an expert gave no answer."""
        losses = np.zeros(self.awake.shape)
        for seat in np.flatnonzero(self.awake.any(axis=1)).tolist():
            rows = self.awake[seat]
            said = self.predictions[seat, rows][np.newaxis]
            losses[seat, rows] = self.score.losses(self.targets[rows], said, None)[0]
        return losses

    def charged(self, arms: NDArray[np.intp], rows: slice) -> Floats:
        """What some rows cost experts that were asked about them, (n_arms,), in [0, 1]; the score learns the range.

        One that gave no answer is charged the worst loss, 1. What was issued in its place would be too little: where
        the fallback is better than the experts, the best of them would be one that never answers.
        """
        heard = self.awake[arms, rows] * self.row_weights[rows]
        totals = heard.sum(axis=1)
        charged, answered = np.ones(len(arms)), totals > 0.0
        if answered.any():
            sums = np.einsum("en,en->e", self.row_losses[arms, rows], heard)
            means = sums[answered] / totals[answered]
            part = totals[answered] / self.row_weights[rows].sum()
            charged[answered] = part * self.score.rescale_queried(means) + (1.0 - part)
        return charged


class BanditWeighting:
    """A bandit algorithm, which is told the losses of the experts that were drawn.

    Parameters
    ----------
    algorithm : BanditAlgorithm
        Fresh. Its own random numbers are not used: a draw belongs to its round, however often it is asked for.
    n_queries : int
        How many experts are asked in a round.
    """

    def __init__(self, algorithm: BanditAlgorithm, n_queries: int) -> None:
        self.algorithm, self.n_queries = algorithm, n_queries
        self._played: tuple[State, Floats] | None = None  #: the distribution that was worked out last, and its state
        self._usual, self._weight = 0.5, 0.0  #: the mean of the losses of late, and the weight of rows that it is of

    def begin(self, n_experts: int) -> None:
        self.algorithm._begin(n_experts)

    def copied(self) -> BanditWeighting:
        """One that learns apart from this one: algorithms replace their state and do not change it."""
        other = copy.copy(self)
        other.algorithm = copy.copy(self.algorithm)
        return other

    def draws(self, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]) -> SelectedExperts:
        """Whom to ask of those who have answers; with one generator for all rows, or one for each."""
        chances, first = np.zeros((len(able), n_rows)), np.zeros(n_rows, dtype=np.intp)
        n_queries = min(self.n_queries, int(able.sum()))
        if n_queries:
            awake = None if able.all() else able
            played = self._distribution() if awake is None else self.algorithm.draw_distribution(awake)
            draws = [
                add_other_arms(draw_from(played, random.random()), played, awake, n_queries, random)
                for random in randoms
            ]
            for at, drawn in enumerate(draws):
                rows = slice(None) if len(draws) == 1 else slice(at, at + 1)
                chances[drawn.arms, rows] = drawn.chances[:, np.newaxis]
                first[rows] = drawn.arms[0]
        return SelectedExperts(first, chances)

    def _distribution(self) -> Floats:
        """With which the first is drawn if all can answer; worked out once for each state."""
        state = self.algorithm.state_
        if self._played is None or self._played[0] is not state:
            self._played = state, self.algorithm.draw_distribution(None)
        return self._played[1]

    def parts(self) -> Floats:
        return self._distribution()[np.newaxis].copy()

    def chosen(self, parts: Floats) -> Floats:
        return parts[0]

    def learn(self, verdict: RoundLosses, parts: Floats, mixture: Floats) -> None:
        assert isinstance(verdict, SelectedRoundLosses)
        self._charge(verdict, slice(None), 1.0)

    def learn_rows(self, verdict: RoundLosses) -> Floats:
        assert isinstance(verdict, SelectedRoundLosses)
        played = np.empty(verdict.awake.T.shape)
        for at, weight in enumerate(verdict.row_weights.tolist()):
            played[at] = self._distribution()
            if weight > 0.0:
                self._charge(verdict, slice(at, at + 1), weight)
        return played

    def _charge(self, verdict: SelectedRoundLosses, rows: slice, weight: float) -> None:
        """A round of so much weight with these rows, which have one draw in common.

        With little weight it says little: what is told is drawn towards the usual loss. (Towards 0 it would be praise.)
        """
        chances = verdict.chances[:, rows].max(axis=1)
        (arms,) = np.nonzero(chances)
        if len(arms):  # those that were drawn for a target that comes late may have gone
            losses = verdict.charged(arms, rows)
            charged = weight * losses + (1.0 - weight) * self._usual
            self._weight += weight
            self._usual += weight * max(1.0 / self._weight, USUAL_FADING) * (float(losses.mean()) - self._usual)
            self.algorithm.update(arms, charged, probability=chances[arms])

    def prior(self, at: int) -> float:
        return 1.0 / self.algorithm.n_arms_

    def add(self, share: float | None) -> None:
        self.algorithm.add_arm()

    def drop(self, at: int) -> None:
        self.algorithm.drop_arm(at)
