"""Cells: councils with the rounds that each has had, and many of them side by side."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._optional import compiled
from .._typing import Floats, Integers
from ..aggregation import Aggregator, AggregatorWeights, Rows
from ..experts import LongTermMemory, MLPoly, SteadyMemory
from ..losses import (
    FADING,
    RANGE_GROWTH,
    AbsoluteError,
    AbsolutePercentageError,
    Huber,
    LogCosh,
    OutputLosses,
    Pinball,
    SquaredError,
)

kernel = compiled("_mixing", __package__)


class Entries(NamedTuple):
    """Rows of one or many cells, cell by cell, each in the order of time."""

    forecasts: Floats  #: (n_rows, n_experts); finite also where an expert sleeps
    targets: Floats  #: (n_rows,)
    awake: Floats | None  #: (n_rows, n_experts): confidences; None if all are 1
    row_weights: Floats | None  #: (n_rows,) in [0, 1]; None if all are 1
    outputs: NDArray[np.intp] | None  #: (n_rows,): which loss is whose; None if there is one
    starts: Integers  #: (n_rounds + 1,): where the rounds begin, and the last ends
    issue: Integers  #: (n_rounds,): how many rows of the series were known when it was issued
    known_at: Integers  #: (n_rounds,): how many rows are there when all its targets are known
    complete: NDArray[np.bool_]  #: (n_rounds,): whether all its targets are there

    def part(self, first: int, last: int) -> Entries:
        """The rounds from one to before another."""
        rows, rounds = slice(self.starts[first], self.starts[last]), slice(first, last)

        def cut(values: Any) -> Any:
            return None if values is None else values[rows]

        starts = self.starts[first : last + 1] - self.starts[first]
        of_rows: Any = [cut(values) for values in self[:5]]
        of_rounds: Any = [starts, self.issue[rounds], self.known_at[rounds], self.complete[rounds]]
        return Entries(*of_rows, *of_rounds)

    def rows(self, at: int) -> Rows:
        """The rows of a round."""
        here = slice(self.starts[at], self.starts[at + 1])
        parts: Any = [None if values is None else values[here] for values in self[:5]]
        return Rows(*parts)


class SeriesState:
    """An aggregator, what it has issued, and what came of it.

    What is issued is kept for as long as rows may still come that were issued with it: a *page* for each round, which
    says from when on it was in force.

    Parameters
    ----------
    aggregator : Aggregator
    lags : bool
        Whether rounds are learned when others have been issued since: then pages hold what that takes.
    n_further : int, default=0
        How many of the first experts are none of the table's: they do not count in the plain mean.
    """

    def __init__(self, aggregator: Aggregator, lags: bool, n_further: int = 0) -> None:
        self.aggregator, self.lags, self.n_further = aggregator, lags, n_further
        n_members, n_experts = aggregator.current_weights().member_weights.shape
        #: (n_pages, width): trust, member_weights and, with a lag, the views of each; the last is what is issued now
        self.book = self._page()[np.newaxis]
        self.in_force_from = np.zeros(1, dtype=np.int64)  #: (n_pages,): the rows known from which on
        #: over the rows learned, of the experts, the mixture and the plain mean: sums of their losses and of the rows'
        #: weights, and of what the mixture lost in the same rows
        self.tally = np.zeros((3, n_experts + 2))
        self.n_members = n_members

    def _page(self) -> Floats:
        """What is issued now."""
        return _written(self.aggregator.current_weights(), self.aggregator.views() if self.lags else [])

    def current_weights(self, at: int = -1) -> AggregatorWeights:
        """What is issued with a page; now, with the last."""
        page, width = self.book[at], self.n_members * (self.tally.shape[1] - 2)
        return AggregatorWeights(page[: self.n_members], page[self.n_members :][:width].reshape(self.n_members, -1))

    def _views(self, at: int) -> list[Floats]:
        """What a page says besides."""
        rest = self.book[at][self.n_members * (self.tally.shape[1] - 1) :]
        return np.split(rest, np.cumsum([len(view) for view in self.aggregator.views()])[:-1])

    def add_expert(self) -> None:
        """Let an expert join; what was issued before gave it no weight."""
        pages = []
        for at in range(len(self.book) - 1):
            trust, member_weights = self.current_weights(at)
            views = self.aggregator.widened(self._views(at)) if self.lags else []
            pages.append(_written(AggregatorWeights(trust, np.pad(member_weights, ((0, 0), (0, 1)))), views))
        self.aggregator.add_expert()
        self.book = np.stack([*pages, self._page()])
        self.tally = np.insert(self.tally, -2, 0.0, axis=1)

    def run(self, entries: Entries, losses: OutputLosses, predictions: Floats, weights: Floats | None) -> None:
        """Rounds, in order; predictions (n_rows,) and weights (n_rows, n_experts) are written as they were issued."""
        book, in_force_from, basis = list(self.book), self.in_force_from.tolist(), 0
        for at in range(len(entries.issue)):
            while basis + 1 < len(book) and in_force_from[basis + 1] <= entries.issue[at]:
                basis += 1
            self.book = np.stack(book)
            issued, rows = self.current_weights(basis), entries.rows(at)
            here = slice(entries.starts[at], entries.starts[at + 1])
            predictions[here] = issued.prediction(issued.mixtures(rows.forecasts, rows.awake))
            if weights is not None:
                weights[here] = issued.weights(rows.awake, len(rows.targets))
            if not entries.complete[at]:
                continue
            if rows.row_weights is None or rows.row_weights.any():
                late = basis < len(book) - 1
                self.aggregator.learn(issued, self._views(basis) if late else None, rows, losses)
                self._count(rows, predictions[here], losses)
            book = [*book[basis:], self._page()]
            in_force_from = [*in_force_from[basis:], int(entries.known_at[at])]
            basis = 0
        self.book, self.in_force_from = np.stack(book), np.array(in_force_from, dtype=np.int64)

    def _count(self, rows: Rows, predictions: Floats, losses: OutputLosses) -> None:
        x, y, awake, row_weights, outputs = rows
        awake = np.ones_like(x) if awake is None else awake
        own = slice(self.n_further, None)
        with np.errstate(over="ignore"):
            plain = (awake * x)[:, own].sum(axis=1) / awake[:, own].sum(axis=1)
        heard = np.column_stack([awake, np.ones((len(y), 2))])
        if row_weights is not None:
            heard *= row_weights[:, np.newaxis]
        lost = losses.of_experts(y, np.column_stack([x, predictions, plain]), outputs)
        self.tally += np.stack([(heard * lost).sum(axis=0), heard.sum(axis=0), lost[:, -2] @ heard])

    def forget_pages(self, n_rows: int) -> None:
        """Of those that no row can have been issued with any more, if so many rows have been seen."""
        first = max(int(np.searchsorted(self.in_force_from, n_rows, side="right")) - 1, 0)
        self.book, self.in_force_from = self.book[first:], self.in_force_from[first:]

    # The compiled rounds -------------------------------------------------------------------------------------------

    def run_compiled(
        self, entries: Entries, loss: tuple[int, Floats], predictions: Floats, weights: Floats | None
    ) -> None:
        """The same, fused; only where :func:`compiled_loss` and :meth:`has_compiled` say so."""
        assert kernel is not None
        aggregator = self.aggregator
        follow = aggregator.members[0]
        members = [follow, *aggregator.members[1:], *([aggregator.arbiter] if aggregator.arbiter is not None else [])]
        gaps = np.zeros(3)
        gaps[: len(members)] = [member.range.widest_gap for member in members]
        poly = arbiter = None
        if aggregator.arbiter is not None:
            arbiter = aggregator.arbiter.algorithm.compiled_rounds()
            poly = dict(aggregator.members[1].algorithm.state_)
            for name in ("regret", "inverse_rate"):
                poly[name] = np.array(poly[name])  # in which the rounds are written
        n_rounds, n_complete = len(entries.issue), int(entries.complete.sum())
        lagging = int((entries.known_at - entries.issue).max(initial=0))
        n_pages = max(len(self.book), min(lagging + 2, len(self.book) + n_rounds))
        kept_from, kept = np.empty(n_pages, dtype=np.int64), np.empty((n_pages, self.book.shape[1]))
        n_kept = kernel.run(
            follow.algorithm.compiled_rounds(),
            follow.linear,
            poly,
            arbiter,
            aggregator.mean,
            gaps,
            self.in_force_from,
            self.book,
            entries.starts,
            entries.issue,
            entries.known_at,
            n_complete,
            entries.forecasts,
            entries.targets,
            entries.awake,
            entries.row_weights,
            loss[0],
            loss[1],
            RANGE_GROWTH,
            FADING,
            kept_from,
            kept,
            predictions,
            weights,
            self.tally,
            self.n_further,
        )
        for member, gap in zip(members, gaps.tolist(), strict=False):
            member.range.widest_gap = gap
        if poly is not None:
            aggregator.members[1].algorithm.state_ = poly
        self.book, self.in_force_from = kept[:n_kept].copy(), kept_from[:n_kept].copy()

    def has_compiled(self) -> bool:
        """Whether the kernel knows this aggregator."""
        first = self.aggregator.members[0].algorithm
        if kernel is None or type(first) is not LongTermMemory or first.horizon is not None:
            return False
        if self.aggregator.arbiter is None:
            return True
        return (
            type(self.aggregator.members[1].algorithm) is MLPoly
            and type(self.aggregator.arbiter.algorithm) is SteadyMemory
        )


def _written(current_weights: AggregatorWeights, views: list[Floats]) -> Floats:
    return np.concatenate([current_weights.trust, current_weights.member_weights.ravel(), *views])


def compiled_loss(losses: OutputLosses, outputs: NDArray[np.intp] | None) -> tuple[int, Floats] | None:
    """The loss as the kernel knows it, with a parameter, or one for each row; None if it does not."""
    kinds: dict[type, tuple[str, Any]] = {
        SquaredError: ("SQUARED", lambda loss: 0.0),
        AbsoluteError: ("ABSOLUTE", lambda loss: 0.0),
        AbsolutePercentageError: ("PERCENTAGE", lambda loss: 0.0),
        Pinball: ("PINBALL", lambda loss: loss.quantile),
        Huber: ("HUBER", lambda loss: loss.delta),
        LogCosh: ("LOG_COSH", lambda loss: 0.0),
    }
    types = {type(loss) for loss in losses.losses}
    if kernel is None or len(types) > 1 or not types <= set(kinds):
        return None
    name, parameter_of = kinds[types.pop()]
    parameters = np.array([float(parameter_of(loss)) for loss in losses.losses])
    return getattr(kernel, name), parameters[:1] if outputs is None else parameters[outputs]


def may_fail(algorithm: Any, losses: OutputLosses) -> bool:
    """Whether rounds run code that may raise an error: somebody's loss, or an algorithm, which may have a horizon."""
    return algorithm is not None or compiled_loss(losses, None) is None


def run_series(
    cells: list[SeriesState],
    rounds_of: Integers,
    entries: Entries,
    losses: OutputLosses,
    with_weights: bool,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats | None]:
    """Run many cells, of which each has the rounds from ``rounds_of[i]`` to before ``rounds_of[i + 1]``.

    Returns predictions (n_rows,) and, if wanted, weights (n_rows, n_experts), as issued.
    """
    predictions = np.empty(len(entries.targets))
    weights = np.empty_like(entries.forecasts) if with_weights else None
    compiled = compiled_loss(losses, entries.outputs)

    def run(first: int, last: int) -> None:
        for at in range(first, last):
            part = entries.part(int(rounds_of[at]), int(rounds_of[at + 1]))
            here = slice(entries.starts[rounds_of[at]], entries.starts[rounds_of[at + 1]])
            out = predictions[here], None if weights is None else weights[here]
            if compiled is not None and cells[at].has_compiled():
                kind, parameters = compiled
                cells[at].run_compiled(part, (kind, parameters if len(parameters) == 1 else parameters[here]), *out)
            else:
                cells[at].run(part, losses, *out)

    if len(cells) == 1 or n_jobs in (None, 1):
        run(0, len(cells))
    else:  # threads: the compiled rounds do not hold the interpreter's lock
        cuts = np.linspace(0, len(cells), min(len(cells), 64) + 1).astype(int).tolist()
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(run)(*part) for part in pairwise(cuts))
    return predictions, weights
