"""Losses of class probabilities, whose range is known beforehand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experts._validation import Floats, check_option
from ._own import ABSURD, checked

#: Probabilities below this are as good as this one to the log loss.
SMALLEST_PROBABILITY = 1e-3

#: Probabilities may be below 0, and their sum above 1, by this much.
ROUNDING_OF_PROBABILITIES = 1e-6

#: A class is safely ahead of its rivals by this much.
SAFE_MARGIN = 0.5


def zero_one(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """1 where the likeliest class is not the true one, or none has any chance."""
    some = probabilities @ np.ones(probabilities.shape[-1]) > 0.0  # the fastest sum of few
    wrong: NDArray[np.bool_] = (probabilities.argmax(axis=-1) != y) | ~some
    return wrong.astype(np.float64)


def brier(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """Half the squared distance of the probabilities from the truth, ``½ Σ_c (p(c) - [c = y])²``."""
    squares = np.einsum("...d,...d->...", probabilities, probabilities)
    # expanded, which takes no row of the truth; rounding may leave it below 0 where it is 0
    scores: Floats = np.maximum((squares + 1.0) / 2.0 - _of_truth(y, probabilities), 0.0)
    return scores


def log_loss(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """``-ln p(y)``, with p at least 1/1000, over ln 1000."""
    of_truth = np.clip(_of_truth(y, probabilities), SMALLEST_PROBABILITY, 1.0)
    return np.log(of_truth) / np.log(SMALLEST_PROBABILITY)


def _of_truth(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """What the true classes are given."""
    of_truth: Floats = np.take_along_axis(probabilities, np.broadcast_to(y, probabilities.shape[:-1])[..., None], -1)[
        ..., 0
    ]
    return of_truth


CLASS_LOSSES: dict[str, Callable[[Any, Floats], Floats]] = {"zero_one": zero_one, "brier": brier, "log_loss": log_loss}


class ClassScore:
    """Losses of class probabilities.

    Parameters
    ----------
    loss : {"auto", "zero_one", "brier", "log_loss"} or callable
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
        """Probabilities that sum to no more than one; NaN for a row with negative or absurdly large ones."""
        total = predictions @ np.ones((self.n_outputs, 1))
        most = 1.0 + ROUNDING_OF_PROBABILITIES
        if not total.max(initial=0.0) <= most:  # also where it is NaN
            scaled = np.where(total > most, predictions / np.maximum(total, 1.0), predictions)
            predictions = np.where(total > ABSURD, np.nan, scaled)
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
        losses = np.stack([checked(self._own, y, of_expert) for of_expert in predictions])
        if losses.min(initial=0.0) < 0.0 or losses.max(initial=1.0) > 1.0:
            raise ValueError(f"loss must return values in [0, 1]; got {losses.min()} to {losses.max()}")
        return losses

    def blend_losses(self, y: NDArray[np.intp], mixtures: Floats) -> Floats:
        """Losses (n_mixtures, n_rows): mistakes count, and so do probabilities, by the Brier score, half each.

        Mistakes alone would not mind a mixture that is right but never sure; the Brier score alone would prefer one
        that is wrong more often, but less sure of it.
        """
        return (zero_one(y, mixtures) + brier(y, mixtures)) / 2.0

    def mixture_loss(self, y: NDArray[np.intp], mixture: Floats) -> Floats:
        """Losses (n_rows,) of what was issued."""
        return self.losses(y, self.normalised(mixture)[np.newaxis], None)[0]

    def distances(self, one: Floats, others: Floats, y: NDArray[np.intp]) -> Floats:
        """How far others, (n_others, n_rows, n_classes), are from one in each row: 1 if they see another class."""
        return (one.argmax(axis=-1) != others.argmax(axis=-1)).astype(np.float64)

    def rescale(self, losses: Floats) -> Floats:
        """Losses are in [0, 1] already."""
        return losses

    def rescale_seen(self, losses: Floats) -> Floats:
        """The same, where only some experts were asked."""
        return losses
