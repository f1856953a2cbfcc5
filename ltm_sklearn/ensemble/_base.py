"""The base class of the classifier and the regressor: parameters, rounds, predictions."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, TransformerMixin, clone
from sklearn.utils import _safe_indexing, check_random_state, gen_batches, get_tags
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_method_params,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
)

from .._param_checks import check_jobs, check_weights
from .._sklearn_compat import CallbackSupportMixin, rounds_with_callbacks, with_callbacks
from .._typing import Floats
from ..bandits import BanditAlgorithm
from ..engine import (
    DelayedLabels,
    Engine,
    Expert,
    ExpertFailure,
    FittedAttributes,
    RoundPredictions,
    Snapshots,
    changing,
    lock_of,
    locked,
    new_engine,
    unchanged_on_error,
)
from ..experts import ExpertAlgorithm
from ..losses import ClassificationScore, RegressionScore
from ._metadata_routing import routed
from ._models_adapter import SklearnModelsAdapter
from ._named_estimators import NamedEstimators
from ._parameters import check_parameters
from ._validation import are_checked, check_rows, is_frozen, read_only, takes_nan
from ._versioned_state import VersionedState


class BaseLongTermMemory(
    VersionedState, CallbackSupportMixin, FittedAttributes, TransformerMixin, MetaEstimatorMixin, NamedEstimators
):
    """Base class of the estimators: a round for each batch, and predictions with the weights in force."""

    _learned = ("_engine", "_pending")  #: attributes that a round changes in place
    _engine: Engine
    _estimators: dict[str, Any]  #: untrained or frozen estimators by name, from which experts are made
    _pending: DelayedLabels
    _accepts: dict[str, bool]  #: which rows the experts take: "sparse" ones, "allow_nan"

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | dict[str, Any] | None = None,
        *,
        algorithm: ExpertAlgorithm | BanditAlgorithm | str | None = None,
        feedback: str = "full",
        n_queries: int = 1,
        loss: Any = "auto",
        combine: str = "average",
        memory: Snapshots | str | None = "auto",
        rounds: str = "batch",
        batch_size: int = 100,
        on_error: str = "warn",
        max_pending: int = 10_000,
        n_jobs: int | None = None,
        random_state: Any = None,
        record: int | str | PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimators = estimators
        self.algorithm = algorithm
        self.feedback = feedback
        self.n_queries = n_queries
        self.loss = loss
        self.combine = combine
        self.memory = memory
        self.rounds = rounds
        self.batch_size = batch_size
        self.on_error = on_error
        self.max_pending = max_pending
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.record = record
        self.verbose = verbose

    @abstractmethod
    def _score(self) -> ClassificationScore | RegressionScore:
        """Return the fresh object that computes losses from targets and predictions."""

    @abstractmethod
    def _decision(self, mixture: Floats) -> Any:
        """Return what ``predict`` returns for combined outputs (n_rows, n_outputs)."""

    @abstractmethod
    def _check_targets(self, y: Any, reset: bool = False) -> tuple[Any, Any]:
        """Return targets for the models and for the losses; with ``reset``, learn the classes from them."""

    # Learning ----------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Reset the ensemble and learn the rows in one pass, in rounds of ``batch_size`` rows.

        :meth:`partial_fit` continues from there.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            Rows in the order of time.
        y : array-like of shape (n_samples,)
            Targets.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, for the losses and for the training of the experts.
        **params : dict
            Metadata that experts request through metadata routing.

        Returns
        -------
        self
        """
        with changing(self), unchanged_on_error(self):
            check_parameters(self)
            return self._fit(X, y, sample_weight, params)

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        self.__dict__.pop("_engine", None)
        X = check_rows(self, X, reset=True)
        y, targets = self._check_targets(y, reset=True)
        check_consistent_length(X, y)
        weights = check_weights(sample_weight, X)
        self._routed("fit", weights, params)  # raises before anything is done
        self._start()  # callbacks may read the attributes of what has been learned so far
        batches = list(gen_batches(_num_samples(X), self.batch_size))
        if weights is not None:  # a batch without weight is not a round
            batches = [rows for rows in batches if weights[rows].any()]
        for rows in rounds_with_callbacks(self, batches, X, y):
            part = None if weights is None else weights[rows]
            adapter = self._adapter(self._routed("fit", part, _check_method_params(X, params, indices=rows)))
            self._engine.note(self._learn(adapter, _safe_indexing(X, rows), y[rows], targets[rows], part))
        self._engine.report_status(at_the_end=True)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        """Learn one batch; the caller holds the lock."""
        first = not self.__sklearn_is_fitted__()
        if first:
            check_parameters(self)
        X = check_rows(self, X, reset=first)
        y, targets = self._check_targets(y)
        check_consistent_length(X, y)
        weights = check_weights(sample_weight, X)
        params = self._routed("partial_fit", weights, params)
        if first:
            self._start()
        self._engine.note(self._learn(self._adapter(params), X, y, targets, weights))
        return self

    def _start(self) -> None:
        """Set up a fresh engine with untrained experts."""
        tags = get_tags(self).input_tags  # of the unfitted ensemble: they are derived from the estimators
        self._accepts = {"sparse": tags.sparse, "allow_nan": tags.allow_nan}
        self._pending = DelayedLabels(self.max_pending)
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        self._estimators = {name: clone(estimator) for name, estimator in self._pool(seed)}
        draws = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        engine = new_engine(self, self._score(), self.rounds == "row", draws)
        adapter, experts = self._adapter({}), []
        for name, estimator in self._estimators.items():
            if is_frozen(estimator):
                experts.append(Expert(name, name, "frozen", estimator, 0, trained=True))
            else:
                experts.append(Expert(name, name, "live", adapter.fresh(name), 0))
        engine.begin(experts, adapter)
        self._engine = engine

    def _adapter(self, params: dict[str, Any]) -> SklearnModelsAdapter:
        return SklearnModelsAdapter(self._estimators, getattr(self, "classes_", None), params)

    def _learn(
        self,
        adapter: SklearnModelsAdapter,
        X: Any,
        y: Any,
        targets: Any,
        weights: Floats | None,
        issued: RoundPredictions | None = None,
    ) -> list[ExpertFailure]:
        """Run a round, with predictions that were issued before or with those of now."""
        check_jobs(self.n_jobs)  # n_jobs and verbose may be set in mid-run
        self._engine.callback.verbose = self.verbose
        with self._without_repeated_checks(X):
            return self._engine.learn(read_only(X), read_only(y), targets, weights, adapter, self.n_jobs, issued)

    def _without_repeated_checks(self, X: Any) -> Any:
        """Skip checks that repeat in experts: NaN in rows that were checked, parameters after the first round."""
        return config_context(
            assume_finite=not self._accepts["allow_nan"] and are_checked(X),
            skip_parameter_validation=self._engine.n_rounds > 0,
        )

    def _routed(self, method: str, weights: Floats | None, params: dict[str, Any]) -> dict[str, Any]:
        """Return the keyword arguments of each expert's training, by its name."""
        pool = list(self._estimators.items()) if self.__sklearn_is_fitted__() else self._pool()
        return routed(self, pool, method, weights, params)

    # Predicting --------------------------------------------------------------------------------------------------

    def _query_experts(self, X: Any, held: int = 0) -> RoundPredictions:
        """Predict checked rows; ``held`` counts, from 1, predictions whose targets come later."""
        check_jobs(self.n_jobs)
        with self._without_repeated_checks(X):
            issued = self._engine.predict(read_only(X), _num_samples(X), self._adapter({}), self.n_jobs, held)
        issued.check()
        return issued

    def _issue(self, X: Any) -> RoundPredictions:
        check_is_fitted(self)
        issued = self._query_experts(check_rows(self, X, reset=False))
        self._engine.failures.warn(issued.reports)
        return issued

    def predict(self, X: Any) -> Any:
        """Predict the most likely class or the number for each row.

        Where no expert has a prediction, the result is the most frequent class, or the mean target, so far. With
        ``feedback="bandit"`` the experts selected for the coming round are queried, the same ones in every call.
        :meth:`partial_fit` queries them again; :meth:`issue` followed by :meth:`learn` queries them once.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        with lock_of(self):
            return self._decision(self._issue(X).mixture)

    def transform(self, X: Any) -> Floats:
        """Return the predictions of all experts, in the order of ``experts_``; NaN where an expert has none.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_experts) or, for classifiers, (n_samples, n_experts * n_classes)
            With a memory, the number of columns changes with the snapshots; ``memory=None`` keeps it constant.
        """
        issued = self._issue(X)
        predictions = np.where(issued.awake[:, :, np.newaxis], issued.predictions, np.nan)
        return predictions.transpose(1, 0, 2).reshape(predictions.shape[1], -1)

    @locked
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str, optional
            Checked against the names seen in ``fit``, otherwise unused.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix = type(self).__name__.lower()
        suffixes = [f"_{label}" for label in getattr(self, "classes_", ())] or [""]
        names = [f"{prefix}_{expert.name}{suffix}" for expert in self._engine.pool.experts for suffix in suffixes]
        return np.asarray(names, dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_engine")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self.__sklearn_is_fitted__():  # each round needs the tags, and those of all experts take long to collect
            tags.input_tags.sparse, tags.input_tags.allow_nan = self._accepts["sparse"], self._accepts["allow_nan"]
            return tags
        try:
            pool = [estimator for _, estimator in self._pool()]
            inputs = [(get_tags(estimator).input_tags.sparse, takes_nan(estimator)) for estimator in pool]
        except (TypeError, ValueError, AttributeError):  # invalid estimators are reported by check_parameters
            inputs = []
        tags.input_tags.sparse = bool(inputs) and all(sparse for sparse, _ in inputs)
        tags.input_tags.allow_nan = any(nan for _, nan in inputs)
        return tags


# TransformerMixin has wrapped transform, so that it calls get_feature_names_out afterwards: the lock must hold both.
BaseLongTermMemory.transform = locked(BaseLongTermMemory.transform)  # type: ignore[assignment, method-assign]
