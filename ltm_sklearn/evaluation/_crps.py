"""Continuous ranked probability score of quantile forecasts."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import as_floats, check_flag, check_number
from .._typing import Floats
from ..losses import clip_to_floats
from ._tables import check_forecasts


def crps(y: ArrayLike, quantile_forecasts: ArrayLike, levels: ArrayLike, *, mean: bool = True) -> float | Floats:
    """Return the continuous ranked probability score (CRPS) of quantile forecasts; lower is better.

    The CRPS of a forecast distribution with quantiles q(τ) is twice the integral of their pinball losses,

        2 ∫ max(τ (y - q(τ)), (1 - τ) (q(τ) - y)) dτ,  τ from 0 to 1.

    It has the unit of y, and for a point forecast it is the absolute error. With finitely many levels, the weight of a
    level is the length of the interval of levels that are nearest to it. With levels 1/(2m), 3/(2m), ... all weights
    are equal, and the score is twice the mean pinball loss.

    Parameters
    ----------
    y : array-like of shape (n_rows,)
        Targets.
    quantile_forecasts : array-like of shape (n_rows, n_levels)
        One column for each level; quantiles may cross.
    levels : array-like of shape (n_levels,)
        Levels of the quantiles: increasing, above 0 and below 1.
    mean : bool, default=True
        Whether to return the mean over the rows. False: the score of each row.

    Returns
    -------
    float or ndarray of shape (n_rows,)

    Examples
    --------
    >>> from ltm_sklearn.evaluation import crps
    >>> crps([10.0, 12.0], [[8.0, 10.0, 12.0], [9.0, 11.0, 13.0]], [0.1, 0.5, 0.9], mean=False)
    array([0.24, 0.64])
    """
    check_flag("mean", mean)
    table, targets = check_forecasts(quantile_forecasts, y, "quantile_forecasts")
    if np.isnan(table).any():
        row, column = np.argwhere(np.isnan(table))[0]
        raise ValueError(f"quantile_forecasts must not contain NaN: row {row}, column {column} has nan")
    at = as_floats(levels, "levels")
    if at.shape != (table.shape[1],):
        raise ValueError(f"levels must have one value for each of the {table.shape[1]} columns; got shape {at.shape}")
    check_number("levels", at.tolist(), 0.0, 1.0, low_open=True, high_open=True, max_axes=1)
    if not (np.diff(at) > 0.0).all():
        raise ValueError(f"levels={at.tolist()} must increase")
    edges = np.concatenate([[0.0], (at[1:] + at[:-1]) / 2.0, [1.0]])
    with np.errstate(over="ignore"):  # scores beyond the largest float become it
        error = targets[:, np.newaxis] - table
        scores: Floats = 2.0 * (np.maximum(at * error, (at - 1.0) * error) @ np.diff(edges))
        return float(clip_to_floats(scores.mean())) if mean else clip_to_floats(scores)
