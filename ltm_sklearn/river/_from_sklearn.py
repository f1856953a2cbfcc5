"""River models made of scikit-learn estimators."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from river import base
from river.utils import dataframe
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.linear_model import SGDClassifier, SGDRegressor

from .._frames import is_number
from .._typing import Floats
from ._batched_estimator import BatchedEstimator
from ._features import Row
from ._target_checks import check_numbers

#: Rows that are kept to train a fresh estimator when a new label occurs.
MAX_KEPT_ROWS = 1000


class FromSklearnClassifier(BatchedEstimator, base.MiniBatchClassifier):
    """River classifier made of a scikit-learn classifier.

    `learn_one` gathers rows and trains the estimator when there are `batch_size` of them, since a `partial_fit` of one
    row takes almost as long as one of many. `learn_many` takes a frame as a batch. An estimator without `partial_fit`
    is refitted on a `ltm_sklearn.ensemble.SlidingWindow`. If the estimator raises an error, the batch is discarded.

    The features are those of the first batch, sorted by name, and later rows are matched by name. A missing feature is
    0; a new one is ignored, as an estimator cannot add columns.

    Before the estimator is trained, predictions are the relative frequencies of the labels.

    Parameters
    ----------
    estimator
        The estimator; it is not changed, an untrained copy of it is trained, on arrays without names.
    classes
        All labels, in any order; another label is then an error. None: labels are learned as they occur. For that the
        last 1,000 rows are kept, and at a new label a fresh copy of the estimator is trained on them.
    batch_size
        Number of rows that `learn_one` gathers.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from sklearn.linear_model import SGDClassifier
    >>> from ltm_sklearn.river import FromSklearnClassifier
    >>> sgd = SGDClassifier(loss="log_loss", random_state=0)
    >>> model = preprocessing.StandardScaler() | FromSklearnClassifier(sgd)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 84.71%
    """

    def __init__(self, estimator: Any, classes: Any = None, batch_size: int = 10) -> None:
        super().__init__(estimator, batch_size)
        if not is_classifier(estimator):
            raise ValueError(f"estimator={estimator!r} must be a classifier of scikit-learn")
        self.classes = classes
        self._label_counts = Counter[Any]() if classes is None else Counter(dict.fromkeys(classes, 0))
        if classes is not None and len(self._label_counts) < 2:
            raise ValueError(f"classes={classes!r}: at least two are needed")
        self._check_targets(list(self._label_counts))
        self._kept: deque[Any] = deque()  #: recent batches: rows, labels, weights

    @property
    def _multiclass(self) -> bool:
        # River's binary classifiers have the classes False and True.
        return self.classes is None or set(self.classes) != {False, True}

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Add a row, and train the estimator when there are `batch_size` of them.

        Parameters
        ----------
        x
            The row. Its features must be numbers; None and NaN are allowed if the estimator accepts NaN.
        y
            The label: a string, a whole number, True or False.
        w
            The weight, for estimators that take `sample_weight`; others ignore it, except that rows of weight 0 are
            skipped.
        """
        self._add_row(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Train the estimator on the gathered rows, and then on a frame of any library."""
        self._add_frame(X, y, w)

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Predict probabilities of all labels so far."""
        self._check_probabilities()
        if self._model is None:
            return self._prior()
        probabilities = dict(zip(self._model.classes_.tolist(), self._query("predict_proba", x).tolist(), strict=True))
        for label in self._label_counts:
            probabilities.setdefault(label, 0.0)
        return probabilities

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """Predict the label; before the estimator is trained the most frequent one, or None."""
        if self._model is None:
            prior = self._prior()
            return max(prior, key=prior.__getitem__, default=None)
        label = self._query("predict", x)
        return label.item() if isinstance(label, np.generic) else label

    def predict_proba_many(self, X: Any) -> Any:
        """Predict probabilities of all labels so far, as a frame with a column for each label."""
        self._check_probabilities()
        frame = dataframe.into_frame(X)
        if self._model is None:
            columns = {label: np.full(len(frame), chance) for label, chance in self._prior().items()}
        else:
            probabilities = self._query_frame("predict_proba", frame)
            columns = dict(zip(self._model.classes_.tolist(), probabilities.T, strict=True))
            for label in self._label_counts:
                columns.setdefault(label, np.zeros(len(frame)))
        return dataframe.to_native_frame(columns, like=frame)

    def predict_many(self, X: Any) -> Any:
        """Predict labels, as a series; before the estimator is trained the most frequent one."""
        frame = dataframe.into_frame(X)
        if self._model is None:
            labels = [self.predict_one({})] * len(frame)
        else:
            labels = self._query_frame("predict", frame).tolist()
        return dataframe.to_native_series(labels, name=None, like=frame)

    def _check_probabilities(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise NotImplementedError(f"{type(self.estimator).__name__} has no predict_proba")

    def _prior(self) -> dict[Any, float]:
        """Return the relative frequencies of the labels so far."""
        if total := self._label_counts.total():
            return {label: count / total for label, count in self._label_counts.items()}
        return {} if self._multiclass else {False: 0.5, True: 0.5}

    def _check_targets(self, y: list[Any]) -> None:
        first = next(iter([*self._label_counts, *y]), None)
        for label in y:
            if not (
                isinstance(label, str)
                or ((is_number(label) or isinstance(label, np.bool_)) and float(label).is_integer())
            ):
                raise ValueError(f"the label is {label!r}: scikit-learn takes strings and whole numbers")
            if self.classes is not None and label not in self._label_counts:
                raise ValueError(f"the label is {label!r}, which is not among the classes {self.classes!r}")
            if isinstance(label, str) != isinstance(first, str):
                raise ValueError(f"the label is {label!r}: scikit-learn takes strings or numbers, not both")

    def _count_targets(self, y: list[Any]) -> None:
        self._label_counts.update(y)

    def _train(self, X: Floats, y: list[Any], weights: Floats) -> None:
        known = () if self._model is None else self._model.classes_.tolist()
        if self.classes is None and set(y) - set(known):
            self._train_fresh(known, X, y, weights)
        elif self._model is None:
            self._model = self._partial_fit(self._fresh(), X, y, weights, classes=np.unique(self.classes))
        else:
            self._partial_fit(self._model, X, y, weights)
        if self.classes is None:
            self._keep_batch(X[-MAX_KEPT_ROWS:], y[-MAX_KEPT_ROWS:], weights[-MAX_KEPT_ROWS:])

    def _keep_batch(self, *batch: Any) -> None:
        self._kept.append(batch)
        while sum(len(labels) for _, labels, _ in self._kept) - len(self._kept[0][1]) >= MAX_KEPT_ROWS:
            self._kept.popleft()

    def _train_fresh(self, known: Sequence[Any], *batch: Any) -> None:
        """Train a fresh estimator on the kept rows and a batch, so that it can predict the new labels."""
        X, y, weights = (np.concatenate(parts)[-MAX_KEPT_ROWS:] for parts in zip(*self._kept, batch, strict=True))
        labels = np.unique([*known, *batch[1], *y.tolist()])
        if len(labels) > 1:
            self._model = self._partial_fit(self._fresh(), X, y, weights, classes=labels)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": SGDClassifier(loss="log_loss", random_state=0)}
        yield {"estimator": SGDClassifier(loss="log_loss", random_state=0), "classes": [False, True]}


class FromSklearnRegressor(BatchedEstimator, base.MiniBatchRegressor):
    """River regressor made of a scikit-learn regressor.

    Batches, features and weights are handled as in `FromSklearnClassifier`. Before the estimator is trained, the
    prediction is 0.

    Parameters
    ----------
    estimator
        The estimator; it is not changed, an untrained copy of it is trained, on arrays without names.
    batch_size
        Number of rows that `learn_one` gathers.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from sklearn.linear_model import SGDRegressor
    >>> from ltm_sklearn.river import FromSklearnRegressor
    >>> sgd = SGDRegressor(learning_rate="constant", eta0=0.05, random_state=0)
    >>> model = preprocessing.StandardScaler() | FromSklearnRegressor(sgd)
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 1.285142
    """

    def __init__(self, estimator: Any, batch_size: int = 10) -> None:
        super().__init__(estimator, batch_size)
        if not is_regressor(estimator):
            raise ValueError(f"estimator={estimator!r} must be a regressor of scikit-learn")

    def learn_one(self, x: Row, y: float, w: float = 1.0) -> None:
        """Add a row, and train the estimator when there are `batch_size` of them.

        Parameters
        ----------
        x
            The row. Its features must be numbers; None and NaN are allowed if the estimator accepts NaN.
        y
            The target.
        w
            The weight, for estimators that take `sample_weight`; others ignore it, except that rows of weight 0 are
            skipped.
        """
        self._add_row(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Train the estimator on the gathered rows, and then on a frame of any library."""
        self._add_frame(X, y, w)

    def predict_one(self, x: Row) -> float:
        """Predict the target; 0 before the estimator is trained."""
        return 0.0 if self._model is None else float(self._query("predict", x))

    def predict_many(self, X: Any) -> Any:
        """Predict targets, as a series."""
        frame = dataframe.into_frame(X)
        numbers = np.zeros(len(frame)) if self._model is None else self._query_frame("predict", frame)
        return dataframe.to_native_series(numbers, name=None, like=frame)

    def _check_targets(self, y: list[Any]) -> None:
        check_numbers(y)

    def _train(self, X: Floats, y: list[Any], weights: Floats) -> None:
        model = self._fresh() if self._model is None else self._model
        self._model = self._partial_fit(model, X, np.array(y, dtype=np.float64), weights)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": SGDRegressor(random_state=0)}


def as_river_model(model: Any) -> Any:
    """Wrap a classifier or regressor of scikit-learn as a model of River; return anything else unchanged."""
    if not isinstance(model, BaseEstimator):
        return model
    if is_classifier(model):
        return FromSklearnClassifier(model)
    return FromSklearnRegressor(model) if is_regressor(model) else model
