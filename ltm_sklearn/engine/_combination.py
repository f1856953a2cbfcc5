"""From what the experts said to what is said in their place."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..aggregation import DrawnVerdict, Verdict, averaged
from ..losses import ClassScore, TargetScore
from ._round import Issued


def tamed(
    said: dict[int, Floats], score: ClassScore | TargetScore, n_experts: int, shape: tuple[int, int]
) -> tuple[Floats, NDArray[np.bool_]]:
    """What the experts in these seats said, tamed, 0 where it is no answer; and where it is one."""
    predictions = np.zeros((n_experts, *shape))
    awake = np.zeros((n_experts, shape[0]), dtype=np.bool_)
    if said:
        with np.errstate(all="ignore"):
            tame = score.tame(np.stack(list(said.values())))
            # tamed ones are either finite, and so is their sum, or not; a product is the fastest sum of few
            heard: NDArray[np.bool_] = np.isfinite(tame @ np.ones(shape[1]))
        if not heard.all():
            tame[~heard] = 0.0
        if len(said) == n_experts:
            return tame, heard
        seats = list(said)
        predictions[seats], awake[seats] = tame, heard
    return predictions, awake


def guessed(mixture: Floats, awake: NDArray[np.bool_], score: ClassScore | TargetScore) -> Floats:
    """A mixture (n_rows, n_outputs), with a guess in the rows in which nobody was awake."""
    heard = awake.any(axis=0, keepdims=True).T
    return mixture if heard.all() else np.where(heard, mixture, score.guess())


def plain_mean(issued: Issued, score: ClassScore | TargetScore) -> Floats:
    """What the experts say in the mean of those awake, (n_rows, n_outputs)."""
    n_experts = len(issued.experts)
    mean = averaged(issued.predictions, issued.awake, np.full(n_experts, 1.0 / n_experts))
    return guessed(mean, issued.awake, score)


def verdict_of(issued: Issued, score: ClassScore | TargetScore, targets: object, row_weights: Floats) -> Verdict:
    """What came of what was issued."""
    # What was issued while nothing was known of the targets' range has not been tamed by it.
    predictions = score.clipped(issued.predictions) if isinstance(score, TargetScore) else issued.predictions
    if issued.chances is None:
        return Verdict(score, targets, predictions, issued.awake, row_weights)
    return DrawnVerdict(score, targets, predictions, issued.awake, row_weights, issued.chances)
