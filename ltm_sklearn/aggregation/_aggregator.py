"""Weighting of forecasts: members with a mixture each, and an arbiter that weights the members."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._numerics import restrict_to_awake
from .._typing import Floats
from ..experts import ExpertAlgorithm, LongTermMemory, MLPoly, SteadyMemory, expert_algorithm
from ..losses import LossRange, OutputLosses, clip_to_floats, deviation_from_mixture
from ._members import Member, Members


class AggregatorWeights(NamedTuple):
    """Weights with which forecasts are issued."""

    arbiter_weights: Floats  #: (n_members,)
    member_weights: Floats  #: (n_members, n_experts): the weights that each member gives the experts

    @property
    def awake_weights(self) -> Floats:
        """Weights of the experts while all are awake, (n_experts,)."""
        weights: Floats = self.arbiter_weights @ self.member_weights
        return weights

    def member_weights_by_row(self, awake: Floats | None, n_rows: int) -> Floats:
        """Weights that each member gives the experts in each row, (n_rows, n_members, n_experts)."""
        weights = np.broadcast_to(self.member_weights, (n_rows, *self.member_weights.shape))
        if awake is None:
            return weights
        return restrict_to_awake(weights, np.broadcast_to(awake[:, np.newaxis], weights.shape))

    def weights_by_row(self, awake: Floats | None, n_rows: int) -> Floats:
        """Weights of the experts in each row, (n_rows, n_experts)."""
        return np.einsum("v,nve->ne", self.arbiter_weights, self.member_weights_by_row(awake, n_rows))

    def mixtures(self, forecasts: Floats, awake: Floats | None) -> Floats:
        """Mixture of each member in each row, (n_rows, n_members), of forecasts (n_rows, n_experts)."""
        return clip_to_floats(np.einsum("nve,ne->nv", self.member_weights_by_row(awake, len(forecasts)), forecasts))

    def combine(self, mixtures: Floats) -> Floats:
        """Combine the members' mixtures into a prediction for each row, (n_rows,)."""
        with np.errstate(over="ignore"):
            return clip_to_floats(mixtures @ self.arbiter_weights)

    def predict(self, forecasts: Floats, awake: Floats | None) -> Floats:
        """Combine forecasts (n_rows, n_experts) into a prediction for each row, (n_rows,)."""
        return self.combine(self.mixtures(forecasts, awake))

    def issue(self, forecasts: Floats, awake: Floats | None) -> tuple[Floats, Floats]:
        """Combine forecasts (n_rows, n_experts); return the predictions and the weights of the experts in each row."""
        by_row = self.member_weights_by_row(awake, len(forecasts))
        predictions = self.combine(clip_to_floats(np.einsum("nve,ne->nv", by_row, forecasts)))
        return predictions, np.einsum("v,nve->ne", self.arbiter_weights, by_row)


class ForecastRows(NamedTuple):
    """Rows of forecasts with their targets."""

    forecasts: Floats  #: (n_rows, n_experts); finite also where an expert sleeps
    targets: Floats  #: (n_rows,)
    awake: Floats | None = None  #: (n_rows, n_experts): confidences; None if all are 1
    row_weights: Floats | None = None  #: (n_rows,) in [0, 1]; None if all are 1
    outputs: NDArray[np.intp] | None = None  #: (n_rows,): which loss applies; None if there is one

    def take(self, rows: Any) -> ForecastRows:
        """Return some of the rows."""

        def some(values: Any) -> Any:
            return None if values is None else values[rows]

        forecasts, targets, awake, row_weights, outputs = self
        return ForecastRows(forecasts[rows], targets[rows], some(awake), some(row_weights), some(outputs))


class ForecastMember(Member):
    """Expert algorithm that learns from losses of any scale, with the range of these losses."""

    def __init__(self, algorithm: ExpertAlgorithm, linear: bool) -> None:
        super().__init__(algorithm, linear)
        self.range = LossRange()

    def issued_view(self) -> Floats:
        """Return the state, besides the weights, that a round must keep if it is learned after later rounds."""
        return self.algorithm.issued_view()

    def update(self, losses: Floats, participation: Floats, late: tuple[Floats, Floats] | None) -> None:
        """Learn a round with these losses, NaN where asleep, and the share of it in which each expert was awake.

        ``late`` are the weights and the view that the round was issued with, if other rounds were learned since.
        """
        rescaled = self.range.rescale(losses[np.newaxis])[0]
        awake = None if (participation == 1.0).all() else participation
        if late is None:
            self.algorithm.update(rescaled, awake)
        else:
            self.algorithm.update_late(rescaled, awake, *late)


class Aggregator(Members):
    """Mixture of three members, weighted by an arbiter: follow one expert, blend all, or take the plain mean.

    With an algorithm of the user's own there is one member and no arbiter.

    Parameters
    ----------
    algorithm : ExpertAlgorithm, str or None
        None: the three members, or ``LongTermMemory`` alone if ``linear`` is False.
    linear : bool
        Whether the algorithm learns from the linear part of the loss.
    prior : ndarray of shape (n_experts,)
        Sums to one.
    """

    members: list[ForecastMember]

    def __init__(self, algorithm: ExpertAlgorithm | str | None, linear: bool, prior: Floats) -> None:
        self.plain_mean: Floats | None = None  #: weights of the plain mean, a member that does not learn
        self.arbiter: ForecastMember | None = None
        if algorithm is None and linear:
            follower, blender = LongTermMemory(prior=prior), MLPoly(prior=prior)
            self.members = [ForecastMember(follower, linear=False), ForecastMember(blender, linear=True)]
            self.plain_mean = prior
            self.arbiter = ForecastMember(SteadyMemory(), linear=True)
            self.arbiter.algorithm.weights(3)
        else:
            own = expert_algorithm(algorithm)
            self.members = [ForecastMember(own.set_params(prior=prior), linear)]
        for member in self.members:
            member.algorithm.weights(len(prior))

    @property
    def learners(self) -> list[ForecastMember]:
        """The members, and the arbiter if there is one."""
        return self.members if self.arbiter is None else [*self.members, self.arbiter]

    def current_weights(self) -> AggregatorWeights:
        """Weights with which forecasts would be issued now."""
        member_weights = self.member_weights()
        if self.plain_mean is not None:
            member_weights = np.concatenate([member_weights, self.plain_mean[np.newaxis]])
        arbiter_weights = np.ones(1) if self.arbiter is None else self.arbiter.algorithm.current_weights()
        return AggregatorWeights(arbiter_weights, member_weights)

    def issued_views(self) -> list[Floats]:
        """State of each learner, besides its weights, that a round must keep if it is learned after later rounds."""
        return [learner.issued_view() for learner in self.learners]

    def update(
        self, issued: AggregatorWeights, views: list[Floats] | None, rows: ForecastRows, losses: OutputLosses
    ) -> None:
        """Learn a round that was issued with these weights.

        At least one row must have weight, and at least one expert must be awake in each. ``views`` are given if other
        rounds were learned since the round was issued.
        """
        x, y, awake, row_weights, outputs = rows
        weights = np.ones(len(y)) if row_weights is None else row_weights
        # each expert's losses are averaged over the rows in which it is awake
        confidence = weights[:, np.newaxis]
        confidence = np.broadcast_to(confidence, x.shape) if awake is None else awake * confidence
        total = confidence.sum(axis=0)
        participation = np.minimum(total / len(y), 1.0)
        with np.errstate(over="ignore"):
            centre = x.mean(axis=1) if awake is None else (awake * x).sum(axis=1) / awake.sum(axis=1)
        # differences that are only rounding are removed: the range of the losses would be made of them
        distinct = np.where(deviation_from_mixture(x, centre[:, np.newaxis]) == 0.0, centre[:, np.newaxis], x)

        mixtures = issued.mixtures(x, awake)
        issued_weights = [*issued.member_weights[: len(self.members)], issued.arbiter_weights]
        late = [None] * len(issued_weights) if views is None else list(zip(issued_weights, views, strict=False))
        for at, member in enumerate(self.members):
            if member.linear:
                row_losses = losses.linear(y, mixtures[:, at], x, outputs)
            else:
                row_losses = losses.of_experts(y, distinct, outputs)
            means = np.full(len(total), np.nan)
            np.divide((confidence * row_losses).sum(axis=0), total, out=means, where=total > 0.0)
            member.update(means, participation, late[at])
        if self.arbiter is not None:
            row_losses = losses.linear(y, issued.combine(mixtures), mixtures, outputs)
            means = weights @ row_losses / weights.sum()
            self.arbiter.update(means, np.full(len(means), min(weights.sum() / len(y), 1.0)), late[-1])

    def widened_views(self, views: list[Floats]) -> list[Floats]:
        """Return such views with room for an expert that is about to be added."""
        wider = [member.algorithm.widened_view(view) for member, view in zip(self.members, views, strict=False)]
        return [*wider, *views[len(self.members) :]]

    def add_expert(self, prior: float | None = None) -> None:
        """Add an expert, with this share of the prior; None: an equal share."""
        super().add_expert(prior)
        if self.plain_mean is not None:
            share = 1.0 / (len(self.plain_mean) + 1) if prior is None else prior
            self.plain_mean = np.append((1.0 - share) * self.plain_mean, share)
