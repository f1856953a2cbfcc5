"""Losses of real predictions whose range is learned on the way."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ..experts._validation import Floats, check_option
from ._numbers import LOSSES, OutputLosses, RegressionLoss, SquaredError
from ._own import ABSURD, bounded
from ._seen import SeenRange

#: Where the range of losses has not been reached for this many rounds, it has fallen by a factor e.
RANGE_MEMORY = 100.0

FADING = float(np.exp(-1.0 / RANGE_MEMORY))  #: of the range in a round

#: In one round the range of losses grows at most by this factor, lest one outlier decides it.
RANGE_GROWTH = 4.0

#: Predictions may lie outside the range of the targets by this part of its width.
MARGIN = 0.5

#: The width of a distribution is taken to be so many median absolute deviations; of a uniform one it would be 4.
DEVIATIONS_OF_WIDTH = 6.0


class LossRange:
    """From losses of any scale to [0, 1].

    What counts is what an expert lost beyond the best of the round, over the widest such gap of late; the algorithms
    look at differences only. The widest gap fades, by a factor e in 100 rounds, so that losses may come to vary less,
    and grows no more than fourfold in one round, with what is beyond it counting as 1, so that one outlier changes
    little.
    """

    def __init__(self) -> None:
        self.widest_gap = 0.0

    def rescale(self, losses: Floats) -> Floats:
        """Losses (n_rounds, n_experts), NaN where asleep, in [0, 1]; learns the widest gap."""
        return self._rescaled(losses)

    def _rescaled(self, losses: Floats, anew: bool = False) -> Floats:
        """The same; ``anew``: a gap wider than the first of these means nothing."""
        asleep = np.isnan(losses)
        losses = bounded(losses)
        beyond = losses - np.where(asleep, np.inf, losses).min(axis=1, keepdims=True)
        gaps = np.where(asleep, 0.0, beyond).max(axis=1)
        if anew:
            self.widest_gap = min(self.widest_gap, float(gaps[0]))
        widest = np.empty_like(gaps)
        for at, gap in enumerate(gaps):
            most = RANGE_GROWTH * self.widest_gap or np.inf
            self.widest_gap = max(FADING * self.widest_gap, min(float(gap), most))
            widest[at] = self.widest_gap
        widest = widest[:, np.newaxis]
        return np.divide(np.minimum(beyond, widest), widest, out=np.where(asleep, np.nan, 0.0), where=widest > 0.0)


class TargetScore(LossRange):
    """Losses of real predictions, on whatever scale the targets turn out to be.

    Predictions are clipped to the range of the targets seen so far, widened by half its width on both sides: an expert
    that runs away is just bad, however far it runs.

    Parameters
    ----------
    loss : {"auto", "squared_error", "absolute_error", "absolute_percentage_error", "pinball", "huber", "log_cosh"} \
            or callable
        A callable takes targets and predictions, both of shape (n_rows,), and returns losses (n_rows,) of any scale;
        if it has a method ``gradient`` with the same arguments, the gradient trick can be used. "auto" is
        "squared_error".
    average : bool
        Whether the predictions are averaged: then, where there is a gradient, expert i is charged the linearised loss
        ``f'(ŷ) x_i`` at the mixture ŷ, which makes the bound one against the best convex combination.
    """

    learns_range = True
    blends = False
    n_outputs = 1

    def __init__(self, loss: str | Callable[..., Any], average: bool) -> None:
        if not callable(loss):
            check_option("loss", loss, ("auto", *LOSSES))
        self.loss: Any = loss if callable(loss) else LOSSES["squared_error" if loss == "auto" else loss]
        self.uses_gradient = average and hasattr(self.loss, "gradient")
        super().__init__()
        self.seen = SeenRange()
        self.low, self.high = np.inf, -np.inf
        self.n_targets, self.mean = 0, 0.0
        self.knew_a_scale = False  #: before the targets that were observed last

    def observe(self, y: Floats) -> None:
        """Widen the range of the targets."""
        if isinstance(self.loss, RegressionLoss):
            self.loss.check_targets(y)
        self.knew_a_scale = self.high > self.low
        self.low, self.high = min(self.low, float(y.min())), max(self.high, float(y.max()))
        self.n_targets += len(y)
        self.mean += float((y / self.n_targets - self.mean / self.n_targets).sum())

    def guess(self) -> Floats:
        """What to say when no expert says anything: the mean of the targets."""
        return np.array([self.mean])

    def tame(self, predictions: Floats) -> Floats:
        """Predictions clipped to the widened range of the targets; NaN where they are absurd."""
        return np.where(np.abs(predictions) <= self.largest(), self.clipped(predictions), np.nan)

    def largest(self) -> float:
        """Beyond it a prediction is absurd, though nothing may be known of the targets' scale yet."""
        size = max(abs(self.low), abs(self.high)) if self.high >= self.low else ABSURD  # before the first target
        return min(ABSURD * max(size, 1.0), sys.float_info.max)

    def clipped(self, predictions: Floats) -> Floats:
        """Predictions clipped to the widened range of the targets."""
        width = self.high - self.low
        if not width > 0.0:  # no target yet, or always the same one: nothing is known of their scale
            return predictions
        return np.clip(predictions, self.low - MARGIN * width, self.high + MARGIN * width)

    def losses(self, y: Floats, predictions: Floats, mixture: Floats | None) -> Floats:
        """Losses (n_experts, n_rows) of predictions (n_experts, n_rows, 1), linear around the mixture (n_rows, 1)."""
        values, losses = predictions[..., 0].T, OutputLosses([self.loss])
        if mixture is None:
            return losses.of_experts(y, values, None).T
        return losses.linear(y, mixture[:, 0], values, None).T

    def mixture_loss(self, y: Floats, mixture: Floats) -> Floats:
        """Losses (n_rows,) of what was issued, in the loss's own units."""
        return OutputLosses([self.loss]).of(y, mixture[:, 0], None)

    def distances(self, one: Floats, others: Floats, y: Floats) -> Floats:
        """How far others, (n_others, n_rows, 1), are from one in each row, over the width of the rows' targets."""
        deviations = np.abs(y - np.median(y))
        width = DEVIATIONS_OF_WIDTH * float(np.median(deviations) or deviations.mean())
        apart: Floats = np.abs(one - others)[..., 0]
        if width > 0.0:
            with np.errstate(over="ignore"):
                return apart / width
        return np.where(apart > 0.0, np.inf, 0.0)

    def rescale(self, losses: Floats) -> Floats:
        """Losses (n_rounds, n_experts), NaN where asleep, in [0, 1]; learns the widest gap."""
        anew = not self.knew_a_scale  # predictions were not tamed so far: losses may have been of any size
        self.knew_a_scale = True
        return self._rescaled(losses, anew)

    def rescale_seen(self, losses: Floats) -> Floats:
        """The losses (n_seen,) of the only experts that were asked in a round, in [0, 1]; learns their range.

        Of squared errors it is their root that is measured, which keeps their order: of the squares themselves few are
        large, and next to these all others would look alike.
        """
        if isinstance(self.loss, SquaredError):
            losses = np.sqrt(losses)
        if not self.knew_a_scale:
            self.seen, self.knew_a_scale = SeenRange(), True
        self.seen = self.seen.widened(losses)
        return self.seen.rescaled(losses)
