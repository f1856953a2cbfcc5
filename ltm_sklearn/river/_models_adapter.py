"""River's models behind the interface that the engine uses."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from .._frames import as_number, as_numbers
from .._river_compat import probabilities_by_label, takes_weights
from .._typing import Floats
from ._batched_estimator import BatchedEstimator
from ._row_batch import RowBatch


@dataclass(frozen=True)
class RiverModelsAdapter:
    """Adapter that predicts with, trains, copies and creates River's models."""

    models: dict[str, Any]  #: the given models by name
    classes: dict[Any, int] | None  #: the index of each label; None for regressors
    weights: Floats | None = None  #: weights of the rows that are learned

    def fresh(self, source: str) -> Any:
        """Return an untrained copy of a model."""
        return self.models[source].clone()

    def copy(self, model: Any) -> Any:
        """Return a copy of a model for a snapshot; pickling is several times as fast as deepcopy for small parts."""
        try:
            return pickle.loads(pickle.dumps(model, pickle.HIGHEST_PROTOCOL))
        except (pickle.PicklingError, AttributeError, TypeError):  # it holds a lambda, for example
            return copy.deepcopy(model)

    def last_rows(self, X: RowBatch, most: int) -> RowBatch:
        """Return copies of the last rows, at most so many."""
        return RowBatch(dict(x) if isinstance(x, Mapping) else x for x in X[-most:])  # River's rows may also be text

    def chosen(self, X: RowBatch, rows: NDArray[np.intp]) -> RowBatch:
        """Return the rows with these indices."""
        return X.chosen(rows.tolist())

    def concatenated(self, batches: list[RowBatch]) -> RowBatch:
        """Return all rows of several batches."""
        return RowBatch(x for batch in batches for x in batch)

    def asker(self, model: Any) -> Callable[[dict[Any, Any]], Any]:
        """Return the method of a model that predicts one row."""
        method: Any = model.predict_one if self.classes is None else model.predict_proba_one
        return method

    def learner(self, model: Any) -> Callable[[dict[Any, Any], Any], None]:
        """Return the method of a model that learns one row."""
        method: Any = model.learn_one
        return method

    # Predicting --------------------------------------------------------------------------------------------------

    def predict(self, model: Any, X: RowBatch) -> Floats | None:
        """Return probabilities in the order of ``classes``, NaN where a model has none; or one column of numbers."""
        if self.classes is None:
            at_once = _takes_frame(model, X)
            numbers = model.predict_many(X.frame) if at_once else _predictions(model.predict_one, X, float("nan"))
            return as_numbers(numbers).reshape(len(X), 1)
        if _takes_frame(model, X) and hasattr(model.estimator, "predict_proba"):
            return self._of_frame(nw.from_native(model.predict_proba_many(X.frame), eager_only=True), len(X))
        return self._of_dicts(_predictions(partial(probabilities_by_label, model), X, {}))

    def _of_dicts(self, predictions: list[dict[Any, float]]) -> Floats | None:
        """Return probabilities by label as an array; None if all rows have none."""
        assert self.classes is not None
        if not any(predictions):
            return None
        probabilities = np.full((len(predictions), len(self.classes)), np.nan)
        for row, prediction in zip(probabilities, predictions, strict=True):
            if prediction:
                row[:] = 0.0
                for label, probability in prediction.items():
                    if label in self.classes:
                        row[self.classes[label]] = as_number(probability)
        return probabilities

    def _of_frame(self, table: Any, n_rows: int) -> Floats | None:
        """Return the probabilities in a frame with a column for each label as an array."""
        assert self.classes is not None
        if not len(table.columns):
            return None
        # names of columns are strings, except in pandas
        index = {**{str(label): at for label, at in self.classes.items()}, **self.classes}
        probabilities = np.zeros((n_rows, len(self.classes)))
        for at, label in enumerate(table.columns):
            if label in index:
                probabilities[:, index[label]] = table[:, at].to_numpy()
        return probabilities

    # Learning ----------------------------------------------------------------------------------------------------

    def learn(self, source: str, model: Any, X: RowBatch, y: Any, first: bool) -> Any:
        """Train a model with ``learn_one`` on each row, with weights if it takes them, and return it.

        ``learn_many`` is not used: many of River's models then take one step for all rows together, which is another
        model.
        """
        if _takes_frame(model, X):
            model.learn_many(X.frame, y, 1.0 if self.weights is None else self.weights)
            return model
        weights = None if self.weights is None or not takes_weights(model) else self.weights.tolist()
        errors = []
        for at, (x, target) in enumerate(zip(X, y, strict=True)):
            try:
                model.learn_one(x, target, **({} if weights is None else {"w": weights[at]}))
            except Exception as error:  # the other rows are learned
                errors.append(error)
        if errors:
            raise errors[0]
        return model

    def salvaged(self, source: str, model: Any) -> Any:
        """Return what replaces an untrained model after an error: the model, as River's can predict before training."""
        return model


def _predictions(predict: Callable[[dict[Any, Any]], Any], X: RowBatch, missing: Any) -> list[Any]:
    """Return predictions of all rows, ``missing`` where an error is raised; raise it if all rows have one."""
    predictions, errors = [], []
    for x in X:
        try:
            predictions.append(predict(x))
        except Exception as error:
            predictions.append(missing)
            errors.append(error)
    if errors and len(errors) == len(X):
        raise errors[0]
    return predictions


def _takes_frame(model: Any, X: RowBatch) -> bool:
    """Return whether a model gets all rows in one call: each call of a scikit-learn estimator is slow."""
    return X.frame is not None and issubclass(type(model), BatchedEstimator)  # isinstance is also true of pipelines
