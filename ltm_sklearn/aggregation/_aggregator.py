"""Weights for a table of forecasts: several algorithms, each with its own mixture, and one that weighs these."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._numerics import restrict
from .._typing import Floats
from ..experts import ExpertAlgorithm, LongTermMemory, MLPoly, SteadyMemory
from ..losses import LossRange, OutputLosses, clip_to_floats, deviation_from_mixture


class AggregatorWeights(NamedTuple):
    """What forecasts are issued with."""

    trust: Floats  #: (n_members,)
    member_weights: Floats  #: (n_members, n_experts): the weights that each member gives the experts

    def in_rows(self, awake: Floats | None, n_rows: int) -> Floats:
        """What each member plays in each row, (n_rows, n_members, n_experts)."""
        played = np.broadcast_to(self.member_weights, (n_rows, *self.member_weights.shape))
        if awake is None:
            return played
        return restrict(played, np.broadcast_to(awake[:, np.newaxis], played.shape))

    def weights(self, awake: Floats | None, n_rows: int) -> Floats:
        """The weights of the experts in each row, (n_rows, n_experts)."""
        return np.einsum("v,nve->ne", self.trust, self.in_rows(awake, n_rows))

    def mixtures(self, forecasts: Floats, awake: Floats | None) -> Floats:
        """The mixture of each member, (n_rows, n_members), of forecasts (n_rows, n_experts)."""
        return clip_to_floats(np.einsum("nve,ne->nv", self.in_rows(awake, len(forecasts)), forecasts))

    def prediction(self, mixtures: Floats) -> Floats:
        """What is said in each row, (n_rows,), where these are the members' mixtures."""
        with np.errstate(over="ignore"):
            return clip_to_floats(mixtures @ self.trust)


class Rows(NamedTuple):
    """The rows of a round."""

    forecasts: Floats  #: (n_rows, n_experts); finite also where an expert sleeps
    targets: Floats  #: (n_rows,)
    awake: Floats | None  #: (n_rows, n_experts): confidences; None if all are 1
    row_weights: Floats | None  #: (n_rows,) in [0, 1]; None if all are 1
    outputs: NDArray[np.intp] | None  #: (n_rows,): which loss is whose; None if there is one


class Member:
    """An expert algorithm, and the range of what it has been charged.

    Parameters
    ----------
    algorithm : ExpertAlgorithm
    linear : bool
        Whether it is charged the linear part of the loss at its own mixture, or the experts' losses themselves.
    """

    def __init__(self, algorithm: ExpertAlgorithm, linear: bool) -> None:
        self.algorithm, self.linear = algorithm, linear
        self.range = LossRange()

    def view(self) -> Floats:
        """What a round must know of how it was issued, besides the weights, if it is learned later."""
        return self.algorithm.issued_view()

    def charge(self, losses: Floats, part: Floats, late: tuple[Floats, Floats] | None) -> None:
        """A round with these losses, NaN where asleep, in which each expert took part so far.

        ``late`` are the weights and the view that it was issued with, if others have been learned since.
        """
        charged = self.range.rescale(losses[np.newaxis])[0]
        awake = None if (part == 1.0).all() else part
        if late is None:
            self.algorithm.update(charged, awake)
        else:
            self.algorithm.update_late(charged, awake, *late)


class Aggregator:
    """Follow one expert, blend all, or take the plain mean: whichever has been best lately, and mixtures of them.

    With an algorithm of your own there is one member, and nobody to weigh it.

    Parameters
    ----------
    algorithm : ExpertAlgorithm or None
        None: the three members, or ``LongTermMemory`` alone if losses are not to be made linear.
    linear : bool
        Whether the algorithm is charged the linear part of the loss.
    prior : ndarray of shape (n_experts,)
        Sums to one.
    """

    def __init__(self, algorithm: ExpertAlgorithm | None, linear: bool, prior: Floats) -> None:
        self.mean: Floats | None = None  #: the weights of the plain mean
        self.arbiter: Member | None = None
        if algorithm is None and linear:
            self.members = [Member(LongTermMemory(prior=prior), linear=False), Member(MLPoly(prior=prior), linear=True)]
            self.mean = prior
            self.arbiter = Member(SteadyMemory(), linear=True)
            self.arbiter.algorithm.weights(3)
        else:
            own = LongTermMemory() if algorithm is None else clone(algorithm)
            self.members = [Member(own.set_params(prior=prior), linear)]
        for member in self.members:
            member.algorithm.weights(len(prior))

    def current_weights(self) -> AggregatorWeights:
        """What would be issued now."""
        member_weights = [member.algorithm.current_weights() for member in self.members]
        if self.mean is not None:
            member_weights.append(self.mean)
        trust = np.ones(1) if self.arbiter is None else self.arbiter.algorithm.current_weights()
        return AggregatorWeights(trust, np.stack(member_weights))

    def views(self) -> list[Floats]:
        """What a round must know of how it was issued, besides the current_weights, if it is learned later."""
        return [member.view() for member in self._members()]

    def _members(self) -> list[Member]:
        return self.members if self.arbiter is None else [*self.members, self.arbiter]

    def learn(self, issued: AggregatorWeights, views: list[Floats] | None, rows: Rows, losses: OutputLosses) -> None:
        """A round, in which this was issued; at least one row has weight, and in each at least one expert is awake.

        ``views`` are given if other rounds have been learned since.
        """
        x, y, awake, row_weights, outputs = rows
        mixtures = issued.mixtures(x, awake)
        weights = np.ones(len(y)) if row_weights is None else row_weights
        heard = np.broadcast_to(weights[:, np.newaxis], x.shape) if awake is None else awake * weights[:, np.newaxis]
        total = heard.sum(axis=0)
        with np.errstate(over="ignore"):
            centre = x.mean(axis=1) if awake is None else (awake * x).sum(axis=1) / awake.sum(axis=1)
        # what is only rounding is no difference, or ranges would be made of it
        distinct = np.where(deviation_from_mixture(x, centre[:, np.newaxis]) == 0.0, centre[:, np.newaxis], x)
        part = np.minimum(total / len(y), 1.0)
        weights_then = [*issued.member_weights[: len(self.members)], issued.trust]
        late = [None] * len(weights_then) if views is None else list(zip(weights_then, views, strict=False))
        for at, (member, mixture) in enumerate(zip(self.members, mixtures.T, strict=False)):  # the mean learns nothing
            lost = losses.linear(y, mixture, x, outputs) if member.linear else losses.of_experts(y, distinct, outputs)
            means = np.full(len(total), np.nan)
            member.charge(np.divide((heard * lost).sum(axis=0), total, out=means, where=total > 0.0), part, late[at])
        if self.arbiter is not None:
            lost = losses.linear(y, issued.prediction(mixtures), mixtures, outputs)
            means = weights @ lost / weights.sum()
            self.arbiter.charge(means, np.full(len(means), min(weights.sum() / len(y), 1.0)), late[-1])

    def widened(self, views: list[Floats]) -> list[Floats]:
        """Such views when an expert is about to join."""
        wider = [member.algorithm.widened_view(view) for member, view in zip(self.members, views, strict=False)]
        return [*wider, *views[len(self.members) :]]

    def add_expert(self) -> None:
        """Let an expert join, with an equal share of the prior; it takes the last seat."""
        for member in self.members:
            member.algorithm.add_expert()
        if self.mean is not None:
            share = 1.0 / (len(self.mean) + 1)
            self.mean = np.append((1.0 - share) * self.mean, share)
