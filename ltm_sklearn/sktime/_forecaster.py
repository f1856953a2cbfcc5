"""Forecaster of sktime that combines forecasters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
from sktime.forecasting.base import ForecastingHorizon
from sktime.forecasting.base._meta import _HeterogenousEnsembleForecaster

from .._typing import Floats
from ..engine import ExpertWarning
from ..experts import ExpertAlgorithm
from ..forecasting import HorizonWeights, check_algorithm_and_loss
from ..recording import warn_user

#: Tags with the value that the ensemble has if any of its forecasters has it.
SHARED_TAGS = {
    "capability:categorical_in_X": False,
    "capability:exogenous": True,
    "capability:insample": False,
    "capability:missing_values": False,
    "capability:non_contiguous_X": False,
    "requires-fh-in-fit": True,
    "X-y-must-have-same-index": True,
}


class LongTermMemoryForecaster(_HeterogenousEnsembleForecaster):
    """Combination of forecasters by weights that follow the best of the current regime and remember earlier ones.

    Each step of the forecasting horizon has weights of its own. When ``update`` brings new values, each step learns the
    forecasts that were issued that many steps before, scored with the weights that were in force then.

    Parameters
    ----------
    forecasters : list of (str, forecaster) or of forecasters
        The experts. Copies of them are fitted.
    algorithm : ExpertAlgorithm or str, optional
        Any of :mod:`ltm_sklearn.experts`, or its name, such as "fixed_share". None: the default of
        :class:`~ltm_sklearn.ExpertMixture`.
    loss : str, RegressionLoss or callable, default="squared_error"
        As of :class:`~ltm_sklearn.ExpertMixture`.
    n_jobs : int, optional
        Number of joblib jobs that fit forecasters.

    Attributes
    ----------
    forecasters_ : list of (str, forecaster)
        The fitted copies.
    weights_ : DataFrame
        Current weights: a row for each step of the horizon, a column for each forecaster.

    See Also
    --------
    LongTermMemoryEnsemble : Such weights for sktime's ``OnlineEnsembleForecaster``.

    Notes
    -----
    ``update`` learns the steps of the horizon that was last given to ``fit`` or ``predict``; without one, as many steps
    as there are new values. It learns the weights also with ``update_params=False``, which concerns the forecasters.
    With exogenous data it learns the steps whose times are in its ``X``. A step that was never learned is forecast with
    the weights of the nearest step that was.

    A forecaster whose forecast is NaN sleeps: the others share its weight. A forecaster that raises an error sleeps
    with a warning; if all raise errors, the first one is raised.

    Examples
    --------
    >>> from sktime.datasets import load_airline
    >>> from sktime.forecasting.naive import NaiveForecaster
    >>> from ltm_sklearn.sktime import LongTermMemoryForecaster
    >>> y = load_airline()
    >>> forecaster = LongTermMemoryForecaster([("last", NaiveForecaster()), ("season", NaiveForecaster(sp=12))])
    >>> forecaster = forecaster.fit(y[:60], fh=[1, 6])
    >>> for at in range(60, 144):
    ...     forecaster = forecaster.update(y[at : at + 1])
    >>> print(forecaster.weights_.round(1))
       last  season
    1   0.5     0.5
    6   0.0     1.0
    >>> forecaster.predict().round().tolist()
    [424.0, 530.0]
    """

    _tags = {  # noqa: RUF012 -- as in all of sktime
        "authors": ["ltm_sklearn developers"],
        "maintainers": ["ltm_sklearn developers"],
        "y_inner_mtype": "pd.Series",
        "X_inner_mtype": "pd.DataFrame",
        "capability:multivariate": False,
        "capability:update": True,
        "requires-fh-in-fit": False,
    }

    def __init__(
        self,
        forecasters: Any,
        algorithm: ExpertAlgorithm | str | None = None,
        loss: Any = "squared_error",
        n_jobs: int | None = None,
    ) -> None:
        self.algorithm = algorithm
        self.loss = loss
        super().__init__(forecasters=forecasters, n_jobs=n_jobs)
        for tag, value in SHARED_TAGS.items():
            self._anytagis_then_set(tag, value, not value, self._forecasters)

    # Learning -----------------------------------------------------------------------------------------------------

    def _fit(self, y: Any, X: Any, fh: Any) -> Self:
        check_algorithm_and_loss(self.algorithm, self.loss)
        if not self._forecasters:
            raise ValueError("forecasters is empty: there must be one at least")
        self._fit_forecasters([forecaster for _, forecaster in self._forecasters], y, X, fh)
        self._horizon_weights = HorizonWeights(self.algorithm, self.loss, len(self.forecasters_))
        self._fitted_until = self.cutoff
        self._frequency = getattr(self.cutoff, "freq", None)  # of a single value that comes later, it may not be known
        self._name = y.name
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> Self:
        new = y[y.index > self._fitted_until[0]]  # sktime's own windows bring values more than once
        if len(new):
            self._add_forecasts(len(new), X)
        self._horizon_weights.learn({time: float(value) for time, value in new.items() if np.isfinite(value)})
        self._call_each("update", lambda each: each.update(y, X, update_params=update_params))
        self._fitted_until = self.cutoff
        return self

    def _add_forecasts(self, n_new: int, X: Any) -> None:
        """Keep the forecasts that were issued before the new values.

        They are computed again, by forecasters that have not changed since: sktime forbids ``predict`` to keep them.
        """
        fh = self._steps_ahead(np.arange(1, n_new + 1)) if self._fh is None else self._fh
        steps = np.asarray(fh.to_relative(self._fitted_until).to_numpy(), dtype=np.int64)
        times = fh.to_absolute_index(self._fitted_until)
        wanted = steps > 0
        if X is not None:
            wanted &= times.isin(X.index)
        if wanted.any():
            horizon = fh if wanted.all() else self._steps_ahead(steps[wanted])
            forecasts = self._forecasts(horizon, X, times[wanted], needed=False)
            self._horizon_weights.add_forecasts(times[wanted], steps[wanted].tolist(), forecasts)

    def _steps_ahead(self, steps: Any) -> Any:
        return ForecastingHorizon(steps, is_relative=True, freq=self._frequency)

    # Predicting ---------------------------------------------------------------------------------------------------

    def _predict(self, fh: Any, X: Any) -> Any:
        times = fh.to_absolute_index(self.cutoff)
        steps = np.asarray(fh.to_relative(self.cutoff).to_numpy(), dtype=np.int64).tolist()
        combined = self._horizon_weights.combine(steps, self._forecasts(fh, X, times))
        return pd.Series(combined, index=times, name=self._name)

    def _forecasts(self, fh: Any, X: Any, times: Any, needed: bool = True) -> Floats:
        """Return the forecasts of the forecasters, (n_times, n_forecasters); NaN where they sleep."""
        series = self._call_each("predict", lambda each: each.predict(fh=fh, X=X), needed)
        silent = np.full(len(times), np.nan)
        table = np.column_stack([silent if each is None else each.reindex(times).to_numpy(float) for each in series])
        return np.where(np.isfinite(table), table, np.nan)

    def _call_each(self, verb: str, call: Callable[[Any], Any], needed: bool = True) -> list[Any]:
        """Return the result of a call for each forecaster; None where it raises an error.

        If all raise errors and a result is needed, the first error is raised.
        """
        results: list[Any] = []
        failures: dict[str, Exception] = {}
        for name, forecaster in self.forecasters_:
            try:
                results.append(call(forecaster))
            except Exception as error:
                results.append(None)
                failures[name] = error
        if needed and len(failures) == len(results):
            raise next(iter(failures.values()))
        for name, failure in failures.items():
            message = f"expert {name!r} could not {verb} and slept: {type(failure).__name__}: {failure}"
            warn_user(message, ExpertWarning)
        return results

    @property
    def weights_(self) -> Any:
        """Current weights by step and forecaster; of the first step before any was learned."""
        if not hasattr(self, "_horizon_weights"):
            raise AttributeError(f"{type(self).__name__} has no attribute 'weights_' before it is fitted")
        steps = sorted(self._horizon_weights.states) or [1]
        weights = [self._horizon_weights.weights(step) for step in steps]
        return pd.DataFrame(weights, index=steps, columns=self._get_forecaster_names())

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Parameters for sktime's own tests."""
        from sktime.forecasting.naive import NaiveForecaster
        from sktime.forecasting.trend import TrendForecaster

        from ..experts import FixedShare

        return [
            {"forecasters": [("last", NaiveForecaster()), ("trend", TrendForecaster())]},
            {"forecasters": [NaiveForecaster("mean")], "algorithm": FixedShare(), "loss": "absolute_error"},
        ]
