"""scikit-learn estimators behind the interface that the engine uses."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._frames import as_numbers, concatenate_rows, last_rows
from .._typing import Floats
from ._sliding_window import SlidingWindow

_IMMUTABLE = (type(None), bool, int, float, str)


@dataclass(frozen=True)
class SklearnModelsAdapter:
    """Adapter that predicts with, trains, copies and creates scikit-learn estimators."""

    estimators: dict[str, Any]  #: untrained or frozen estimators by name
    classes: Any  #: sorted class labels; None for regressors
    params: dict[str, Any]  #: keyword arguments of each estimator's training, by its name

    def fresh(self, source: str) -> Any:
        """Return an untrained copy of an estimator; one without ``partial_fit`` is put in a sliding window."""
        estimator = self.estimators[source]
        # All restarted learners are created anew at each snapshot: no deep copy where a shallow one is as good.
        shallow = all(isinstance(value, _IMMUTABLE) for value in vars(estimator).values())
        model = copy.copy(estimator) if shallow else copy.deepcopy(estimator)
        return model if hasattr(model, "partial_fit") else SlidingWindow(model)

    def copy(self, model: Any) -> Any:
        """Return a copy of a model for a snapshot, which is never trained."""
        return model.without_rows() if holds_rows(model) else copy.deepcopy(model)

    last_rows = staticmethod(last_rows)
    chosen = staticmethod(_safe_indexing)
    concatenated = staticmethod(concatenate_rows)

    def predict(self, model: Any, X: Any) -> Floats:
        """Return class probabilities in the order of ``classes``, or one column of numbers."""
        if self.classes is None:
            numbers = as_numbers(model.predict(X))
            return numbers[:, np.newaxis] if numbers.ndim == 1 else numbers
        predict_proba = getattr(model, "predict_proba", None)
        if predict_proba is None:
            labels = np.asarray(model.predict(X))
            known = np.unique(labels)
            return self._aligned(known, (labels[:, np.newaxis] == known).astype(np.float64))
        probabilities = as_numbers(predict_proba(X))
        known = np.asarray(model.classes_)
        if known.tolist() != self.classes.tolist():  # for few classes faster than comparing arrays
            if probabilities.shape[1:] != known.shape:
                raise ValueError(f"its probabilities have shape {probabilities.shape} for {len(known)} classes")
            probabilities = self._aligned(known, probabilities)
        return probabilities

    def _aligned(self, known: Any, probabilities: Floats) -> Floats:
        """Move columns to the places of their classes in the ensemble; drop those of other classes."""
        at = np.minimum(np.searchsorted(self.classes, known), len(self.classes) - 1)
        shared = self.classes[at] == known
        aligned = np.zeros((len(probabilities), len(self.classes)))
        aligned[:, at[shared]] = probabilities[:, shared]
        return aligned

    def learn(self, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
        """Call ``partial_fit``, with the classes on the first call, and return the model."""
        params = dict(self.params.get(source, {}))
        if first and self.classes is not None:
            params["classes"] = self.classes
        learned = model.partial_fit(X, y, **params)
        if learned is None:
            raise TypeError("its partial_fit returned None, where it should return the model")
        return learned

    def salvaged(self, source: str, model: Any) -> Any:
        """Return what replaces an untrained model after an error in its training.

        A sliding window keeps the rows that it has gathered. Any other model may be half trained and is created anew.
        """
        return model if holds_rows(model) else self.fresh(source)


def holds_rows(model: Any) -> bool:
    """Return whether a model is a sliding window, or a handle to one on a worker."""
    return hasattr(model, "without_rows")


def training_method(estimator: Any) -> str:
    """Return the name of the method that trains an expert."""
    return "partial_fit" if hasattr(estimator, "partial_fit") else "fit"
