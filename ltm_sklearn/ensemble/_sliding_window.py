"""Estimators without ``partial_fit``, refitted on the most recent rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import _safe_indexing, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _num_samples, check_consistent_length, check_is_fitted, has_fit_parameter

from .._frames import concatenate_rows, last_rows
from .._param_checks import check_count, check_number, check_weights
from .._typing import Floats
from ..engine import unchanged_on_error
from ._validation import check_labels, check_numbers, check_rows, class_indices, takes_nan


class SlidingWindow(MetaEstimatorMixin, BaseEstimator):
    """Estimator with ``partial_fit`` made of one that only has ``fit``: it is refitted on the most recent rows.

    Parameters
    ----------
    estimator : estimator
        A classifier or regressor.
    window : int, default=1000
        Number of recent rows on which the estimator is fitted.
    refit : float, default=0.1
        Refit when this share of the rows in the window is new: every 100 rows for a full window of 1,000 rows, and
        more often while the window fills. 0: refit in every call.

    Attributes
    ----------
    estimator_ : estimator
        The estimator of the last refit.
    classes_ : ndarray of shape (n_classes,)
        All classes, including those not in the window; classifiers only.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from ltm_sklearn.ensemble import SlidingWindow
    >>> X, y = make_classification(random_state=0)
    >>> model = SlidingWindow(KNeighborsClassifier(3), window=60)
    >>> for rows in (slice(0, 50), slice(50, 100)):
    ...     model = model.partial_fit(X[rows], y[rows], classes=[0, 1])
    >>> model.estimator_.n_samples_fit_
    60
    """

    _held: list[Any]  #: the rows in the window, their targets and weights
    _new_rows: int  #: rows since the last refit

    def __init__(self, estimator: Any, *, window: int = 1000, refit: float = 0.1) -> None:
        self.estimator = estimator
        self.window = window
        self.refit = refit

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Reset, and fit on the last ``window`` rows of ``X``.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        with unchanged_on_error(self):
            for name in ("estimator_", "classes_", "n_features_in_", "_held", "_new_rows", "_weighted"):
                self.__dict__.pop(name, None)
            classes = np.unique(check_labels(self, y)) if is_classifier(self) else None
            return self.partial_fit(X, y, classes, sample_weight)

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Add rows to the window, and refit if enough of them are new.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes; classifiers need it on the first call.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        with unchanged_on_error(self):
            self._hold(X, y, classes, sample_weight)
        if not hasattr(self, "estimator_") or self._new_rows >= self.refit * len(self._held[1]):
            try:
                self.estimator_ = self._fitted_on(self._held)
            except Exception:
                if before.get("_new_rows") == 0:  # the last refit had used all rows in the window
                    self.__dict__ = before
                else:
                    self._discard_rows()
                raise
            self._new_rows = 0
        return self

    def _hold(self, X: Any, y: Any, classes: Any, sample_weight: Any) -> None:
        """Add rows to the window, and remove the oldest."""
        check_count("window", self.window)
        check_number("refit", self.refit, 0.0, 1.0)
        X = check_rows(self, X, reset=not hasattr(self, "n_features_in_"))
        y = check_labels(self, y) if is_classifier(self) else check_numbers(self, y)
        check_consistent_length(X, y)
        if is_classifier(self) and not hasattr(self, "classes_"):
            if classes is None:
                raise ValueError("classes must be passed on the first call to partial_fit.")
            self.classes_ = np.unique(classes)
        if is_classifier(self):
            class_indices(y, self.classes_)
        weights = check_weights(sample_weight, X)
        if weights is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise TypeError(f"{type(self.estimator).__name__}.fit takes no sample_weight")
        rows = [X, y, np.ones(len(y)) if weights is None else weights]
        if hasattr(self, "_held"):
            rows = [concatenate_rows([old, new]) for old, new in zip(self._held, rows, strict=True)]
        self._held = [last_rows(part, self.window) for part in rows]
        self._weighted = weights is not None or getattr(self, "_weighted", False)
        self._new_rows = getattr(self, "_new_rows", 0) + len(y)

    def _discard_rows(self) -> None:
        """Remove the rows on which a refit failed: one bad row would make all refits fail while it is in the window.

        Which row is bad is unknown: it may have come some calls ago.
        """
        n_rows = len(self._held[1])
        if not hasattr(self, "estimator_"):
            n_good = n_rows if n_rows < self.window else 0  # perhaps only more rows are needed
        else:
            n_good = max(n_rows - self._new_rows, 0)
            self._new_rows = 0
        if n_good == 0:
            del self._held
        elif n_good < n_rows:
            self._held = [_safe_indexing(part, slice(0, n_good)) for part in self._held]

    def _fitted_on(self, held: list[Any]) -> Any:
        from sklearn.dummy import DummyClassifier  # here, as it is slow to import

        X, y, weights = held
        # Many classifiers refuse targets of one class.
        one_class = is_classifier(self) and (y == y[0]).all()
        estimator = DummyClassifier(strategy="most_frequent") if one_class else clone(self.estimator)
        with self._noted_errors("fitted on"):
            return estimator.fit(X, y, **({"sample_weight": weights} if self._weighted else {}))

    @contextmanager
    def _noted_errors(self, what: str) -> Iterator[None]:
        """Add to an error that the wrapped estimator raised it."""
        try:
            yield
        except Exception as error:
            error.add_note(f"raised by {type(self.estimator).__name__}, {what} these rows")
            raise

    def predict(self, X: Any) -> Any:
        """Predict with the estimator of the last refit.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "estimator_")
        X = check_rows(self, X, reset=False)
        with self._noted_errors("given"):
            return self.estimator_.predict(X)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Floats:
        """Predict class probabilities in the order of ``classes_``; 0 for classes that are not in the window.

        Parameters
        ----------
        X : {array-like, sparse matrix, dataframe} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        check_is_fitted(self, "estimator_")
        X = check_rows(self, X, reset=False)
        probabilities = np.zeros((_num_samples(X), len(self.classes_)))
        with self._noted_errors("given"):
            in_window = self.estimator_.predict_proba(X)
        probabilities[:, np.searchsorted(self.classes_, self.estimator_.classes_)] = in_window
        return probabilities

    def without_rows(self) -> Self:
        """Return a copy without the rows, which can predict; ``estimator_`` is shared, since a refit replaces it."""
        light = copy.copy(self)
        light.__dict__.pop("_held", None)
        return light

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator)
        tags.estimator_type = inner.estimator_type
        tags.classifier_tags = inner.classifier_tags
        tags.regressor_tags = inner.regressor_tags
        if tags.classifier_tags is not None:
            tags.classifier_tags.multi_label = False
        tags.target_tags.required = True
        tags.input_tags.sparse = inner.input_tags.sparse
        tags.input_tags.allow_nan = takes_nan(self.estimator)
        return tags

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the accuracy of a classifier or the R² of a regressor."""
        from sklearn.metrics import accuracy_score, r2_score

        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))
