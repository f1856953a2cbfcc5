"""Losses of real predictions, rescaled to [0, 1] by a range that is learned."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._param_checks import check_option
from .._typing import Floats
from ._custom import IMPLAUSIBLE, clip_large
from ._range_tracker import ObservedRange
from ._regression_losses import LOSSES, OutputLosses, RegressionLoss, SquaredError

#: After so many rounds without a gap as wide, the widest gap has faded by a factor e.
RANGE_MEMORY = 100.0

FADING = float(np.exp(-1.0 / RANGE_MEMORY))  #: factor per round

#: The widest gap grows by at most this factor per round, so that a single outlier does not set the range.
RANGE_GROWTH = 4.0

#: Predictions are clipped to the range of the targets, extended by this share of its width on both sides.
MARGIN = 0.5

#: Width of a distribution in median absolute deviations; for a uniform one it would be 4.
DEVIATIONS_OF_WIDTH = 6.0


class LossRange:
    """Mapping of losses of any scale to [0, 1].

    A loss is measured from the best loss of its round, in units of the widest such gap of recent rounds; the
    algorithms use differences of losses only. The widest gap fades by a factor e in 100 rounds, since losses may come
    to vary less. It grows at most fourfold in one round, and losses beyond it count as 1, so that an outlier changes
    little.
    """

    def __init__(self) -> None:
        self.widest_gap = 0.0

    def rescale(self, losses: Floats) -> Floats:
        """Map losses (n_rounds, n_experts), NaN where asleep, to [0, 1] and update the widest gap."""
        asleep = np.isnan(losses)
        losses = clip_large(losses)
        beyond = losses - np.where(asleep, np.inf, losses).min(axis=1, keepdims=True)
        gaps = np.where(asleep, 0.0, beyond).max(axis=1)
        self._before_rescaling(gaps)
        widest = np.empty_like(gaps)
        for at, gap in enumerate(gaps):
            most = RANGE_GROWTH * self.widest_gap or np.inf
            self.widest_gap = max(FADING * self.widest_gap, min(float(gap), most))
            widest[at] = self.widest_gap
        widest = widest[:, np.newaxis]
        return np.divide(np.minimum(beyond, widest), widest, out=np.where(asleep, np.nan, 0.0), where=widest > 0.0)

    def _before_rescaling(self, gaps: Floats) -> None:
        """Prepare the range for rounds with these gaps; a hook for subclasses."""


class RegressionScore(LossRange):
    """Losses of real predictions whose scale is learned.

    Predictions are clipped to the range of the targets so far, extended by half its width on both sides. A diverging
    expert is therefore no worse than one at the edge of that range.

    Parameters
    ----------
    loss : {"auto", "squared_error", "absolute_error", "absolute_percentage_error", "pinball", "huber", "log_cosh"} \
            or callable
        A callable takes targets and predictions, both of shape (n_rows,), and returns losses (n_rows,) of any scale.
        If it has a method ``gradient`` with the same arguments, the gradient trick can be used. "auto" is
        "squared_error".
    average : bool
        Whether the ensemble averages the predictions. If it does and the loss has a gradient, expert i is scored with
        the linearised loss ``f'(ŷ) x_i`` at the mixture ŷ. The regret bound then holds against the best convex
        combination.
    """

    learns_range = True
    uses_margin = False
    n_outputs = 1

    def __init__(self, loss: str | Callable[..., Any], average: bool) -> None:
        if not callable(loss):
            check_option("loss", loss, ("auto", *LOSSES))
        self.loss: Any = loss if callable(loss) else LOSSES["squared_error" if loss == "auto" else loss]
        self.uses_gradient = average and hasattr(self.loss, "gradient")
        super().__init__()
        self.observed_range = ObservedRange()
        self.low, self.high = np.inf, -np.inf
        self.n_targets, self.mean = 0, 0.0
        self.scale_was_known = False  #: whether two targets differed before the last call of `observe`

    def observe(self, y: Floats) -> None:
        """Update the range and the mean of the targets."""
        if isinstance(self.loss, RegressionLoss):
            self.loss.check_targets(y)
        self.scale_was_known = self.high > self.low
        self.low, self.high = min(self.low, float(y.min())), max(self.high, float(y.max()))
        self.n_targets += len(y)
        self.mean += float((y / self.n_targets - self.mean / self.n_targets).sum())

    def fallback(self) -> Floats:
        """Return the mean of the targets so far, which is issued when no expert predicts."""
        return np.array([self.mean])

    def sanitized(self, predictions: Floats) -> Floats:
        """Clip predictions to the extended range of the targets; implausibly large ones become NaN."""
        return np.where(np.abs(predictions) <= self.prediction_limit(), self.clipped(predictions), np.nan)

    def prediction_limit(self) -> float:
        """Return the size beyond which a prediction counts as missing, even before the targets have a scale."""
        size = max(abs(self.low), abs(self.high)) if self.high >= self.low else IMPLAUSIBLE  # before the first target
        return min(IMPLAUSIBLE * max(size, 1.0), sys.float_info.max)

    def clipped(self, predictions: Floats) -> Floats:
        """Clip predictions to the extended range of the targets."""
        width = self.high - self.low
        if not width > 0.0:  # no target yet, or all equal: their scale is unknown
            return predictions
        return np.clip(predictions, self.low - MARGIN * width, self.high + MARGIN * width)

    def losses(self, y: Floats, predictions: Floats, mixture: Floats | None) -> Floats:
        """Return the losses (n_experts, n_rows) of predictions (n_experts, n_rows, 1).

        With a mixture (n_rows, 1), these are the losses linearised at the mixture.
        """
        values, losses = predictions[..., 0].T, OutputLosses([self.loss])
        if mixture is None:
            return losses.of_experts(y, values, None).T
        return losses.linear(y, mixture[:, 0], values, None).T

    def mixture_loss(self, y: Floats, mixture: Floats) -> Floats:
        """Return the losses (n_rows,) of the issued predictions (n_rows, 1), in the units of the loss."""
        return OutputLosses([self.loss]).of(y, mixture[:, 0], None)

    def disagreements(self, one: Floats, others: Floats, y: Floats) -> Floats:
        """Return how far other models' predictions, (n_others, n_rows, 1), are from one model's.

        The unit is the width of the distribution of the targets.
        """
        deviations = np.abs(y - np.median(y))
        width = DEVIATIONS_OF_WIDTH * float(np.median(deviations) or deviations.mean())
        differences: Floats = np.abs(one - others)[..., 0]
        if width > 0.0:
            with np.errstate(over="ignore"):
                return differences / width
        return np.where(differences > 0.0, np.inf, 0.0)

    def _before_rescaling(self, gaps: Floats) -> None:
        if not self.scale_was_known:  # predictions could not be clipped so far, so gaps may have been of any size
            self.widest_gap = min(self.widest_gap, float(gaps[0]))
            self.scale_was_known = True

    def rescale_queried(self, losses: Floats) -> Floats:
        """Map the losses (n_queried,) of the only experts queried in a round to [0, 1], and update their range.

        Squared errors are replaced by their roots, which keeps their order. Among the squares few are large, and all
        others would look alike beside them.
        """
        if isinstance(self.loss, SquaredError):
            losses = np.sqrt(losses)
        if not self.scale_was_known:
            self.observed_range, self.scale_was_known = ObservedRange(), True
        self.observed_range = self.observed_range.widened(losses)
        return self.observed_range.rescaled(losses)
