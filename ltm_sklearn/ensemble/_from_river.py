"""scikit-learn estimators made of River's models."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._frames import as_dicts
from .._param_checks import check_weights
from .._river_compat import probabilities_by_label, river_model_kind, takes_weights
from .._typing import Floats
from ..engine import unchanged_on_error
from ._validation import check_labels, check_numbers, check_rows, class_indices, one_kind

#: How often a row is repeated at most, for models whose ``learn_one`` takes no weights.
MAX_REPEATS = 1000


class FromRiver(MetaEstimatorMixin, BaseEstimator):
    """Base class of the adapters; it imports no River, and relies on the methods of the model only."""

    model_: Any

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train a fresh copy of the model in one pass over the rows; :meth:`partial_fit` continues from there.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as in :meth:`partial_fit`.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            return self._fit_rows(X, y, sample_weight, first=True)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Self:
        raise NotImplementedError

    def _rows(self, X: Any) -> list[dict[str, Any]]:
        """Return the rows as dictionaries without their missing values."""
        names = getattr(self, "feature_names_in_", None)
        rows = as_dicts(X, None if names is None else names.tolist())
        if type(X) is not np.ndarray or X.dtype.kind not in "biuf" or np.isinf(X).any():
            for at, row in enumerate(rows):
                for name, value in row.items():
                    if value in (math.inf, -math.inf):
                        raise ValueError(f"Input X contains infinity: row {at}, column {name!r}")
        return rows

    def _learn(self, rows: list[dict[str, Any]], targets: list[Any], weights: Floats | None, first: bool) -> Self:
        weighted = takes_weights(self.model)
        if weights is not None and not weighted and (weights % 1.0 != 0.0).any():
            name = type(self.model).__name__
            raise ValueError(
                f"{name}.learn_one takes no weights, so rows are repeated: sample_weight must be whole numbers"
            )
        if weights is not None and not weighted and weights.max() > MAX_REPEATS:
            name, row = type(self.model).__name__, int(weights.argmax())
            raise ValueError(
                f"{name}.learn_one takes no weights, so rows are repeated, at most {MAX_REPEATS} times: row {row} has "
                f"sample_weight={weights[row]:g}. Scale the weights down."
            )
        model = self.model.clone() if first else self.model_
        if weights is None:
            for x, target in zip(rows, targets, strict=True):
                model.learn_one(x, target)
        else:
            for x, target, weight in zip(rows, targets, weights.tolist(), strict=True):
                if weighted and weight > 0.0:
                    model.learn_one(x, target, w=weight)
                elif not weighted:
                    for _ in range(int(weight)):
                        model.learn_one(x, target)
        self.model_ = model
        return self

    def _check_model(self, kind: str) -> None:
        if river_model_kind(self.model) != kind:
            raise ValueError(f"model={self.model!r} must be a {kind} of River")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


class FromRiverClassifier(ClassifierMixin, FromRiver):
    """scikit-learn classifier made of a classifier of River.

    Rows become dictionaries. Their keys are the names of a frame's columns, or "x0", "x1", ... for an array. NaN and
    None are left out of a row, which is how River represents missing values. Columns of a frame may hold strings.

    Parameters
    ----------
    model : classifier of River
        The model; it is not changed, an untrained copy of it is trained. A binary model is trained with False and True,
        any other with the labels themselves.

    Attributes
    ----------
    model_ : classifier of River
        The trained copy.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns; only if the rows have names.

    Notes
    -----
    Rows are learned one by one: ``learn_many`` of River's linear models and pipelines gives other models than
    ``learn_one``. If the model raises an error at a row, it has learned the rows before it.

    Examples
    --------
    >>> from river.tree import HoeffdingTreeClassifier
    >>> from sklearn.datasets import make_classification
    >>> from ltm_sklearn.ensemble import FromRiverClassifier
    >>> X, y = make_classification(1000, class_sep=2, random_state=0)
    >>> FromRiverClassifier(HoeffdingTreeClassifier()).fit(X, y).score(X, y) > 0.9
    True
    """

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Train the model on rows, one by one.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that can occur; needed on the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, passed as ``w`` if ``learn_one`` takes it. Otherwise rows are repeated: weights must be
            whole numbers up to 1,000.

        Returns
        -------
        self
        """
        first = not hasattr(self, "model_")
        if first and classes is None:
            raise ValueError("classes must be passed on the first call to partial_fit.")
        with one_kind("classes"):
            given: Any = None if classes is None else np.unique(classes)
        known = given if first else self.classes_
        if not (first or given is None or np.array_equal(known, given)):
            raise ValueError(f"classes={classes!r} is not the same as on the first call: {known.tolist()!r}")
        with unchanged_on_error(self):
            return self._fit_rows(X, y, sample_weight, first, known)

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any = None) -> Self:
        self._check_model("classifier")
        X = check_rows(self, X, reset=first)
        y = check_labels(self, y)
        classes = np.unique(y) if classes is None else classes
        check_consistent_length(X, y)
        indices = class_indices(y, classes)
        weights = check_weights(sample_weight, X)
        if not self._is_multiclass() and len(classes) > 2:
            raise ValueError(
                f"Only binary classification is supported by {type(self.model).__name__}, and there are {len(classes)} "
                "classes. Wrap it in river.multiclass.OneVsRestClassifier."
            )
        rows = self._rows(X)
        targets = y.tolist() if self._is_multiclass() else indices.astype(bool).tolist()
        self._learn(rows, targets, weights, first)
        self.classes_ = classes
        return self

    def _is_multiclass(self) -> bool:
        return bool(getattr(self.model, "_multiclass", False))

    def _class_index(self) -> dict[Any, int]:
        """Return the index of each class by the label that the model uses for it."""
        labels = self.classes_.tolist() if self._is_multiclass() else [False, True][: len(self.classes_)]
        return {label: at for at, label in enumerate(labels)}

    def predict(self, X: Any) -> Any:
        """Predict labels; the first class where the model has no prediction.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        index = self._class_index()
        rows = self._rows(check_rows(self, X, reset=False))
        return self.classes_[[index.get(self.model_.predict_one(x), 0) for x in rows]]

    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities, in the order of ``classes_``.

        They are uniform where the model has no prediction. A model without probabilities gives 1 to its label.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self)
        index = self._class_index()
        rows = self._rows(check_rows(self, X, reset=False))
        predictions = np.zeros((len(rows), len(index)))
        for row, x in zip(predictions, rows, strict=True):
            for label, chance in probabilities_by_label(self.model_, x).items():
                if label in index:
                    row[index[label]] = chance
        total = predictions.sum(axis=1, keepdims=True)
        predictions[total[:, 0] == 0.0] = 1.0
        probabilities: Floats = predictions / np.where(total == 0.0, float(len(index)), total)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._is_multiclass()
        return tags


class FromRiverRegressor(RegressorMixin, FromRiver):
    """scikit-learn regressor made of a regressor of River.

    Rows, names, missing values and weights are handled as in :class:`FromRiverClassifier`.

    Parameters
    ----------
    model : regressor of River
        The model; it is not changed, an untrained copy of it is trained.

    Attributes
    ----------
    model_ : regressor of River
        The trained copy.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns; only if the rows have names.

    Examples
    --------
    >>> from river import linear_model, preprocessing
    >>> from sklearn.datasets import make_regression
    >>> from ltm_sklearn.ensemble import FromRiverRegressor
    >>> X, y = make_regression(1000, 5, random_state=0)
    >>> model = FromRiverRegressor(preprocessing.StandardScaler() | linear_model.LinearRegression())
    >>> model.fit(X, y).score(X, y) > 0.99
    True
    """

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train the model on rows, one by one.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, passed as ``w`` if ``learn_one`` takes it. Otherwise rows are repeated: weights must be
            whole numbers up to 1,000.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            return self._fit_rows(X, y, sample_weight, first=not hasattr(self, "model_"))

    def _fit_rows(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Self:
        self._check_model("regressor")
        X = check_rows(self, X, reset=first)
        y = check_numbers(self, y)
        check_consistent_length(X, y)
        return self._learn(self._rows(X), y.tolist(), check_weights(sample_weight, X), first)

    def predict(self, X: Any) -> Floats:
        """Predict numbers; NaN where the model has no prediction.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        rows = self._rows(check_rows(self, X, reset=False))
        return np.array([self.model_.predict_one(x) for x in rows], dtype=np.float64)


def as_sklearn_model(model: Any) -> Any:
    """Wrap a classifier or regressor of River as a scikit-learn estimator; return anything else unchanged."""
    kind = river_model_kind(model)
    if kind is None:
        return model
    wrapped = FromRiverClassifier(model) if kind == "classifier" else FromRiverRegressor(model)
    # River's models have no set_partial_fit_request.
    return wrapped.set_partial_fit_request(sample_weight=takes_weights(model)) if _routing_enabled() else wrapped
