"""Weighting of the experts that predict in rounds: the protocol, one algorithm, and follow-or-blend."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._numerics import restrict_to_awake
from .._typing import Floats
from ..experts import ExpertAlgorithm, PatientMemory
from ..losses import ClassificationScore, RegressionScore
from ._members import Member, Members
from ._round_losses import RoundLosses, weighted_mean

#: Prior of the arbiter over following one expert and blending several.
ARBITER_PRIOR = np.array([0.9, 0.1])

#: A share of the round within rounding of 1 counts as 1.
FULL_PARTICIPATION = 1.0 - 1e-12


class SelectedExperts(NamedTuple):
    """Experts that are queried in some rows, where not all of them are."""

    first: NDArray[np.intp]  #: (n_rows,): the expert that was drawn first
    probabilities: Floats  #: (n_experts, n_rows): probability of each queried expert to be drawn; 0 for the others


class RoundWeighting(Protocol):
    """Learns the weights of the experts from the losses of rounds."""

    def begin(self, n_experts: int) -> None:
        """Start with this number of experts."""

    def copy(self) -> Self:
        """Return a copy that learns independently."""

    def select_experts(
        self, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]
    ) -> SelectedExperts | None:
        """Select the experts to query among those that can predict, with a generator for each round; None: all."""

    def member_weights(self) -> Floats:
        """Weights that each member gives the experts now, (n_members, n_experts)."""

    def weights_in_use(self, member_weights: Floats) -> Floats:
        """Select the member that the arbiter follows now: its weights of the experts, (n_experts,)."""

    def update(self, round_losses: RoundLosses, member_weights: Floats, mixture: Floats) -> None:
        """Learn a round that was predicted with these weights and this mixture."""

    def update_rows(self, round_losses: RoundLosses) -> Floats:
        """Learn each row as a round of its own; returns the weights in use in each, (n_rows, n_experts)."""

    def prior_of(self, at: int) -> float:
        """Return an expert's share of the prior."""

    def add_expert(self, prior: float | None) -> None:
        """Add an expert with this share of the prior; None: an equal share."""

    def drop_expert(self, at: int) -> None:
        """Remove an expert."""


class _AllExpertsQueried:
    """Base class of weightings that need the predictions of all experts."""

    def select_experts(self, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]) -> None:
        """All experts are queried."""

    def copy(self) -> Self:
        return copy.deepcopy(self)  # algorithms may change arrays in place


def new_weighting(algorithm: ExpertAlgorithm, score: ClassificationScore | RegressionScore) -> RoundWeighting:
    """Return the weighting that suits a score: probabilities of classes can be blended."""
    return FollowOrBlend(algorithm) if score.uses_margin else SingleAlgorithm(algorithm, score.uses_gradient)


class SingleAlgorithm(_AllExpertsQueried, Member):
    """Weights by one algorithm, which learns from the experts' losses or from these made linear around the mixture."""

    def begin(self, n_experts: int) -> None:
        self.algorithm.weights(n_experts)

    def member_weights(self) -> Floats:
        return self.algorithm.current_weights()[np.newaxis]

    def weights_in_use(self, member_weights: Floats) -> Floats:
        return member_weights[0]

    def update(self, round_losses: RoundLosses, member_weights: Floats, mixture: Floats) -> None:
        linear = self.linear
        losses = round_losses.means(round_losses.linear_losses(mixture)) if linear else round_losses.losses
        self.update_losses(round_losses, losses)

    def update_losses(self, round_losses: RoundLosses, losses: Floats) -> None:
        """Learn a round with these losses, (n_experts,)."""
        rescaled = round_losses.score.rescale(losses[np.newaxis])[0]
        whole = bool((round_losses.participation > FULL_PARTICIPATION).all())
        self.algorithm.update(rescaled, None if whole else np.minimum(round_losses.participation, 1.0))

    def update_rows(self, round_losses: RoundLosses) -> Floats:
        awake, score = round_losses.awake, round_losses.score
        confidence = awake.T * round_losses.row_weights[:, np.newaxis]
        if not self.linear:
            rescaled = score.rescale(np.where(awake, round_losses.row_losses, np.nan).T)
            return self.algorithm.run(rescaled, confidence)
        used = np.empty(awake.T.shape)
        for at in range(len(used)):
            used[at] = restrict_to_awake(self.algorithm.current_weights(), confidence[at])
            if awake[:, at].any():
                row = round_losses.row(at)
                linear = row.linear_losses(weighted_mean(row.predictions, row.awake, used[at]))
                rescaled = score.rescale(np.where(row.awake, linear, np.nan).T)[0]
                self.algorithm.update(rescaled, confidence[at])
        return used

    def prior_of(self, at: int) -> float:
        return float(self.algorithm.prior_[at])


class FollowOrBlend(_AllExpertsQueried, Members):
    """Follow one expert or blend several, whichever has been better: two members and an arbiter that selects one.

    One member learns from the experts' mistakes and *follows* the expert that is right now; the other learns from the
    loss of its own mixture, made linear, and *blends* experts that are right together. Which of them is better depends
    on the stream: where concepts recur, one expert is right and the others are not; elsewhere several are right in
    turns. Averaging both members would be worse than either while a concept changes, because one of them finds the new
    expert before the other.
    """

    members: list[SingleAlgorithm]

    def __init__(self, algorithm: ExpertAlgorithm) -> None:
        self.members = [SingleAlgorithm(algorithm, linear=False), SingleAlgorithm(clone(algorithm), linear=True)]
        self.arbiter = PatientMemory(prior=ARBITER_PRIOR)

    def begin(self, n_experts: int) -> None:
        self.arbiter.weights(2)
        for member in self.members:
            member.begin(n_experts)

    def weights_in_use(self, member_weights: Floats) -> Floats:
        weights: Floats = member_weights[int(self.arbiter.current_weights().argmax())]
        return weights

    def update(self, round_losses: RoundLosses, member_weights: Floats, mixture: Floats) -> None:
        linear, member_losses = round_losses.follow_and_blend_losses(member_weights)
        follower, blender = self.members
        follower.update_losses(round_losses, round_losses.losses)
        blender.update_losses(round_losses, round_losses.means(linear))
        weights = round_losses.row_weights * round_losses.awake.any(axis=0)
        total = weights.sum()
        part = min(float(total / round_losses.row_weights.sum()), 1.0)
        self.arbiter.update(member_losses @ weights / total, None if part > FULL_PARTICIPATION else np.full(2, part))

    def update_rows(self, round_losses: RoundLosses) -> Floats:
        assert isinstance(round_losses.score, ClassificationScore)
        used = [member.update_rows(round_losses) for member in self.members]
        mixtures = [weighted_mean(round_losses.predictions, round_losses.awake, weights) for weights in used]
        member_losses = round_losses.score.blend_losses(round_losses.targets, np.stack(mixtures))
        weights = round_losses.row_weights * round_losses.awake.any(axis=0)
        confidence = np.repeat(weights[:, np.newaxis], 2, axis=1)
        arbiter_weights = self.arbiter.run(np.ascontiguousarray(member_losses.T), confidence)
        return np.where(arbiter_weights[:, 1:] > arbiter_weights[:, :1], used[1], used[0])

    def prior_of(self, at: int) -> float:
        return self.members[0].prior_of(at)
