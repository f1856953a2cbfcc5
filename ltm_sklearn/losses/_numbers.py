"""Losses of real predictions, in their own units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..experts._validation import Floats, check_real
from ._own import bounded, checked

#: A mixture of equal forecasts differs from them by no more than this part.
ROUNDING_OF_MIXTURE = 1e-13


class RegressionLoss(ABC):
    """A loss of real predictions, convex in them, with its derivative."""

    @abstractmethod
    def __call__(self, y: Floats, prediction: Floats) -> Floats: ...

    @abstractmethod
    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        """Derivative with respect to the prediction."""

    def check_targets(self, y: Floats) -> None:  # noqa: B027 - most losses take all
        """Raise a ValueError for targets that the loss cannot take."""


@dataclass(frozen=True)
class SquaredError(RegressionLoss):
    """``(ŷ - y)²``: aims at the mean."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return (prediction - y) ** 2

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return 2.0 * (prediction - y)


@dataclass(frozen=True)
class AbsoluteError(RegressionLoss):
    """``|ŷ - y|``: aims at the median."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return np.abs(prediction - y)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.sign(prediction - y)


@dataclass(frozen=True)
class Pinball(RegressionLoss):
    """``max(q (y - ŷ), (1 - q) (ŷ - y))``: aims at the quantile q.

    Parameters
    ----------
    quantile : float, default=0.5
        q, between 0 and 1.
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_real("quantile", self.quantile, 0.0, 1.0, low_open=True, high_open=True)

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        error = y - prediction
        return np.maximum(self.quantile * error, (self.quantile - 1.0) * error)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        slope = np.where(prediction > y, 1.0 - self.quantile, -self.quantile)
        return np.where(prediction == y, 0.0, slope)


@dataclass(frozen=True)
class AbsolutePercentageError(RegressionLoss):
    """``|ŷ - y| / |y|``: as a mean, the mean absolute percentage error. No target may be zero."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return np.abs(prediction - y) / np.abs(y)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.sign(prediction - y) / np.abs(y)

    def check_targets(self, y: Floats) -> None:
        # below the smallest normal number a percentage would overflow
        zero = np.abs(y) < np.finfo(np.float64).tiny
        if zero.any():
            row = int(zero.reshape(len(y), -1).any(axis=1).argmax())
            raise ValueError(f"y is zero in row {row}: there are no percentages of zero; try loss='absolute_error'")


@dataclass(frozen=True)
class Huber(RegressionLoss):
    """``e²/2`` up to an error e of size δ, ``δ (|e| - δ/2)`` beyond: the mean, but outliers count less.

    Parameters
    ----------
    delta : float, default=1.0
        δ, in the units of the target.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        check_real("delta", self.delta, 0.0, np.inf, low_open=True, high_open=True)

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        size = np.abs(prediction - y)
        near = np.minimum(size, self.delta)
        return near * (size - near / 2.0)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.clip(prediction - y, -self.delta, self.delta)


@dataclass(frozen=True)
class LogCosh(RegressionLoss):
    """``ln cosh(ŷ - y)``: about ``e²/2`` for small errors, ``|e| - ln 2`` for large ones, and smooth."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        size = np.abs(prediction - y)
        return size + np.log1p(np.expm1(-2.0 * size) / 2.0)  # ln cosh itself would overflow

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.tanh(prediction - y)


LOSSES: dict[str, RegressionLoss] = {
    "squared_error": SquaredError(),
    "absolute_error": AbsoluteError(),
    "absolute_percentage_error": AbsolutePercentageError(),
    "pinball": Pinball(),
    "huber": Huber(),
    "log_cosh": LogCosh(),
}


class OutputLosses:
    """The losses of one or several outputs, of which each row is one.

    Parameters
    ----------
    losses : list of RegressionLoss or callable
        One for each output. A callable takes targets and predictions, shape (n_rows,) both.
    """

    def __init__(self, losses: list[Any]) -> None:
        self.losses = losses

    @property
    def have_gradients(self) -> bool:
        """Whether all can be made linear."""
        return all(hasattr(loss, "gradient") for loss in self.losses)

    def of_experts(self, y: Floats, forecasts: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """Losses (n_rows, n_experts) of forecasts (n_rows, n_experts)."""
        return np.stack([self.of(y, column, outputs) for column in forecasts.T], axis=1)

    def linear(self, y: Floats, mixture: Floats, forecasts: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """``f'(ŷ) (x - ŷ)``: the same made linear at a mixture ŷ, (n_rows,)."""
        with np.errstate(over="ignore"):
            slope = bounded(self._each(y, mixture, outputs, "gradient"))[:, np.newaxis]
            # relative to the mixture, so that large values of the target do not cancel in the differences
            return bounded(slope * apart(forecasts, mixture[:, np.newaxis]))

    def of(self, y: Floats, prediction: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """Losses (n_rows,) of predictions (n_rows,)."""
        with np.errstate(over="ignore"):
            return bounded(self._each(y, prediction, outputs, "loss"))

    def _each(self, y: Floats, prediction: Floats, outputs: NDArray[np.intp] | None, what: str) -> Floats:
        if outputs is None:
            return checked(_part(self.losses[0], what), y, prediction, what)
        values = np.empty_like(y)
        for output in np.unique(outputs):
            here = outputs == output
            values[here] = checked(_part(self.losses[output], what), y[here], prediction[here], what)
        return values


def apart(forecasts: Floats, mixture: Floats) -> Floats:
    """How far forecasts are from their mixture; what is only its rounding is nothing, or ranges would be made of it."""
    apart = bounded(forecasts - mixture)
    size = np.maximum(np.abs(forecasts), np.abs(mixture))
    return np.where(np.abs(apart) <= ROUNDING_OF_MIXTURE * size, 0.0, apart)


def _part(loss: Any, what: str) -> Callable[..., Any]:
    part: Callable[..., Any] = loss if what == "loss" else loss.gradient
    return part
