"""Combination of forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from time import time as now
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._numerics import normalise
from .._param_checks import check_jobs, check_prior, named_value_errors
from .._typing import Floats
from ..aggregation import Aggregator
from ..engine import changing, lock_of, locked, shared_state, unchanged_on_error
from ..experts import ExpertAlgorithm
from ..losses import LOSSES, OutputLosses, Pinball
from ..recording import RowHistory, RunCallback, log_file, logger, n_records
from ._fitted_attributes import MixtureAttributes
from ._forecast_reader import Reader, Reading, Vocabulary
from ._panel import Issued, Panel, Table
from ._parameters import check_mixture
from ._recorded_rows import RowHistorySource, rows_to_record, show_rows
from ._series_state import may_fail


class ExpertMixture(MixtureAttributes, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Forecasts of several models, combined by who is right now, with a memory of who was right before.

    A row of ``X`` holds what the models forecast for one time, a column each; NaN says that a model has no forecast: it
    sleeps. ``partial_fit`` is for rows whose targets have come, in the order of time. Each is scored with the weights
    that were in force when it was *issued*: see ``block`` and ``lag``.

    Parameters
    ----------
    algorithm : ExpertAlgorithm, optional
        Any of :mod:`ltm_sklearn.experts`. None: an aggregator of three, which follow one expert (``LongTermMemory``),
        blend all (``MLPoly``) or take the plain mean, weighed by how good their mixtures have been. Without gradients:
        ``LongTermMemory``.
    loss : str, RegressionLoss or callable, default="squared_error"
        "squared_error", "absolute_error", "absolute_percentage_error", "pinball", "huber", "log_cosh", or one of
        :mod:`ltm_sklearn.losses` with
        parameters, as ``Huber(0.5)``. A callable takes targets and forecasts, shape (n,) both, and returns losses of
        any scale; it may have a method ``gradient`` with the same arguments.
    gradient : bool, default=True
        Charge experts the linear part of the loss at the mixture, where the loss has a gradient, so that the mixture
        competes with the best convex combination of the experts, not just with the best expert.
    lag : int, default=0
        Rows that pass before a row's target is known: it is issued with weights that know nothing of the ``lag`` rows
        before it.
    block : int or str, default=1
        What is issued together, and learned together in one round: so many rows, or the rows between two changes of
        the column of this name.
    group : str, optional
        A column, by which the weights differ; or "hour", "weekday", "month" of the times of the rows.
    pooled : bool, default=False
        Whether the mixture of all groups together is one more expert of each group, with half the prior.
    series : str, optional
        A column that says which series a row is of. Each has its own weights, blocks and lag.
    time : str, optional
        A column of times, which must go up in each series. Where rows have a ``DatetimeIndex`` it is known without.
    quantiles : list of float, optional
        Forecast these quantiles, each with its own pinball loss; they do not cross.
    shared : bool, default=False
        Whether several targets, or quantiles, share their weights.
    bias : bool, default=False
        Add two experts, above and below the plain mean by twice its mean absolute error, so that what all experts have
        in common can be corrected.
    prior : array-like of shape (n_experts,) or dict, optional
        Weights to begin with, by column or by name; None: all the same.
    record : int or path, optional
        Keep at most this many records for pictures and :meth:`summary`; where there are more rows, neighbouring ones
        are averaged. A path, where there are no ``series``: keep 1,000, and mirror them in this file, where other
        processes can follow the run (see the guide's page on monitoring).
    n_jobs : int, optional
        Series side by side, in threads.
    verbose : int, default=0
        1: print a line on how the run stands when its rows have doubled since the last line, or a minute has passed;
        2: after each call.

    Attributes
    ----------
    experts_ : list
        Names of the experts; those that came later are last.
    weights_ : ndarray of shape (n_experts,), or (n_cells, n_experts)
        The weights now; where there are several series, groups or outputs, those of ``cells_``.
    cells_ : list
        What the rows of ``weights_`` are: tuples of series, group and output.
    leader_ : str
        The expert with the largest weight; of several cells, with the largest mean.
    loss_ : ndarray of shape (n_experts,)
        Mean loss of each expert in the rows where it was awake.
    mixture_loss_ : float
        Mean loss of what was issued.
    n_rounds_, n_samples_seen_ : int
        Rounds and rows so far.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        When the columns have names.

    See Also
    --------
    LongTermMemoryRegressor : Experts that are models, which it trains.

    Examples
    --------
    Two forecasters take turns in being right:

    >>> import numpy as np
    >>> from ltm_sklearn import ExpertMixture
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=600).cumsum()
    >>> good, bad = y + 0.1 * rng.normal(size=600), y + 2.0 * rng.normal(size=600)
    >>> first_is_good = np.arange(600) // 100 % 2 == 0
    >>> forecasts = np.column_stack([np.where(first_is_good, good, bad), np.where(first_is_good, bad, good)])
    >>> mixture = ExpertMixture(loss="absolute_error").fit(forecasts[:-1], y[:-1])
    >>> print(f"{mixture.mixture_loss_:.2f}, the better forecaster {mixture.loss_.min():.2f}")
    0.12, the better forecaster 0.84
    >>> mixture.predict(forecasts[-1:]).shape
    (1,)
    """

    _learned = ("_panel", "_known", "_histories", "_callback")

    def __init__(
        self,
        algorithm: ExpertAlgorithm | None = None,
        loss: Any = "squared_error",
        *,
        gradient: bool = True,
        lag: int = 0,
        block: int | str = 1,
        group: str | None = None,
        pooled: bool = False,
        series: str | None = None,
        time: str | None = None,
        quantiles: Any = None,
        shared: bool = False,
        bias: bool = False,
        prior: Any = None,
        record: int | str | PathLike[str] | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.algorithm = algorithm
        self.loss = loss
        self.gradient = gradient
        self.lag = lag
        self.block = block
        self.group = group
        self.pooled = pooled
        self.series = series
        self.time = time
        self.quantiles = quantiles
        self.shared = shared
        self.bias = bias
        self.prior = prior
        self.record = record
        self.n_jobs = n_jobs
        self.verbose = verbose

    # Learning -----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, awake: Any = None) -> Self:
        """Forget everything, and learn a history in one pass; :meth:`partial_fit` goes on.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
            Forecasts, in the order of time. Frames of several outputs have columns of two levels, expert and output.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional
            How far each row counts, relative to the largest weight so far.
        awake : array-like of shape (n_samples, n_experts), optional
            Confidences in [0, 1] of the experts in their forecasts, in the order of ``X`` or, in a frame, by name.

        Returns
        -------
        self
        """
        with changing(self):
            with unchanged_on_error(self):
                for name in (*self._learned, "_in_force", "feature_names_in_"):
                    self.__dict__.pop(name, None)
                self._learn(X, y, sample_weight, awake, history=True)
            self._callback.tell(self._panel.n_experts, 0, at_the_end=True)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, awake: Any = None) -> Self:
        """Learn rows whose targets have come, in the order of time.

        They were issued earlier, each with the weights that were in force then. A frame may have columns that were not
        there before, which are new experts, and may lack others, which sleep.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional
        awake : array-like of shape (n_samples, n_experts), optional

        Returns
        -------
        self
        """
        with changing(self):
            with unchanged_on_error(self):
                self._learn(X, y, sample_weight, awake, history=False)
            self._callback.tell(self._panel.n_experts, 0)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, awake: Any, history: bool) -> None:
        first = not hasattr(self, "_panel")
        if first:
            check_mixture(self)
        else:
            check_jobs(self.n_jobs)  # which holds at once, as verbose does
        in_force = clone(self) if first else self._in_force
        reader = Reader(self, None if first else self._known)
        reading = reader.read(X, y, sample_weight, awake)
        if history:
            reader.check_history(reading, in_force.lag)
        panel = in_force._new_panel(reading.vocabulary) if first else self._panel
        callback = (
            RunCallback(RowHistorySource(), log_file(in_force, in_force._loss_name())) if first else self._callback
        )
        callback.verbose = self.verbose
        grows = len(reading.vocabulary.experts) > panel.n_experts
        if not first and (may_fail(in_force.algorithm, panel.losses) or grows):
            panel = deepcopy(panel)  # it would be half changed if the algorithm or the loss raised an error
        histories = {} if first else self._histories
        new = len(reading.vocabulary.experts) - panel.n_experts
        if new:
            histories = deepcopy(histories)
        _add_experts(new, panel, histories)
        watched = in_force.record is not None or callback.listens
        issued = panel.learn(reading.table, with_weights=watched, n_jobs=self.n_jobs)
        self._panel, self._known, self._histories, self._callback = panel, reading.vocabulary, histories, callback
        self._in_force = in_force
        if new:
            logger.info("row %d: new experts %s", self.n_samples_seen_, reading.vocabulary.experts[-new:])
        if watched:
            self._record(reading, issued)

    def _new_panel(self, known: Vocabulary) -> Panel:
        losses = self._losses(known.n_outputs)
        linear = self.gradient and losses.have_gradient
        return Panel(
            _Councils(self.algorithm, linear),
            losses,
            self._prior(known.experts),
            known.n_outputs,
            shared=self.shared,
            block=self.block if not isinstance(self.block, str) else 1,
            lag=self.lag,
            pooled=self.pooled,
            bias=self.bias,
            levels=None if self.quantiles is None else np.asarray(self.quantiles, dtype=np.float64),
        )

    # Of a panel whose series are kept in several mixtures: each knows the experts that any of them has met ----------

    def _begin(self, experts: list[Any]) -> Self:
        """Know these experts, and no series yet."""
        check_mixture(self)
        n_outputs = 1 if self.quantiles is None else len(self.quantiles)
        known = Vocabulary(experts=list(experts), n_outputs=n_outputs, flat=self.quantiles is None, named=True)
        self._in_force = clone(self)
        self._known, self._panel, self._histories = known, self._in_force._new_panel(known), {}
        self._callback = RunCallback(RowHistorySource(), None)
        return self

    def _admit(self, experts: list[Any]) -> None:
        """Let experts join, as if a table had come with their columns."""
        self._known.experts = self._known.experts + experts
        _add_experts(len(experts), self._panel, self._histories)

    def _losses(self, n_outputs: int) -> OutputLosses:
        if self.quantiles is not None:
            return OutputLosses([Pinball(float(level)) for level in self.quantiles])
        return OutputLosses([LOSSES[self.loss] if isinstance(self.loss, str) else self.loss] * n_outputs)

    def _prior(self, experts: list[Any]) -> Floats:
        if not isinstance(self.prior, Mapping):
            of_algorithm = getattr(self.algorithm, "prior", None)
            return check_prior(of_algorithm if self.prior is None else self.prior, len(experts))
        unknown = [name for name in self.prior if name not in experts]
        if unknown:
            raise ValueError(f"prior has {unknown[0]!r}, which is none of the experts {experts!r}")
        missing = [name for name in experts if name not in self.prior]
        if missing:
            raise ValueError(f"prior lacks {missing[0]!r}: it must have all experts {experts!r}")
        return check_prior([self.prior[name] for name in experts], len(experts))

    # Predicting ---------------------------------------------------------------------------------------------------

    def predict(self, X: Any, awake: Any = None) -> Floats:
        """Combine forecasts with the weights that are in force now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
        awake : array-like of shape (n_samples, n_experts), optional

        Returns
        -------
        ndarray of shape (n_samples,), or (n_samples, n_outputs)
            Quantiles go up in each row.
        """
        with lock_of(self):
            predictions = self._issue(X, awake).predictions
            return predictions[:, 0] if self._known.flat else predictions

    def weigh(self, X: Any, awake: Any = None) -> Floats:
        """The weights that forecasts get now, row by row: those that sleep get none.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
        awake : array-like of shape (n_samples, n_experts), optional

        Returns
        -------
        ndarray of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
            In the order of ``experts_``. With ``bias`` they may sum to less than one: the rest is on the two further
            experts.
        """
        with lock_of(self):
            weights = self._of_table(self._issue(X, awake).weights)
            return weights[:, :, 0] if self._known.flat else weights

    @locked
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """How well forecasts are combined with the weights that are in force now.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        float
            R²; of quantiles, the mean over them of the share of the pinball loss that is explained.
        """
        check_is_fitted(self)
        from sklearn.metrics import d2_pinball_score, r2_score  # here, as they are slow to import and seldom needed

        said = self.predict(X)
        quantiles = self._in_force.quantiles
        with named_value_errors("y"):
            if quantiles is None:
                return float(r2_score(y, said, sample_weight=sample_weight))
            levels = enumerate(np.asarray(quantiles, dtype=np.float64).tolist())
            return float(
                np.mean([d2_pinball_score(y, said[:, at], sample_weight=sample_weight, alpha=q) for at, q in levels])
            )

    def _issue(self, X: Any, awake: Any) -> Issued:
        check_is_fitted(self)
        reader = Reader(self, self._known)
        reading = reader.read(X, awake=awake, learn=False)
        table: Table = reading.table
        unknown = reading.vocabulary.experts[self._panel.n_experts :]
        if unknown:  # nothing is known of them
            seats = self._panel.n_experts
            awake_too = None if table.awake is None else table.awake[:, :seats]
            table = table._replace(forecasts=table.forecasts[:, :seats], awake=awake_too)
            silent = np.isnan(table.forecasts)
            if awake_too is not None:
                silent |= (awake_too == 0.0)[:, :, np.newaxis]
            if silent.all(axis=1).any():
                raise ValueError(f"only experts that were never learned have forecasts in some rows: {unknown!r}")
        return self._panel.issue(table)

    def _of_table(self, weights: Floats | None) -> Floats:
        """Without those of the experts above and below the mean."""
        assert weights is not None
        return weights[:, 2:] if self._in_force.bias else weights

    def _record(self, reading: Reading, issued: Issued) -> None:
        """Record rows, series by series, and let the callback see them."""
        table, callback = reading.table, self._callback
        rows = rows_to_record(table, self._panel.losses, self._of_table(issued.weights), issued.predictions)
        names = [str(name) for name in self._known.experts]
        if callback.listens:
            show_rows(callback, rows, names, self.n_samples_seen_ - len(table.targets))
        record = self._in_force.record
        if record is None:
            return
        order = np.argsort(table.series, kind="stable")
        first = np.flatnonzero(np.diff(table.series[order], prepend=-1))
        for here in np.split(order, first[1:]):
            series = int(table.series[here[0]])
            if series not in self._histories:
                self._histories[series] = RowHistory(n_records(record), len(names), table.targets.shape[1])
            times = None if reading.times is None else reading.times[here]
            self._histories[series].add({name: values[here] for name, values in rows.items()}, times, now())
        if callback.log is not None:  # which is for one series
            callback.source.history, callback.source.names = self._histories[0], names

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            return shared_state(self, super().__getstate__())

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_panel")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        return tags


def _add_experts(n: int, panel: Panel, histories: dict[int, RowHistory]) -> None:
    """Let so many experts join; they take the last seats."""
    for _ in range(n):
        panel.add_expert()
        for history in histories.values():
            history.add_expert()


class _Councils:
    """Makes councils; a class, so that it pickles."""

    def __init__(self, algorithm: ExpertAlgorithm | None, linear: bool) -> None:
        self.algorithm, self.linear = algorithm, linear

    def __call__(self, prior: Floats) -> Aggregator:
        return Aggregator(self.algorithm, self.linear, normalise(prior))
