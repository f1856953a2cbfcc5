"""Best fixed weights of forecasts in hindsight, for convex and for linear combinations.

The weights of a convex combination are at least 0 and sum to 1, so that its error is the same combination of the
experts' errors. The weights of a linear combination are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog, nnls

from .._typing import Floats
from ..losses import AbsoluteError, AbsolutePercentageError, Pinball, SquaredError

#: Newton steps end when a step reduces the loss by less than this part.
TOLERANCE = 1e-11

MOST_STEPS = 200

#: Lower limit, as part of the mean error, of an error that is divided by.
SMALLEST_ERROR = 1e-6

#: Step of the finite difference that gives the curvature, as part of the mean error.
DIFFERENCE = 1e-5

#: Relative singular value below which a direction is ignored.
RANK_TOLERANCE = 1e-13

#: Least curvature, as part of that of the parabola with the same slope and its minimum at the target.
LEAST_CURVATURE = 1e-3


def best_weights(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """Return the weights (n_experts,) with the least mean loss.

    They are exact for squared errors and piecewise linear losses; for others they come from Newton steps.
    """
    if type(loss) is SquaredError:
        return _least_squares(forecasts, y, convex)
    if type(loss) not in (AbsoluteError, Pinball, AbsolutePercentageError):
        return _newton(forecasts, y, loss, convex)
    weights = _linear_program(forecasts, y, loss, convex)
    single = np.eye(forecasts.shape[1])[np.abs(forecasts - y[:, np.newaxis]).mean(axis=0).argmin()]
    # the tolerance of the solver may be large where the errors are small compared to the forecasts
    candidates = [weights, single, _least_squares(forecasts, y, convex)]
    return min(candidates, key=lambda each: float(np.mean(loss(y, forecasts @ each))))


def _least_squares(forecasts: Floats, y: Floats, convex: bool) -> Floats:
    if convex:
        return _nearest_to_zero(forecasts - y[:, np.newaxis])
    widths, size = _column_sizes(forecasts), _size(y)
    weights = np.linalg.lstsq(forecasts / widths, y / size, rcond=None)[0]
    return np.asarray(weights * (size / widths), dtype=np.float64)


def _nearest_to_zero(errors: Floats) -> Floats:
    """Return the convex weights w with the least ``‖E w‖``, by non-negative least squares.

    ``‖E u‖² + (1 - Σ u)²`` over u >= 0 has its minimum at a multiple of w: along the multiples of any w, the minimum is
    ``q / (1 + q)`` with ``q = ‖E w‖²``, which increases with q.
    """
    errors = errors / _size(errors)
    if len(errors) > errors.shape[1]:
        errors = np.asarray(np.linalg.qr(errors, mode="r"))
    least = np.linalg.norm(errors, axis=0).min()
    table = np.vstack([errors / (least or 1.0), np.ones(errors.shape[1])])
    weights: Floats = nnls(table, np.append(np.zeros(len(errors)), 1.0), maxiter=100 * errors.shape[1])[0]
    return weights / weights.sum()


def _linear_program(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """Return the best weights for losses that are linear on both sides of the target, by the dual linear program.

    The dual has one variable for each row, the slope d of the loss, between the slopes on both sides of the target, and
    one constraint for each expert, whose dual variable is the weight. It is solved far faster than the primal program.
    With errors E it is ``max_d min_k (E^T d)_k`` for convex weights, and ``max_d -y^T d`` with ``X^T d = 0`` for free
    weights.
    """
    aside = np.abs(y) + 1.0
    above, below = loss.gradient(y, y + aside), loss.gradient(y, y - aside)
    steepest = np.maximum(above, -below)
    bounds = np.column_stack([below, above]) / np.where(steepest > 0.0, steepest, 1.0)[:, np.newaxis]
    if convex:
        errors = steepest[:, np.newaxis] * (forecasts - y[:, np.newaxis])
        typical = np.abs(errors).mean(axis=0)
        unit = typical.min() or _mean_size(errors)
        errors, typical = errors / unit, typical / unit
        # the scale of each constraint: errors of one bad expert should not set the tolerance
        scale = np.maximum(typical, 1.0)
        n_rows, n_experts = errors.shape
        solution = linprog(
            np.append(np.zeros(n_rows), -1.0),
            A_ub=np.column_stack([-(errors / scale).T, 1.0 / scale]),
            b_ub=np.zeros(n_experts),
            bounds=np.vstack([bounds, [-np.inf, np.inf]]),
        )
        _check_solved(solution)
        weights: Floats = np.maximum(-solution.ineqlin.marginals, 0.0) / scale
        return weights / weights.sum()
    # solve for the residuals of least squares in orthogonal directions: forecasts are correlated and far from zero
    base = _least_squares(forecasts, y, convex=False)
    left = steepest * (y - forecasts @ base)
    widths = _column_sizes(forecasts)
    directions, sizes, back = np.linalg.svd(steepest[:, np.newaxis] * (forecasts / widths), full_matrices=False)
    kept = sizes > RANK_TOLERANCE * sizes.max()
    table, size = directions[:, kept] * np.sqrt(len(y)), _mean_size(left)
    solution = linprog(left / size, A_eq=table.T, b_eq=np.zeros(table.shape[1]), bounds=bounds)
    _check_solved(solution)
    steps = np.asarray(solution.eqlin.marginals) * (size * np.sqrt(len(y)))
    return np.asarray(base + back[kept].T @ (steps / sizes[kept]) / widths)


def _check_solved(solution: Any) -> None:
    if solution.status != 0:
        raise RuntimeError(f"the solver found no best weights: {solution.message}")


def _newton(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """Return the best weights by Newton steps with line search; each step solves weighted least squares.

    The loss of a row depends on its prediction only, so that two gradients give its curvature. Where the loss is
    linear, the curvature is that of a parabola with its minimum at the target instead. A second candidate step uses
    this parabola in all rows: it is shorter, but kinks of the loss do not harm it.
    """
    weights = _least_squares(forecasts, y, convex)
    prediction = forecasts @ weights
    mean_loss = float(np.mean(loss(y, prediction)))
    for _ in range(MOST_STEPS):
        slope = loss.gradient(y, prediction)
        error = np.abs(prediction - y)
        typical = _mean_size(error)
        parabola = np.abs(slope) / np.maximum(error, SMALLEST_ERROR * typical)
        step = DIFFERENCE * typical
        bend = (loss.gradient(y, prediction + step) - loss.gradient(y, prediction - step)) / (2.0 * step)
        before = mean_loss
        start, start_weights = prediction, weights
        for curvature in (np.maximum(bend, LEAST_CURVATURE * parabola), parabola):
            if not curvature.max() > 0.0:  # all gradients are 0: the weights are optimal
                continue
            curvature = np.maximum(curvature, 1e-12 * curvature.max())
            goal = start - slope / curvature
            root = np.sqrt(curvature / curvature.max())
            if convex:
                target_weights = _nearest_to_zero(root[:, np.newaxis] * (forecasts - goal[:, np.newaxis]))
            else:
                target_weights = _least_squares(root[:, np.newaxis] * forecasts, root * goal, convex=False)
            direction = forecasts @ target_weights - start
            part = _line_search(start, direction, y, loss, most=1.0 if convex else 4.0)
            now = float(np.mean(loss(y, start + part * direction)))
            if now < mean_loss:
                mean_loss, weights = now, start_weights + part * (target_weights - start_weights)
                prediction = start + part * direction
        if not before - mean_loss > TOLERANCE * abs(before):
            break
    return weights


def _line_search(start: Floats, direction: Floats, y: Floats, loss: Any, most: float) -> float:
    """Return the part of a step, at most ``most``, at which the derivative of the loss along it is 0."""

    def derivative(part: float) -> float:
        return float(loss.gradient(y, start + part * direction) @ direction)

    if derivative(0.0) >= 0.0:
        return 0.0
    return most if derivative(most) <= 0.0 else float(brentq(derivative, 0.0, most, xtol=1e-12))


def _size(values: Floats) -> float:
    """Return the largest absolute value, 1 if it is 0."""
    return float(np.abs(values).max()) or 1.0


def _column_sizes(table: Floats) -> Floats:
    """Return the largest absolute value of each column, 1 where it is 0."""
    sizes: Floats = np.abs(table).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def _mean_size(values: Floats) -> float:
    """Return the mean absolute value, 1 if it is 0."""
    return float(np.abs(values).mean()) or 1.0
