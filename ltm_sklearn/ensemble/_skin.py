"""scikit-learn's models as the engine sees them."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._frames import as_numbers, last_rows, stacked
from .._typing import Floats
from ._window import SlidingWindow

_PLAIN = (type(None), bool, int, float, str)


@dataclass(frozen=True)
class SklearnModels:
    """Predicts with, trains, copies and makes scikit-learn estimators."""

    estimators: dict[str, Any]  #: by name; untrained, or frozen
    classes: Any  #: None for regressors
    params: dict[str, Any]  #: by name: what its training takes beside the rows

    def fresh(self, source: str) -> Any:
        """An untrained copy; one that only knows ``fit`` gets a sliding window."""
        model = _untrained_copy(self.estimators[source])
        return model if hasattr(model, "partial_fit") else SlidingWindow(model)

    def copy(self, model: Any) -> Any:
        """A copy to keep, which will not be trained."""
        return model.without_rows() if holds_rows(model) else copy.deepcopy(model)

    last_rows = staticmethod(last_rows)
    chosen = staticmethod(_safe_indexing)
    concatenated = staticmethod(stacked)

    def predict(self, model: Any, X: Any) -> Floats:
        """Probabilities in the order of ``classes``, or one column of numbers."""
        return self._numbers(model, X) if self.classes is None else self._probabilities(model, X)

    def _numbers(self, model: Any, X: Any) -> Floats:
        numbers = as_numbers(model.predict(X))
        return numbers[:, np.newaxis] if numbers.ndim == 1 else numbers

    def _probabilities(self, model: Any, X: Any) -> Floats:
        predict_proba = getattr(model, "predict_proba", None)
        if predict_proba is None:
            labels = np.asarray(model.predict(X))
            known = np.unique(labels)
            return self._aligned(known, (labels[:, np.newaxis] == known).astype(np.float64))
        probabilities = as_numbers(predict_proba(X))
        known = np.asarray(model.classes_)
        if known.tolist() != self.classes.tolist():  # quicker than comparing arrays, if there are few
            if probabilities.shape[1:] != known.shape:
                raise ValueError(f"its probabilities have shape {probabilities.shape} for {len(known)} classes")
            probabilities = self._aligned(known, probabilities)
        return probabilities

    def _aligned(self, known: Any, probabilities: Floats) -> Floats:
        """Columns put where the ensemble has their classes; those of classes that it has not are left out."""
        at = np.minimum(np.searchsorted(self.classes, known), len(self.classes) - 1)
        shared = self.classes[at] == known
        aligned = np.zeros((len(probabilities), len(self.classes)))
        aligned[:, at[shared]] = probabilities[:, shared]
        return aligned

    def learn(self, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
        """``partial_fit``, with the classes on the first call."""
        params = dict(self.params.get(source, {}))
        if first and self.classes is not None:
            params["classes"] = self.classes
        learned = model.partial_fit(X, y, **params)
        if learned is None:
            raise TypeError("its partial_fit returned None, where it should return the model")
        return learned

    def salvaged(self, source: str, model: Any) -> Any:
        """A sliding window that cannot be fitted yet keeps its rows; any other model may be neither here nor there."""
        return model if holds_rows(model) else self.fresh(source)


def _untrained_copy(estimator: Any) -> Any:
    """Not deep where there is nothing deep: all young learners begin afresh at each snapshot."""
    plain = all(isinstance(value, _PLAIN) for value in vars(estimator).values())
    return copy.copy(estimator) if plain else copy.deepcopy(estimator)


def holds_rows(model: Any) -> bool:
    """Whether it is a sliding window, or stands for one that is elsewhere."""
    return hasattr(model, "without_rows")


def training_method(estimator: Any) -> str:
    """The method by which an expert is trained in the end."""
    return "partial_fit" if hasattr(estimator, "partial_fit") else "fit"
