"""Ensembles of sktime on tables of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pandas as pd

NOTE = (
    "NormalHedge and NNLS are sktime's `NormalHedgeEnsemble` and `NNLSEnsemble`, run here on the same rows; a dash is "
    "where one ended with an error, or, for NNLS, which solves for all rows so far after each round, where there are "
    "too many rounds."
)
MOST_SOLUTIONS = 2_000


def of_sktime(X: pd.DataFrame, y: pd.Series, loss: str, block: int = 1) -> dict[str, float]:
    """Return the mean loss of each ensemble; nothing without sktime, NaN where one fails or takes too long."""
    if find_spec("sktime") is None:
        print("sktime's ensembles are left out, as sktime is not installed", flush=True)
        return {}
    from sktime.forecasting.online_learning import NNLSEnsemble, NormalHedgeEnsemble

    of_one = np.abs if loss == "absolute_error" else np.square
    made = {
        # its rounds are scored by the loss of one forecast at a time
        "NormalHedge of sktime": NormalHedgeEnsemble(
            X.shape[1], loss_func=lambda forecast, truth: float(of_one(forecast[0] - truth[0]))
        ),
        "NNLS of sktime": NNLSEnsemble(X.shape[1]),
    }
    found = {}
    for name, ensemble in made.items():
        too_long = isinstance(ensemble, NNLSEnsemble) and len(y) > MOST_SOLUTIONS * block
        found[name] = np.nan if too_long else mean_loss(ensemble, X.to_numpy(), y.to_numpy(), of_one, block)
    return found


def mean_loss(ensemble: Any, X: np.ndarray, y: np.ndarray, of_one: Callable[..., Any], block: int) -> float:
    """Return the mean loss of an ensemble that learns after each block of rows."""
    errors = []
    for start in range(0, len(y), block):
        rows = slice(start, start + block)
        errors.append(X[rows] @ ensemble.weights - y[rows])
        try:
            ensemble.update(X[rows].T, y[rows])
        except (ValueError, RuntimeError):  # experts that tie, or weights that do not settle
            return np.nan
    return float(of_one(np.concatenate(errors)).mean())


def shown(value: float, digits: int) -> str:
    """Format a number; a dash for NaN."""
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
