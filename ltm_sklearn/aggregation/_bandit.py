"""Weighting by a bandit algorithm: only selected experts are queried, and the losses of the others stay unknown."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats, State
from ..bandits import BanditAlgorithm, add_other_arms, draw_from
from ._follow_or_blend import SelectedExperts
from ._round_losses import RoundLosses

#: Smallest step of the running mean of the losses towards those of a round.
SMALLEST_STEP = 0.01


@dataclass(frozen=True)
class SelectedRoundLosses(RoundLosses):
    """Losses of the experts that were queried in the rows of one round."""

    probabilities: Floats  #: (n_experts, n_rows): probability of each query; 0 where an expert was not queried

    @cached_property
    def row_losses(self) -> Floats:
        """Loss of each expert in each row, (n_experts, n_rows), in the loss's own units; 0 without a prediction."""
        losses = np.zeros(self.awake.shape)
        for at in np.flatnonzero(self.awake.any(axis=1)).tolist():
            rows = self.awake[at]
            predictions = self.predictions[at, rows][np.newaxis]
            losses[at, rows] = self.score.losses(self.targets[rows], predictions, None)[0]
        return losses

    def arm_losses(self, arms: NDArray[np.intp], rows: slice) -> Floats:
        """Losses of queried experts in some rows, (n_arms,), in [0, 1]; the score learns the range of the losses.

        An expert without a prediction gets the worst loss, 1. The loss of the fallback would be too small: where the
        fallback is better than the experts, the best expert would be one that never predicts.
        """
        weights = self.awake[arms, rows] * self.row_weights[rows]
        totals = weights.sum(axis=1)
        losses, has_prediction = np.ones(len(arms)), totals > 0.0
        if has_prediction.any():
            sums = np.einsum("en,en->e", self.row_losses[arms, rows], weights)
            means = sums[has_prediction] / totals[has_prediction]
            part = totals[has_prediction] / self.row_weights[rows].sum()
            losses[has_prediction] = part * self.score.rescale_queried(means) + (1.0 - part)
        return losses


class BanditWeighting:
    """Weights by a bandit algorithm, which learns from the losses of the experts that were queried.

    Parameters
    ----------
    algorithm : BanditAlgorithm
        Before its first round. Its own random numbers are not used: the selection belongs to its round, so that it is
        the same each time that it is computed.
    n_queries : int
        Number of experts that are queried in a round.
    """

    def __init__(self, algorithm: BanditAlgorithm, n_queries: int) -> None:
        self.algorithm, self.n_queries = algorithm, n_queries
        self._cached: tuple[State, Floats] | None = None  #: the last state whose distribution was computed, and this
        self._usual_loss = 0.5  #: running mean of the losses
        self._total_weight = 0.0  #: of the rounds in this mean

    def begin(self, n_experts: int) -> None:
        self.algorithm._begin(n_experts)

    def copy(self) -> BanditWeighting:
        other = copy.copy(self)
        other.algorithm = copy.copy(self.algorithm)  # bandit algorithms replace their state and do not change it
        return other

    def select_experts(
        self, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]
    ) -> SelectedExperts:
        probabilities, first = np.zeros((len(able), n_rows)), np.zeros(n_rows, dtype=np.intp)
        n_queries = min(self.n_queries, int(able.sum()))
        if n_queries:
            awake = None if able.all() else able
            weights = self._distribution() if awake is None else self.algorithm.draw_distribution(awake)
            draws = [
                add_other_arms(draw_from(weights, random.random()), weights, awake, n_queries, random)
                for random in randoms
            ]
            for at, drawn in enumerate(draws):
                rows = slice(None) if len(draws) == 1 else slice(at, at + 1)
                probabilities[drawn.arms, rows] = drawn.chances[:, np.newaxis]
                first[rows] = drawn.arms[0]
        return SelectedExperts(first, probabilities)

    def _distribution(self) -> Floats:
        """Distribution of the first expert if all can predict; computed once for each state."""
        state = self.algorithm.state_
        if self._cached is None or self._cached[0] is not state:
            self._cached = state, self.algorithm.draw_distribution(None)
        return self._cached[1]

    def member_weights(self) -> Floats:
        return self._distribution()[np.newaxis].copy()

    def weights_in_use(self, member_weights: Floats) -> Floats:
        return member_weights[0]

    def update(self, round_losses: RoundLosses, member_weights: Floats, mixture: Floats) -> None:
        self._update_arms(round_losses, slice(None), 1.0)

    def update_rows(self, round_losses: RoundLosses) -> Floats:
        used = np.empty(round_losses.awake.T.shape)
        for at, weight in enumerate(round_losses.row_weights.tolist()):
            used[at] = self._distribution()
            if weight > 0.0:
                self._update_arms(round_losses, slice(at, at + 1), weight)
        return used

    def _update_arms(self, round_losses: RoundLosses, rows: slice, weight: float) -> None:
        """Learn a round of this weight with these rows, which share one selection.

        The loss of a round of small weight is drawn towards the usual loss. (Drawn towards 0 it would be a reward.)
        """
        assert isinstance(round_losses, SelectedRoundLosses)
        probabilities = round_losses.probabilities[:, rows].max(axis=1)
        (arms,) = np.nonzero(probabilities)
        if len(arms):  # experts that were selected for a delayed target may have been removed
            losses = round_losses.arm_losses(arms, rows)
            weighted = weight * losses + (1.0 - weight) * self._usual_loss
            self._total_weight += weight
            step = weight * max(1.0 / self._total_weight, SMALLEST_STEP)
            self._usual_loss += step * (float(losses.mean()) - self._usual_loss)
            self.algorithm.update(arms, weighted, probability=probabilities[arms])

    def prior_of(self, at: int) -> float:
        return 1.0 / self.algorithm.n_arms_

    def add_expert(self, prior: float | None) -> None:
        self.algorithm.add_arm()

    def drop_expert(self, at: int) -> None:
        self.algorithm.drop_arm(at)
