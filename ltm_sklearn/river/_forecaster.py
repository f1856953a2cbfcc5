"""A forecaster for River, whose experts are forecasters."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from river import base, time_series

from .._frames import listed
from .._param_checks import check_count
from .._typing import Floats
from ..engine import QUIET_ROUNDS, WARM_UP_ROWS, ExpertWarning
from ..experts import ExpertAlgorithm
from ..forecasting import HorizonWeights, check_weighing
from ..recording import warn_of
from ._base import _names
from ._targets import check_numbers


class LongTermMemoryForecaster(base.Ensemble, time_series.base.Forecaster):
    """Weights forecasters by how right they are now, and remembers who was right before.

    Each step of the horizon has weights of its own. `learn_one` learns, for each step, what was forecast that many
    steps before, with the weights that were in force then; to forecast in between is not needed.

    Parameters
    ----------
    models
        River's forecasters. They stay as they are: copies of them are trained.
    algorithm
        Any of `ltm_sklearn.experts`. None: the aggregator of three of `ltm_sklearn.ExpertMixture`.
    loss
        What the experts are charged, as in `ltm_sklearn.ExpertMixture`.
    horizon
        How many steps learn. None: as many as have been forecast at most, and one before that.

    Examples
    --------
    >>> import statistics
    >>> from river import datasets, evaluate, metrics, time_series
    >>> from ltm_sklearn.river import LongTermMemoryForecaster
    >>> model = LongTermMemoryForecaster([
    ...     time_series.HoltWinters(alpha=0.3, beta=0.1, gamma=0.6, seasonality=12, multiplicative=True),
    ...     time_series.HoltWinters(alpha=0.8),
    ... ])
    >>> evaluate.evaluate(datasets.AirlinePassengers(), model, metrics.MAE(), horizon=12, agg_func=statistics.mean)
    mean(MAE): 28.670025
    """

    def __init__(
        self,
        models: Iterable[Any],
        algorithm: ExpertAlgorithm | None = None,
        loss: Any = "squared_error",
        horizon: int | None = None,
    ) -> None:
        super().__init__(models)  # type: ignore[arg-type]
        self.algorithm = algorithm
        self.loss = loss
        self.horizon = horizon
        check_weighing(algorithm, loss)
        if horizon is not None:
            check_count("horizon", horizon)
        for at, model in enumerate(self.models):
            if not isinstance(model, time_series.base.Forecaster):
                raise ValueError(f"model {at} ({type(model).__name__}) is no forecaster of River")

    __repr__ = base.Base.__repr__  # not that of a list, which an ensemble of River is, too

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A fresh forecaster with the same parameters and untrained models."""
        fresh = {"models": [model.clone() for model in self.models], **(new_params or {})}
        cloned: Self = super().clone(fresh)
        if include_attributes and hasattr(self, "_state"):
            cloned._state = copy.deepcopy(self._state)
        return cloned

    # Learning -----------------------------------------------------------------------------------------------------

    def learn_one(self, y: float, x: dict[Any, Any] | None = None) -> None:
        """A value that has come: all steps at which it was forecast learn, and so do the experts.

        With features ``x``, steps beyond the first learn what :meth:`forecast` was asked for: it was given the features
        of later times, which are not known here.
        """
        check_numbers([y])
        state = self._started()
        state.outlook.check([y])
        tracked = state.longest if self.horizon is None else self.horizon
        said = state.said[:tracked]
        if x is None and len(said) < tracked:
            said = self._ask(tracked, None)
        elif not len(said):
            assert x is not None
            said = self._ask(1, [x])
        now = state.outlook.n_seen
        steps = range(1, len(said) + 1)
        state.outlook.hold([now + step for step in steps], steps, said)
        state.outlook.learn({now + 1: float(y)})
        state.said, state.last = state.said[:0], float(y)
        for name, expert in zip(self.experts_, state.experts, strict=True):
            try:
                expert.learn_one(y, x)
            except Exception as error:
                self._warn(name, "learn", error)

    # Forecasting --------------------------------------------------------------------------------------------------

    def forecast(self, horizon: int, xs: Sequence[dict[Any, Any]] | None = None) -> list[float]:
        """The experts' forecasts, combined step by step; where all sleep the last value, or 0 before the first."""
        check_count("horizon", horizon)
        xs = None if xs is None else listed(xs, "xs")
        if xs is not None and len(xs) != horizon:
            raise ValueError(f"there are features xs of {len(xs)} steps, and horizon={horizon}")
        state = self._started()
        said = self._ask(horizon, xs)
        if len(said) >= len(state.said):
            state.said = said
        state.longest = max(state.longest, horizon)
        forecasts = state.outlook.combine(range(1, horizon + 1), said)
        return np.where(np.isnan(forecasts), state.last, forecasts).tolist()

    def _ask(self, horizon: int, xs: list[dict[Any, Any]] | None) -> Floats:
        """What the experts say, (horizon, n_experts); NaN where they sleep."""
        state = self._started()
        table = np.full((horizon, len(self)), np.nan)
        for at, (name, expert) in enumerate(zip(self.experts_, state.experts, strict=True)):
            try:
                said = np.array(expert.forecast(horizon, xs), dtype=np.float64)
                if said.shape != (horizon,):
                    raise ValueError(f"there are {len(said)} forecasts for {horizon} steps")
                known = np.isfinite(said)
                table[known, at] = said[known]
                if not known.all():
                    step = int(np.argmin(known))
                    raise ValueError(f"{said[step]} is forecast at step {step + 1}")
                state.awoken[at] = True
            except Exception as error:
                if (
                    state.awoken[at] or state.outlook.n_seen >= WARM_UP_ROWS
                ):  # many models need some values to begin with
                    self._warn(name, "forecast", error)
        return table

    def _warn(self, name: str, verb: str, error: Exception) -> None:
        """Of an expert that failed, unless that was done of late."""
        state, kind = self._started(), type(error).__name__
        now, last = state.outlook.n_seen, state.warned.get((name, verb, kind))
        state.warned[name, verb, kind] = now
        if last is None or now - last >= QUIET_ROUNDS:
            warn_of(f"expert {name!r} could not {verb} and slept: {kind}: {error}", ExpertWarning, stacklevel=4)

    def _started(self) -> _State:
        if not hasattr(self, "_state"):
            self._state = _State(self.models, HorizonWeights(self.algorithm, self.loss, len(self)))
        return self._state

    # What is shown ------------------------------------------------------------------------------------------------

    @property
    def experts_(self) -> list[str]:
        """Names of the experts, by their class."""
        return _names(self.models)

    @property
    def weights_(self) -> Floats:
        """The weights now, (n_steps, n_experts), of the steps that learn; of the first, before that."""
        outlook = self._started().outlook
        return np.stack([outlook.weights(step) for step in sorted(outlook.cells) or [1]])

    @property
    def leader_(self) -> str:
        """The expert with the largest weight, in the mean of the steps."""
        return self.experts_[int(self.weights_.mean(axis=0).argmax())]

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"models": [time_series.HoltWinters(alpha=0.4), time_series.SNARIMAX(p=1, d=0, q=1)]}


class _State:
    """What changes as values come; together, so that it is copied together."""

    def __init__(self, models: list[Any], outlook: HorizonWeights) -> None:
        # Copies with what they know: River's models may have been trained before.
        self.experts = [copy.deepcopy(model) for model in models]
        self.outlook = outlook
        self.said: Floats = np.empty((0, len(models)))  #: what was forecast since the last value, by step
        self.longest = 1  #: horizon that was asked for
        self.last = 0.0  #: value
        self.awoken = [False] * len(models)  #: whether an expert ever had a forecast
        self.warned: dict[tuple[str, str, str], int] = {}  #: of which failures, and when
