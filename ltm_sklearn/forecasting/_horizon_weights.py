"""Horizon weights: weights for each step of a forecasting horizon, learned when the forecast time has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from .._param_checks import check_prior
from .._typing import Floats
from ..aggregation import Aggregator, ForecastRows
from ..experts import ExpertAlgorithm
from ..losses import LOSSES, OutputLosses
from ._forecast_table import with_confidences
from ._series_state import Rounds, SeriesState, may_fail, run_series


class PendingForecasts(NamedTuple):
    """Forecasts of the experts for a time that has not come yet."""

    time: Any
    step: int  #: how far ahead they are
    issue: int  #: how many values were known when they were issued
    forecasts: Floats  #: (n_experts,); NaN where an expert sleeps


def losses_of(loss: Any) -> OutputLosses:
    """Return a loss by its name, or a custom one."""
    return OutputLosses([LOSSES[loss] if isinstance(loss, str) else loss])


def new_aggregator(algorithm: ExpertAlgorithm | str | None, losses: OutputLosses, n_experts: int) -> Aggregator:
    """Return a fresh aggregator, which learns from linear losses if the loss has a gradient."""
    return Aggregator(algorithm, losses.have_gradient, check_prior(getattr(algorithm, "prior", None), n_experts))


class HorizonWeights:
    """Series state for each step of the horizon, and forecasts whose time has not come yet.

    Parameters
    ----------
    algorithm : ExpertAlgorithm, str or None
    loss : str, RegressionLoss or callable
    n_experts : int
    """

    def __init__(self, algorithm: ExpertAlgorithm | str | None, loss: Any, n_experts: int) -> None:
        self.algorithm, self.losses, self.n_experts = algorithm, losses_of(loss), n_experts
        self.states: dict[int, SeriesState] = {}  #: by step
        self.n_values = 0  #: values that are known
        self.pending: dict[tuple[Any, int], PendingForecasts] = {}  #: by time and step

    # Issuing ------------------------------------------------------------------------------------------------------

    def combine(self, steps: Iterable[int], forecasts: Floats) -> Floats:
        """Combine forecasts (n_steps, n_experts) of these steps, (n_steps,); NaN where all experts sleep."""
        predictions = np.full(len(forecasts), np.nan)
        for at, (step, row) in enumerate(zip(steps, forecasts, strict=True)):
            if not np.isnan(row).all():
                x, awake = with_confidences(row[np.newaxis], None)
                predictions[at] = self._nearest(step).current_weights().predict(x, awake)[0]
        return predictions

    def weights(self, step: int) -> Floats:
        """Return the current weights for a step, (n_experts,)."""
        return self._nearest(step).current_weights().awake_weights

    def _nearest(self, step: int) -> SeriesState:
        """Return the state of a step; of a step that was never forecast, that of the nearest."""
        if not self.states:
            return self._new_state(step)
        return self.states[min(self.states, key=lambda each: (abs(each - step), each))]

    def _new_state(self, step: int) -> SeriesState:
        # what is forecast one step ahead is learned before anything else is forecast
        return SeriesState(new_aggregator(self.algorithm, self.losses, self.n_experts), lags=step > 1)

    # Learning -----------------------------------------------------------------------------------------------------

    def add_forecasts(self, times: Iterable[Any], steps: Sequence[int], forecasts: Floats) -> None:
        """Keep forecasts that are issued now until their time comes, but no rows in which all experts sleep."""
        for time, step, row in zip(times, steps, forecasts, strict=True):
            if not np.isnan(row).all():
                self.pending[time, step] = PendingForecasts(time, step, self.n_values, row)
                if step not in self.states:
                    self.states[step] = self._new_state(step)

    def learn(self, values: Mapping[Any, float]) -> None:
        """Learn values by their times, which become known together: a round for each step that forecast them.

        Forecasts for earlier times, which have no value, are dropped.
        """
        if not values:
            return
        self.check(list(values.values()))
        due = [pending for pending in self.pending.values() if pending.time in values]
        due.sort(key=lambda pending: (pending.step, pending.issue))
        n_values = self.n_values + len(values)
        if due:
            self._run(due, np.array([values[pending.time] for pending in due], dtype=np.float64), n_values)
        latest = max(values)
        self.pending = {key: pending for key, pending in self.pending.items() if pending.time > latest}
        self.n_values = n_values

    def check(self, values: list[float]) -> None:
        """Raise a ValueError that names a value that the loss cannot take."""
        for loss in self.losses.losses:
            if hasattr(loss, "check_targets"):
                loss.check_targets(np.array(values, dtype=np.float64)[:, np.newaxis])

    def _run(self, due: list[PendingForecasts], targets: Floats, n_values: int) -> None:
        """Learn rounds of one row each, which are sorted by step and issue."""
        forecasts, awake = with_confidences(np.stack([pending.forecasts for pending in due]), None)
        rounds = Rounds(
            ForecastRows(forecasts, targets, awake),
            starts=np.arange(len(due) + 1, dtype=np.int64),
            issue=np.array([pending.issue for pending in due], dtype=np.int64),
            known_at=np.full(len(due), n_values, dtype=np.int64),
            complete=np.ones(len(due), dtype=np.bool_),
        )
        steps = np.array([pending.step for pending in due])
        first = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
        states = {step: self.states[step] for step in steps[first].tolist()}
        if may_fail(self.algorithm, self.losses):
            states = deepcopy(states)  # an error of the algorithm or the loss would leave them half changed
        rounds_of = np.append(first, len(due)).astype(np.int64)
        run_series(list(states.values()), rounds_of, rounds, self.losses, with_weights=False)
        self.states.update(states)
