"""River's models as the engine sees them. Rows are lists of dictionaries."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np

from ..experts._validation import Floats

Rows = list[dict[Any, Any]]


@dataclass(frozen=True)
class RiverModels:
    """Predicts with, trains, copies and makes River's models."""

    models: dict[str, Any]  #: by name, as they were given
    classes: dict[Any, int] | None  #: where each label stands; None for regressors
    weights: Floats | None = None  #: of the rows that are learned

    def fresh(self, source: str) -> Any:
        """An untrained copy."""
        return self.models[source].clone()

    def copy(self, model: Any) -> Any:
        """A copy to keep."""
        return copy.deepcopy(model)

    def last_rows(self, X: Rows, most: int) -> Rows:
        """Copies of the last rows."""
        return [dict(x) for x in X[-most:]]

    def stack(self, batches: list[Rows]) -> Rows:
        """Batches as one."""
        return [x for batch in batches for x in batch]

    def predict(self, model: Any, X: Rows) -> Floats | None:
        """Probabilities in the order of ``classes``, NaN where a model has none; or one column of numbers."""
        if self.classes is None:
            return np.array([[model.predict_one(x)] for x in X], dtype=np.float64)
        answers = [self._chances(model, x) for x in X]
        if not any(answers):
            return None
        said = np.full((len(X), len(self.classes)), np.nan)
        for row, chances in zip(said, answers, strict=True):
            if chances:
                row[:] = 0.0
                for label, chance in chances.items():
                    if label in self.classes:
                        row[self.classes[label]] = chance
        return said

    def _chances(self, model: Any, x: dict[Any, Any]) -> dict[Any, float]:
        try:
            chances: dict[Any, float] = model.predict_proba_one(x)
        except NotImplementedError:  # some models only know labels
            label = model.predict_one(x)
            return {} if label is None else {label: 1.0}
        return chances

    def learn(self, source: str, model: Any, X: Rows, y: Any, first: bool) -> Any:
        """``learn_one`` for each row; weights go to models that take them."""
        weighted = self.weights is not None and "w" in signature(model.learn_one).parameters
        for at, (x, target) in enumerate(zip(X, y, strict=True)):
            if weighted and self.weights is not None:
                model.learn_one(x, target, w=float(self.weights[at]))
            else:
                model.learn_one(x, target)
        return model

    def salvaged(self, source: str, model: Any) -> Any:
        """River's models can predict before they have learned, and go on after an error."""
        return model
