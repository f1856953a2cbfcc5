"""From what the experts said to what is said in their place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..aggregation import RoundLosses, SelectedRoundLosses, weighted_mean
from ..losses import ClassificationScore, RegressionScore
from ._round import Issued


def sanitize(
    said: dict[int, Floats], score: ClassificationScore | RegressionScore, n_experts: int, shape: tuple[int, int]
) -> tuple[Floats, NDArray[np.bool_]]:
    """What the experts in these seats said, sanitize, 0 where it is no answer; and where it is one."""
    predictions = np.zeros((n_experts, *shape))
    awake = np.zeros((n_experts, shape[0]), dtype=np.bool_)
    if said:
        with np.errstate(all="ignore"):
            sanitized = score.sanitized(np.stack(list(said.values())))
            # sanitize ones are either finite, and so is their sum, or not; a product is the fastest sum of few
            heard: NDArray[np.bool_] = np.isfinite(sanitized @ np.ones(shape[1]))
        if not heard.all():
            sanitized[~heard] = 0.0
        if len(said) == n_experts:
            return sanitized, heard
        seats = list(said)
        predictions[seats], awake[seats] = sanitized, heard
    return predictions, awake


def with_fallback(mixture: Floats, awake: NDArray[np.bool_], score: ClassificationScore | RegressionScore) -> Floats:
    """A mixture (n_rows, n_outputs), with a fallback in the rows in which nobody was awake."""
    heard = awake.any(axis=0, keepdims=True).T
    return mixture if heard.all() else np.where(heard, mixture, score.fallback())


def plain_mean(issued: Issued, score: ClassificationScore | RegressionScore) -> Floats:
    """What the experts say in the mean of those awake, (n_rows, n_outputs)."""
    n_experts = len(issued.experts)
    mean = weighted_mean(issued.predictions, issued.awake, np.full(n_experts, 1.0 / n_experts))
    return with_fallback(mean, issued.awake, score)


def round_losses_of(
    issued: Issued, score: ClassificationScore | RegressionScore, targets: object, row_weights: Floats
) -> RoundLosses:
    """What came of what was issued."""
    # What was issued while nothing was known of the targets' range has not been sanitize by it.
    predictions = score.clipped(issued.predictions) if isinstance(score, RegressionScore) else issued.predictions
    if issued.chances is None:
        return RoundLosses(score, targets, predictions, issued.awake, row_weights)
    return SelectedRoundLosses(score, targets, predictions, issued.awake, row_weights, issued.chances)
