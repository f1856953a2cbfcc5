"""Forecasts of several steps ahead: weights for each step, learned when the time that was forecast has come."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np

from .._param_checks import check_option, check_prior
from .._typing import Floats
from ..aggregation import Aggregator
from ..experts import ExpertAlgorithm
from ..losses import LOSSES, OutputLosses
from ._panel import filled
from ._series_state import Entries, SeriesState, may_fail, run_series


class Said(NamedTuple):
    """What the experts forecast for a time that has not come yet."""

    time: Any
    step: int  #: how far ahead it was
    issue: int  #: how many values were known then
    forecasts: Floats  #: (n_experts,); NaN where asleep


def check_weighing(algorithm: Any, loss: Any) -> None:
    """Raise a ValueError that names which of the two is none."""
    if not (algorithm is None or isinstance(algorithm, ExpertAlgorithm)):
        raise ValueError(f"algorithm={algorithm!r} is no expert algorithm of ltm_sklearn.experts")
    if algorithm is not None:
        algorithm.check_parameters()
    if not callable(loss):
        check_option("loss", loss, tuple(LOSSES))


def losses_of(loss: Any) -> OutputLosses:
    """A loss by its name, or one's own."""
    return OutputLosses([LOSSES[loss] if isinstance(loss, str) else loss])


def aggregator_of(algorithm: ExpertAlgorithm | None, losses: OutputLosses, n_experts: int) -> Aggregator:
    """A fresh aggregator of these experts, who are charged gradients where the loss has them."""
    return Aggregator(algorithm, losses.have_gradient, check_prior(getattr(algorithm, "prior", None), n_experts))


class HorizonWeights:
    """A cell for each step of the horizon, and what waits for its time to come.

    Parameters
    ----------
    algorithm : ExpertAlgorithm or None
    loss : str, RegressionLoss or callable
    n_experts : int
    """

    def __init__(self, algorithm: ExpertAlgorithm | None, loss: Any, n_experts: int) -> None:
        self.algorithm, self.losses, self.n_experts = algorithm, losses_of(loss), n_experts
        self.cells: dict[int, SeriesState] = {}  #: by step
        self.n_seen = 0  #: values so far
        self.held: dict[tuple[Any, int], Said] = {}  #: by time and step

    # Issuing ------------------------------------------------------------------------------------------------------

    def combine(self, steps: Iterable[int], forecasts: Floats) -> Floats:
        """What is said of these steps, (n_steps,), of forecasts (n_steps, n_experts); NaN where all sleep."""
        said = np.full(len(forecasts), np.nan)
        for at, (step, row) in enumerate(zip(steps, forecasts, strict=True)):
            if not np.isnan(row).all():
                x, awake = filled(row[np.newaxis], None)
                current_weights = self._nearest(step).current_weights()
                said[at] = current_weights.prediction(current_weights.mixtures(x, awake))[0]
        return said

    def weights(self, step: int) -> Floats:
        """The weights of a step now, (n_experts,)."""
        current_weights = self._nearest(step).current_weights()
        weights: Floats = current_weights.trust @ current_weights.member_weights
        return weights

    def _nearest(self, step: int) -> SeriesState:
        """The cell of a step; of one that was never forecast before, that of the nearest."""
        if not self.cells:
            return self._fresh(step)
        return self.cells[min(self.cells, key=lambda each: (abs(each - step), each))]

    def _fresh(self, step: int) -> SeriesState:
        # what is forecast one step ahead is learned before anything else is forecast
        return SeriesState(aggregator_of(self.algorithm, self.losses, self.n_experts), lags=step > 1)

    # Learning -----------------------------------------------------------------------------------------------------

    def hold(self, times: Iterable[Any], steps: Sequence[int], forecasts: Floats) -> None:
        """Keep what is forecast now until its time comes; where all sleep there is nothing to keep."""
        for time, step, row in zip(times, steps, forecasts, strict=True):
            if not np.isnan(row).all():
                self.held[time, step] = Said(time, step, self.n_seen, row)
                if step not in self.cells:
                    self.cells[step] = self._fresh(step)

    def learn(self, values: Mapping[Any, float]) -> None:
        """Values by their times, which become known together: each is a round of every step that it was forecast at.

        What was forecast for earlier times, of which there is no value, is given up.
        """
        if not values:
            return
        self.check(list(values.values()))
        due = [said for said in self.held.values() if said.time in values]
        due.sort(key=lambda said: (said.step, said.issue))
        n_seen = self.n_seen + len(values)
        if due:
            self._run(due, np.array([values[said.time] for said in due], dtype=np.float64), n_seen)
        latest = max(values)
        self.held = {(time, step): said for (time, step), said in self.held.items() if time > latest}
        self.n_seen = n_seen

    def check(self, values: list[float]) -> None:
        """Raise a ValueError that names a value that the loss cannot take."""
        for loss in self.losses.losses:
            if hasattr(loss, "check_targets"):
                loss.check_targets(np.array(values, dtype=np.float64)[:, np.newaxis])

    def _run(self, due: list[Said], targets: Floats, n_seen: int) -> None:
        """Rounds of one row each, those of a cell together, in the order of issue."""
        x, awake = filled(np.stack([said.forecasts for said in due]), None)
        steps = np.array([said.step for said in due])
        entries = Entries(
            x,
            targets,
            awake,
            None,
            None,
            np.arange(len(due) + 1, dtype=np.int64),
            np.array([said.issue for said in due], dtype=np.int64),
            np.full(len(due), n_seen, dtype=np.int64),
            np.ones(len(due), dtype=np.bool_),
        )
        begins = np.flatnonzero(np.diff(steps, prepend=steps[0] - 1))
        cells = {step: self.cells[step] for step in steps[begins].tolist()}
        if may_fail(self.algorithm, self.losses):
            cells = deepcopy(cells)  # they would be half changed if the algorithm or the loss raised an error
        rounds_of = np.append(begins, len(due)).astype(np.int64)
        run_series(list(cells.values()), rounds_of, entries, self.losses, with_weights=False)
        self.cells.update(cells)
