"""Losses of real predictions, in the units of the loss."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._param_checks import check_required_number
from .._typing import Floats
from ._custom import call_loss, clip_large

#: Relative rounding error of the mixture of equal forecasts.
ROUNDING_OF_MIXTURE = 1e-13


class RegressionLoss(ABC):
    """Base class of losses of real predictions: a convex function of the prediction, and its derivative."""

    @abstractmethod
    def __call__(self, y: Floats, prediction: Floats) -> Floats: ...

    @abstractmethod
    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        """Return the derivative with respect to the prediction."""

    def check_targets(self, y: Floats) -> None:  # noqa: B027 - most losses accept all targets
        """Raise a ValueError for targets for which the loss is not defined."""


@dataclass(frozen=True)
class SquaredError(RegressionLoss):
    """Squared error ``(ŷ - y)²``, least at the mean."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return (prediction - y) ** 2

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return 2.0 * (prediction - y)


@dataclass(frozen=True)
class AbsoluteError(RegressionLoss):
    """Absolute error ``|ŷ - y|``, least at the median."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return np.abs(prediction - y)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.sign(prediction - y)


@dataclass(frozen=True)
class Pinball(RegressionLoss):
    """Pinball loss ``max(q (y - ŷ), (1 - q) (ŷ - y))``, least at the quantile q.

    Parameters
    ----------
    quantile : float, default=0.5
        q, between 0 and 1.
    """

    quantile: float = 0.5

    def __post_init__(self) -> None:
        check_required_number("quantile", self.quantile, 0.0, 1.0, low_open=True, high_open=True)

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        error = y - prediction
        return np.maximum(self.quantile * error, (self.quantile - 1.0) * error)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        slope = np.where(prediction > y, 1.0 - self.quantile, -self.quantile)
        return np.where(prediction == y, 0.0, slope)


@dataclass(frozen=True)
class AbsolutePercentageError(RegressionLoss):
    """Absolute percentage error ``|ŷ - y| / |y|``, as a fraction. No target may be zero."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        return np.abs(prediction - y) / np.abs(y)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.sign(prediction - y) / np.abs(y)

    def check_targets(self, y: Floats) -> None:
        # below the smallest normal number the division would overflow
        zero = np.abs(y) < np.finfo(np.float64).tiny
        if zero.any():
            row = int(zero.reshape(len(y), -1).any(axis=1).argmax())
            raise ValueError(
                f"y is zero in row {row}, where a percentage error is undefined; try loss='absolute_error'"
            )


@dataclass(frozen=True)
class Huber(RegressionLoss):
    """Huber loss of an error e: ``e²/2`` up to the size δ, and ``δ (|e| - δ/2)`` beyond.

    Parameters
    ----------
    delta : float, default=1.0
        δ, in the units of the target.
    """

    delta: float = 1.0

    def __post_init__(self) -> None:
        check_required_number("delta", self.delta, 0.0, np.inf, low_open=True, high_open=True)

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        size = np.abs(prediction - y)
        near = np.minimum(size, self.delta)
        return near * (size - near / 2.0)

    def gradient(self, y: Floats, prediction: Floats) -> Floats:
        return np.clip(prediction - y, -self.delta, self.delta)


@dataclass(frozen=True)
class LogCosh(RegressionLoss):
    """Log-cosh loss ``ln cosh(ŷ - y)``: about ``e²/2`` for a small error e and ``|e| - ln 2`` for a large one."""

    def __call__(self, y: Floats, prediction: Floats) -> Floats:
        size = np.abs(prediction - y)
        return size + np.log1p(np.expm1(-2.0 * size) / 2.0)  # cosh itself would overflow

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
    """Losses of rows that belong to one of several outputs.

    Parameters
    ----------
    losses : list of RegressionLoss or callable
        One for each output. A callable takes targets and predictions, both of shape (n_rows,).
    """

    def __init__(self, losses: list[Any]) -> None:
        self.losses = losses

    @property
    def have_gradient(self) -> bool:
        """Whether all losses have a gradient and can be linearised."""
        return all(hasattr(loss, "gradient") for loss in self.losses)

    def of_experts(self, y: Floats, forecasts: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """Return the losses (n_rows, n_experts) of forecasts (n_rows, n_experts)."""
        return np.stack([self.of(y, column, outputs) for column in forecasts.T], axis=1)

    def linear(self, y: Floats, mixture: Floats, forecasts: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """Return ``f'(ŷ) (x - ŷ)``: losses of forecasts x (n_rows, n_experts) linearised at their mixture ŷ."""
        with np.errstate(over="ignore"):
            slope = clip_large(self._each(y, mixture, outputs, gradient=True))[:, np.newaxis]
            # relative to the mixture, so that large values of the target do not cancel in the differences
            return clip_large(slope * deviation_from_mixture(forecasts, mixture[:, np.newaxis]))

    def of(self, y: Floats, prediction: Floats, outputs: NDArray[np.intp] | None) -> Floats:
        """Return the losses (n_rows,) of predictions (n_rows,)."""
        with np.errstate(over="ignore"):
            return clip_large(self._each(y, prediction, outputs))

    def _each(self, y: Floats, prediction: Floats, outputs: NDArray[np.intp] | None, gradient: bool = False) -> Floats:
        name = "gradient" if gradient else "loss"
        functions = [loss.gradient for loss in self.losses] if gradient else self.losses
        if outputs is None:
            return call_loss(functions[0], y, prediction, name)
        values = np.empty_like(y)
        for output in np.unique(outputs):
            here = outputs == output
            values[here] = call_loss(functions[output], y[here], prediction[here], name)
        return values


def deviation_from_mixture(forecasts: Floats, mixture: Floats) -> Floats:
    """Return the forecasts minus their mixture, with 0 for rounding errors, which must not widen a range."""
    deviation = clip_large(forecasts - mixture)
    size = np.maximum(np.abs(forecasts), np.abs(mixture))
    return np.where(np.abs(deviation) <= ROUNDING_OF_MIXTURE * size, 0.0, deviation)
