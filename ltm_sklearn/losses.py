"""From targets and predictions to losses in [0, 1], which is what the expert algorithms learn from.

Two kinds of scores share their methods, so that the engine need not know which it has:
:class:`ClassScore` knows the range of its losses beforehand, :class:`TargetScore` learns it on the way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .experts._validation import Floats, check_number, check_option

#: Probabilities below this are as good as this one to the log loss.
SMALLEST_PROBABILITY = 1e-3

#: Predictions may lie outside the range of the targets by this part of its width.
MARGIN = 0.5

#: Where the range of losses has not been reached for this many rounds, it has fallen by a factor e.
RANGE_MEMORY = 100.0

#: In one round the range of losses grows at most by this factor, lest one outlier decides it.
RANGE_GROWTH = 4.0

#: The width of a distribution is taken to be so many median absolute deviations; of a uniform one it would be 4.
DEVIATIONS_OF_WIDTH = 6.0

#: Probabilities may be below 0, and their sum above 1, by this much.
ROUNDING_OF_PROBABILITIES = 1e-6

#: A class is safely ahead of its rivals by this much.
SAFE_MARGIN = 0.5

#: Losses beyond this are as good as this one; their differences stay finite.
LARGEST = 1e300


# Classification ---------------------------------------------------------------------------------------------------


def zero_one(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """1 where the likeliest class is not the true one, or none has any chance."""
    some = probabilities @ np.ones(probabilities.shape[-1]) > 0.0  # the fastest sum of few
    wrong: NDArray[np.bool_] = (probabilities.argmax(axis=-1) != y) | ~some
    return wrong.astype(np.float64)


def brier(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """Half the squared distance of the probabilities from the truth, ``½ Σ_c (p(c) - [c = y])²``."""
    truth = np.eye(probabilities.shape[-1])[y]
    squared: Floats = ((probabilities - truth) ** 2).sum(axis=-1)
    return squared / 2.0


def log(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """``-ln p(y)``, with p at least 1/1000, over ln 1000."""
    of_truth = np.take_along_axis(probabilities, np.broadcast_to(y, probabilities.shape[:-1])[..., None], -1)[..., 0]
    return np.log(np.clip(of_truth, SMALLEST_PROBABILITY, 1.0)) / np.log(SMALLEST_PROBABILITY)


CLASS_LOSSES: dict[str, Callable[[Any, Floats], Floats]] = {"zero_one": zero_one, "brier": brier, "log": log}


class ClassScore:
    """Losses of class probabilities.

    Parameters
    ----------
    loss : {"auto", "zero_one", "brier", "log"} or callable
        A callable takes the true classes' indices, shape (n_rows,), and the probabilities, shape (n_rows, n_classes),
        and returns losses in [0, 1], shape (n_rows,). "auto" is "zero_one", besides which averages are also blended
        by their margin.
    n_classes : int
        Number of classes.
    average : bool
        Whether the predictions are averaged.
    """

    learns_range = False

    def __init__(self, loss: str | Callable[..., Any], n_classes: int, average: bool) -> None:
        if not callable(loss):
            check_option("loss", loss, ("auto", *CLASS_LOSSES))
        self.blends = self.uses_gradient = average and isinstance(loss, str) and loss == "auto"
        self.n_outputs = n_classes
        self.counts = np.zeros(n_classes)
        self._own = loss if callable(loss) else None
        self.loss = loss if callable(loss) else CLASS_LOSSES["zero_one" if loss == "auto" else loss]

    def resize(self, n_classes: int) -> None:
        """Make room for classes that were not known, or forget the last ones."""
        if n_classes != self.n_outputs:
            self.counts = np.append(self.counts, np.zeros(max(n_classes - self.n_outputs, 0)))[:n_classes]
            self.n_outputs = n_classes

    def observe(self, y: NDArray[np.intp]) -> None:
        """Count the classes."""
        self.counts = self.counts + np.bincount(y, minlength=len(self.counts))

    def guess(self) -> Floats:
        """What to say when no expert says anything: how often each class has come."""
        return self.counts / max(self.counts.sum(), 1.0)

    def tame(self, predictions: Floats) -> Floats:
        """Probabilities that sum to no more than one; NaN for a row with negative ones."""
        total = predictions @ np.ones((self.n_outputs, 1))
        most = 1.0 + ROUNDING_OF_PROBABILITIES
        if not total.max(initial=0.0) <= most:  # also where it is NaN
            predictions = np.where(total > most, predictions / np.maximum(total, 1.0), predictions)
        if not predictions.min(initial=0.0) >= 0.0:
            negative = (predictions < -ROUNDING_OF_PROBABILITIES).any(axis=-1, keepdims=True)
            predictions = np.where(negative, np.nan, np.maximum(predictions, 0.0))
        return predictions

    def normalised(self, mixture: Floats) -> Floats:
        """Probabilities (n_rows, n_classes) that sum to one; even where none has any chance."""
        total = mixture.sum(axis=1, keepdims=True)
        even = np.full_like(mixture, 1.0 / max(self.n_outputs, 1))
        return np.divide(mixture, total, out=even, where=total > 0.0)

    def losses(self, y: NDArray[np.intp], predictions: Floats, mixture: Floats | None) -> Floats:
        """Losses (n_experts, n_rows) of predictions (n_experts, n_rows, n_classes); around a mixture, of its margin.

        The margin of a mixture p is ``m(p) = p(y) - max_{c≠y} p(c)``; ``max(0, 1/2 - m(p))`` is convex in p, bounds the
        mistakes up to a factor 2, and where it is not 0 its slope along an expert's probabilities x is
        ``x(c) - x(y)``, with c the strongest rival. That is mapped to [0, 1].
        """
        if mixture is not None:
            rows = np.arange(len(y))
            rivals = mixture.copy()
            rivals[rows, y] = -1.0
            slope = np.zeros_like(mixture)
            unsafe = mixture[rows, y] - rivals.max(axis=1) < SAFE_MARGIN
            slope[rows, rivals.argmax(axis=1)] = 0.5
            slope[rows, y] = -0.5
            charged: Floats = np.einsum("end,nd->en", predictions, slope)
            return (charged + 0.5) * unsafe
        if self._own is None:
            return self.loss(y, predictions)
        losses = np.stack([_own_loss(self._own, y, of_expert) for of_expert in predictions])
        if losses.min(initial=0.0) < 0.0 or losses.max(initial=1.0) > 1.0:
            raise ValueError(f"loss must return values in [0, 1]; got {losses.min()} to {losses.max()}")
        return losses

    def blend_losses(self, y: NDArray[np.intp], mixtures: Floats) -> Floats:
        """Losses (n_mixtures, n_rows): mistakes count, and so do probabilities, by the Brier score, half each.

        Mistakes alone would not mind a mixture that is right but never sure; the Brier score alone would prefer one
        that is wrong more often, but less sure of it.
        """
        squares = np.einsum("mnd,mnd->mn", mixtures, mixtures)
        brier_score: Floats = (squares + 1.0) / 2.0 - mixtures[:, np.arange(len(y)), y]
        return (zero_one(y, mixtures) + brier_score) / 2.0

    def mixture_loss(self, y: NDArray[np.intp], mixture: Floats) -> Floats:
        """Losses (n_rows,) of what was issued."""
        return self.losses(y, self.normalised(mixture)[np.newaxis], None)[0]

    def distances(self, one: Floats, others: Floats, y: NDArray[np.intp]) -> Floats:
        """How far others, (n_others, n_rows, n_classes), are from one in each row: 1 if they see another class."""
        return (one.argmax(axis=-1) != others.argmax(axis=-1)).astype(np.float64)

    def rescale(self, losses: Floats) -> Floats:
        """Losses are in [0, 1] already."""
        return losses


def _own_loss(loss: Callable[..., Any], y: Any, predictions: Floats, name: str = "loss") -> Floats:
    values = np.asarray(loss(y, predictions), dtype=np.float64)
    if values.shape != y.shape:
        raise ValueError(f"{name} must return one value a row, shape {y.shape}; got shape {values.shape}")
    if np.isnan(values).any():  # which would pass for an expert that sleeps
        raise ValueError(f"{name} must return numbers; got NaN for row {int(np.isnan(values).argmax())}")
    return values


# Regression -------------------------------------------------------------------------------------------------------


class RegressionLoss(ABC):
    """A loss of real predictions, convex in them, with its derivative."""

    @abstractmethod
    def __call__(self, y: Floats, prediction: Floats) -> Floats: ...

    @abstractmethod
    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        """Derivative with respect to the prediction."""


@dataclass(frozen=True)
class Squared(RegressionLoss):
    """``(ŷ - y)²``: aims at the mean."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return (prediction - y) ** 2

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return 2.0 * (prediction - y)


@dataclass(frozen=True)
class Absolute(RegressionLoss):
    """``|ŷ - y|``: aims at the median."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return np.abs(prediction - y)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.sign(prediction - y)


@dataclass(frozen=True)
class Pinball(RegressionLoss):
    """``max(q (y - ŷ), (1 - q) (ŷ - y))``: aims at the quantile q."""

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_number("quantile", self.quantile, 0.0, 1.0, low_open=True, high_open=True)

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        error = y - prediction
        return np.maximum(self.quantile * error, (self.quantile - 1.0) * error)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        slope = np.where(prediction > y, 1.0 - self.quantile, -self.quantile)
        return np.where(prediction == y, 0.0, slope)


LOSSES: dict[str, RegressionLoss] = {"squared": Squared(), "absolute": Absolute(), "pinball": Pinball()}


def loss_name(loss: Any) -> str:
    """What a loss is called; of one's own, the name of the function or class."""
    for name, known in {**CLASS_LOSSES, **LOSSES}.items():
        if loss is known or (isinstance(known, RegressionLoss) and type(loss) is type(known)):
            return name
    return str(getattr(loss, "__name__", type(loss).__name__))


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
        losses = _bounded(losses)
        beyond = losses - np.where(asleep, np.inf, losses).min(axis=1, keepdims=True)
        gaps = np.where(asleep, 0.0, beyond).max(axis=1)
        if anew:
            self.widest_gap = min(self.widest_gap, float(gaps[0]))
        fading = np.exp(-1.0 / RANGE_MEMORY)
        widest = np.empty_like(gaps)
        for at, gap in enumerate(gaps):
            most = RANGE_GROWTH * self.widest_gap or np.inf
            self.widest_gap = max(fading * self.widest_gap, min(float(gap), most))
            widest[at] = self.widest_gap
        widest = widest[:, np.newaxis]
        return np.divide(np.minimum(beyond, widest), widest, out=np.where(asleep, np.nan, 0.0), where=widest > 0.0)


class TargetScore(LossRange):
    """Losses of real predictions, on whatever scale the targets turn out to be.

    Predictions are clipped to the range of the targets seen so far, widened by half its width on both sides: an expert
    that runs away is just bad, however far it runs.

    Parameters
    ----------
    loss : {"auto", "squared", "absolute", "pinball"} or callable
        A callable takes targets and predictions, both of shape (n_rows,), and returns losses (n_rows,) of any scale;
        if it has a method ``gradient`` with the same arguments, the gradient trick can be used. "auto" is "squared".
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
        self.loss: Any = loss if callable(loss) else LOSSES["squared" if loss == "auto" else loss]
        self.uses_gradient = average and hasattr(self.loss, "gradient")
        super().__init__()
        self.low, self.high = np.inf, -np.inf
        self.n_targets, self.mean = 0, 0.0
        self.knew_a_scale = False  #: before the targets that were observed last

    def observe(self, y: Floats) -> None:
        """Widen the range of the targets."""
        self.knew_a_scale = self.high > self.low
        self.low, self.high = min(self.low, float(y.min())), max(self.high, float(y.max()))
        self.n_targets += len(y)
        self.mean += float((y / self.n_targets - self.mean / self.n_targets).sum())

    def guess(self) -> Floats:
        """What to say when no expert says anything: the mean of the targets."""
        return np.array([self.mean])

    def tame(self, predictions: Floats) -> Floats:
        """Predictions clipped to the widened range of the targets."""
        width = self.high - self.low
        if not width > 0.0:  # no target yet, or always the same one: nothing is known of their scale
            return predictions
        inside = np.clip(predictions, self.low - MARGIN * width, self.high + MARGIN * width)
        return np.where(np.isfinite(predictions), inside, np.nan)

    def losses(self, y: Floats, predictions: Floats, mixture: Floats | None) -> Floats:
        """Losses (n_experts, n_rows) of predictions (n_experts, n_rows, 1), linear around the mixture (n_rows, 1)."""
        values = predictions[..., 0]
        if mixture is None:
            return np.stack([self._lost(y, of_expert) for of_expert in values])
        with np.errstate(over="ignore"):
            slope = _bounded(_own_loss(self.loss.gradient, y, mixture[:, 0], "gradient"))
            # relative to the mixture, so that large values of the target do not cancel in the differences
            return _bounded(slope * _bounded(values - mixture[:, 0]))

    def _lost(self, y: Floats, values: Floats) -> Floats:
        with np.errstate(over="ignore"):
            return _bounded(_own_loss(self.loss, y, values))

    def mixture_loss(self, y: Floats, mixture: Floats) -> Floats:
        """Losses (n_rows,) of what was issued, in the loss's own units."""
        return self._lost(y, mixture[:, 0])

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


def _bounded(values: Floats) -> Floats:
    return np.clip(values, -LARGEST, LARGEST)
