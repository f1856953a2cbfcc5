"""Combination of forecast tables: the estimator ExpertMixture."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from os import PathLike
from time import time as now
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from .._param_checks import check_jobs, check_prior, named_value_errors
from .._typing import Floats
from ..engine import changing, lock_of, locked, shared_state, unchanged_on_error
from ..experts import ExpertAlgorithm
from ..losses import LOSSES, OutputLosses, Pinball
from ..recording import RowHistory, RunCallback, log_file, logger, n_records
from ._fitted_attributes import MixtureAttributes
from ._forecast_reader import ForecastReader, LabelledTable
from ._labels import TableLabels
from ._panel import IssuedForecasts, Panel
from ._parameters import check_mixture
from ._recorded_rows import RowHistorySource, rows_to_record, show_rows
from ._series_state import may_fail


class ExpertMixture(MixtureAttributes, MultiOutputMixin, RegressorMixin, BaseEstimator):
    """Combination of forecasts by weights that follow the best models of the current regime and remember earlier ones.

    A row of ``X`` holds the forecasts of the models for one time, a column for each; NaN means that a model has no
    forecast: it sleeps. ``partial_fit`` takes rows whose targets are known, in the order of time. Each row is scored
    with the weights that were in force when it was *issued*: see ``block`` and ``lag``.

    Parameters
    ----------
    algorithm : ExpertAlgorithm or str, optional
        Any of :mod:`ltm_sklearn.experts`, or its name in snake case, such as "fixed_share". None: an aggregator of
        three members, which follow one expert (``LongTermMemory``), blend all (``MLPoly``) or take the plain mean, and
        an arbiter that weights their mixtures by their losses. Without gradients: ``LongTermMemory``.
    loss : str, RegressionLoss or callable, default="squared_error"
        "squared_error", "absolute_error", "absolute_percentage_error", "pinball", "huber", "log_cosh", or one of
        :mod:`ltm_sklearn.losses` with parameters, such as ``Huber(0.5)``. A callable takes targets and forecasts, shape
        (n,) both, and returns losses of any scale; it may have a method ``gradient`` with the same arguments.
    gradient : bool, default=True
        Score experts with the linear part of the loss at the mixture, where the loss has a gradient, so that the
        mixture competes with the best convex combination of the experts, not just with the best expert.
    lag : int, default=0
        Number of rows that pass before a row's target is known: a row is issued with weights that have not learned the
        ``lag`` rows before it.
    block : int or str, default=1
        Rows that are issued together, and learned together in one round: this number of rows, or the rows between two
        changes of the column of this name.
    group : str, optional
        A column of groups, each of which has weights of its own; or "hour", "weekday", "month" of the rows' times.
    pooled : bool, default=False
        Whether the mixture of all groups together is one more expert of each group, with half the prior.
    series : str, optional
        A column of series, each of which has its own weights, blocks and lag.
    time : str, optional
        A column of times, which must go up in each series. A ``DatetimeIndex`` is used without it.
    quantiles : list of float, optional
        Forecast these quantiles, each with its own pinball loss; they do not cross.
    shared : bool, default=False
        Whether several targets, or quantiles, share their weights.
    bias : bool, default=False
        Add two experts, above and below the plain mean by twice its mean absolute error, so that an error common to all
        experts can be corrected.
    prior : array-like of shape (n_experts,) or dict, optional
        Initial weights, by column or by name; None: equal weights.
    record : int or path, optional
        Keep at most this many records for pictures and :meth:`summary`; if there are more rows, neighbouring ones are
        averaged. A path, without ``series``: keep 1,000, and write them to this log file, which other processes can
        follow (see the guide's page on monitoring).
    n_jobs : int, optional
        Number of threads that learn series.
    verbose : int, default=0
        1: print the status of the run when its rows have doubled since the last line, or a minute has passed; 2: after
        each call.

    Attributes
    ----------
    experts_ : list
        Names of the experts; those that were added later come last.
    weights_ : ndarray of shape (n_experts,), or (n_cells, n_experts)
        Current weights; with several series, groups or outputs, a row for each of ``cells_``.
    cells_ : list
        Series, group and output of each row of ``weights_``.
    leader_ : str
        Expert with the largest weight; if ``weights_`` has several rows, with the largest mean.
    loss_ : ndarray of shape (n_experts,)
        Mean loss of each expert in the rows where it was awake.
    mixture_loss_ : float
        Mean loss of the predictions as issued.
    n_rounds_, n_samples_seen_ : int
        Number of rounds and rows.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        When the columns have names.

    See Also
    --------
    LongTermMemoryRegressor : Combines models, which it also trains.

    Examples
    --------
    Two forecasters take turns in being accurate:

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

    _learned = ("_panel", "_labels", "_histories", "_callback")

    def __init__(
        self,
        algorithm: ExpertAlgorithm | str | None = None,
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
        """Forget everything, and learn a history in one pass; :meth:`partial_fit` continues.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_experts), or (n_samples, n_experts, n_outputs)
            Forecasts, in the order of time. Frames of several outputs have columns of two levels, expert and output.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        sample_weight : array-like of shape (n_samples,), optional
            Weight of each row, relative to the largest weight so far.
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
                self._learn(X, y, sample_weight, awake, is_history=True)
            self._callback.report(self._panel.n_experts, 0, at_the_end=True)
        return self

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None, awake: Any = None) -> Self:
        """Learn rows whose targets are known, in the order of time.

        Each row is scored with the weights that were in force when it was issued. A frame may have columns that were
        not there before, which are new experts, and may lack others, which sleep.

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
                self._learn(X, y, sample_weight, awake, is_history=False)
            self._callback.report(self._panel.n_experts, 0)
        return self

    def _learn(self, X: Any, y: Any, sample_weight: Any, awake: Any, is_history: bool) -> None:
        """Read a table, learn its rounds with the panel, and record them; the state is replaced when all went well."""
        is_first = not hasattr(self, "_panel")
        if is_first:
            check_mixture(self)
        else:
            check_jobs(self.n_jobs)  # n_jobs and verbose may change at any time; other parameters hold until `fit`
        parameters = clone(self) if is_first else self._in_force

        reader = ForecastReader(self, None if is_first else self._labels)
        reading = reader.read(X, y, sample_weight, awake)
        if is_history:
            reader.check_history(reading.table, parameters.lag)

        if is_first:
            panel, histories = parameters._new_panel(reading.labels), {}
            callback = RunCallback(RowHistorySource(), log_file(parameters, parameters._loss_name()))
        else:
            panel, histories, callback = self._panel, self._histories, self._callback
        callback.verbose = self.verbose
        new_experts = reading.labels.experts[panel.n_experts :]
        if not is_first and (new_experts or may_fail(parameters.algorithm, panel.losses)):
            panel = deepcopy(panel)  # an error of the algorithm or the loss would leave it half changed
        if new_experts:
            histories = deepcopy(histories)
            _add_experts(len(new_experts), panel, histories)

        watched = parameters.record is not None or callback.listens
        issued = panel.learn(reading.table, with_weights=watched, n_jobs=self.n_jobs)
        self._panel, self._labels, self._histories, self._callback = panel, reading.labels, histories, callback
        self._in_force = parameters
        if new_experts:
            logger.info("row %d: new experts %s", self.n_samples_seen_, new_experts)
        if watched:
            self._record(reading, issued)

    def _new_panel(self, labels: TableLabels) -> Panel:
        losses = self._losses(labels.n_outputs)
        return Panel(
            self.algorithm,
            self.gradient and losses.have_gradient,
            losses,
            self._prior(labels.experts),
            labels.n_outputs,
            shared=self.shared,
            block=self.block if not isinstance(self.block, str) else 1,
            lag=self.lag,
            pooled=self.pooled,
            bias=self.bias,
            levels=None if self.quantiles is None else np.asarray(self.quantiles, dtype=np.float64),
        )

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

    def _record(self, reading: LabelledTable, issued: IssuedForecasts) -> None:
        """Record rows, series by series, and show them to the callback."""
        table, callback = reading.table, self._callback
        weights = self._weights_in_table(issued)
        rows = rows_to_record(table, self._panel.losses, weights, issued.predictions)
        names = [str(name) for name in self._labels.experts]
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

    # For distributed panels, whose series are kept in several mixtures ----------------------------------------------

    def _begin_panel(self, experts: list[Any]) -> Self:
        """Start with these experts, before any series is known."""
        check_mixture(self)
        n_outputs = 1 if self.quantiles is None else len(self.quantiles)
        self._labels = TableLabels(experts=list(experts), n_outputs=n_outputs, flat=self.quantiles is None, named=True)
        self._in_force = clone(self)
        self._panel, self._histories = self._in_force._new_panel(self._labels), {}
        self._callback = RunCallback(RowHistorySource(), None)
        return self

    def _add_to_panel(self, experts: list[Any]) -> None:
        """Add experts, as if a table had come with their columns."""
        self._labels.experts = self._labels.experts + experts
        _add_experts(len(experts), self._panel, self._histories)

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
            return predictions[:, 0] if self._labels.flat else predictions

    def weigh(self, X: Any, awake: Any = None) -> Floats:
        """Return the weights with which the forecasts of each row are combined now; sleeping experts have none.

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
            weights = self._weights_in_table(self._issue(X, awake))
            return weights[:, :, 0] if self._labels.flat else weights

    @locked
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score predictions with the weights that are in force now.

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

        predictions = self.predict(X)
        quantiles = self._in_force.quantiles
        with named_value_errors("y"):
            if quantiles is None:
                return float(r2_score(y, predictions, sample_weight=sample_weight))
            levels = np.asarray(quantiles, dtype=np.float64).tolist()
            scores = [
                d2_pinball_score(y, predictions[:, at], sample_weight=sample_weight, alpha=level)
                for at, level in enumerate(levels)
            ]
            return float(np.mean(scores))

    def _issue(self, X: Any, awake: Any) -> IssuedForecasts:
        check_is_fitted(self)
        table, _, labels = ForecastReader(self, self._labels).read(X, awake=awake, learn=False)
        n_experts = self._panel.n_experts
        if len(labels.experts) > n_experts:  # nothing is known of the others
            known_awake = None if table.awake is None else table.awake[:, :n_experts]
            table = table._replace(forecasts=table.forecasts[:, :n_experts], awake=known_awake)
            asleep = np.isnan(table.forecasts)
            if known_awake is not None:
                asleep |= (known_awake == 0.0)[:, :, np.newaxis]
            if asleep.all(axis=1).any():
                unknown = labels.experts[n_experts:]
                raise ValueError(f"only experts that were never learned have forecasts in some rows: {unknown!r}")
        return self._panel.issue(table)

    def _weights_in_table(self, issued: IssuedForecasts) -> Floats:
        """Return the weights of the table's experts, without the bias experts."""
        assert issued.weights is not None
        return issued.weights[:, 2:] if self._in_force.bias else issued.weights

    # Protocols ----------------------------------------------------------------------------------------------------

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
    """Add ``n`` experts after the others, to the panel and to the histories."""
    for _ in range(n):
        panel.add_expert()
        for history in histories.values():
            history.add_expert()
