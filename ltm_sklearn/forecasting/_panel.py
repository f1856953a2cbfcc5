"""A panel: series, groups and outputs, each with weights of its own, learned from tables of forecasts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .._typing import Floats, Integers
from ..aggregation import Aggregator
from ..losses import OutputLosses, clip_large, clip_to_floats
from ._bias import BiasScale
from ._issue_schedule import IssueSchedule, issue_schedule
from ._packed_series import apart, packed
from ._series_state import Entries, SeriesState, run_series

Key = tuple[int, int, int]  #: series, group and output; -1 is all of them together
ALL = -1
POOLED_PRIOR = 0.5  #: what the mixture of all groups has as one more expert of each


class Table(NamedTuple):
    """Forecasts that have been read and checked."""

    forecasts: Floats  #: (n_rows, n_experts, n_outputs); NaN where asleep
    targets: Floats  #: (n_rows, n_outputs)
    awake: Floats | None  #: (n_rows, n_experts): confidences besides
    row_weights: Floats | None  #: (n_rows,)
    series: Integers  #: (n_rows,)
    groups: Integers  #: (n_rows,)
    blocks: Integers | None  #: (n_rows,)

    def take(self, rows: Any) -> Table:
        """Some of the rows."""
        return Table(*(None if values is None else values[rows] for values in self))  # type: ignore[arg-type]


class Issued(NamedTuple):
    """What was said of rows, in their order."""

    predictions: Floats  #: (n_rows, n_outputs)
    weights: Floats | None  #: (n_rows, n_experts, n_outputs)


class Panel:
    """All cells, and the rows that are part of blocks whose targets are not all there.

    Parameters
    ----------
    aggregator_of : callable
        Makes an aggregator from a prior.
    losses : OutputLosses
    prior : ndarray of shape (n_experts,)
    n_outputs : int
    shared : bool
        Whether the outputs share their weights.
    block, lag : int
    pooled : bool
        Whether groups have the mixture of all of them as one more expert.
    bias : bool
        Whether there are experts above and below the plain mean.
    levels : ndarray of shape (n_outputs,), optional
        If the outputs are quantiles: which. What is issued does not cross.
    """

    def __init__(
        self,
        aggregator_of: Callable[[Floats], Aggregator],
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
        self.levels = levels
        self.saved = np.zeros(0)  #: of each series: how much less was lost as quantiles did not cross
        self._council_of, self.losses, self.prior, self.n_outputs = aggregator_of, losses, prior, n_outputs
        self.shared, self.block, self.lag, self.pooled, self.bias = shared, block, lag, pooled, bias
        self.cells: dict[Key, SeriesState] = {}
        self.n_rows = np.zeros(0, dtype=np.int64)  #: of each series
        self.n_learned = 0  #: rounds, of all cells
        self._scales: dict[int, BiasScale] = {}  #: by series
        self._waiting: Table | None = None  #: rows of blocks that are not complete
        self.n_waiting = self.n_rows  #: of each series

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "cells": packed(self.cells)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        cells = state["cells"]
        self.__dict__.update(state, cells=apart(*cells) if type(cells) is tuple else cells)

    @property
    def n_experts(self) -> int:
        """Those in the table."""
        return len(self.prior)

    def add_expert(self) -> None:
        """Let an expert join, with an equal share of the prior; it takes the last seat."""
        share = 1.0 / (self.n_experts + 1)
        self.prior = np.append((1.0 - share) * self.prior, share)
        for cell in self.cells.values():
            cell.add_expert()
        if self._waiting is not None:
            table = self._waiting
            forecasts = np.pad(table.forecasts, ((0, 0), (0, 1), (0, 0)), constant_values=np.nan)
            awake = None if table.awake is None else np.pad(table.awake, ((0, 0), (0, 1)))
            self._waiting = table._replace(forecasts=forecasts, awake=awake)

    # Learning -----------------------------------------------------------------------------------------------------

    def learn(self, table: Table, with_weights: bool, n_jobs: int | None = None) -> Issued:
        """Rows whose targets have come, in the order of time; returns what was issued."""
        n_new = len(table.targets)
        self._open(int(table.series.max()) + 1)
        n_old = 0
        if self._waiting is not None:
            n_old = len(self._waiting.targets)
            table = _joined(self._waiting, table)
        in_order = bool((table.series[1:] >= table.series[:-1]).all())
        order = np.arange(n_old + n_new) if in_order else np.argsort(table.series, kind="stable")
        ordered = table if in_order else table.take(order)
        times = issue_schedule(ordered.series, self.n_rows - self.n_waiting, ordered.blocks, self.block, self.lag)
        extras = self._extras(ordered, times)
        issued = self._run(ordered, times, extras, with_weights, n_jobs)
        issued = issued._replace(predictions=self._repaired(issued.predictions, ordered, times))
        self._keep_waiting(ordered, times)
        self.n_rows += np.bincount(table.series[n_old:], minlength=len(self.n_rows))
        for (series, _, _), cell in self.cells.items():
            if len(cell.book) > 1:
                cell.forget_pages(int(self.n_rows[series] - self.n_waiting[series]))
        back: Any = slice(n_old, None)
        if not in_order:
            back = np.empty(n_old + n_new, dtype=np.int64)
            back[order] = np.arange(n_old + n_new)
            back = back[n_old:]
        return Issued(issued.predictions[back], None if issued.weights is None else issued.weights[back])

    def _open(self, n_series: int) -> None:
        missing = max(n_series - len(self.n_rows), 0)
        self.n_rows = np.append(self.n_rows, np.zeros(missing, dtype=np.int64))
        self.saved = np.append(self.saved, np.zeros(missing))
        self.n_waiting = np.append(self.n_waiting, np.zeros(missing, dtype=np.int64))

    def repaired(self, predictions: Floats) -> Floats:
        """Quantiles that do not cross: sorted, which only lowers their pinball losses together."""
        if self.levels is None:
            return predictions
        return np.sort(predictions, axis=1)[:, np.argsort(np.argsort(self.levels))]

    def _repaired(self, predictions: Floats, table: Table, times: IssueSchedule) -> Floats:
        """The same, with what it saves in the rows that are learned."""
        if self.levels is None:
            return predictions
        repaired = self.repaired(predictions)
        outputs = np.tile(np.arange(self.n_outputs), len(predictions))
        lost = [self.losses.of(table.targets.ravel(), said.ravel(), outputs) for said in (predictions, repaired)]
        saved = (lost[0] - lost[1]).reshape(predictions.shape).sum(axis=1) * times.complete
        if table.row_weights is not None:
            saved *= table.row_weights
        self.saved += np.bincount(table.series, saved, minlength=len(self.saved))
        return repaired

    def _keep_waiting(self, table: Table, times: IssueSchedule) -> None:
        waits = ~times.complete
        self.n_waiting = np.bincount(table.series[waits], minlength=len(self.n_rows))
        self._waiting = table.take(waits) if waits.any() else None

    def _run(
        self, table: Table, times: IssueSchedule, extras: Floats | None, with_weights: bool, n_jobs: int | None
    ) -> Issued:
        """All rows, of which each is in a cell of its series and group; ``extras`` are forecasts of further experts."""
        plain = table._replace(groups=np.full_like(table.groups, ALL))
        if not self.pooled:
            return self._run_cells(table, times, extras, with_weights, n_jobs)
        pooled = self._run_cells(plain, times, extras, with_weights, n_jobs)
        of_pool = pooled.predictions[:, np.newaxis]
        extras = of_pool if extras is None else np.concatenate([of_pool, extras], axis=1)
        own = self._run_cells(table, times, extras, with_weights, n_jobs)
        if own.weights is None or pooled.weights is None:
            return own
        return own._replace(weights=_spread(own.weights, pooled.weights))

    def _run_cells(
        self, table: Table, times: IssueSchedule, extras: Floats | None, with_weights: bool, n_jobs: int | None
    ) -> Issued:
        n_rows, n_outputs = table.targets.shape
        n_cells = 1 if self.shared else n_outputs
        # an entry is an output of a row; those of a cell come together, in the order of time
        codes = np.repeat(table.series * (table.groups.max() + 2) + table.groups + 1, n_outputs) * n_cells
        if not self.shared:
            codes += np.tile(np.arange(n_outputs), n_rows)
        row_of, output_of = np.repeat(np.arange(n_rows), n_outputs), np.tile(np.arange(n_outputs), n_rows)
        if not (codes[1:] >= codes[:-1]).all():
            order = np.argsort(codes, kind="stable")
            codes, row_of, output_of = codes[order], row_of[order], output_of[order]
        cell_begins = np.diff(codes, prepend=-1) != 0
        round_begins = cell_begins | (np.diff(times.issue[row_of], prepend=-1) != 0)
        starts = np.flatnonzero(round_begins)
        rounds_of = np.append(np.flatnonzero(cell_begins[starts]), len(starts)).astype(np.int64)
        first_rows = row_of[starts]
        forecasts = table.forecasts if extras is None else np.concatenate([extras, table.forecasts], axis=1)
        x, awake = _entries(forecasts, table.awake, row_of, output_of, n_outputs)
        entries = Entries(
            x,
            np.ascontiguousarray(table.targets[row_of, output_of]),
            awake,
            None if table.row_weights is None else table.row_weights[row_of],
            output_of if n_outputs > 1 else None,
            np.append(starts, len(codes)).astype(np.int64),
            times.issue[first_rows],
            times.known_at[first_rows],
            times.complete[first_rows],
        )
        heads = starts[rounds_of[:-1]]
        keys = zip(table.series[row_of[heads]], table.groups[row_of[heads]], output_of[heads], strict=True)
        cells = [self._cell((int(s), int(g), ALL if self.shared else int(o))) for s, g, o in keys]
        if not (self.pooled and table.groups[0] == ALL):
            self.n_learned += int(entries.complete.sum())
        said, weights = run_series(cells, rounds_of, entries, self.losses, with_weights, n_jobs)
        predictions = np.empty((n_rows, n_outputs))
        predictions[row_of, output_of] = said
        if weights is None:
            return Issued(predictions, None)
        in_rows = np.empty((n_rows, weights.shape[1], n_outputs))
        in_rows[row_of, :, output_of] = weights
        return Issued(predictions, in_rows)

    def _cell(self, key: Key) -> SeriesState:
        cell = self.cells.get(key)
        if cell is None:
            prior = self._seats(key[1])
            cell = SeriesState(self._council_of(prior), self.lag > 0, len(prior) - self.n_experts)
            self.cells[key] = cell
        return cell

    def _seats(self, group: int) -> Floats:
        """The prior over all experts of a cell, the further ones first."""
        prior = self.prior
        if self.bias:  # each as much as a plain one
            share = 1.0 / (self.n_experts + 2)
            prior = np.concatenate([np.full(2, share), (1.0 - 2.0 * share) * prior])
        if self.pooled and group != ALL:
            prior = np.concatenate([[POOLED_PRIOR], (1.0 - POOLED_PRIOR) * prior])
        return prior

    # The experts above and below the mean ---------------------------------------------------------------------------

    def _extras(self, table: Table, times: IssueSchedule) -> Floats | None:
        """Their forecasts, (n_rows, 2, n_outputs); NaN before any target is known."""
        if not self.bias:
            return None
        means = plain_mean(table.forecasts, table.awake)
        errors = np.abs(means - table.targets)
        begins = (np.diff(table.series, prepend=-1) != 0) | (np.diff(times.issue, prepend=-1) != 0)
        starts = np.flatnonzero(begins)
        weights = np.ones(len(errors)) if table.row_weights is None else table.row_weights
        heard = np.add.reduceat(weights, starts)
        sums = np.add.reduceat(errors * weights[:, np.newaxis], starts, axis=0)
        sums /= np.where(heard > 0.0, heard, 1.0)[:, np.newaxis]
        lengths = np.diff(starts, append=len(errors))
        learned = heard / lengths * times.complete[starts]
        scales = np.empty_like(sums)
        cuts = np.flatnonzero(np.diff(table.series[starts], prepend=-1))
        for first, last in zip(cuts, [*cuts[1:], len(starts)], strict=True):
            here, head = slice(first, last), starts[first:last]
            scale = self._scales.setdefault(int(table.series[starts[first]]), BiasScale(self.n_outputs))
            scales[here] = scale.run(sums[here], times.issue[head], times.known_at[head], learned[here])
        return _around(means, np.repeat(scales, lengths, axis=0))

    # Issuing ------------------------------------------------------------------------------------------------------

    def issue(self, table: Table) -> Issued:
        """What is said of rows now; nothing changes."""
        issued = self._issue(table)
        return issued._replace(predictions=self.repaired(issued.predictions))

    def _issue(self, table: Table) -> Issued:
        extras = None
        if self.bias:
            unknown = np.full(self.n_outputs, np.nan)
            scales = [self._scales[s].now() if s in self._scales else unknown for s in table.series.tolist()]
            extras = _around(plain_mean(table.forecasts, table.awake), np.array(scales).reshape(-1, self.n_outputs))
        if not self.pooled:
            return self._issue_cells(table, extras)
        pooled = self._issue_cells(table._replace(groups=np.full_like(table.groups, ALL)), extras)
        of_pool = pooled.predictions[:, np.newaxis]
        own = self._issue_cells(table, of_pool if extras is None else np.concatenate([of_pool, extras], axis=1))
        assert own.weights is not None
        assert pooled.weights is not None
        return own._replace(weights=_spread(own.weights, pooled.weights))

    def _issue_cells(self, table: Table, extras: Floats | None) -> Issued:
        n_rows, n_outputs = len(table.forecasts), self.n_outputs
        forecasts = table.forecasts if extras is None else np.concatenate([extras, table.forecasts], axis=1)
        predictions = np.empty((n_rows, n_outputs))
        weights = np.empty((n_rows, forecasts.shape[1], n_outputs))
        pairs, which = np.unique(np.stack([table.series, table.groups], axis=1), axis=0, return_inverse=True)
        by_pair = np.argsort(which.ravel(), kind="stable")
        cuts = np.cumsum(np.bincount(which.ravel(), minlength=len(pairs)))
        for (series, group), rows in zip(pairs.tolist(), np.split(by_pair, cuts[:-1]), strict=True):
            for output in range(n_outputs):
                cell = self.cells.get((series, group, ALL if self.shared else output))
                if cell is None:  # one that nothing is known of
                    cell = SeriesState(self._council_of(self._seats(group)), lags=False)
                x, awake = _entries(forecasts, table.awake, rows, np.full(len(rows), output), n_outputs)
                current_weights = cell.current_weights()
                predictions[rows, output] = current_weights.prediction(current_weights.mixtures(x, awake))
                weights[rows, :, output] = current_weights.weights(awake, len(rows))
        return Issued(predictions, weights)


def plain_mean(forecasts: Floats, awake: Floats | None) -> Floats:
    """The mean (n_rows, n_outputs) of who is awake; NaN where all sleep."""
    confidence = ~np.isnan(forecasts) * (1.0 if awake is None else awake[:, :, np.newaxis])
    total = confidence.sum(axis=1)
    with np.errstate(over="ignore"):
        sums = (confidence * np.nan_to_num(forecasts)).sum(axis=1)
    return clip_to_floats(np.divide(sums, total, out=np.full(total.shape, np.nan), where=total > 0.0))


def _around(means: Floats, scales: Floats) -> Floats:
    with np.errstate(over="ignore"):
        return clip_large(np.stack([means + scales, means - scales], axis=1))


def _spread(weights: Floats, pooled: Floats) -> Floats:
    """The first expert is a mixture of the others: its weight is theirs."""
    return weights[:, 1:] + weights[:, :1] * pooled


def _entries(
    forecasts: Floats, awake: Floats | None, row_of: Any, output_of: Any, n_outputs: int
) -> tuple[Floats, Floats | None]:
    """Forecasts and confidences of entries, (n_entries, n_experts)."""
    if n_outputs > 1:
        x = forecasts[row_of, :, output_of]
    else:
        in_order = len(row_of) == len(forecasts) and bool((np.diff(row_of) == 1).all())
        x = forecasts[:, :, 0] if in_order else forecasts[row_of, :, 0]  # which may be large
    if awake is not None:
        extra = x.shape[1] - awake.shape[1]  # of the further experts
        awake = np.pad(awake, ((0, 0), (extra, 0)), constant_values=1.0)[row_of]
    return filled(x, awake)


def filled(forecasts: Floats, awake: Floats | None) -> tuple[Floats, Floats | None]:
    """Forecasts (n_rows, n_experts) with the plain mean in the place of NaN, and confidences; None if all are 1."""
    asleep = np.isnan(forecasts)
    if awake is None and not asleep.any():
        return np.ascontiguousarray(forecasts), None
    confidence = np.where(asleep, 0.0, 1.0 if awake is None else awake)
    return np.where(asleep, plain_mean(forecasts[:, :, np.newaxis], confidence), forecasts), confidence


def _joined(first: Table, second: Table) -> Table:
    """Rows of two tables; where one has weights or confidences, those of the other are 1."""

    def both(one: Any, other: Any, like: Callable[[Table], Any]) -> Any:
        if one is None and other is None:
            return None
        one = np.ones(like(first)) if one is None else one
        other = np.ones(like(second)) if other is None else other
        return np.concatenate([one, other])

    return Table(
        np.concatenate([first.forecasts, second.forecasts]),
        np.concatenate([first.targets, second.targets]),
        both(first.awake, second.awake, lambda table: table.forecasts.shape[:2]),
        both(first.row_weights, second.row_weights, lambda table: len(table.targets)),
        np.concatenate([first.series, second.series]),
        np.concatenate([first.groups, second.groups]),
        None if second.blocks is None else second.blocks,  # such blocks are whole: none of them waits
    )
