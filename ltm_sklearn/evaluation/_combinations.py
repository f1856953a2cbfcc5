"""The best fixed weights in hindsight.

Two families of weights share all of it. Those of a convex combination are at least 0 and sum to 1, so that its error is
the same combination of the experts' errors; those of a linear one are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import brentq, linprog, nnls

from .._typing import Floats
from ..losses import AbsoluteError, AbsolutePercentageError, Pinball, SquaredError

#: Newton's steps end when one gains less than this part of the loss.
TOLERANCE = 1e-11

MOST_STEPS = 200

#: An error below this part of a usual one is taken to be this large where it is divided by.
SMALLEST_ERROR = 1e-6

#: Slopes are compared over this part of a usual error, to know the curvature.
DIFFERENCE = 1e-5

#: Directions in which forecasts differ by less than this part of their size are none.
RANK_TOLERANCE = 1e-13

#: The least curvature, as part of that of a parabola with the same slope and its bottom at the target.
LEAST_CURVATURE = 1e-3


def best_weights(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """Weights (n_experts,) with the least mean loss: exact for squares and losses with kinks, else by Newton steps."""
    if type(loss) is SquaredError:
        return _least_squares(forecasts, y, convex)
    if type(loss) not in (AbsoluteError, Pinball, AbsolutePercentageError):
        return _newton(forecasts, y, loss, convex)
    weights = _linear_program(forecasts, y, loss, convex)
    single = np.eye(forecasts.shape[1])[np.abs(forecasts - y[:, np.newaxis]).mean(axis=0).argmin()]
    # the solver stops within its tolerance, which may be much where the errors are small against the forecasts
    candidates = [weights, single, _least_squares(forecasts, y, convex)]
    return min(candidates, key=lambda each: float(np.mean(loss(y, forecasts @ each))))


def _least_squares(forecasts: Floats, y: Floats, convex: bool) -> Floats:
    if convex:
        return _nearest_to_zero(forecasts - y[:, np.newaxis])
    widths, size = _sizes(forecasts), _size(y)
    weights = np.linalg.lstsq(forecasts / widths, y / size, rcond=None)[0]
    return np.asarray(weights * (size / widths), dtype=np.float64)


def _nearest_to_zero(errors: Floats) -> Floats:
    """Convex weights w with the least ``‖E w‖``.

    ``‖E u‖² + (1 - Σ u)²`` over u >= 0, with no sum to keep, is least at a multiple of w: along the multiples of any w
    the least is ``q / (1 + q)`` with ``q = ‖E w‖²``, which grows with q. So non-negative least squares are exact here.
    """
    errors = errors / _size(errors)
    if len(errors) > errors.shape[1]:
        errors = np.asarray(np.linalg.qr(errors, mode="r"))
    least = np.linalg.norm(errors, axis=0).min()
    table = np.vstack([errors / (least or 1.0), np.ones(errors.shape[1])])
    weights: Floats = nnls(table, np.append(np.zeros(len(errors)), 1.0), maxiter=100 * errors.shape[1])[0]
    return weights / weights.sum()


def _linear_program(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """For losses with one kink in each row, at its target, and straight lines on both sides.

    The dual has a variable for each row of the table, the slope d of the loss there, between its slopes on both sides,
    and a constraint for each expert, whose price is the weight; it takes far less time than the primal one. With errors
    E it is ``max_d min_k (E^T d)_k`` for convex weights, and ``max_d -y^T d`` with ``X^T d = 0`` for free ones.
    """
    aside = np.abs(y) + 1.0
    above, below = loss.gradient(y, y + aside), loss.gradient(y, y - aside)
    steepest = np.maximum(above, -below)
    bounds = np.column_stack([below, above]) / np.where(steepest > 0.0, steepest, 1.0)[:, np.newaxis]
    if convex:
        errors = steepest[:, np.newaxis] * (forecasts - y[:, np.newaxis])
        usual = np.abs(errors).mean(axis=0)
        errors, usual = errors / (usual.min() or _usual(errors)), usual / (usual.min() or _usual(errors))
        scale = np.maximum(usual, 1.0)  # of each constraint: one absurd expert should not decide what is small
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
    # what is left by least squares, in directions that are orthogonal: forecasts are much alike, and far from zero
    base = _least_squares(forecasts, y, convex=False)
    left = steepest * (y - forecasts @ base)
    widths = _sizes(forecasts)
    directions, sizes, back = np.linalg.svd(steepest[:, np.newaxis] * (forecasts / widths), full_matrices=False)
    kept = sizes > RANK_TOLERANCE * sizes.max()
    table, size = directions[:, kept] * np.sqrt(len(y)), _usual(left)
    solution = linprog(left / size, A_eq=table.T, b_eq=np.zeros(table.shape[1]), bounds=bounds)
    _check_solved(solution)
    steps = np.asarray(solution.eqlin.marginals) * (size * np.sqrt(len(y)))
    return np.asarray(base + back[kept].T @ (steps / sizes[kept]) / widths)


def _check_solved(solution: Any) -> None:
    if solution.status != 0:
        raise RuntimeError(f"the best weights were not found: {solution.message}")


def _newton(forecasts: Floats, y: Floats, loss: Any, convex: bool) -> Floats:
    """Newton's steps: each solves weighted least squares and goes to the best point on the way to their solution.

    The loss of a row depends on one number, its prediction, so that its curvature is known from two slopes. Where the
    loss is straight there is none; a parabola with its bottom at the target stands in for it then. A second candidate
    has that parabola in all rows: its steps are smaller, but it does not mind kinks.
    """
    weights = _least_squares(forecasts, y, convex)
    prediction = forecasts @ weights
    lost = float(np.mean(loss(y, prediction)))
    for _ in range(MOST_STEPS):
        slope = loss.gradient(y, prediction)
        error = np.abs(prediction - y)
        usual = _usual(error)
        parabola = np.abs(slope) / np.maximum(error, SMALLEST_ERROR * usual)
        step = DIFFERENCE * usual
        bend = (loss.gradient(y, prediction + step) - loss.gradient(y, prediction - step)) / (2.0 * step)
        before = lost
        start, start_weights = prediction, weights
        for curvature in (np.maximum(bend, LEAST_CURVATURE * parabola), parabola):
            if not curvature.max() > 0.0:  # all slopes are 0: nothing is better
                continue
            curvature = np.maximum(curvature, 1e-12 * curvature.max())
            goal = start - slope / curvature
            root = np.sqrt(curvature / curvature.max())
            if convex:
                there = _nearest_to_zero(root[:, np.newaxis] * (forecasts - goal[:, np.newaxis]))
            else:
                there = _least_squares(root[:, np.newaxis] * forecasts, root * goal, convex=False)
            way = forecasts @ there - start
            part = _best_part(start, way, y, loss, most=1.0 if convex else 4.0)
            now = float(np.mean(loss(y, start + part * way)))
            if now < lost:
                lost, weights = now, start_weights + part * (there - start_weights)
                prediction = start + part * way
        if not before - lost > TOLERANCE * abs(before):
            break
    return weights


def _best_part(start: Floats, way: Floats, y: Floats, loss: Any, most: float) -> float:
    """How much of a way to go, at most ``most``: to where the slope along it is 0."""

    def along(part: float) -> float:
        return float(loss.gradient(y, start + part * way) @ way)

    if along(0.0) >= 0.0:
        return 0.0
    return most if along(most) <= 0.0 else float(brentq(along, 0.0, most, xtol=1e-12))


def _size(values: Floats) -> float:
    """The largest absolute value, 1 if that is 0."""
    return float(np.abs(values).max()) or 1.0


def _sizes(table: Floats) -> Floats:
    """The same of each column."""
    sizes: Floats = np.abs(table).max(axis=0)
    return np.where(sizes > 0.0, sizes, 1.0)


def _usual(values: Floats) -> float:
    """The mean absolute value, 1 if that is 0."""
    return float(np.abs(values).mean()) or 1.0
