"""What the classifier and the regressor for River share."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from river import base

from .._engine import Engine, Issued
from .._models import Expert
from .._shown import Shown
from .._start import check_shared_parameters, fresh_engine
from ..experts import ExpertAlgorithm
from ..experts._validation import Floats
from ..losses import ClassScore, TargetScore
from ..memory import Snapshots
from ._skin import RiverModels, Rows


class RiverEnsemble(Shown, base.Ensemble):
    """Base of the two estimators. The models that were given stay as they are; copies of them are trained."""

    _engine: Engine

    def __init__(
        self,
        models: Iterable[Any],
        algorithm: ExpertAlgorithm | None = None,
        loss: Any = "auto",
        combine: str = "average",
        memory: Snapshots | str | None = "auto",
        on_error: str = "warn",
        record: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__(iter(models))
        self.algorithm = algorithm
        self.loss = loss
        self.combine = combine
        self.memory = memory
        self.on_error = on_error
        self.record = record
        self.seed = seed
        check_shared_parameters(self)
        for at, model in enumerate(self.models):
            if not isinstance(model, base.Estimator) or not hasattr(model, "learn_one"):
                raise ValueError(f"model {at} is {model!r}, which is none of River's")

    @property
    def _min_number_of_models(self) -> int:
        return 1

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Self:
        """A fresh estimator with the same parameters and untrained models."""
        fresh = {"models": [model.clone() for model in self.models], **(new_params or {})}
        cloned: Self = super().clone(fresh, include_attributes)  # type: ignore[misc]
        return cloned

    # What the two define -----------------------------------------------------------------------------------------

    @abstractmethod
    def _score(self) -> ClassScore | TargetScore: ...

    @abstractmethod
    def _check_targets(self, y: list[Any]) -> None:
        """Raise a ValueError that names a target that is none."""

    @abstractmethod
    def _targets(self, y: list[Any]) -> Any:
        """Targets as the score takes them."""

    # Rounds ------------------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._named = dict(zip(_names(self.models), self.models, strict=True))
        engine = fresh_engine(self, self._score(), False, int(np.random.default_rng(self.seed).integers(2**31)))
        # Copies with what they know: River's models may have been trained before.
        experts = [Expert(name, name, "live", copy.deepcopy(model), 0, True) for name, model in self._named.items()]
        engine.begin(experts, self._skin())
        self._engine = engine

    def _skin(self, weights: Floats | None = None) -> RiverModels:
        return RiverModels(self._named, getattr(self, "_classes", None), weights)

    def _issue(self, X: Rows) -> Issued:
        issued = self._engine.issue(X, len(X), self._skin())
        self._engine.warn(issued.reports)
        return issued

    def _learn(self, X: Rows, y: list[Any], w: Any) -> None:
        self._check_targets(y)
        weights = None if w is None else np.broadcast_to(np.asarray(w, dtype=np.float64), (len(X),))
        if weights is not None and not ((weights >= 0.0) & np.isfinite(weights)).all():
            raise ValueError(f"the weight is {w!r}: it must be a number that is not negative")
        if weights is not None and not weights.any():
            return  # rows without any weight are as good as none
        if not hasattr(self, "_engine"):
            self._start()
        targets = self._targets(y)
        self._engine.learn(X, y, targets, weights, self._skin(weights))


def _names(models: Iterable[Any]) -> list[str]:
    """What the models are called: by their class, or that of a pipeline's last step, with a number where needed."""
    kinds = [type(list(m.steps.values())[-1] if hasattr(m, "steps") else m).__name__ for m in models]
    count, seen = Counter(kinds), Counter[str]()
    names = []
    for kind in kinds:
        names.append(kind if count[kind] == 1 else f"{kind}-{seen[kind]}")
        seen[kind] += 1
    return names
