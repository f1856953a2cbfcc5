"""From what the experts said, and what came of it, to their weights."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from .._numerics import restrict
from .._optional import compiled
from .._typing import Floats
from ..experts import ExpertAlgorithm, PatientMemory
from ..losses import SAFE_MARGIN, ClassificationScore, RegressionScore, clip_to_floats, zero_one

kernel = compiled("_blend", __package__)

#: How far the follower is trusted over the blender at first.
TRUST = np.array([0.9, 0.1])


def averaged(predictions: Floats, awake: NDArray[np.bool_], weights: Floats) -> Floats:
    """The mixture (n_rows, n_outputs) under weights (n_experts,), or (n_rows, n_experts); 0 where all sleep."""
    if weights.ndim == 1:
        throughout = np.asarray(awake.all(axis=1))
        if throughout.any() and not awake[~throughout].any():  # each expert is awake in all rows or in none
            if not throughout.all():
                weights = restrict(weights, throughout.astype(np.float64))
            with np.errstate(over="ignore"):
                means: Floats = weights @ predictions.reshape(len(weights), -1)
            return clip_to_floats(means.reshape(predictions.shape[1:]))
    return clip_to_floats(np.einsum("ne,end->nd", restrict_rows(weights, awake), predictions))


def restrict_rows(weights: Floats, awake: NDArray[np.bool_]) -> Floats:
    """What is played in each row, (n_rows, n_experts)."""
    return restrict(np.broadcast_to(weights, awake.T.shape), awake.T.astype(np.float64))


@dataclass(frozen=True)
class RoundLosses:
    """What rows cost the experts."""

    score: ClassificationScore | RegressionScore
    targets: Any
    predictions: Floats  #: (n_experts, n_rows, n_outputs)
    awake: NDArray[np.bool_]  #: (n_experts, n_rows)
    row_weights: Floats  #: (n_rows,), the largest 1

    @cached_property
    def row_losses(self) -> Floats:
        """(n_experts, n_rows), in the loss's own units."""
        if kernel is not None and self.score.loss is zero_one:
            return kernel.mistakes(*self._arrays())
        return self.score.losses(self.targets, self.predictions, None)

    def linear(self, mixture: Floats) -> Floats:
        """The same, linear around a mixture."""
        return self.score.losses(self.targets, self.predictions, mixture)

    @cached_property
    def _heard(self) -> tuple[Floats, Floats]:
        """The weights of the rows in which each was awake, (n_experts, n_rows), and their sums."""
        weights: Floats = self.awake * self.row_weights
        return weights, weights.sum(axis=1)

    @cached_property
    def part(self) -> Floats:
        """(n_experts,): the part of the round in which each took part."""
        part: Floats = self._heard[1] / self.row_weights.sum()
        return part

    @cached_property
    def losses(self) -> Floats:
        """(n_experts,): the mean of the row losses."""
        return self.means(self.row_losses)

    def means(self, row_losses: Floats) -> Floats:
        """Mean losses (n_experts,) over the rows in which each was awake; NaN if there are none."""
        means = np.full(len(row_losses), np.nan)
        weights, total = self._heard  # plain counts where rows have no weights, so that the means are exact
        return np.divide(np.einsum("en,en->e", row_losses, weights), total, out=means, where=total > 0.0)

    def blend(self, parts: Floats) -> tuple[Floats, Floats]:
        """What the second part is charged around its mixtures, (n_experts, n_rows), and what both lost, (2, n_rows)."""
        assert isinstance(self.score, ClassificationScore)
        throughout = self.awake.all(axis=1)
        if kernel is not None and throughout.any() and not self.awake[~throughout].any():
            if not throughout.all():
                parts = restrict(parts, np.broadcast_to(throughout.astype(np.float64), parts.shape))
            return kernel.blend(*self._arrays(), parts, SAFE_MARGIN)
        mixtures = np.stack([averaged(self.predictions, self.awake, part) for part in parts])
        return self.linear(mixtures[1]), self.score.blend_losses(self.targets, mixtures)

    def _arrays(self) -> tuple[Floats, NDArray[np.intp]]:
        """Predictions and classes as the compiled code takes them."""
        return np.ascontiguousarray(self.predictions), np.ascontiguousarray(self.targets, dtype=np.intp)

    def row(self, at: int) -> RoundLosses:
        """One of the rows."""
        here = slice(at, at + 1)
        rows = self.predictions[:, here], self.awake[:, here], self.row_weights[here]
        return RoundLosses(self.score, self.targets[here], *rows)


class Weighting(Protocol):
    """Algorithms that learn from verdicts."""

    def begin(self, n_experts: int) -> None:
        """Start with so many experts."""

    def copied(self) -> Weighting:
        """One that learns apart from this one."""

    def draws(
        self, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]
    ) -> SelectedExperts | None:
        """Whom to ask of those who have answers, with a generator a round; None: all of them."""

    def parts(self) -> Floats:
        """The weights of each algorithm that takes part, (n_parts, n_experts)."""

    def chosen(self, parts: Floats) -> Floats:
        """What is played, (n_experts,): one of the parts as they are now."""

    def learn(self, verdict: RoundLosses, parts: Floats, mixture: Floats) -> None:
        """A round, in which the parts and their mixture were issued."""

    def learn_rows(self, verdict: RoundLosses) -> Floats:
        """A round a row; returns what was played, (n_rows, n_experts)."""

    def prior(self, at: int) -> float:
        """An expert's share of the prior."""

    def add(self, share: float | None) -> None:
        """Let an expert join."""

    def drop(self, at: int) -> None:
        """Let an expert go."""


def _all_of_them(self: Weighting, able: NDArray[np.bool_], n_rows: int, randoms: Iterable[np.random.Generator]) -> None:
    """Where all losses count, all are asked."""


def _deeply(self: Any) -> Any:
    """Algorithms for experts may change arrays in place."""
    return copy.deepcopy(self)


def weighting_of(algorithm: ExpertAlgorithm, score: ClassificationScore | RegressionScore) -> Weighting:
    """How the experts of a score are weighted."""
    return FollowOrBlend(algorithm) if score.uses_margin else SingleAlgorithm(algorithm, score.uses_gradient)


class SingleAlgorithm:
    """One algorithm, charged the experts' losses, or these made linear around what it played."""

    def __init__(self, algorithm: ExpertAlgorithm, linear: bool) -> None:
        self.algorithm = algorithm
        self.linear = linear

    def begin(self, n_experts: int) -> None:
        self.algorithm.weights(n_experts)

    draws, copied = _all_of_them, _deeply

    def parts(self) -> Floats:
        return self.algorithm.current_weights()[np.newaxis]

    def chosen(self, parts: Floats) -> Floats:
        return parts[0]

    def learn(self, verdict: RoundLosses, parts: Floats, mixture: Floats) -> None:
        self.charge(verdict, verdict.means(verdict.linear(mixture)) if self.linear else verdict.losses)

    def charge(self, verdict: RoundLosses, losses: Floats) -> None:
        """A round with these losses, (n_experts,)."""
        charged = verdict.score.rescale(losses[np.newaxis])[0]
        whole = bool((verdict.part > 1.0 - 1e-12).all())
        self.algorithm.update(charged, None if whole else np.minimum(verdict.part, 1.0))

    def learn_rows(self, verdict: RoundLosses) -> Floats:
        awake, score = verdict.awake, verdict.score
        confidence = awake.T * verdict.row_weights[:, np.newaxis]
        if not self.linear:
            charged = score.rescale(np.where(awake, verdict.row_losses, np.nan).T)
            return self.algorithm.run(charged, confidence)
        played = np.empty(awake.T.shape)
        for at in range(len(played)):
            played[at] = restrict(self.parts()[0], confidence[at])
            if awake[:, at].any():
                row = verdict.row(at)
                linear = row.linear(averaged(row.predictions, row.awake, played[at]))
                charged = score.rescale(np.where(row.awake, linear, np.nan).T)[0]
                self.algorithm.update(charged, confidence[at])
        return played

    def prior(self, at: int) -> float:
        return float(self.algorithm.prior_[at])

    def add(self, share: float | None) -> None:
        self.algorithm.add_expert(share)

    def drop(self, at: int) -> None:
        self.algorithm.drop_expert(at)


class FollowOrBlend:
    """Two algorithms, and a third that says which of them to trust; its weights are played as they are.

    One is charged the experts' mistakes and *follows* whoever is right now; the other is charged a loss of its own
    mixture, made linear, and *blends* experts that are right together. Which of them is better depends on the stream:
    where concepts return, one expert is right and the others are not; elsewhere several are right in turns. The mean of
    both would be worse than either while a concept changes, as one of them finds the new expert before the other.
    """

    def __init__(self, algorithm: ExpertAlgorithm) -> None:
        self.members = [SingleAlgorithm(algorithm, linear=False), SingleAlgorithm(clone(algorithm), linear=True)]
        self.between = PatientMemory(prior=TRUST)

    def begin(self, n_experts: int) -> None:
        self.between.weights(2)
        for member in self.members:
            member.begin(n_experts)

    draws, copied = _all_of_them, _deeply

    def parts(self) -> Floats:
        return np.concatenate([member.parts() for member in self.members])

    def chosen(self, parts: Floats) -> Floats:
        weights: Floats = parts[int(self.between.current_weights().argmax())]
        return weights

    def learn(self, verdict: RoundLosses, parts: Floats, mixture: Floats) -> None:
        charged, lost = verdict.blend(parts)
        follower, blender = self.members
        follower.charge(verdict, verdict.losses)
        blender.charge(verdict, verdict.means(charged))
        heard = verdict.row_weights * verdict.awake.any(axis=0)
        total = heard.sum()
        part = min(float(total / verdict.row_weights.sum()), 1.0)
        self.between.update(lost @ heard / total, None if part > 1.0 - 1e-12 else np.full(2, part))

    def learn_rows(self, verdict: RoundLosses) -> Floats:
        assert isinstance(verdict.score, ClassificationScore)
        played = [member.learn_rows(verdict) for member in self.members]
        mixtures = np.stack([averaged(verdict.predictions, verdict.awake, weights) for weights in played])
        lost = verdict.score.blend_losses(verdict.targets, mixtures)
        heard = verdict.row_weights * verdict.awake.any(axis=0)
        trust = self.between.run(np.ascontiguousarray(lost.T), np.repeat(heard[:, np.newaxis], 2, axis=1))
        return np.where(trust[:, 1:] > trust[:, :1], played[1], played[0])

    def prior(self, at: int) -> float:
        return self.members[0].prior(at)

    def add(self, share: float | None) -> None:
        for member in self.members:
            member.add(share)

    def drop(self, at: int) -> None:
        for member in self.members:
            member.drop(at)


class SelectedExperts(NamedTuple):
    """Whom to ask about some rows, where not all are asked."""

    first: NDArray[np.intp]  #: (n_rows,): the one that was drawn first
    chances: Floats  #: (n_experts, n_rows): the probability that each would be asked; 0 for those who are not
