"""River's models as the engine sees them."""

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
from .._river_compat import chances_of, takes_weights
from .._typing import Floats
from ._in_batches import InBatches
from ._rows import Rows


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
        """A copy to keep. By pickling, which is several times as fast as deepcopy for models of many small parts."""
        try:
            return pickle.loads(pickle.dumps(model, pickle.HIGHEST_PROTOCOL))
        except (pickle.PicklingError, AttributeError, TypeError):  # it has a function without a name, say
            return copy.deepcopy(model)

    def last_rows(self, X: Rows, most: int) -> Rows:
        """Copies of the last rows."""
        return Rows(dict(x) if isinstance(x, Mapping) else x for x in X[-most:])  # River also takes text for a row

    def chosen(self, X: Rows, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        return X.chosen(rows.tolist())

    def concatenated(self, batches: list[Rows]) -> Rows:
        """Batches as one."""
        return Rows(x for batch in batches for x in batch)

    def asker(self, model: Any) -> Callable[[dict[Any, Any]], Any]:
        """The method that predicts a row."""
        method: Any = model.predict_one if self.classes is None else model.predict_proba_one
        return method

    def learner(self, model: Any) -> Callable[[dict[Any, Any], Any], None]:
        """The method that learns a row."""
        method: Any = model.learn_one
        return method

    # Predicting --------------------------------------------------------------------------------------------------

    def predict(self, model: Any, X: Rows) -> Floats | None:
        """Probabilities in the order of ``classes``, NaN where a model has none; or one column of numbers."""
        if self.classes is None:
            in_one_go = _takes_frame(model, X)
            numbers = model.predict_many(X.frame) if in_one_go else _each(model.predict_one, X, float("nan"))
            return as_numbers(numbers).reshape(len(X), 1)
        if _takes_frame(model, X) and hasattr(model.estimator, "predict_proba"):
            return self._aligned(nw.from_native(model.predict_proba_many(X.frame), eager_only=True), len(X))
        return self._stacked(_each(partial(chances_of, model), X, {}))

    def _stacked(self, answers: list[dict[Any, float]]) -> Floats | None:
        assert self.classes is not None
        if not any(answers):
            return None
        said = np.full((len(answers), len(self.classes)), np.nan)
        for row, chances in zip(said, answers, strict=True):
            if chances:
                row[:] = 0.0
                for label, chance in chances.items():
                    if label in self.classes:
                        row[self.classes[label]] = as_number(chance)
        return said

    def _aligned(self, table: Any, n_rows: int) -> Floats | None:
        """A frame with a column a label; only pandas bears labels that are no strings."""
        assert self.classes is not None
        if not len(table.columns):
            return None
        seats = {**{str(label): at for label, at in self.classes.items()}, **self.classes}
        said = np.zeros((n_rows, len(self.classes)))
        for at, label in enumerate(table.columns):
            if label in seats:
                said[:, seats[label]] = table[:, at].to_numpy()
        return said

    # Learning ----------------------------------------------------------------------------------------------------

    def learn(self, source: str, model: Any, X: Rows, y: Any, first: bool) -> Any:
        """``learn_one`` for each row; weights go to models that take them.

        Not ``learn_many``: of many of River's models it makes another one, that takes one step for all rows together.
        """
        if _takes_frame(model, X):
            model.learn_many(X.frame, y, 1.0 if self.weights is None else self.weights)
            return model
        weights = None if self.weights is None or not takes_weights(model) else self.weights.tolist()
        errors = []
        for at, (x, target) in enumerate(zip(X, y, strict=True)):
            try:
                model.learn_one(x, target, **({} if weights is None else {"w": weights[at]}))
            except Exception as error:  # of one row; the others are learned
                errors.append(error)
        if errors:
            raise errors[0]
        return model

    def salvaged(self, source: str, model: Any) -> Any:
        """River's models can predict before they have learned, and go on after an error."""
        return model


def _each(ask: Callable[[dict[Any, Any]], Any], X: Rows, no_answer: Any) -> list[Any]:
    """Answers for all rows; none where an error is raised, unless that is so for all of them."""
    answers, errors = [], []
    for x in X:
        try:
            answers.append(ask(x))
        except Exception as error:
            answers.append(no_answer)
            errors.append(error)
    if errors and len(errors) == len(X):
        raise errors[0]
    return answers


def _takes_frame(model: Any, X: Rows) -> bool:
    """Whether rows go to a model all at once: across the border to scikit-learn each call costs much."""
    return X.frame is not None and issubclass(type(model), InBatches)  # isinstance would be true of pipelines as well
