"""State of a series: an aggregator, the versions of its weights that are still needed, and sums of losses."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from .._optional import import_kernel
from .._typing import Floats, Integers
from ..aggregation import Aggregator, AggregatorWeights, ForecastRows
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

kernel = import_kernel("_mixing", __package__)

#: Names of the losses in the kernel, and of the attribute that is their parameter.
KERNEL_LOSSES: dict[type, tuple[str, str]] = {
    SquaredError: ("SQUARED", ""),
    AbsoluteError: ("ABSOLUTE", ""),
    AbsolutePercentageError: ("PERCENTAGE", ""),
    Pinball: ("PINBALL", "quantile"),
    Huber: ("HUBER", "delta"),
    LogCosh: ("LOG_COSH", ""),
}


class Rounds(NamedTuple):
    """Rounds of one or several series states, state by state, each in the order of time."""

    rows: ForecastRows
    starts: Integers  #: (n_rounds + 1,): the first row of each round, and the end of the last round
    issue: Integers  #: (n_rounds,): how many rows of the series were known when the round was issued
    known_at: Integers  #: (n_rounds,): how many rows there are when all targets of the round are known
    complete: NDArray[np.bool_]  #: (n_rounds,): whether all its targets are there

    def part(self, first: int, last: int) -> Rounds:
        """Return the rounds from ``first`` to before ``last``."""
        rounds = slice(first, last)
        rows = self.rows.take(slice(self.starts[first], self.starts[last]))
        starts = self.starts[first : last + 1] - self.starts[first]
        return Rounds(rows, starts, self.issue[rounds], self.known_at[rounds], self.complete[rounds])


class SeriesState:
    """Aggregator of a series, the weights that it has issued, and sums of the losses.

    A *weight version* is what was issued after a round, and holds from a certain number of known rows on. Versions are
    kept while rows may come that were issued with them.

    Parameters
    ----------
    aggregator : Aggregator
    lags : bool
        Whether rounds are learned after later ones were issued: then versions also hold the views of the algorithms.
    n_further : int, default=0
        How many of the first experts are not in the table: they do not count in the plain mean.
    """

    def __init__(self, aggregator: Aggregator, lags: bool, n_further: int = 0) -> None:
        self.aggregator, self.lags, self.n_further = aggregator, lags, n_further
        self.n_members, n_experts = aggregator.current_weights().member_weights.shape
        #: (n_versions, width): weights of the arbiter, of the members and, with a lag, the views; the last is in force
        self.weight_versions = self._new_version()[np.newaxis]
        self.in_force_from = np.zeros(1, dtype=np.int64)  #: (n_versions,): number of known rows from which on
        #: sums over the rows learned, of the experts, the mixture and the plain mean: losses, weights of the rows, and
        #: losses of the mixture in the same rows
        self.loss_sums = np.zeros((3, n_experts + 2))

    def _new_version(self) -> Floats:
        """The weights that would be issued now."""
        return _as_version(self.aggregator.current_weights(), self.aggregator.issued_views() if self.lags else [])

    def current_weights(self) -> AggregatorWeights:
        """Weights that are in force now."""
        return self.weights_of(self.weight_versions[-1])

    def weights_of(self, version: Floats) -> AggregatorWeights:
        """Return the weights that a version holds."""
        arbiter_weights, rest = version[: self.n_members], version[self.n_members :]
        n_weights = self.n_members * (self.loss_sums.shape[1] - 2)
        return AggregatorWeights(arbiter_weights, rest[:n_weights].reshape(self.n_members, -1))

    def _views_of(self, version: Floats) -> list[Floats]:
        """Return the views that a version holds."""
        rest = version[self.n_members * (self.loss_sums.shape[1] - 1) :]
        return np.split(rest, np.cumsum([len(view) for view in self.aggregator.issued_views()])[:-1])

    def add_expert(self) -> None:
        """Add an expert, which has no weight in the versions that were issued before."""
        versions = []
        for version in self.weight_versions[:-1]:
            arbiter_weights, member_weights = self.weights_of(version)
            views = self.aggregator.widened_views(self._views_of(version)) if self.lags else []
            wider = AggregatorWeights(arbiter_weights, np.pad(member_weights, ((0, 0), (0, 1))))
            versions.append(_as_version(wider, views))
        self.aggregator.add_expert()
        self.weight_versions = np.stack([*versions, self._new_version()])
        self.loss_sums = np.insert(self.loss_sums, -2, 0.0, axis=1)

    def run(self, rounds: Rounds, losses: OutputLosses, predictions: Floats, weights: Floats | None) -> None:
        """Learn rounds in their order; writes predictions (n_rows,) and weights (n_rows, n_experts) as issued."""
        versions, in_force_from, at_issue = list(self.weight_versions), self.in_force_from.tolist(), 0
        for at in range(len(rounds.issue)):
            while at_issue + 1 < len(versions) and in_force_from[at_issue + 1] <= rounds.issue[at]:
                at_issue += 1
            here = slice(rounds.starts[at], rounds.starts[at + 1])
            issued, rows = self.weights_of(versions[at_issue]), rounds.rows.take(here)
            predictions[here] = issued.predict(rows.forecasts, rows.awake)
            if weights is not None:
                weights[here] = issued.weights_by_row(rows.awake, len(rows.targets))
            if not rounds.complete[at]:
                continue
            if rows.row_weights is None or rows.row_weights.any():
                late = at_issue < len(versions) - 1
                self.aggregator.update(issued, self._views_of(versions[at_issue]) if late else None, rows, losses)
                self._add_losses(rows, predictions[here], losses)
            versions = [*versions[at_issue:], self._new_version()]
            in_force_from = [*in_force_from[at_issue:], int(rounds.known_at[at])]
            at_issue = 0
        self.weight_versions, self.in_force_from = np.stack(versions), np.array(in_force_from, dtype=np.int64)

    def _add_losses(self, rows: ForecastRows, predictions: Floats, losses: OutputLosses) -> None:
        """Add the losses of a round to the sums."""
        x, y, awake, row_weights, outputs = rows
        awake = np.ones_like(x) if awake is None else awake
        own = slice(self.n_further, None)
        with np.errstate(over="ignore"):
            plain = (awake * x)[:, own].sum(axis=1) / awake[:, own].sum(axis=1)
        weights = np.column_stack([awake, np.ones((len(y), 2))])
        if row_weights is not None:
            weights *= row_weights[:, np.newaxis]
        row_losses = losses.of_experts(y, np.column_stack([x, predictions, plain]), outputs)
        self.loss_sums += np.stack(
            [(weights * row_losses).sum(axis=0), weights.sum(axis=0), row_losses[:, -2] @ weights]
        )

    def forget_versions(self, n_rows: int) -> None:
        """Forget the versions with which no row can have been issued any more, when so many rows are known."""
        first = max(int(np.searchsorted(self.in_force_from, n_rows, side="right")) - 1, 0)
        self.weight_versions, self.in_force_from = self.weight_versions[first:], self.in_force_from[first:]

    # The compiled rounds -------------------------------------------------------------------------------------------

    def has_compiled(self) -> bool:
        """Whether the kernel knows this aggregator."""
        first, arbiter = self.aggregator.members[0].algorithm, self.aggregator.arbiter
        if kernel is None or type(first) is not LongTermMemory or first.horizon is not None:
            return False
        if arbiter is None:
            return True
        return type(self.aggregator.members[1].algorithm) is MLPoly and type(arbiter.algorithm) is SteadyMemory

    def run_compiled(
        self, rounds: Rounds, loss: tuple[int, Floats], predictions: Floats, weights: Floats | None
    ) -> None:
        """Do the same as :meth:`run`, compiled; only if :func:`compiled_loss` and :meth:`has_compiled` allow it."""
        assert kernel is not None
        aggregator = self.aggregator
        learners = aggregator.learners
        gaps = np.zeros(3)
        gaps[: len(learners)] = [learner.range.widest_gap for learner in learners]
        poly = arbiter = None
        if aggregator.arbiter is not None:
            arbiter = aggregator.arbiter.algorithm.compiled_rounds()
            poly = dict(aggregator.members[1].algorithm.state_)
            for name in ("regret", "inverse_rate"):
                poly[name] = np.array(poly[name])  # the kernel changes them in place
        n_rounds, n_complete = len(rounds.issue), int(rounds.complete.sum())
        n_old, width = self.weight_versions.shape
        longest_lag = int((rounds.known_at - rounds.issue).max(initial=0))
        n_versions = max(n_old, min(longest_lag + 2, n_old + n_rounds))
        in_force_from, versions = np.empty(n_versions, dtype=np.int64), np.empty((n_versions, width))
        n_kept = kernel.run(
            aggregator.members[0].algorithm.compiled_rounds(),
            aggregator.members[0].linear,
            poly,
            arbiter,
            aggregator.plain_mean,
            gaps,
            self.in_force_from,
            self.weight_versions,
            rounds.starts,
            rounds.issue,
            rounds.known_at,
            n_complete,
            rounds.rows.forecasts,
            rounds.rows.targets,
            rounds.rows.awake,
            rounds.rows.row_weights,
            *loss,
            RANGE_GROWTH,
            FADING,
            in_force_from,
            versions,
            predictions,
            weights,
            self.loss_sums,
            self.n_further,
        )
        for learner, gap in zip(learners, gaps.tolist(), strict=False):
            learner.range.widest_gap = gap
        if poly is not None:
            aggregator.members[1].algorithm.state_ = poly
        self.weight_versions, self.in_force_from = versions[:n_kept].copy(), in_force_from[:n_kept].copy()


def _as_version(weights: AggregatorWeights, views: list[Floats]) -> Floats:
    return np.concatenate([weights.arbiter_weights, weights.member_weights.ravel(), *views])


def compiled_loss(losses: OutputLosses, outputs: NDArray[np.intp] | None) -> tuple[int, Floats] | None:
    """Return the kernel's code of a loss and its parameter, or one for each row; None if the kernel lacks the loss."""
    types = {type(loss) for loss in losses.losses}
    if kernel is None or len(types) > 1 or not types <= set(KERNEL_LOSSES):
        return None
    name, parameter = KERNEL_LOSSES[types.pop()]
    parameters = np.array([float(getattr(loss, parameter)) if parameter else 0.0 for loss in losses.losses])
    return getattr(kernel, name), parameters[:1] if outputs is None else parameters[outputs]


def may_fail(algorithm: Any, losses: OutputLosses) -> bool:
    """Whether rounds run code that may raise an error: a custom loss, or an algorithm, which may have a horizon."""
    return algorithm is not None or compiled_loss(losses, None) is None


def run_series(
    states: list[SeriesState],
    rounds_of: Integers,
    rounds: Rounds,
    losses: OutputLosses,
    with_weights: bool,
    n_jobs: int | None = None,
) -> tuple[Floats, Floats | None]:
    """Run several states, of which each has the rounds from ``rounds_of[i]`` to before ``rounds_of[i + 1]``.

    Returns predictions (n_rows,) and, if wanted, weights (n_rows, n_experts), as issued.
    """
    predictions = np.empty(len(rounds.rows.targets))
    weights = np.empty_like(rounds.rows.forecasts) if with_weights else None
    loss = compiled_loss(losses, rounds.rows.outputs)

    def run(first: int, last: int) -> None:
        for at in range(first, last):
            part = rounds.part(int(rounds_of[at]), int(rounds_of[at + 1]))
            here = slice(rounds.starts[rounds_of[at]], rounds.starts[rounds_of[at + 1]])
            out = predictions[here], None if weights is None else weights[here]
            if loss is not None and states[at].has_compiled():
                kind, parameters = loss
                states[at].run_compiled(part, (kind, parameters if len(parameters) == 1 else parameters[here]), *out)
            else:
                states[at].run(part, losses, *out)

    if len(states) == 1 or n_jobs in (None, 1):
        run(0, len(states))
    else:  # threads: the compiled rounds do not hold the interpreter's lock
        cuts = np.linspace(0, len(states), min(len(states), 64) + 1).astype(int).tolist()
        Parallel(n_jobs=n_jobs, require="sharedmem")(delayed(run)(*part) for part in pairwise(cuts))
    return predictions, weights
