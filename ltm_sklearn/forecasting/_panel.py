"""Panel: weights for each series, group and output, learned from tables of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._numerics import normalise
from .._typing import Floats
from ..aggregation import Aggregator, ForecastRows
from ..experts import ExpertAlgorithm
from ..losses import OutputLosses, clip_large
from ._bias import BiasScale
from ._forecast_table import ForecastTable, plain_mean, with_confidences
from ._issue_schedule import IssueSchedule, issue_schedule
from ._packed_series import Key, packed_series, unpacked_series
from ._series_state import Rounds, SeriesState, run_series

ALL = -1  #: in a key, in place of a group or an output: all of them together
POOLED_PRIOR = 0.5  #: prior of the mixture of all groups, which is one more expert of each group


class IssuedForecasts(NamedTuple):
    """Predictions of rows, and the weights they were combined with."""

    predictions: Floats  #: (n_rows, n_outputs)
    weights: Floats | None  #: (n_rows, n_experts, n_outputs)


class Panel:
    """Series states by series, group and output, and the rows of blocks whose targets are not complete.

    Parameters
    ----------
    algorithm : ExpertAlgorithm or None
    linear : bool
        Whether the algorithm learns from the linear part of the loss.
    losses : OutputLosses
    prior : ndarray of shape (n_experts,)
    n_outputs : int
    shared : bool
        Whether the outputs share their weights.
    block, lag : int
    pooled : bool
        Whether groups have the mixture of all groups as one more expert.
    bias : bool
        Whether there are experts above and below the plain mean.
    levels : ndarray of shape (n_outputs,), optional
        Levels of the outputs if they are quantiles, whose predictions must not cross.
    """

    def __init__(
        self,
        algorithm: ExpertAlgorithm | str | None,
        linear: bool,
        losses: OutputLosses,
        prior: Floats,
        n_outputs: int,
        *,
        shared: bool,
        block: int,
        lag: int,
        pooled: bool,
        bias: bool,
        levels: Floats | None = None,
    ) -> None:
        self.algorithm, self.linear, self.losses, self.prior = algorithm, linear, losses, prior
        self.n_outputs, self.levels = n_outputs, levels
        self.shared, self.block, self.lag, self.pooled, self.bias = shared, block, lag, pooled, bias
        self.states: dict[Key, SeriesState] = {}
        self.n_rounds = 0  #: learned rounds of all states, but those of the pool
        self.n_rows = np.zeros(0, dtype=np.int64)  #: of each series
        self.n_waiting = self.n_rows  #: rows of each series that wait until their block is complete
        self.saved = np.zeros(0)  #: of each series: how much sorting the quantiles reduced the losses
        self._waiting: ForecastTable | None = None
        self._bias_scales: dict[int, BiasScale] = {}  #: by series

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "states": packed_series(self.states)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, states=unpacked_series(*state["states"]))

    @property
    def n_experts(self) -> int:
        """Experts of the table."""
        return len(self.prior)

    def add_expert(self) -> None:
        """Add an expert, with an equal share of the prior; it comes last."""
        share = 1.0 / (self.n_experts + 1)
        self.prior = np.append((1.0 - share) * self.prior, share)
        for state in self.states.values():
            state.add_expert()
        if self._waiting is not None:
            table = self._waiting
            forecasts = np.pad(table.forecasts, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
            awake = None if table.awake is None else np.pad(table.awake, ((0, 0), (0, 1)))
            self._waiting = table._replace(forecasts=forecasts, awake=awake)

    # Learning -----------------------------------------------------------------------------------------------------

    def learn(self, table: ForecastTable, with_weights: bool, n_jobs: int | None = None) -> IssuedForecasts:
        """Learn rows whose targets are known, in the order of time; returns what was issued for them."""
        n_more_series = int(table.series.max()) + 1 - len(self.n_rows)
        if n_more_series > 0:
            more = 0, n_more_series
            self.n_rows, self.n_waiting = np.pad(self.n_rows, more), np.pad(self.n_waiting, more)
            self.saved = np.pad(self.saved, more)
        n_old = 0 if self._waiting is None else len(self._waiting.targets)
        table = table if self._waiting is None else self._waiting.append(table)
        new: Any = slice(n_old, None)
        ordered = table
        if not (table.series[1:] >= table.series[:-1]).all():
            order = np.argsort(table.series, kind="stable")
            ordered, new = table.take(order), np.argsort(order)[n_old:]
        schedule = issue_schedule(ordered.series, self.n_rows - self.n_waiting, ordered.blocks, self.block, self.lag)

        def learn_states(rows: ForecastTable, further: Floats | None) -> IssuedForecasts:
            return self._learn_states(rows, schedule, further, with_weights, n_jobs)

        issued = self._with_pool(ordered, self._learn_bias(ordered, schedule), learn_states)
        predictions = self._sorted_quantiles(issued.predictions)
        if self.levels is not None:
            self._add_saved(issued.predictions, predictions, ordered, schedule)

        waits = ~schedule.complete
        self.n_waiting = np.bincount(ordered.series[waits], minlength=len(self.n_rows))
        self._waiting = ordered.take(waits) if waits.any() else None
        self.n_rows = self.n_rows + np.bincount(table.series[n_old:], minlength=len(self.n_rows))
        n_complete = self.n_rows - self.n_waiting
        for (series, _, _), state in self.states.items():
            if len(state.weight_versions) > 1:
                state.forget_versions(int(n_complete[series]))

        return IssuedForecasts(predictions[new], None if issued.weights is None else issued.weights[new])

    def _with_pool(
        self,
        table: ForecastTable,
        further: Floats | None,
        combine: Callable[[ForecastTable, Floats | None], IssuedForecasts],
    ) -> IssuedForecasts:
        """Combine the rows by groups; with a pool, all groups are combined first and are one more expert of each."""
        if not self.pooled:
            return combine(table, further)
        pool = combine(table._replace(groups=np.full_like(table.groups, ALL)), further)
        pool_forecasts = pool.predictions[:, np.newaxis]
        own = combine(table, pool_forecasts if further is None else np.concatenate([pool_forecasts, further], axis=1))
        if own.weights is None or pool.weights is None:
            return own
        # the pool is a mixture of the other experts, to which its weight is added
        return own._replace(weights=own.weights[:, 1:] + own.weights[:, :1] * pool.weights)

    def _learn_states(
        self,
        table: ForecastTable,
        schedule: IssueSchedule,
        further: Floats | None,
        with_weights: bool,
        n_jobs: int | None,
    ) -> IssuedForecasts:
        """Learn all rows, each by the states of its series and group; ``further`` are forecasts of further experts."""
        n_rows, n_outputs = table.targets.shape
        # an entry is an output of a row; the entries of a state come together, in the order of time
        row_of, output_of = np.repeat(np.arange(n_rows), n_outputs), np.tile(np.arange(n_outputs), n_rows)
        codes = np.repeat(table.series * (table.groups.max() + 2) + table.groups + 1, n_outputs)
        if not self.shared:
            codes = codes * n_outputs + output_of
        if not (codes[1:] >= codes[:-1]).all():
            order = np.argsort(codes, kind="stable")
            codes, row_of, output_of = codes[order], row_of[order], output_of[order]
        state_begins = np.diff(codes, prepend=-1) != 0
        round_begins = state_begins | (np.diff(schedule.issue[row_of], prepend=-1) != 0)
        starts = np.flatnonzero(round_begins)
        rounds_of = np.append(np.flatnonzero(state_begins[starts]), len(starts)).astype(np.int64)
        forecasts, awake = _entries(_all_forecasts(table, further), table.awake, row_of, output_of)
        rows = ForecastRows(
            forecasts,
            np.ascontiguousarray(table.targets[row_of, output_of]),
            awake,
            None if table.row_weights is None else table.row_weights[row_of],
            output_of if n_outputs > 1 else None,
        )
        at = row_of[starts]
        edges = np.append(starts, len(codes)).astype(np.int64)
        rounds = Rounds(rows, edges, schedule.issue[at], schedule.known_at[at], schedule.complete[at])
        if not (self.pooled and table.groups[0] == ALL):
            self.n_rounds += int(rounds.complete.sum())
        first = starts[rounds_of[:-1]]
        outputs = np.full(len(first), ALL) if self.shared else output_of[first]
        series, groups = table.series[row_of[first]], table.groups[row_of[first]]
        keys = zip(series.tolist(), groups.tolist(), outputs.tolist(), strict=True)
        states = [self._state(key) for key in keys]
        issued, issued_weights = run_series(states, rounds_of, rounds, self.losses, with_weights, n_jobs)
        predictions = np.empty((n_rows, n_outputs))
        predictions[row_of, output_of] = issued
        if issued_weights is None:
            return IssuedForecasts(predictions, None)
        weights = np.empty((n_rows, issued_weights.shape[1], n_outputs))
        weights[row_of, :, output_of] = issued_weights
        return IssuedForecasts(predictions, weights)

    def _state(self, key: Key) -> SeriesState:
        """Return the state of a key; open it if it is new."""
        if key not in self.states:
            self.states[key] = self._new_state(key[1], lags=self.lag > 0)
        return self.states[key]

    def _new_state(self, group: int, lags: bool) -> SeriesState:
        """Return a fresh state. Its first experts are those that are not in the table: the pool, the bias experts."""
        prior = self.prior
        if self.bias:  # each has as much as an expert of the table
            share = 1.0 / (self.n_experts + 2)
            prior = np.concatenate([np.full(2, share), (1.0 - 2.0 * share) * prior])
        if self.pooled and group != ALL:
            prior = np.concatenate([[POOLED_PRIOR], (1.0 - POOLED_PRIOR) * prior])
        aggregator = Aggregator(self.algorithm, self.linear, normalise(prior))
        return SeriesState(aggregator, lags, len(prior) - self.n_experts)

    def _sorted_quantiles(self, predictions: Floats) -> Floats:
        """Sort the quantiles of each row so that they do not cross, which only lowers the sum of their losses."""
        if self.levels is None:
            return predictions
        return np.sort(predictions, axis=1)[:, np.argsort(np.argsort(self.levels))]

    def _add_saved(self, issued: Floats, repaired: Floats, table: ForecastTable, schedule: IssueSchedule) -> None:
        """Add up how much sorting the quantiles reduced the losses of the rows that are learned."""
        outputs = np.tile(np.arange(self.n_outputs), len(issued))
        before, after = (self.losses.of(table.targets.ravel(), each.ravel(), outputs) for each in (issued, repaired))
        saved = (before - after).reshape(issued.shape).sum(axis=1) * schedule.complete
        if table.row_weights is not None:
            saved *= table.row_weights
        self.saved += np.bincount(table.series, saved, minlength=len(self.saved))

    def _learn_bias(self, table: ForecastTable, schedule: IssueSchedule) -> Floats | None:
        """Return the forecasts of the bias experts, (n_rows, 2, n_outputs); NaN before any target is known."""
        if not self.bias:
            return None
        means = plain_mean(table.forecasts, table.awake)
        errors = np.abs(means - table.targets)
        starts = np.flatnonzero((np.diff(table.series, prepend=-1) != 0) | (np.diff(schedule.issue, prepend=-1) != 0))
        weights = np.ones(len(errors)) if table.row_weights is None else table.row_weights
        total = np.add.reduceat(weights, starts)
        round_errors = np.add.reduceat(errors * weights[:, np.newaxis], starts, axis=0)
        round_errors /= np.where(total > 0.0, total, 1.0)[:, np.newaxis]
        lengths = np.diff(starts, append=len(errors))
        part = total / lengths * schedule.complete[starts]
        scales = np.empty_like(round_errors)
        cuts = np.flatnonzero(np.diff(table.series[starts], prepend=-1))
        for first, last in zip(cuts, [*cuts[1:], len(starts)], strict=True):
            here, rows = slice(first, last), starts[first:last]
            scale = self._bias_scales.setdefault(int(table.series[rows[0]]), BiasScale(self.n_outputs))
            scales[here] = scale.run(round_errors[here], schedule.issue[rows], schedule.known_at[rows], part[here])
        return _around(means, np.repeat(scales, lengths, axis=0))

    # Issuing ------------------------------------------------------------------------------------------------------

    def issue(self, table: ForecastTable) -> IssuedForecasts:
        """Combine the forecasts of rows with the weights that are in force; changes nothing."""
        further = None
        if self.bias:
            unknown = np.full(self.n_outputs, np.nan)
            scales = [
                self._bias_scales[series].now() if series in self._bias_scales else unknown
                for series in table.series.tolist()
            ]
            means = plain_mean(table.forecasts, table.awake)
            further = _around(means, np.array(scales).reshape(-1, self.n_outputs))
        issued = self._with_pool(table, further, self._issue_states)
        return issued._replace(predictions=self._sorted_quantiles(issued.predictions))

    def _issue_states(self, table: ForecastTable, further: Floats | None) -> IssuedForecasts:
        forecasts = _all_forecasts(table, further)
        predictions, weights = np.empty((len(forecasts), self.n_outputs)), np.empty_like(forecasts)
        pairs, which = np.unique(np.stack([table.series, table.groups], axis=1), axis=0, return_inverse=True)
        by_pair = np.argsort(which.ravel(), kind="stable")
        cuts = np.cumsum(np.bincount(which.ravel(), minlength=len(pairs)))
        for (series, group), rows in zip(pairs.tolist(), np.split(by_pair, cuts[:-1]), strict=True):
            for output in range(self.n_outputs):
                state = self.states.get((series, group, ALL if self.shared else output))
                if state is None:  # a series or group that was never learned
                    state = self._new_state(group, lags=False)
                x, awake = _entries(forecasts, table.awake, rows, np.full(len(rows), output))
                predictions[rows, output], weights[rows, :, output] = state.current_weights().issue(x, awake)
        return IssuedForecasts(predictions, weights)


def _around(means: Floats, scales: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return clip_large(np.stack([means + scales, means - scales], axis=1))


def _all_forecasts(table: ForecastTable, further: Floats | None) -> Floats:
    """Return the forecasts of all experts, the further ones first."""
    return table.forecasts if further is None else np.concatenate([further, table.forecasts], axis=1)


def _entries(forecasts: Floats, awake: Floats | None, row_of: Any, output_of: Any) -> tuple[Floats, Floats | None]:
    """Return forecasts and confidences of some outputs of rows, (n_entries, n_experts)."""
    if forecasts.shape[2] > 1:
        x = forecasts[row_of, :, output_of]
    else:
        in_order = len(row_of) == len(forecasts) and bool((np.diff(row_of) == 1).all())
        x = forecasts[:, :, 0] if in_order else forecasts[row_of, :, 0]  # not copied if possible: it may be large
    if awake is not None:
        n_further = x.shape[1] - awake.shape[1]
        awake = np.pad(awake, ((0, 0), (n_further, 0)), constant_values=1.0)[row_of]
    return with_confidences(x, awake)
