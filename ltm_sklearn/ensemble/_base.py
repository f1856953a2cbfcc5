"""What the classifier and the regressor share: parameters, experts, learning and predicting."""

from __future__ import annotations

from abc import abstractmethod
from os import PathLike
from typing import Any, Self
from warnings import warn

import numpy as np
from sklearn import config_context
from sklearn.base import MetaEstimatorMixin, TransformerMixin, clone
from sklearn.exceptions import InconsistentVersionWarning
from sklearn.utils import _safe_indexing, check_random_state, gen_batches, get_tags
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import _BaseComposition
from sklearn.utils.validation import (
    _check_feature_names_in,
    _check_method_params,
    _num_samples,
    check_consistent_length,
    check_is_fitted,
)

from .._frames import last_rows
from .._param_checks import check_jobs, check_weights
from .._sklearn_compat import CallbackSupportMixin, VisualBlock, announced, with_callbacks
from .._typing import Floats
from .._version import __version__
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
    shared_state,
    unchanged_on_error,
)
from ..experts import ExpertAlgorithm
from ..losses import ClassificationScore, RegressionScore
from ._from_river import as_sklearn_model
from ._parameters import check_parameters
from ._routing import routed, router
from ._skin import SklearnModels
from ._validation import are_checked, check_rows, is_frozen, read_only, takes_nan


def _as_ids(ids: Any) -> list[Any]:
    try:
        return list(ids.tolist() if hasattr(ids, "tolist") else ids)
    except TypeError:
        raise ValueError(f"ids={ids!r} must be a sequence, with one for each row") from None


class LongTermMemoryEnsemble(
    CallbackSupportMixin, FittedAttributes, TransformerMixin, MetaEstimatorMixin, _BaseComposition
):
    """Base of the two estimators."""

    _learned = ("_engine", "_pending")

    def __init__(
        self,
        estimators: list[tuple[str, Any]] | None = None,
        *,
        algorithm: ExpertAlgorithm | BanditAlgorithm | None = None,
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

    # What the two define -----------------------------------------------------------------------------------------

    @abstractmethod
    def _default_pool(self, seed: int | None) -> list[tuple[str, Any]]: ...

    @abstractmethod
    def _score(self) -> ClassificationScore | RegressionScore: ...

    @abstractmethod
    def _decision(self, mixture: Floats) -> Any:
        """What is predicted when the experts say this together."""

    @abstractmethod
    def _columns(self) -> list[str]:
        """What an expert's outputs are called; nothing if there is just one."""

    # Parameters --------------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, those of the estimators among them."""
        params: dict[str, Any] = self._get_params("estimators", deep=deep)
        return params

    def set_params(self, **params: Any) -> Self:
        """Set the parameters; an estimator is replaced by its name, ``"drop"`` takes it out."""
        if isinstance(self.memory, str) and any(name.startswith("memory__") for name in params):
            self.memory = Snapshots()  # which is what "auto" is, with parameters that can be set
        self._set_params("estimators", **params)
        return self

    def _pool(self, seed: int | None = None) -> list[tuple[str, Any]]:
        """The estimators that take part, by name; River's models as estimators."""
        pairs = self._default_pool(seed) if self.estimators is None else self.estimators
        return [(name, as_sklearn_model(estimator)) for name, estimator in pairs if not isinstance(estimator, str)]

    # Learning ----------------------------------------------------------------------------------------------------

    def _start(self) -> tuple[Engine, SklearnModels]:
        """A fresh engine, and the models that go with it."""
        seed = None if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        models = self._models({name: clone(estimator) for name, estimator in self._pool(seed)}, {})
        draws = int(np.random.default_rng().integers(2**31)) if seed is None else seed
        engine = new_engine(self, self._score(), self.rounds == "row", draws)
        experts = []
        for name, estimator in models.estimators.items():
            if is_frozen(estimator):
                experts.append(Expert(name, name, "frozen", estimator, 0, trained=True))
            else:
                experts.append(Expert(name, name, "live", models.fresh(name), 0))
        engine.begin(experts, models)
        return engine, models

    def _models(self, estimators: dict[str, Any], params: dict[str, Any]) -> SklearnModels:
        return SklearnModels(estimators, getattr(self, "classes_", None), params)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **params: Any) -> Self:
        """Forget everything, and learn the rows in one pass, in rounds of ``batch_size``; :meth:`partial_fit` goes on.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
            In the order of time.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            For the losses, and for the experts' training.
        **params : dict
            What the experts ask for, with metadata routing.

        Returns
        -------
        self
        """
        with changing(self), unchanged_on_error(self):
            check_parameters(self)
            return self._fit(X, y, sample_weight, params)

    @with_callbacks
    def _fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        self._see_all_targets(y)
        self.__dict__.pop("_engine", None)
        X = check_rows(self, X, reset=True)
        y, targets = self._check_targets(y)
        check_consistent_length(X, y)
        weights = check_weights(sample_weight, X)
        self._routed("fit", weights, params)  # complains before anything is done
        engine, models = self._start()
        self._keep(engine, models)  # callbacks may look at what has been learned so far
        batches = list(gen_batches(_num_samples(X), self.batch_size))
        if weights is not None:  # rows without any weight are as good as none
            batches = [rows for rows in batches if weights[rows].any()]
        for rows in announced(self, batches, X, y):
            part = _check_method_params(X, params, indices=rows)
            of_rows = None if weights is None else weights[rows]
            routed = self._routed("fit", of_rows, part)
            reports = self._learn(
                engine,
                self._models(models.estimators, routed),
                _safe_indexing(X, rows),
                y[rows],
                targets[rows],
                of_rows,
            )
            engine.note(reports)
        engine.report_status(at_the_end=True)
        return self

    def _partial_fit(self, X: Any, y: Any, sample_weight: Any, params: dict[str, Any]) -> Self:
        """Rows more."""
        first = not hasattr(self, "_engine")
        X = check_rows(self, X, reset=first)
        y, targets = self._check_targets(y)
        check_consistent_length(X, y)
        weights = check_weights(sample_weight, X)
        routed = self._routed("partial_fit", weights, params)
        engine, models = self._start() if first else (self._engine, self._models(self._estimators, {}))
        reports = self._learn(engine, self._models(models.estimators, routed), X, y, targets, weights)
        self._keep(engine, models)
        engine.note(reports)
        return self

    def _keep(self, engine: Engine, models: SklearnModels) -> None:
        if not hasattr(self, "_engine"):
            tags = get_tags(self).input_tags  # while they are still asked of the experts
            self._accepts = {"sparse": tags.sparse, "allow_nan": tags.allow_nan}
            self._pending = DelayedLabels(self.max_pending)
        self._engine, self._estimators = engine, models.estimators

    def _learn(
        self,
        engine: Engine,
        models: SklearnModels,
        X: Any,
        y: Any,
        targets: Any,
        weights: Floats | None,
        issued: RoundPredictions | None = None,
    ) -> list[ExpertFailure]:
        check_jobs(self.n_jobs)  # which holds at once, as verbose does
        engine.callback.verbose = self.verbose
        with self._trusting(X):
            return engine.learn(read_only(X), read_only(y), targets, weights, models, self.n_jobs, issued)

    @abstractmethod
    def _see_all_targets(self, y: Any) -> None:
        """Learn from all targets of a fit what must be known beforehand."""

    @abstractmethod
    def _check_targets(self, y: Any) -> tuple[Any, Any]:
        """Targets as the models take them, and as the score does."""

    def _trusting(self, X: Any) -> Any:
        """Rows have been checked for NaN once, and parameters in the first round; the experts need not do it again."""
        fitted = hasattr(self, "_engine")
        allow_nan = self._accepts["allow_nan"] if fitted else get_tags(self).input_tags.allow_nan
        first = not fitted or self._engine.n_rounds == 0
        return config_context(assume_finite=not allow_nan and are_checked(X), skip_parameter_validation=not first)

    # Targets that come later -------------------------------------------------------------------------------------

    def issue(self, X: Any, ids: Any) -> Any:
        """Predict rows whose targets will come later, and keep what was said until :meth:`learn` is told.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        ids : sequence of length n_samples
            By which the rows will be known; anything hashable. When more than ``max_pending`` rows wait, those that
            have waited longest are given up.

        Returns
        -------
        ndarray of shape (n_samples,)
            What :meth:`predict` returns.
        """
        with changing(self):
            return self._decision(self._issue_as(ids, X).mixture)

    def _issue_as(self, ids: Any, X: Any) -> RoundPredictions:
        """Ask about rows whose targets will come later, and keep what was said."""
        check_is_fitted(self)
        ids, X = _as_ids(ids), check_rows(self, X, reset=False)
        if len(ids) != _num_samples(X):
            raise ValueError(f"there are {len(ids)} ids for {_num_samples(X)} rows")
        self._pending.check_new(ids)
        issued = self._ask(X, held=self._pending.n_issues + 1)
        self._pending.hold(ids, last_rows(X, len(ids)), issued)
        self._engine.note(issued.reports)
        return issued

    def learn(self, ids: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn rows that were issued, now that their targets are known: in any order, some perhaps never.

        Rows that were issued together are one round; it is scored with what was said, and weighted, then. Experts that
        joined since, or have begun afresh, sleep in it. Should a round raise an error, those before it are complete.

        Parameters
        ----------
        ids : sequence of length n_samples
            As given to :meth:`issue`.
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with changing(self):
            return self._learn_issued(ids, y, sample_weight)

    def _learn_issued(self, ids: Any, y: Any, sample_weight: Any) -> Self:
        check_is_fitted(self)
        with unchanged_on_error(self):
            ids = _as_ids(ids)
            due = self._pending.due(ids)
            y, targets = self._check_targets(y)
            if len(y) != len(ids):
                raise ValueError(f"there are {len(ids)} ids for {len(y)} targets")
            weights = check_weights(sample_weight, np.empty((len(ids), 1)))
            self._routed("partial_fit", weights, {})
            reports: list[ExpertFailure] = []
            for part in due:
                of_rows = None if weights is None else weights[part.at]
                if of_rows is None or of_rows.any():  # rows without any weight are as good as none
                    models = self._models(self._estimators, self._routed("partial_fit", of_rows, {}))
                    X = _safe_indexing(part.X, part.rows)
                    issued = part.issued.recalled(part.rows, self._engine.pool.experts, self._engine.score.n_outputs)
                    reports += self._learn(self._engine, models, X, y[part.at], targets[part.at], of_rows, issued)
                self._pending.release([ids[at] for at in part.at])
        self._engine.note(reports)
        return self

    # Metadata ----------------------------------------------------------------------------------------------------

    def get_metadata_routing(self) -> MetadataRouter:
        """Metadata routing: ``sample_weight`` is used here, and handed on to the experts that ask for it."""
        return router(self, self._pool())

    def _routed(self, method: str, weights: Floats | None, params: dict[str, Any]) -> dict[str, Any]:
        """What each expert's training takes beside the rows."""
        pool = list(self._estimators.items()) if hasattr(self, "_engine") else self._pool()
        return routed(self, pool, method, weights, params)

    # Predicting --------------------------------------------------------------------------------------------------

    def _issue(self, X: Any) -> RoundPredictions:
        check_is_fitted(self)
        issued = self._ask(check_rows(self, X, reset=False))
        self._engine.failures.warn(issued.reports)
        return issued

    def _ask(self, X: Any, held: int = 0) -> RoundPredictions:
        check_jobs(self.n_jobs)
        with self._trusting(X):
            models = self._models(self._estimators, {})
            issued = self._engine.predict(read_only(X), _num_samples(X), models, self.n_jobs, held)
        issued.check()
        return issued

    def predict(self, X: Any) -> Any:
        """What the experts predict together: the likeliest class of each row, or a number.

        With ``feedback="bandit"`` those that are drawn for this round are asked, the same ones however often, and
        :meth:`partial_fit` asks them again; :meth:`issue` and :meth:`learn` ask once.

        Where none of them has an answer: the most frequent class so far, or the mean of the targets.
        """
        with lock_of(self):
            return self._decision(self._issue(X).mixture)

    def transform(self, X: Any) -> Floats:
        """The experts' predictions as they are combined, in the order of ``experts_``; NaN where one has none.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_experts) or, for classifiers, (n_samples, n_experts * n_classes)
            With a memory, columns come and go with the snapshots; ``memory=None`` keeps them the same.
        """
        issued = self._issue(X)
        said = np.where(issued.awake[:, :, np.newaxis], issued.predictions, np.nan)
        return said.transpose(1, 0, 2).reshape(said.shape[1], -1)

    @locked
    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns that :meth:`transform` returns."""
        check_is_fitted(self)
        _check_feature_names_in(self, input_features, generate_names=False)
        prefix = type(self).__name__.lower()
        suffixes = [f"_{column}" for column in self._columns()] or [""]
        names = [f"{prefix}_{expert.name}{suffix}" for expert in self._engine.pool.experts for suffix in suffixes]
        return np.asarray(names, dtype=object)

    # What is shown -----------------------------------------------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_engine")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if hasattr(self, "_engine"):  # rows are checked in every round, and asking all experts takes longer than that
            tags.input_tags.sparse, tags.input_tags.allow_nan = self._accepts["sparse"], self._accepts["allow_nan"]
            return tags
        try:
            pool = [estimator for _, estimator in self._pool()]
            inputs = [(get_tags(estimator).input_tags.sparse, takes_nan(estimator)) for estimator in pool]
        except (TypeError, ValueError, AttributeError):  # estimators that are none are reported when they are used
            inputs = []
        tags.input_tags.sparse = bool(inputs) and all(sparse for sparse, _ in inputs)
        tags.input_tags.allow_nan = any(nan for _, nan in inputs)
        return tags

    def _sk_visual_block_(self) -> Any:
        pairs = self.estimators if isinstance(self.estimators, list) and self.estimators else self._pool()
        names, estimators = zip(*pairs, strict=True)
        return VisualBlock("parallel", estimators, names=names)

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            return {**shared_state(self, super().__getstate__()), "_ltm_sklearn_version": __version__}

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        written_by = state.pop("_ltm_sklearn_version", "an unknown version")
        if type(written_by) is not str:  # it would be shown, and might run
            raise ValueError("the version that has written it is no text")
        if written_by != __version__:
            warn(
                InconsistentVersionWarning(
                    estimator_name=type(self).__name__,
                    current_sklearn_version=__version__,
                    original_sklearn_version=written_by,
                ),
                stacklevel=2,
            )
        super().__setstate__(state)


# As scikit-learn has made it, which asks for the names of the columns after the rows.
LongTermMemoryEnsemble.transform = locked(LongTermMemoryEnsemble.transform)  # type: ignore[assignment, method-assign]
