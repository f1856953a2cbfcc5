"""Stack: a softmax regression that combines the experts' class probabilities as one more model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import softmax
from .._optional import import_kernel
from .._typing import Floats
from ..losses import SMALLEST_PROBABILITY

kernel = import_kernel("_blend", __package__)

#: Learning rate of a coefficient times the number of experts, because each expert moves the sum.
RATE = 0.25

#: Sum of squared gradients with which each coefficient begins.
FIRST_SQUARE = 1e-8

#: With more coefficients than this a step takes longer than most experts.
MOST_COEFFICIENTS = 5_000


class Stack:
    """Softmax regression on the experts' log-probabilities, trained row by row.

    Weights can only mix predictions. The stack also corrects them: an expert that takes class 1 for class 2, or is
    less certain than it should be. With the inputs ``f_i(c) = ln x_i(c)``, less their mean over the classes c,

        p(d) ∝ exp Σ_i Σ_c W(i, c, d) f_i(c)

    It begins with the geometric mean of the experts, ``W(i, c, d) = [c = d] / n``. Its loss -ln p(y) is convex in W,
    and each coefficient has a learning rate of its own (AdaGrad). The inputs of a sleeping expert are 0, and those of
    the others grow as there are fewer of them.

    Parameters
    ----------
    n_experts : int
    """

    def __init__(self, n_experts: int) -> None:
        self.n_experts = n_experts
        #: (n_experts * n_classes, n_classes); :meth:`learned` leaves them as they are, but compiled rounds of one row,
        #: in which there is nothing to undo, train them in place
        self.coefficients = np.zeros((0, 0))
        self.squares = np.zeros((0, 0))  #: sums of the squared gradients

    @property
    def rate(self) -> float:
        """Learning rate of a coefficient, before it is divided by the root of its squared gradients."""
        return RATE / self.n_experts

    def fits(self, n_classes: int) -> bool:
        """Whether the stack is small enough for this number of classes."""
        return self.n_experts * n_classes**2 <= MOST_COEFFICIENTS

    def for_classes(self, n_classes: int) -> tuple[Floats, Floats]:
        """Return coefficients and squares for this number of classes: as learned for known ones, fresh for new ones."""
        known = self.coefficients.shape[1]
        if n_classes == known:
            return self.coefficients, self.squares
        shape, old = (self.n_experts, n_classes, n_classes), (self.n_experts, known, known)
        coefficients = np.broadcast_to(np.eye(n_classes) / self.n_experts, shape).copy()
        squares = np.full(shape, FIRST_SQUARE)
        both = min(known, n_classes)
        coefficients[:, :both, :both] = self.coefficients.reshape(old)[:, :both, :both]
        squares[:, :both, :both] = self.squares.reshape(old)[:, :both, :both]
        return coefficients.reshape(-1, n_classes), squares.reshape(-1, n_classes)

    def predict(self, predictions: Floats) -> Floats:
        """Predict probabilities (n_rows, n_classes) from those of the experts, (n_experts, n_rows, n_classes)."""
        if not predictions.size:
            return np.zeros(predictions.shape[1:])
        coefficients, _ = self.for_classes(predictions.shape[2])
        if kernel is not None:
            return kernel.stack(np.ascontiguousarray(predictions), coefficients, SMALLEST_PROBABILITY)
        return softmax(_inputs(predictions) @ coefficients)

    def learned(self, predictions: Floats, targets: Any, row_weights: Floats) -> Stack:
        """Return a stack that has learned these rows, one after another."""
        stack = Stack(self.n_experts)
        coefficients, squares = (table.copy() for table in self.for_classes(predictions.shape[2]))
        stack.coefficients, stack.squares = coefficients, squares
        if kernel is not None:
            rows = np.ascontiguousarray(predictions), coefficients, SMALLEST_PROBABILITY
            targets = np.ascontiguousarray(targets, dtype=np.intp)
            kernel.stack(*rows, targets, row_weights, coefficients, squares, self.rate)
            return stack
        for inputs, label, weight in zip(_inputs(predictions), targets, row_weights, strict=True):
            error = softmax(inputs @ coefficients)
            error[label] -= 1.0
            gradient = weight * np.outer(inputs, error)
            squares += gradient**2
            coefficients -= self.rate * gradient / np.sqrt(squares)
        return stack


def _inputs(predictions: Floats) -> Floats:
    """Centred log-probabilities, (n_rows, n_experts * n_classes)."""
    logs = np.log(np.maximum(predictions, SMALLEST_PROBABILITY))
    awake_share = (predictions.sum(axis=2) > 0.0).mean(axis=0)[np.newaxis, :, np.newaxis]
    centred = logs - logs.mean(axis=2, keepdims=True)
    inputs = np.divide(centred, awake_share, out=np.zeros_like(centred), where=awake_share > 0.0).transpose(1, 0, 2)
    return np.asarray(inputs.reshape(len(inputs), -1))
