"""The forecaster for River: a combination of forecasters."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Self

import numpy as np
from river import base, time_series

from .._frames import as_list
from .._param_checks import check_count
from .._typing import Floats
from ..engine import QUIET_ROUNDS, WARM_UP_ROWS, ExpertWarning
from ..experts import ExpertAlgorithm
from ..forecasting import HorizonWeights, check_algorithm_and_loss
from ..recording import warn_user
from ._named_models import NamedModels
from ._target_checks import check_numbers


class LongTermMemoryForecaster(NamedModels, time_series.base.Forecaster):
    """Online combination of forecasters for series whose regimes recur.

    Each step of the horizon has its own weights. `learn_one` scores, for each step, what was forecast that many steps
    before, with the weights in force then. Calls of `forecast` in between are not needed.

    Parameters
    ----------
    models
        The forecasters by name, as a list of (name, forecaster) pairs or a dictionary. They are not changed: copies are
        trained.
    algorithm
        Any of `ltm_sklearn.experts`, or its name in snake case, such as `"fixed_share"`. None: the aggregator of three
        algorithms of `ltm_sklearn.ExpertMixture`.
    loss
        Loss of the experts, the same as in `ltm_sklearn.ExpertMixture`.
    horizon
        Number of steps that learn. None: the longest horizon forecast so far, and one step before that.

    Examples
    --------
    >>> import statistics
    >>> from river import datasets, evaluate, metrics, time_series
    >>> from ltm_sklearn.river import LongTermMemoryForecaster
    >>> model = LongTermMemoryForecaster([
    ...     ("season", time_series.HoltWinters(alpha=0.3, beta=0.1, gamma=0.6, seasonality=12, multiplicative=True)),
    ...     ("level", time_series.HoltWinters(alpha=0.8)),
    ... ])
    >>> evaluate.evaluate(datasets.AirlinePassengers(), model, metrics.MAE(), horizon=12, agg_func=statistics.mean)
    mean(MAE): 28.670025
    """

    def __init__(
        self,
        models: Iterable[tuple[str, Any]] | Mapping[str, Any],
        algorithm: ExpertAlgorithm | str | None = None,
        loss: Any = "squared_error",
        horizon: int | None = None,
    ) -> None:
        super().__init__(models)
        self.algorithm = algorithm
        self.loss = loss
        self.horizon = horizon
        check_algorithm_and_loss(algorithm, loss)
        if horizon is not None:
            check_count("horizon", horizon)
        for name, model in zip(self._names, self, strict=True):
            if not isinstance(model, time_series.base.Forecaster):
                raise ValueError(f"model {name!r} ({type(model).__name__}) is no forecaster of River")

    __repr__ = base.Base.__repr__  # not that of a list, which River's ensembles are, too

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a fresh forecaster with the same parameters and untrained models."""
        cloned = super().clone(new_params)
        if include_attributes and hasattr(self, "_state"):
            cloned._state = copy.deepcopy(self._state)
        return cloned

    # Learning -----------------------------------------------------------------------------------------------------

    def learn_one(self, y: float, x: dict[Any, Any] | None = None) -> None:
        """Learn a value: score all forecasts of it, update the weights of their steps, then train the experts.

        With features ``x``, only forecasts from calls of :meth:`forecast` are scored beyond the first step, as the
        features of later times are known only there.
        """
        check_numbers([y])
        state = self._started()
        state.horizon_weights.check([y])
        tracked = state.longest if self.horizon is None else self.horizon
        forecasts = state.forecasts[:tracked]
        if x is None and len(forecasts) < tracked:
            forecasts = self._query(tracked, None)
        elif not len(forecasts):
            assert x is not None
            forecasts = self._query(1, [x])
        now = state.horizon_weights.n_values
        steps = range(1, len(forecasts) + 1)
        state.horizon_weights.add_forecasts([now + step for step in steps], steps, forecasts)
        state.horizon_weights.learn({now + 1: float(y)})
        state.forecasts, state.last = state.forecasts[:0], float(y)
        for name, expert in zip(self._names, state.experts, strict=True):
            try:
                expert.learn_one(y, x)
            except Exception as error:
                self._warn(name, "learn", error)

    # Forecasting --------------------------------------------------------------------------------------------------

    def forecast(self, horizon: int, xs: Sequence[dict[Any, Any]] | None = None) -> list[float]:
        """Forecast the next values; where no expert has a forecast the last value, or 0 before the first."""
        check_count("horizon", horizon)
        xs = None if xs is None else as_list(xs, "xs")
        if xs is not None and len(xs) != horizon:
            raise ValueError(f"xs has features of {len(xs)} steps, but horizon={horizon}")
        state = self._started()
        table = self._query(horizon, xs)
        if len(table) >= len(state.forecasts):
            state.forecasts = table
        state.longest = max(state.longest, horizon)
        forecasts = state.horizon_weights.combine(range(1, horizon + 1), table)
        return np.where(np.isnan(forecasts), state.last, forecasts).tolist()

    def _query(self, horizon: int, xs: list[dict[Any, Any]] | None) -> Floats:
        """Return the forecasts of all experts, (horizon, n_experts); NaN where an expert has none."""
        state = self._started()
        table = np.full((horizon, len(self)), np.nan)
        for at, (name, expert) in enumerate(zip(self._names, state.experts, strict=True)):
            try:
                forecasts = np.array(expert.forecast(horizon, xs), dtype=np.float64)
                if forecasts.shape != (horizon,):
                    raise ValueError(f"there are {len(forecasts)} forecasts for {horizon} steps")
                known = np.isfinite(forecasts)
                table[known, at] = forecasts[known]
                if not known.all():
                    step = int(np.argmin(known))
                    raise ValueError(f"{forecasts[step]} is forecast at step {step + 1}")
                state.has_forecast[at] = True
            except Exception as error:
                # many models need some values before they can forecast
                if state.has_forecast[at] or state.horizon_weights.n_values >= WARM_UP_ROWS:
                    self._warn(name, "forecast", error)
        return table

    def _warn(self, name: str, verb: str, error: Exception) -> None:
        """Warn of an expert that failed, unless the same failure was reported recently."""
        state, kind = self._started(), type(error).__name__
        now, last = state.horizon_weights.n_values, state.warned.get((name, verb, kind))
        state.warned[name, verb, kind] = now
        if last is None or now - last >= QUIET_ROUNDS:
            warn_user(f"expert {name!r} could not {verb} and slept: {kind}: {error}", ExpertWarning)

    def _started(self) -> _ForecasterState:
        if not hasattr(self, "_state"):
            self._state = _ForecasterState(self.data, HorizonWeights(self.algorithm, self.loss, len(self)))
        return self._state

    # Fitted attributes --------------------------------------------------------------------------------------------

    @property
    def weights_(self) -> Floats:
        """Current weights, (n_steps, n_experts), of the steps that learn; of the first step, before that."""
        horizon_weights = self._started().horizon_weights
        return np.stack([horizon_weights.weights(step) for step in sorted(horizon_weights.states) or [1]])

    @property
    def leader_(self) -> str:
        """Name of the expert with the largest weight, averaged over the steps."""
        return self._names[int(self.weights_.mean(axis=0).argmax())]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"models": [("level", time_series.HoltWinters(alpha=0.4)), ("arma", time_series.SNARIMAX(p=1, d=0, q=1))]}


class _ForecasterState:
    """Everything that changes as values come, in one object, so that it is copied together."""

    def __init__(self, models: list[Any], horizon_weights: HorizonWeights) -> None:
        # Trained copies, not untrained ones: River's models may have been trained before.
        self.experts = [copy.deepcopy(model) for model in models]
        self.horizon_weights = horizon_weights
        self.forecasts: Floats = np.empty((0, len(models)))  #: forecasts since the last value, by step
        self.longest = 1  #: longest horizon so far
        self.last = 0.0  #: last value
        self.has_forecast = [False] * len(models)  #: whether an expert ever had a forecast
        self.warned: dict[tuple[str, str, str], int] = {}  #: when each failure was last reported
