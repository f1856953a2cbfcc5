"""Ensemble algorithm for sktime's ``OnlineEnsembleForecaster``."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from .._param_checks import as_floats, check_count
from .._typing import Floats
from ..aggregation import Aggregator, ForecastRows
from ..experts import ExpertAlgorithm
from ..forecasting import check_algorithm_and_loss, losses_of, new_aggregator, with_confidences


class LongTermMemoryEnsemble(BaseEstimator):
    """An ensemble algorithm for sktime's ``OnlineEnsembleForecaster``, beside its ``NormalHedgeEnsemble``.

    The values of one update were forecast with the same weights, so they are one round, scored by their mean loss. A
    forecaster whose forecast is NaN sleeps. ``OnlineEnsembleForecaster`` predicts with 0 for it, so use
    :class:`LongTermMemoryForecaster` for such forecasters.

    Parameters
    ----------
    n_estimators : int
        The number of forecasters.
    algorithm : ExpertAlgorithm or str, optional
        Any of :mod:`ltm_sklearn.experts`, or its name, such as "fixed_share". None: the default of
        :class:`~ltm_sklearn.ExpertMixture`.
    loss : str, RegressionLoss or callable, default="squared_error"
        As of :class:`~ltm_sklearn.ExpertMixture`.

    Attributes
    ----------
    weights : ndarray of shape (n_estimators,)
        Current weights, which sum to one.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from sktime.forecasting.naive import NaiveForecaster
    >>> from sktime.forecasting.online_learning import OnlineEnsembleForecaster
    >>> from ltm_sklearn.sktime import LongTermMemoryEnsemble
    >>> y = load_airline()
    >>> forecaster = OnlineEnsembleForecaster(
    ...     [("last", NaiveForecaster()), ("season", NaiveForecaster(sp=12))],
    ...     ensemble_algorithm=LongTermMemoryEnsemble(n_estimators=2),
    ... )
    >>> forecaster = forecaster.fit(y[:60])
    >>> for at in range(60, 144, 12):
    ...     forecaster = forecaster.update(y[at : at + 12])
    >>> forecaster.ensemble_algorithm.weights.round(1)
    array([0., 1.])
    """

    def __init__(
        self, n_estimators: int, algorithm: ExpertAlgorithm | str | None = None, loss: Any = "squared_error"
    ) -> None:
        self.n_estimators = n_estimators
        self.algorithm = algorithm
        self.loss = loss

    @property
    def weights(self) -> Floats:
        """Current weights."""
        return self._started().current_weights().awake_weights

    def update(self, y_pred: Any, y_true: Any) -> None:
        """Learn a round: forecasts that were combined with the current weights, and the values that came.

        Parameters
        ----------
        y_pred : array-like of shape (n_estimators, n_times)
            NaN where a forecaster has no forecast.
        y_true : array-like of shape (n_times,)
        """
        check_count("n_estimators", self.n_estimators)
        forecasts, values = as_floats(y_pred, "y_pred"), as_floats(y_true, "y_true")
        if values.ndim != 1:
            raise ValueError(f"y_true must have one value for each time; it has shape {values.shape}")
        if forecasts.shape != (self.n_estimators, len(values)):
            raise ValueError(
                f"y_pred has shape {forecasts.shape}, but n_estimators={self.n_estimators} and {len(values)} values of "
                f"y_true make {(self.n_estimators, len(values))}"
            )
        aggregator = self._started()
        forecasts = np.where(np.isfinite(forecasts), forecasts, np.nan).T
        known = np.isfinite(values) & ~np.isnan(forecasts).all(axis=1)
        if known.any():
            x, awake = with_confidences(forecasts[known], None)
            rows = ForecastRows(x, values[known], awake)
            aggregator.update(aggregator.current_weights(), None, rows, self._losses)

    def _started(self) -> Aggregator:
        if not hasattr(self, "_aggregator"):
            check_count("n_estimators", self.n_estimators)
            check_algorithm_and_loss(self.algorithm, self.loss)
            self._losses = losses_of(self.loss)
            self._aggregator = new_aggregator(self.algorithm, self._losses, self.n_estimators)
        return self._aggregator
