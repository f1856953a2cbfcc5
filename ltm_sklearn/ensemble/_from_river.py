"""River's models as scikit-learn estimators."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, RegressorMixin
from sklearn.utils.metadata_routing import _routing_enabled
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from .._frames import as_dicts
from .._param_checks import check_weights
from .._river_compat import chances_of, kind_of, takes_weights
from .._typing import Floats
from ..engine import unchanged_on_error
from ._validation import check_labels, check_numbers, check_rows, class_indices, one_kind

MOST_REPEATS = 1000  #: of a row, in the place of its weight


class FromRiver(MetaEstimatorMixin, BaseEstimator):
    """Base of the two. River itself is never imported: what counts is what a model can do."""

    model_: Any

    def __init__(self, model: Any) -> None:
        self.model = model

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Forget everything, and learn the rows in one pass; :meth:`partial_fit` goes on.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            See :meth:`partial_fit`.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            return self._take_in(X, y, sample_weight, first=True)

    def _take_in(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Self:
        raise NotImplementedError

    def _rows(self, X: Any) -> list[dict[str, Any]]:
        """Rows as River takes them, without what is missing."""
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
            raise ValueError(f"{name}.learn_one takes no weights: sample_weight must be whole, to repeat rows")
        if weights is not None and not weighted and weights.max() > MOST_REPEATS:
            name, row = type(self.model).__name__, int(weights.argmax())
            raise ValueError(
                f"{name}.learn_one takes no weights, so that it would be given row {row}, with "
                f"sample_weight={weights[row]:g}, so many times; {MOST_REPEATS} is the most"
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
        if kind_of(self.model) != kind:
            raise ValueError(f"model={self.model!r} is no {kind} of River")

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags


class FromRiverClassifier(ClassifierMixin, FromRiver):
    """A classifier of River as an estimator of scikit-learn.

    Rows become dictionaries. Their keys are the names of a frame's columns; those of an array are called "x0", "x1" and
    so on, as scikit-learn does, since some of River's models put strings together from the names. NaN and None are left
    out of a row, which is how River says that something is missing. Columns of a frame may hold strings.

    Parameters
    ----------
    model : classifier of River
        Stays as it is; an untrained copy of it is trained. One that only knows two classes is given False and True, any
        other the labels themselves.

    Attributes
    ----------
    model_ : classifier of River
        As trained.
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        When the rows have names.

    Notes
    -----
    Rows are learned one by one: River's ``learn_many`` of linear models and of pipelines gives other models than its
    ``learn_one``. Should the model refuse a row, it has learned those before it.

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
        """Learn rows, one by one.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes that will ever come; needed on the first call.
        sample_weight : array-like of shape (n_samples,), optional
            Goes to models whose ``learn_one`` takes ``w``; to others a row of weight 2 is given twice, and weights that
            are not whole, or above 1,000, are an error.

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
            return self._take_in(X, y, sample_weight, first, known)

    def _take_in(self, X: Any, y: Any, sample_weight: Any, first: bool, classes: Any = None) -> Self:
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
                "classes: put it into river.multiclass.OneVsRestClassifier"
            )
        rows = self._rows(X)
        targets = y.tolist() if self._is_multiclass() else indices.astype(bool).tolist()
        self._learn(rows, targets, weights, first)
        self.classes_ = classes
        return self

    def _is_multiclass(self) -> bool:
        return bool(getattr(self.model, "_multiclass", False))

    def _places(self) -> dict[Any, int]:
        """Where the classes stand, as the model calls them."""
        labels = self.classes_.tolist() if self._is_multiclass() else [False, True][: len(self.classes_)]
        return {label: at for at, label in enumerate(labels)}

    def predict(self, X: Any) -> Any:
        """The model's labels; the first class where it has none."""
        check_is_fitted(self)
        places = self._places()
        rows = self._rows(check_rows(self, X, reset=False))
        return self.classes_[[places.get(self.model_.predict_one(x), 0) for x in rows]]

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, in the order of ``classes_``.

        They are even where the model has none; one that only knows labels gives all to its label.
        """
        check_is_fitted(self)
        places = self._places()
        rows = self._rows(check_rows(self, X, reset=False))
        said = np.zeros((len(rows), len(places)))
        for row, x in zip(said, rows, strict=True):
            for label, chance in chances_of(self.model_, x).items():
                if label in places:
                    row[places[label]] = chance
        total = said.sum(axis=1, keepdims=True)
        said[total[:, 0] == 0.0] = 1.0
        probabilities: Floats = said / np.where(total == 0.0, float(len(places)), total)
        return probabilities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self._is_multiclass()
        return tags


class FromRiverRegressor(RegressorMixin, FromRiver):
    """A regressor of River as an estimator of scikit-learn.

    Rows, names, missing values and weights are those of :class:`FromRiverClassifier`.

    Parameters
    ----------
    model : regressor of River
        Stays as it is; an untrained copy of it is trained.

    Attributes
    ----------
    model_ : regressor of River
        As trained.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        When the rows have names.

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
        """Learn rows, one by one.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
            Goes to models whose ``learn_one`` takes ``w``; to others a row of weight 2 is given twice, and weights that
            are not whole, or above 1,000, are an error.

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            return self._take_in(X, y, sample_weight, first=not hasattr(self, "model_"))

    def _take_in(self, X: Any, y: Any, sample_weight: Any, first: bool) -> Self:
        self._check_model("regressor")
        X = check_rows(self, X, reset=first)
        y = check_numbers(self, y)
        check_consistent_length(X, y)
        return self._learn(self._rows(X), y.tolist(), check_weights(sample_weight, X), first)

    def predict(self, X: Any) -> Floats:
        """The model's numbers; NaN where it has none."""
        check_is_fitted(self)
        rows = self._rows(check_rows(self, X, reset=False))
        return np.array([self.model_.predict_one(x) for x in rows], dtype=np.float64)


def as_sklearn_model(model: Any) -> Any:
    """A classifier or regressor of River as an estimator of scikit-learn; anything else as it is."""
    kind = kind_of(model)
    if kind is None:
        return model
    wrapped = FromRiverClassifier(model) if kind == "classifier" else FromRiverRegressor(model)
    # River's models cannot say what they want of the metadata.
    return wrapped.set_partial_fit_request(sample_weight=takes_weights(model)) if _routing_enabled() else wrapped
