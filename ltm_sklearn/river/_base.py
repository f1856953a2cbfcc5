"""The base class of the classifier and the regressor for River."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from river import base

from .._frames import as_list
from .._param_checks import check_count
from .._river_compat import river_model_kind
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
    check_query,
    check_shared_parameters,
    compiled_round,
    learn_row,
    lock_of,
    new_engine,
    shared_state,
)
from ..experts import ExpertAlgorithm
from ..losses import ClassificationScore, RegressionScore
from ._cached_predictions import CachedPredictions
from ._models_adapter import RiverModelsAdapter
from ._named_models import NamedModels
from ._row_batch import RowBatch, checked_weights

#: With bandit feedback, predictions of so many rows are kept, in case the rows are learned next.
MAX_CACHED_ROWS = 1000


class RiverEnsemble(FittedAttributes, NamedModels):
    """Base class of the estimators for River; copies of the given models are trained."""

    _engine: Engine
    _adapter: RiverModelsAdapter
    _pending: DelayedLabels
    _cache: CachedPredictions | None = None
    _kind: str  #: "classifier" or "regressor"
    _learned = ("_engine", "_adapter", "_pending", "_cache", "_classes")  #: attributes that a round changes in place

    def __init__(
        self,
        models: Iterable[tuple[str, Any]] | Mapping[str, Any],
        algorithm: ExpertAlgorithm | BanditAlgorithm | str | None = None,
        loss: Any = "auto",
        combine: str = "average",
        memory: Snapshots | str | None = "auto",
        on_error: str = "warn",
        max_pending: int = 10_000,
        record: int | str | PathLike[str] | None = None,
        seed: int | None = None,
        feedback: str = "full",
        n_queries: int = 1,
    ) -> None:
        super().__init__(models)
        self.algorithm = algorithm
        self.loss = loss
        self.combine = combine
        self.memory = memory
        self.on_error = on_error
        self.max_pending = max_pending
        self.record = record
        self.seed = seed
        self.feedback = feedback
        self.n_queries = n_queries
        check_shared_parameters(self)
        check_query(n_queries, len(self))
        check_count("max_pending", max_pending)
        for name, model in zip(self._names, self, strict=True):
            if not isinstance(model, base.Estimator) or not hasattr(model, "learn_one"):
                raise ValueError(f"model {name!r} is {model!r}, which is neither River's nor scikit-learn's")
            if river_model_kind(model) != self._kind:
                raise ValueError(f"model {name!r} ({type(model).__name__}) is no {self._kind}")
        self._score()  # raises if the loss is invalid

    __repr__ = base.Base.__repr__  # not that of a list, which River's ensembles are, too

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """Return a fresh estimator with the same parameters and untrained models."""
        cloned = super().clone(new_params)
        if include_attributes:  # in one deepcopy, as they refer to each other
            with lock_of(self):
                names = {"_engine", "_adapter", "_pending", "_classes"} & self.__dict__.keys()
                cloned.__dict__.update(copy.deepcopy({name: self.__dict__[name] for name in names}))
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            return shared_state(self, self.__dict__)

    def _unit_test_skips(self) -> set[str]:
        return {"check_learn_many_matches_learn_one"}  # the rows of learn_many are one round

    @abstractmethod
    def _score(self) -> ClassificationScore | RegressionScore:
        """Return the fresh object that computes losses from targets and predictions."""

    @abstractmethod
    def _check_targets(self, y: list[Any]) -> None:
        """Raise a ValueError that names an invalid target."""

    @abstractmethod
    def _targets(self, y: list[Any]) -> Any:
        """Return targets as the losses take them; a classifier adds new labels to its classes."""

    # Predicting --------------------------------------------------------------------------------------------------

    def _ensure_started(self, X: RowBatch) -> None:
        """Set up the engine with the first rows, whether they are learned or predicted."""
        if not hasattr(self, "_engine"):
            self._start(X)

    def _start(self, X: RowBatch) -> None:
        named = dict(zip(self._names, self, strict=True))
        engine = new_engine(self, self._score(), False, int(np.random.default_rng(self.seed).integers(2**31)))
        self._adapter = RiverModelsAdapter(named, getattr(self, "_classes", None))
        # Trained copies, not untrained ones: River's models may have been trained before.
        experts = [Expert(name, name, "live", copy.deepcopy(model), 0, True) for name, model in named.items()]
        engine.begin(experts, self._adapter)
        self._pending = DelayedLabels(self.max_pending)
        self._engine = engine

    def _compiled_row(self) -> Any:
        """Return the compiled round of one row; None where the engine's Python code is needed."""
        engine = self.__dict__.get("_engine")
        return None if engine is None else compiled_round(engine, self._adapter)

    def _issue(self, X: RowBatch) -> RoundPredictions:
        """Predict rows; predictions of the same rows in the same round are reused."""
        self._ensure_started(X)
        engine, cache = self._engine, self._cache
        if cache is not None and cache.match(X, engine.n_rounds):
            return cache.recalled(engine.pool.experts, engine.score.n_outputs)
        issued = engine.predict(X, len(X), self._adapter)
        issued.check()
        if issued.chances is not None and len(X) <= MAX_CACHED_ROWS:
            self._cache = CachedPredictions(engine.n_rounds, self._adapter.last_rows(X, len(X)), issued)
        engine.failures.warn(issued.reports)
        return issued

    def _issue_under(self, id: Hashable, x: dict[Any, Any]) -> RoundPredictions:
        """Predict a row whose target comes later, and keep the prediction under its id."""
        rows = RowBatch([x])
        self._ensure_started(rows)
        self._pending.check_new([id])
        issued = self._engine.predict(rows, 1, self._adapter, held=self._pending.n_issues + 1)
        issued.check()
        self._pending.hold([id], None, issued)
        self._engine.note(issued.reports)
        return issued

    # Learning ----------------------------------------------------------------------------------------------------

    def _learn_compiled(self, x: dict[Any, Any], y: Any, target: Any) -> bool:
        """Learn a row in the compiled round, if there is one; otherwise return False and change nothing."""
        return hasattr(self, "_engine") and learn_row(self._engine, self._adapter, x, y, target)

    def _learn_one(self, x: dict[Any, Any], y: Any, w: float | None, id: Hashable | None) -> None:
        if id is None:
            reports = self._learn(RowBatch([x]), [y], w)
        else:
            pending = getattr(self, "_pending", DelayedLabels(self.max_pending))
            (due,) = pending.due([id])
            reports = self._learn(RowBatch([x]), [y], w, due.issued)
            pending.release([id])
        self._note(reports)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """Learn the rows of a frame in one round: score the predictions, update the weights, then train the experts.

        The loss of an expert is its mean over the rows. River's models learn the rows one by one, as in `learn_one`;
        scikit-learn's estimators learn them in one call.
        """
        rows, targets = RowBatch.of_frame(X), as_list(y, "y")
        if len(rows) != len(targets):
            raise ValueError(f"there are {len(rows)} rows and {len(targets)} targets")
        if rows:
            with changing(self):
                self._note(self._learn(rows, targets, w))

    def _learn(self, X: RowBatch, y: list[Any], w: Any, issued: RoundPredictions | None = None) -> list[ExpertFailure]:
        """Run a round, with predictions that were issued before or with those of now."""
        self._check_targets(y)
        weights = None if w is None else checked_weights(w, len(X))
        if weights is not None and not weights.any():
            return []  # rows without weight are not a round
        self._ensure_started(X)
        if weights is not None and not weights.all():
            weighted = np.flatnonzero(weights).tolist()
            X, y, weights = X.chosen(weighted), [y[at] for at in weighted], weights[weighted]
        engine, cache, adapter = self._engine, self._cache, self._adapter
        n_labels = len(getattr(self, "_classes", ()))
        targets = self._targets(y)
        if issued is not None:
            issued = issued.recalled(np.array([0]), engine.pool.experts, engine.score.n_outputs)
        elif cache is not None and cache.match(X, engine.n_rounds):
            issued = cache.recalled(engine.pool.experts, engine.score.n_outputs)
        if weights is not None:
            adapter = RiverModelsAdapter(adapter.models, adapter.classes, weights)
        try:
            return engine.learn(X, y, targets, weights, adapter, issued=issued)
        except BaseException:
            self._forget_labels(n_labels)
            raise

    def _forget_labels(self, n_labels: int) -> None:
        """Keep only the first ``n_labels`` labels after a failed round; regressors have none."""

    def _note(self, reports: list[ExpertFailure]) -> None:
        if hasattr(self, "_engine"):  # not before the first row with weight
            self._engine.note(reports)
