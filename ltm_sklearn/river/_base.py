"""What the classifier and the regressor for River share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Hashable, Iterable
from os import PathLike
from typing import Any, Self

import numpy as np
from river import base

from .._frames import listed
from .._param_checks import check_count
from .._river_compat import kind_of, last_step
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
    lock_of,
    new_engine,
    shared_state,
)
from ..experts import ExpertAlgorithm
from ..losses import ClassificationScore, RegressionScore
from ._answered import Answered
from ._from_sklearn import as_river_model
from ._in_batches import InBatches
from ._rows import Rows, checked_weights
from ._skin import RiverModels

#: With bandit feedback, what was said of so many rows is kept, in case they are learned next.
MOST_KEPT = 1000


class RiverEnsemble(FittedAttributes, base.Ensemble):
    """Base of the two estimators. The models that were given stay as they are; copies of them are trained."""

    _engine: Engine
    _kind: str  #: of its models
    _learned = ("_engine", "_skin", "_pending", "_last", "_classes")

    def __init__(
        self,
        models: Iterable[Any],
        algorithm: ExpertAlgorithm | BanditAlgorithm | None = None,
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
        super().__init__(as_river_model(model) for model in models)
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
        check_query(n_queries, len(self.models))
        check_count("max_pending", max_pending)
        for at, model in enumerate(self.models):
            if not isinstance(model, base.Estimator) or not hasattr(model, "learn_one"):
                raise ValueError(f"model {at} is {model!r}, which is neither River's nor scikit-learn's")
            if kind_of(model) != self._kind:
                raise ValueError(f"model {at} ({type(model).__name__}) is no {self._kind}")
        self._score()  # complains of a loss that is none

    __repr__ = base.Base.__repr__  # not that of a list, which an ensemble of River is, too

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A fresh estimator with the same parameters and untrained models."""
        fresh = {"models": [model.clone() for model in self.models], **(new_params or {})}
        cloned: Self = super().clone(fresh)  # type: ignore[misc]
        if include_attributes:  # together, as they refer to each other
            with lock_of(self):
                names = {"_engine", "_skin", "_pending", "_classes"} & self.__dict__.keys()
                cloned.__dict__.update(copy.deepcopy({name: self.__dict__[name] for name in names}))
        return cloned

    def __getstate__(self) -> dict[str, Any]:
        with lock_of(self):
            return shared_state(self, self.__dict__)

    # What the two define -----------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self) -> ClassificationScore | RegressionScore: ...

    @abstractmethod
    def _check_targets(self, y: list[Any]) -> None:
        """Raise a ValueError that names a target that is none."""

    @abstractmethod
    def _targets(self, y: list[Any]) -> Any:
        """Targets as the score takes them."""

    def _n_known(self) -> int:
        """How many labels have come."""
        return 0

    def _forget(self, n_known: int) -> None:
        """Know only the first so many labels again."""

    # Rounds ------------------------------------------------------------------------------------------------------

    def _ensure_started(self, X: Rows) -> None:
        """Start with the first rows that come, to be learned or to be predicted."""
        if not hasattr(self, "_engine"):
            self._start(X)

    def _start(self, X: Rows) -> None:
        named = dict(zip(_names(self.models), self.models, strict=True))
        engine = new_engine(self, self._score(), False, int(np.random.default_rng(self.seed).integers(2**31)))
        self._skin = RiverModels(named, getattr(self, "_classes", None))
        # Copies with what they know: River's models may have been trained before.
        experts = [Expert(name, name, "live", copy.deepcopy(model), 0, True) for name, model in named.items()]
        engine.begin(experts, self._skin)
        self._pending = DelayedLabels(self.max_pending)
        self._engine = engine

    def _row(self) -> Any:
        """The compiled round of one row; None where the engine's own code is needed."""
        engine = self.__dict__.get("_engine")
        return None if engine is None else compiled_round(engine, self._skin)

    def _issue(self, X: Rows) -> RoundPredictions:
        self._ensure_started(X)
        last: Answered | None = self.__dict__.get("_last")
        if last is not None and last.speaks_of(X, self._engine.n_rounds):
            return last.recalled(self._engine.pool.experts, self._engine.score.n_outputs)
        issued = self._engine.predict(X, len(X), self._skin)
        issued.check()
        if issued.chances is not None and len(X) <= MOST_KEPT:
            self._last = Answered(self._engine.n_rounds, self._skin.last_rows(X, len(X)), issued)
        self._engine.failures.warn(issued.reports)
        return issued

    def _issue_as(self, id: Hashable, x: dict[Any, Any]) -> RoundPredictions:
        """Ask about a row whose target will come later, and keep what was said."""
        rows = Rows([x])
        self._ensure_started(rows)
        self._pending.check_new([id])
        issued = self._engine.predict(rows, 1, self._skin, held=self._pending.n_issues + 1)
        issued.check()
        self._pending.hold([id], None, issued)
        self._engine.note(issued.reports)
        return issued

    def _learn_one(self, x: dict[Any, Any], y: Any, w: float | None, id: Hashable | None) -> None:
        if id is None:
            reports = self._learn(Rows([x]), [y], w)
        else:
            pending = getattr(self, "_pending", DelayedLabels(self.max_pending))
            (due,) = pending.due([id])
            reports = self._learn(Rows([x]), [y], w, due.issued)
            pending.release([id])
        self._note(reports)

    def _note(self, reports: list[ExpertFailure]) -> None:
        if hasattr(self, "_engine"):  # else there was no row with any weight yet
            self._engine.note(reports)

    def learn_many(self, X: Any, y: Any, w: Any = None) -> None:
        """A round of several rows: the experts predict them, are charged for them in the mean, and learn them.

        River's models learn the rows one by one, as by ``learn_one``; scikit-learn's learn them in one go.
        """
        rows, targets = Rows.of_frame(X), listed(y, "y")
        if len(rows) != len(targets):
            raise ValueError(f"there are {len(rows)} rows and {len(targets)} targets")
        if rows:
            with changing(self):
                self._note(self._learn(rows, targets, w))

    def _learn(self, X: Rows, y: list[Any], w: Any, issued: RoundPredictions | None = None) -> list[ExpertFailure]:
        self._check_targets(y)
        weights = None if w is None else checked_weights(w, len(X))
        if weights is not None and not weights.any():
            return []  # rows without any weight are as good as none
        self._ensure_started(X)
        if weights is not None and not weights.all():
            heavy = np.flatnonzero(weights).tolist()
            X, y, weights = X.chosen(heavy), [y[at] for at in heavy], weights[heavy]
        n_known, engine = self._n_known(), self._engine
        targets = self._targets(y)
        last: Answered | None = self.__dict__.get("_last")
        if issued is not None:
            issued = issued.recalled(np.array([0]), engine.pool.experts, engine.score.n_outputs)
        elif last is not None and last.speaks_of(X, engine.n_rounds):
            issued = last.recalled(engine.pool.experts, engine.score.n_outputs)
        skin = self._skin if weights is None else RiverModels(self._skin.models, self._skin.classes, weights)
        try:
            return engine.learn(X, y, targets, weights, skin, issued=issued)
        except BaseException:
            self._forget(n_known)
            raise

    def _unit_test_skips(self) -> set[str]:
        return {"check_learn_many_matches_learn_one"}  # several rows are one round


def _names(models: Iterable[Any]) -> list[str]:
    """What the models are called: by their class, with a number where needed.

    Of a pipeline it is the last step's, of an adapter that of what it adapts.
    """
    last = [last_step(model) for model in models]
    kinds = [type(model.estimator if isinstance(model, InBatches) else model).__name__ for model in last]
    count, seen = Counter(kinds), Counter[str]()
    names = []
    for kind in kinds:
        names.append(kind if count[kind] == 1 else f"{kind}-{seen[kind]}")
        seen[kind] += 1
    return names
