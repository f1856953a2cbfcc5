"""Adapters that give models of scikit-learn and River the interface of a prequential run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._frames import as_dicts
from .._river_compat import last_step, river_model_kind
from .._typing import Floats
from ..streams import dicts_as_array


class StreamRows:
    """Consecutive rows of a stream, as a table for scikit-learn's models and as dictionaries for River's.

    Parameters
    ----------
    X : array, frame or list of dict
    first : int
        Number of the first row in the stream.
    n_rows : int
    names : list or None
        Names of the features, for arrays.
    """

    def __init__(self, X: Any, first: int, n_rows: int, names: list[Any] | None) -> None:
        self._X, self.first, self.n_rows, self._names = X, first, n_rows, names

    @property
    def ids(self) -> range:
        """Numbers of the rows in the stream."""
        return range(self.first, self.first + self.n_rows)

    @cached_property
    def table(self) -> Any:
        """Rows as an array or a frame."""
        if not isinstance(self._X, list):
            return self._X
        table = dicts_as_array(self._X, self._names or list(self._X[0]), "the stream")
        if table.dtype == object:
            raise ValueError(
                "the stream has features that are no numbers, and a scikit-learn model: pass "
                "ltm_sklearn.streams.Batches(stream, as_frame=True)"
            )
        return table

    @cached_property
    def dicts(self) -> list[dict[Any, Any]]:
        """Rows as dictionaries."""
        return as_dicts(self._X, self._names)


class ModelAdapter(Protocol):
    """Model as a prequential run uses it."""

    model: Any
    form: str  #: attribute of StreamRows that the model takes

    @property
    def needs_classes(self) -> bool:
        """Whether the first training needs all classes."""

    def set_classes(self, classes: list[Any]) -> None:
        """Set the classes for the first training."""

    def predict(self, rows: StreamRows) -> list[Any]:
        """Return a prediction for each row, None where there is none."""

    def true_label_probabilities(self, rows: StreamRows, y: list[Any]) -> Floats | None:
        """Return the predicted probability of each true label, NaN where there is none; None without probabilities."""

    def learn(self, rows: StreamRows, y: NDArray[Any]) -> None:
        """Train the model on rows that it has predicted."""


class SklearnAdapter:
    """Adapter of a model with ``predict``, ``partial_fit`` and perhaps ``predict_proba``.

    Delayed labels and bandit feedback use ``issue`` and ``learn`` if the model has them: then the experts are queried
    once for each row, and labels and probabilities come from the same query.
    """

    form = "table"

    def __init__(self, model: Any, is_delayed: bool) -> None:
        self.model = model
        self._is_fitted = _is_fitted(model)
        has_ids = hasattr(model, "issue") and hasattr(model, "learn")
        self._uses_ids = (is_delayed or _has_bandit_feedback(model)) and has_ids
        self._issued: tuple[int, Any] | None = None  #: first row and probabilities of the last issued rows
        self._first_issued = math.inf
        self._classes: NDArray[Any] | None = None

    @property
    def needs_classes(self) -> bool:
        """Whether the first training needs all classes."""
        parameters = signature(self.model.partial_fit).parameters.values()
        takes = any(each.name == "classes" or each.kind is Parameter.VAR_KEYWORD for each in parameters)
        return takes and not self._is_fitted

    def set_classes(self, classes: list[Any]) -> None:
        """Set the classes for the first training."""
        self._classes = np.array(classes)

    def predict(self, rows: StreamRows) -> list[Any]:
        """Return a prediction for each row; None for all rows before the first training."""
        if not self._is_fitted:
            return [None] * rows.n_rows
        if self._uses_ids:
            self._first_issued = min(self._first_issued, rows.first)
            predictions = np.asarray(self._issue(rows))
        else:
            predictions = np.asarray(self.model.predict(rows.table))
        if predictions.size != rows.n_rows:
            raise ValueError(
                f"predictions have shape {predictions.shape} for {rows.n_rows} rows: predict must return one for each"
            )
        return predictions.ravel().tolist()

    def _issue(self, rows: StreamRows) -> Any:
        if not hasattr(self.model, "issue_proba"):
            return self.model.issue(rows.table, rows.ids)
        probabilities = self.model.issue_proba(rows.table, rows.ids)
        self._issued = rows.first, probabilities
        return np.asarray(self.model.classes_)[probabilities.argmax(axis=1)]

    def true_label_probabilities(self, rows: StreamRows, y: list[Any]) -> Floats | None:
        """Return the probabilities of the true labels, those of the last ``issue`` if it had these rows."""
        if not self._is_fitted:
            return np.full(rows.n_rows, np.nan)
        if self._issued is not None and self._issued[0] == rows.first:
            probabilities = self._issued[1]
        elif hasattr(self.model, "predict_proba"):
            probabilities = np.asarray(self.model.predict_proba(rows.table), dtype=np.float64)
        else:
            return None
        column = {label: at for at, label in enumerate(np.asarray(self.model.classes_).tolist())}
        return np.array(
            [row[column[label]] if label in column else 0.0 for row, label in zip(probabilities, y, strict=True)]
        )

    def learn(self, rows: StreamRows, y: NDArray[Any]) -> None:
        """Train on rows: by their ids if they were issued, otherwise, before the first issue, by ``partial_fit``."""
        n_not_issued = int(min(max(self._first_issued - rows.first, 0), rows.n_rows))
        if n_not_issued:
            X = rows.table if n_not_issued == rows.n_rows else rows.table[:n_not_issued]
            classes = {} if self._classes is None or self._is_fitted else {"classes": self._classes}
            self.model.partial_fit(X, y[:n_not_issued], **classes)
            self._is_fitted = True
        if n_not_issued < rows.n_rows:
            self.model.learn(rows.ids[n_not_issued:], y[n_not_issued:])


class RiverAdapter:
    """Adapter of a model with ``predict_one``, ``learn_one`` and perhaps ``predict_proba_one``.

    If rows are not learned right after their prediction, rows are passed with ids to methods that take them.
    """

    form = "dicts"
    needs_classes = False

    def __init__(self, model: Any, is_delayed: bool) -> None:
        self.model = model
        last = last_step(model)
        self._uses_ids = is_delayed and _takes_id(last.predict_one) and _takes_id(last.learn_one)
        self._has_probabilities = hasattr(model, "predict_proba_one")
        self._issues_probabilities = self._uses_ids and _takes_id(getattr(last, "predict_proba_one", None))
        self._issued: tuple[int, list[Any]] | None = None  #: first row and probabilities of the last issued rows

    def set_classes(self, classes: list[Any]) -> None:
        """Do nothing: River's models learn the classes from the labels."""

    def predict(self, rows: StreamRows) -> list[Any]:
        """Return a prediction for each row, None where the model has none."""
        if self._issues_probabilities:  # labels and probabilities from one query; a second one could select others
            issued = [self.model.predict_proba_one(x, id=at) for at, x in zip(rows.ids, rows.dicts, strict=True)]
            self._issued = rows.first, issued
            return [max(each, key=each.get) if each else None for each in issued]
        if self._uses_ids:
            return [self.model.predict_one(x, id=at) for at, x in zip(rows.ids, rows.dicts, strict=True)]
        return [self.model.predict_one(x) for x in rows.dicts]

    def true_label_probabilities(self, rows: StreamRows, y: list[Any]) -> Floats | None:
        """Return the probabilities of the true labels; None if ``predict_proba_one`` is not implemented."""
        if not self._has_probabilities:
            return None
        if self._issued is not None and self._issued[0] == rows.first:
            predicted = self._issued[1]
        else:
            try:
                predicted = [self.model.predict_proba_one(x) for x in rows.dicts]
            except NotImplementedError:
                self._has_probabilities = False
                return None
        return np.array([each.get(label, 0.0) if each else np.nan for each, label in zip(predicted, y, strict=True)])

    def learn(self, rows: StreamRows, y: NDArray[Any]) -> None:
        """Train on the rows one by one."""
        for at, x, target in zip(rows.ids, rows.dicts, y.tolist(), strict=True):
            if self._uses_ids:
                self.model.learn_one(x, target, id=at)
            else:
                self.model.learn_one(x, target)


def adapter_of(name: Any, model: Any, delay: int, batch_size: int) -> ModelAdapter:
    """Return the adapter of a model; raise a ValueError if it is of neither kind or has too small a ``max_pending``."""
    if not isinstance(model, type):
        if hasattr(model, "partial_fit") and hasattr(model, "predict"):
            is_delayed = delay > 0
            _check_max_pending(name, model, delay + batch_size if is_delayed or _has_bandit_feedback(model) else 0)
            return SklearnAdapter(model, is_delayed)
        if hasattr(model, "learn_one") and hasattr(last_step(model), "predict_one"):
            is_delayed = delay > 0 or batch_size > 1
            _check_max_pending(name, model, delay + batch_size if is_delayed else 0)
            return RiverAdapter(model, is_delayed)
    kind = f"the class {model.__name__}" if isinstance(model, type) else f"of type {type(model).__name__}"
    raise ValueError(
        f"model {name!r} is {kind}; it must be an object with partial_fit and predict, or learn_one and predict_one "
        "(ltm_sklearn.ensemble.SlidingWindow adds partial_fit to models that have only fit)"
    )


def is_classification_task(models: Mapping[Any, Any], y: NDArray[Any]) -> bool:
    """Return whether the models are classifiers; if their type is unknown, whether the targets are not floats."""
    kinds = {name: _estimator_kind(model) for name, model in models.items()}
    classifiers = [name for name, kind in kinds.items() if kind == "classifier"]
    regressors = [name for name, kind in kinds.items() if kind == "regressor"]
    if classifiers and regressors:
        raise ValueError(
            f"models {classifiers} are classifiers and {regressors} are regressors. Evaluate each kind in its own call"
        )
    return bool(classifiers) or (not regressors and y.dtype.kind != "f")


def _estimator_kind(model: Any) -> str | None:
    if hasattr(model, "learn_one"):
        return river_model_kind(model)
    if not hasattr(model, "__sklearn_tags__"):
        return None
    if is_classifier(model):
        return "classifier"
    return "regressor" if is_regressor(model) else None


def _check_max_pending(name: Any, model: Any, n_pending: int) -> None:
    max_pending = getattr(last_step(model), "max_pending", None)
    if max_pending is not None and max_pending < n_pending:
        raise ValueError(
            f"up to {n_pending} rows wait for their targets, but model {name!r} has max_pending={max_pending}: "
            "increase it, or decrease delay or batch_size"
        )


def _has_bandit_feedback(model: Any) -> bool:
    return getattr(model, "feedback", "full") == "bandit"


def _takes_id(method: Any) -> bool:
    return method is not None and "id" in signature(method).parameters


def _is_fitted(model: Any) -> bool:
    try:
        check_is_fitted(model)
    except (NotFittedError, TypeError):  # TypeError: the model is no scikit-learn estimator
        return False
    return True
