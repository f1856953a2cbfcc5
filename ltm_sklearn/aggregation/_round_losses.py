"""Losses of the experts in one round of predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._numerics import restrict_to_awake
from .._optional import import_kernel
from .._typing import Floats
from ..losses import SAFE_MARGIN, ClassificationScore, RegressionScore, clip_to_floats, zero_one

kernel = import_kernel("_blend", __package__)


def weighted_mean(predictions: Floats, awake: NDArray[np.bool_], weights: Floats) -> Floats:
    """Average the predictions of the awake experts, (n_rows, n_outputs); 0 where all experts sleep.

    ``weights`` are (n_experts,) for all rows, or (n_rows, n_experts).
    """
    if weights.ndim == 1:
        throughout = np.asarray(awake.all(axis=1))
        if throughout.any() and not awake[~throughout].any():  # each expert is awake in all rows or in none
            if not throughout.all():
                weights = restrict_to_awake(weights, throughout.astype(np.float64))
            with np.errstate(over="ignore"):
                means: Floats = weights @ predictions.reshape(len(weights), -1)
            return clip_to_floats(means.reshape(predictions.shape[1:]))
    return clip_to_floats(np.einsum("ne,end->nd", restrict_rows(weights, awake), predictions))


def restrict_rows(weights: Floats, awake: NDArray[np.bool_]) -> Floats:
    """Restrict weights to the experts that are awake in each row, (n_rows, n_experts)."""
    return restrict_to_awake(np.broadcast_to(weights, awake.T.shape), awake.T.astype(np.float64))


@dataclass(frozen=True)
class RoundLosses:
    """Losses of the experts in the rows of one round, computed when they are first read."""

    score: ClassificationScore | RegressionScore
    targets: Any
    predictions: Floats  #: (n_experts, n_rows, n_outputs)
    awake: NDArray[np.bool_]  #: (n_experts, n_rows)
    row_weights: Floats  #: (n_rows,), the largest 1

    @cached_property
    def row_losses(self) -> Floats:
        """Loss of each expert in each row, (n_experts, n_rows), in the loss's own units."""
        if kernel is not None and self.score.loss is zero_one:
            return kernel.mistakes(*self._arrays())
        return self.score.losses(self.targets, self.predictions, None)

    def linear_losses(self, mixture: Floats) -> Floats:
        """Linear part of the loss around a mixture, for each expert and row, (n_experts, n_rows)."""
        return self.score.losses(self.targets, self.predictions, mixture)

    @cached_property
    def _awake_weights(self) -> tuple[Floats, Floats]:
        """Weights of the rows in which each expert is awake, (n_experts, n_rows), and their sums."""
        weights: Floats = self.awake * self.row_weights
        return weights, weights.sum(axis=1)

    @cached_property
    def participation(self) -> Floats:
        """Share of the round in which each expert is awake, (n_experts,)."""
        participation: Floats = self._awake_weights[1] / self.row_weights.sum()
        return participation

    @cached_property
    def losses(self) -> Floats:
        """Mean loss of each expert, (n_experts,)."""
        return self.means(self.row_losses)

    def means(self, row_losses: Floats) -> Floats:
        """Average losses over the rows in which each expert is awake, (n_experts,); NaN if there are none."""
        means = np.full(len(row_losses), np.nan)
        weights, total = self._awake_weights  # plain counts where rows have no weights, so that the means are exact
        return np.divide(np.einsum("en,en->e", row_losses, weights), total, out=means, where=total > 0.0)

    def follow_and_blend_losses(self, member_weights: Floats) -> tuple[Floats, Floats]:
        """Losses that the members of :class:`FollowOrBlend` and their arbiter learn from.

        Returns the experts' linear losses around the second member's mixtures, (n_experts, n_rows), and the losses of
        both members, (2, n_rows).
        """
        assert isinstance(self.score, ClassificationScore)
        throughout = self.awake.all(axis=1)
        if kernel is not None and throughout.any() and not self.awake[~throughout].any():
            if not throughout.all():
                confidence = np.broadcast_to(throughout.astype(np.float64), member_weights.shape)
                member_weights = restrict_to_awake(member_weights, confidence)
            return kernel.blend(*self._arrays(), member_weights, SAFE_MARGIN)
        mixtures = np.stack([weighted_mean(self.predictions, self.awake, weights) for weights in member_weights])
        return self.linear_losses(mixtures[1]), self.score.blend_losses(self.targets, mixtures)

    def _arrays(self) -> tuple[Floats, NDArray[np.intp]]:
        """Predictions and classes as the compiled code takes them."""
        return np.ascontiguousarray(self.predictions), np.ascontiguousarray(self.targets, dtype=np.intp)

    def row(self, at: int) -> RoundLosses:
        """Return the round that consists of one of the rows."""
        here = slice(at, at + 1)
        rows = self.predictions[:, here], self.awake[:, here], self.row_weights[here]
        return RoundLosses(self.score, self.targets[here], *rows)
