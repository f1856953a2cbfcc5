"""What the experts say, taken together by one more model."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import compiled
from .._typing import Floats
from ..losses import SMALLEST_PROBABILITY

kernel = compiled("_blend", __package__)

#: The step of a cell, times the number of experts: each of them moves the sum.
RATE = 0.25

#: The sum of squared slopes with which each cell begins.
FIRST_SQUARE = 1e-8

#: With more cells than this a step takes longer than most experts.
MOST_CELLS = 5_000


class Stack:
    """A softmax regression on the experts' log-probabilities, trained row by row.

    Weights can only mix what experts say. This also corrects it: that one of them takes class 1 for class 2, or is less
    sure than it should be. With the inputs ``f_i(c) = ln x_i(c)``, less their mean over the classes c, it says

        p(d) ∝ exp Σ_i Σ_c W(i, c, d) f_i(c)

    and begins with the geometric mean of the experts, ``W(i, c, d) = [c = d] / n``. Its loss -ln p(y) is convex in W;
    it goes down the slope with a rate for each cell (AdaGrad). An expert that sleeps has inputs 0, and those of the
    others are as much larger as there are fewer of them.

    Parameters
    ----------
    n_experts : int
    """

    def __init__(self, n_experts: int) -> None:
        self.n_experts = n_experts
        #: (n_experts * n_classes, n_classes); :meth:`learned` leaves them as they are, but compiled rounds of one row,
        #: in which there is nothing to undo, train them in place
        self.cells = np.zeros((0, 0))
        self.squares = np.zeros((0, 0))  #: of the slopes so far, summed

    @property
    def rate(self) -> float:
        """The step of a cell whose slope is what it has been."""
        return RATE / self.n_experts

    def fits(self, n_classes: int) -> bool:
        """Whether it is small enough for so many classes."""
        return self.n_experts * n_classes**2 <= MOST_CELLS

    def for_classes(self, n_classes: int) -> tuple[Floats, Floats]:
        """Cells and squares for so many classes: what was learned of those that were known, and a start for others."""
        known = self.cells.shape[1]
        if n_classes == known:
            return self.cells, self.squares
        shape, old = (self.n_experts, n_classes, n_classes), (self.n_experts, known, known)
        cells = np.broadcast_to(np.eye(n_classes) / self.n_experts, shape).copy()
        squares = np.full(shape, FIRST_SQUARE)
        both = min(known, n_classes)
        cells[:, :both, :both] = self.cells.reshape(old)[:, :both, :both]
        squares[:, :both, :both] = self.squares.reshape(old)[:, :both, :both]
        return cells.reshape(-1, n_classes), squares.reshape(-1, n_classes)

    def predict(self, predictions: Floats) -> Floats:
        """Probabilities (n_rows, n_classes) from those of the experts, (n_experts, n_rows, n_classes)."""
        if not predictions.size:
            return np.zeros(predictions.shape[1:])
        cells, _ = self.for_classes(predictions.shape[2])
        if kernel is not None:
            return kernel.stack(np.ascontiguousarray(predictions), cells, SMALLEST_PROBABILITY)
        return _softmax(_inputs(predictions) @ cells)

    def learned(self, predictions: Floats, truth: Any, row_weights: Floats) -> Stack:
        """One that has learned rows, one after another."""
        stack = Stack(self.n_experts)
        cells, squares = (table.copy() for table in self.for_classes(predictions.shape[2]))
        stack.cells, stack.squares = cells, squares
        if kernel is not None:
            said, truth = np.ascontiguousarray(predictions), np.ascontiguousarray(truth, dtype=np.intp)
            kernel.stack(said, cells, SMALLEST_PROBABILITY, truth, row_weights, cells, squares, self.rate)
            return stack
        for inputs, label, weight in zip(_inputs(predictions), truth, row_weights, strict=True):
            wrong = _softmax(inputs @ cells)
            wrong[label] -= 1.0
            slope = weight * np.outer(inputs, wrong)
            squares += slope**2
            cells -= self.rate * slope / np.sqrt(squares)
        return stack


def _inputs(predictions: Floats) -> Floats:
    """Centred log-probabilities, (n_rows, n_experts * n_classes)."""
    logs = np.log(np.maximum(predictions, SMALLEST_PROBABILITY))
    heard = (predictions.sum(axis=2) > 0.0).mean(axis=0)[np.newaxis, :, np.newaxis]
    centred = logs - logs.mean(axis=2, keepdims=True)
    inputs: Floats = np.divide(centred, heard, out=np.zeros_like(centred), where=heard > 0.0).transpose(1, 0, 2)
    return inputs.reshape(len(inputs), -1)


def _softmax(scores: Floats) -> Floats:
    chances = np.exp(scores - scores.max(axis=-1, keepdims=True))
    softmax: Floats = chances / chances.sum(axis=-1, keepdims=True)
    return softmax
