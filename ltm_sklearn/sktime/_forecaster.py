"""A forecaster of sktime, whose experts are forecasters."""

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
from ..forecasting import HorizonWeights, check_weighing
from ..recording import warn_of

#: Tags, with the value that the ensemble has if any of its forecasters has it.
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
    """Forecasters, weighted by how right they are now, with a memory of who was right before.

    Each step of the forecasting horizon has weights of its own. When new values come, by ``update``, each step learns
    what was forecast that many steps before, with the weights that were in force then.

    Parameters
    ----------
    forecasters : list of (str, forecaster) or of forecasters
        The experts. They stay as they are: copies of them are fitted.
    algorithm : ExpertAlgorithm, optional
        Any of :mod:`ltm_sklearn.experts`. None: the aggregator of three of :class:`~ltm_sklearn.ExpertMixture`.
    loss : str, RegressionLoss or callable, default="squared_error"
        As of :class:`~ltm_sklearn.ExpertMixture`.
    n_jobs : int, optional
        Forecasters that are fitted side by side.

    Attributes
    ----------
    forecasters_ : list of (str, forecaster)
        As fitted.
    weights_ : DataFrame
        The weights now: a row a step of the horizon, a column a forecaster.

    See Also
    --------
    LongTermMemoryEnsemble : Such weights for sktime's ``OnlineEnsembleForecaster``.

    Notes
    -----
    ``update`` learns the steps of the horizon that was last given to ``fit`` or ``predict``; without one, as many as
    there are new values. It learns weights with ``update_params=False``, too, which is for the forecasters. With
    exogenous data it learns those steps whose times are in the ``X`` that it is given. A step that never learned is
    forecast with the weights of the nearest one that did.

    A forecaster whose forecast is NaN sleeps: the others share its weight. One that raises an error sleeps with a
    warning; if all do, it is raised.

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
        algorithm: ExpertAlgorithm | None = None,
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
        check_weighing(self.algorithm, self.loss)
        if not self._forecasters:
            raise ValueError("forecasters is empty: there must be one at least")
        self._fit_forecasters([forecaster for _, forecaster in self._forecasters], y, X, fh)
        self._outlook = HorizonWeights(self.algorithm, self.loss, len(self.forecasters_))
        self._fitted_until = self.cutoff
        self._frequency = getattr(self.cutoff, "freq", None)  # of a single value that comes later, it may not be known
        self._name = y.name
        return self

    def _update(self, y: Any, X: Any = None, update_params: bool = True) -> Self:
        new = y[y.index > self._fitted_until[0]]  # sktime's own windows bring values more than once
        if len(new):
            self._hold(len(new), X)
        self._outlook.learn({time: float(value) for time, value in new.items() if np.isfinite(value)})
        self._each("update", lambda each: each.update(y, X, update_params=update_params))
        self._fitted_until = self.cutoff
        return self

    def _hold(self, n_new: int, X: Any) -> None:
        """Keep what was forecast until now: the forecasters have not changed since, and say the same again.

        So ``predict`` need not change anything, which sktime forbids.
        """
        fh = self._steps_ahead(np.arange(1, n_new + 1)) if self._fh is None else self._fh
        steps = np.asarray(fh.to_relative(self._fitted_until).to_numpy(), dtype=np.int64)
        times = fh.to_absolute_index(self._fitted_until)
        wanted = steps > 0
        if X is not None:
            wanted &= times.isin(X.index)
        if wanted.any():
            asked = fh if wanted.all() else self._steps_ahead(steps[wanted])
            said = self._table(asked, X, times[wanted], needed=False)
            self._outlook.hold(times[wanted], steps[wanted].tolist(), said)

    def _steps_ahead(self, steps: Any) -> Any:
        return ForecastingHorizon(steps, is_relative=True, freq=self._frequency)

    # Predicting ---------------------------------------------------------------------------------------------------

    def _predict(self, fh: Any, X: Any) -> Any:
        times = fh.to_absolute_index(self.cutoff)
        steps = np.asarray(fh.to_relative(self.cutoff).to_numpy(), dtype=np.int64).tolist()
        return pd.Series(self._outlook.combine(steps, self._table(fh, X, times)), index=times, name=self._name)

    def _table(self, fh: Any, X: Any, times: Any, needed: bool = True) -> Floats:
        """What the forecasters say, (n_times, n_forecasters); NaN where they sleep."""
        said = self._each("predict", lambda each: each.predict(fh=fh, X=X), needed)
        columns = [
            np.full(len(times), np.nan) if each is None else each.reindex(times).to_numpy(float) for each in said
        ]
        table = np.column_stack(columns)
        return np.where(np.isfinite(table), table, np.nan)

    def _each(self, verb: str, ask: Callable[[Any], Any], needed: bool = True) -> list[Any]:
        """What each forecaster answers; None if it raises an error, unless all do and an answer is needed."""
        answers, failures = [], {}
        for name, forecaster in self.forecasters_:
            try:
                answers.append(ask(forecaster))
            except Exception as error:
                answers.append(None)
                failures[name] = error
        if needed and len(failures) == len(answers):
            raise next(iter(failures.values()))
        for name, failure in failures.items():
            message = f"expert {name!r} could not {verb} and slept: {type(failure).__name__}: {failure}"
            warn_of(message, ExpertWarning, stacklevel=5)
        return answers

    @property
    def weights_(self) -> Any:
        """The weights now, by step and forecaster; of the first step, while there is none that learned."""
        if not hasattr(self, "_outlook"):
            raise AttributeError(f"{type(self).__name__} has no attribute 'weights_' before it is fitted")
        steps = sorted(self._outlook.cells) or [1]
        weights = [self._outlook.weights(step) for step in steps]
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
