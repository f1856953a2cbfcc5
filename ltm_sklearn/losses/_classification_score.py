"""Losses of class probabilities, which lie in [0, 1]."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._param_checks import check_option
from .._typing import Floats
from ._custom import IMPLAUSIBLE, call_loss

#: The log loss treats smaller probabilities as this one.
SMALLEST_PROBABILITY = 1e-3

#: Probabilities may be below 0, and their sum above 1, by this much.
ROUNDING_OF_PROBABILITIES = 1e-6

#: A class whose probability exceeds that of every other class by this much has margin loss 0.
SAFE_MARGIN = 0.5


def zero_one(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """Return 1 where the most probable class is wrong or all probabilities are 0, and 0 elsewhere."""
    some = probabilities @ np.ones(probabilities.shape[-1]) > 0.0  # the fastest sum over few classes
    wrong: NDArray[np.bool_] = (probabilities.argmax(axis=-1) != y) | ~some
    return wrong.astype(np.float64)


def brier(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """Return half the squared distance of the probabilities p from the truth, ``½ Σ_c (p(c) - [c = y])²``."""
    squares = np.einsum("...d,...d->...", probabilities, probabilities)
    # expanded, so that no one-hot truth is built; rounding may leave it below 0
    scores: Floats = np.maximum((squares + 1.0) / 2.0 - _probability_of_truth(y, probabilities), 0.0)
    return scores


def log_loss(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    """Return ``-ln p(y) / ln 1000``, where p is at least 1/1000."""
    of_truth = np.clip(_probability_of_truth(y, probabilities), SMALLEST_PROBABILITY, 1.0)
    return np.log(of_truth) / np.log(SMALLEST_PROBABILITY)


def _probability_of_truth(y: NDArray[np.intp], probabilities: Floats) -> Floats:
    index = np.broadcast_to(y, probabilities.shape[:-1])[..., None]
    of_truth: Floats = np.take_along_axis(probabilities, index, -1)[..., 0]
    return of_truth


CLASS_LOSSES: dict[str, Callable[[Any, Floats], Floats]] = {"zero_one": zero_one, "brier": brier, "log_loss": log_loss}


class ClassificationScore:
    """Losses of class probabilities.

    Parameters
    ----------
    loss : {"auto", "zero_one", "brier", "log_loss"} or callable
        A callable takes the indices of the true classes, shape (n_rows,), and probabilities, shape
        (n_rows, n_classes), and returns losses in [0, 1], shape (n_rows,). "auto" is "zero_one"; if predictions are
        averaged, experts are also scored by the margin of the average.
    n_classes : int
        Number of classes.
    average : bool
        Whether the ensemble averages the predictions.
    """

    learns_range = False

    def __init__(self, loss: str | Callable[..., Any], n_classes: int, average: bool) -> None:
        if not callable(loss):
            check_option("loss", loss, ("auto", *CLASS_LOSSES))
        self.uses_margin = self.uses_gradient = average and isinstance(loss, str) and loss == "auto"
        self.n_outputs = n_classes
        self.counts = np.zeros(n_classes)
        self._custom = loss if callable(loss) else None
        self.loss = loss if callable(loss) else CLASS_LOSSES["zero_one" if loss == "auto" else loss]

    def resize(self, n_classes: int) -> None:
        """Append new classes, or remove the last ones."""
        if n_classes != self.n_outputs:
            self.counts = np.append(self.counts, np.zeros(max(n_classes - self.n_outputs, 0)))[:n_classes]
            self.n_outputs = n_classes

    def observe(self, y: NDArray[np.intp]) -> None:
        """Count the classes."""
        self.counts = self.counts + np.bincount(y, minlength=len(self.counts))

    def fallback(self) -> Floats:
        """Return the class frequencies so far, which are issued when no expert predicts."""
        return self.counts / max(self.counts.sum(), 1.0)

    def sanitized(self, predictions: Floats) -> Floats:
        """Return probabilities that sum to at most 1; rows with negative or implausibly large ones become NaN."""
        total = predictions @ np.ones((self.n_outputs, 1))
        most = 1.0 + ROUNDING_OF_PROBABILITIES
        if not total.max(initial=0.0) <= most:  # not `>`, which would hide a NaN
            scaled = np.where(total > most, predictions / np.maximum(total, 1.0), predictions)
            predictions = np.where(total > IMPLAUSIBLE, np.nan, scaled)
        if not predictions.min(initial=0.0) >= 0.0:
            negative = (predictions < -ROUNDING_OF_PROBABILITIES).any(axis=-1, keepdims=True)
            predictions = np.where(negative, np.nan, np.maximum(predictions, 0.0))
        return predictions

    def normalised(self, mixture: Floats) -> Floats:
        """Scale probabilities (n_rows, n_classes) to sum to 1; rows of zeros become uniform."""
        total = mixture.sum(axis=1, keepdims=True)
        even = np.full_like(mixture, 1.0 / max(self.n_outputs, 1))
        return np.divide(mixture, total, out=even, where=total > 0.0)

    def losses(self, y: NDArray[np.intp], predictions: Floats, mixture: Floats | None) -> Floats:
        """Return the losses (n_experts, n_rows) of predictions (n_experts, n_rows, n_classes).

        With a mixture, these are the linearised margin losses. The margin of a mixture p is
        ``m(p) = p(y) - max_{c≠y} p(c)``. The margin loss ``max(0, 1/2 - m(p))`` is convex in p and bounds the mistakes
        up to a factor 2. Where it is positive, its slope along an expert's probabilities x is ``x(c) - x(y)``, with c
        the most probable wrong class. The slope is mapped to [0, 1].
        """
        if mixture is not None:
            rows = np.arange(len(y))
            others = mixture.copy()
            others[rows, y] = -1.0
            slope = np.zeros_like(mixture)
            unsafe = mixture[rows, y] - others.max(axis=1) < SAFE_MARGIN
            slope[rows, others.argmax(axis=1)] = 0.5
            slope[rows, y] = -0.5
            linear: Floats = np.einsum("end,nd->en", predictions, slope)
            return (linear + 0.5) * unsafe
        if self._custom is None:
            return self.loss(y, predictions)
        losses = np.stack([call_loss(self._custom, y, of_expert) for of_expert in predictions])
        if losses.min(initial=0.0) < 0.0 or losses.max(initial=1.0) > 1.0:
            raise ValueError(f"loss must return values in [0, 1]; got {losses.min()} to {losses.max()}")
        return losses

    def blend_losses(self, y: NDArray[np.intp], mixtures: Floats) -> Floats:
        """Return the mean of zero-one loss and Brier score, (n_mixtures, n_rows), by which mixtures are compared.

        The zero-one loss alone does not distinguish a confident mixture from an unsure one. The Brier score alone
        would prefer a mixture that errs more often with lower confidence.
        """
        return (zero_one(y, mixtures) + brier(y, mixtures)) / 2.0

    def mixture_loss(self, y: NDArray[np.intp], mixture: Floats) -> Floats:
        """Return the losses (n_rows,) of the issued predictions (n_rows, n_classes)."""
        return self.losses(y, self.normalised(mixture)[np.newaxis], None)[0]

    def disagreements(self, one: Floats, others: Floats, y: NDArray[np.intp]) -> Floats:
        """Return 1 where other models, (n_others, n_rows, n_classes), predict another class than one model, else 0."""
        return (one.argmax(axis=-1) != others.argmax(axis=-1)).astype(np.float64)

    def rescale(self, losses: Floats) -> Floats:
        """Return the losses unchanged: they lie in [0, 1]."""
        return losses

    def rescale_queried(self, losses: Floats) -> Floats:
        """Return the losses of the queried experts unchanged: they lie in [0, 1]."""
        return losses
