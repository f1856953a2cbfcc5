"""scikit-learn's estimators as models of River."""

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
from ._features import Row
from ._in_batches import InBatches
from ._targets import check_numbers

#: Rows that are kept to train a fresh estimator on when a new label turns up.
KEPT = 1000


class FromSklearnClassifier(InBatches, base.MiniBatchClassifier):
    """A classifier of scikit-learn as a model of River.

    `learn_one` gathers rows, and the estimator is trained when there are `batch_size` of them, as a `partial_fit` of
    one row takes almost as long as that of many. `learn_many` takes a frame as a batch. An estimator that has no
    `partial_fit` is fitted on a `ltm_sklearn.ensemble.SlidingWindow`. A batch that it refuses is
    given up, but for what it had learned of it by then.

    The features are those of the first batch, in the order of their names, and later rows are matched by name. A
    feature that is missing counts 0; one that is new is passed over, as an estimator cannot grow.

    Before the estimator is trained, predictions are how often each label has come.

    Parameters
    ----------
    estimator
        Stays as it is; an untrained copy of it is trained. It is given arrays, without names.
    classes
        All labels, in any order; another label is then an error. None: labels are learned as they come. The last 1000
        rows are kept for that, and when there is a new label a fresh copy of the estimator is trained on them.
    batch_size
        How many rows `learn_one` gathers.

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
            raise ValueError(f"estimator={estimator!r} is no classifier of scikit-learn")
        self.classes = classes
        self._seen = Counter[Any]() if classes is None else Counter(dict.fromkeys(classes, 0))
        if classes is not None and len(self._seen) < 2:
            raise ValueError(f"classes={classes!r}: at least two are needed")
        self._check_targets(list(self._seen))
        self._kept: deque[Any] = deque()  #: batches: rows, labels, weights

    @property
    def _multiclass(self) -> bool:
        # River's binary classifiers are those that know False and True.
        return self.classes is None or set(self.classes) != {False, True}

    def learn_one(self, x: Row, y: Any, w: float = 1.0) -> None:
        """Take in a row; when there are `batch_size` of them, train the estimator.

        Parameters
        ----------
        x
            Its features must be numbers; None and NaN only where the estimator takes NaN.
        y
            A string or a whole number, True and False among them.
        w
            Goes to estimators that take `sample_weight`; others learn all rows alike, but for those of weight 0.
        """
        self._take_in(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Train the estimator on the rows that wait, and then on a frame, of any library."""
        self._take_in_many(X, y, w)

    def predict_proba_one(self, x: Row, **kwargs: Any) -> dict[Any, float]:
        """Class probabilities, with all labels that have come."""
        self._check_probabilities()
        if self._model is None:
            return self._prior()
        said = dict(zip(self._model.classes_.tolist(), self._asked("predict_proba", x).tolist(), strict=True))
        for label in self._seen:
            said.setdefault(label, 0.0)
        return said

    def predict_one(self, x: Row, **kwargs: Any) -> Any:
        """The estimator's label; before it is trained, the most frequent one, or None."""
        if self._model is None:
            prior = self._prior()
            return max(prior, key=prior.__getitem__, default=None)
        label = self._asked("predict", x)
        return label.item() if isinstance(label, np.generic) else label

    def predict_proba_many(self, X: Any) -> Any:
        """Class probabilities in a frame, with a column for each label that has come."""
        self._check_probabilities()
        frame = dataframe.into_frame(X)
        if self._model is None:
            columns = {label: np.full(len(frame), chance) for label, chance in self._prior().items()}
        else:
            said = self._asked_many("predict_proba", frame)
            columns = dict(zip(self._model.classes_.tolist(), said.T, strict=True))
            for label in self._seen:
                columns.setdefault(label, np.zeros(len(frame)))
        return dataframe.to_native_frame(columns, like=frame)

    def predict_many(self, X: Any) -> Any:
        """The estimator's labels in a series; before it is trained, the most frequent one."""
        frame = dataframe.into_frame(X)
        if self._model is None:
            labels = [self.predict_one({})] * len(frame)
        else:
            labels = self._asked_many("predict", frame).tolist()
        return dataframe.to_native_series(labels, name=None, like=frame)

    def _check_probabilities(self) -> None:
        if not hasattr(self.estimator, "predict_proba"):
            raise NotImplementedError(f"{type(self.estimator).__name__} has no predict_proba")

    def _prior(self) -> dict[Any, float]:
        """How often each label has come."""
        if total := self._seen.total():
            return {label: count / total for label, count in self._seen.items()}
        return {} if self._multiclass else {False: 0.5, True: 0.5}

    def _check_targets(self, y: list[Any]) -> None:
        first = next(iter([*self._seen, *y]), None)
        for label in y:
            if not (
                isinstance(label, str)
                or ((is_number(label) or isinstance(label, np.bool_)) and float(label).is_integer())
            ):
                raise ValueError(f"the label is {label!r}: scikit-learn takes strings and whole numbers")
            if self.classes is not None and label not in self._seen:
                raise ValueError(f"the label is {label!r}, which is not among the classes {self.classes!r}")
            if isinstance(label, str) != isinstance(first, str):
                raise ValueError(f"the label is {label!r}: scikit-learn takes strings or numbers, not both")

    def _saw(self, y: list[Any]) -> None:
        self._seen.update(y)

    def _train(self, X: Floats, y: list[Any], weights: Floats) -> None:
        known = () if self._model is None else self._model.classes_.tolist()
        if self.classes is None and set(y) - set(known):
            self._begin_afresh(known, X, y, weights)
        elif self._model is None:
            self._model = self._trained(self._fresh(), X, y, weights, classes=np.unique(self.classes))
        else:
            self._trained(self._model, X, y, weights)
        if self.classes is None:
            self._keep(X[-KEPT:], y[-KEPT:], weights[-KEPT:])

    def _keep(self, *batch: Any) -> None:
        self._kept.append(batch)
        while sum(len(labels) for _, labels, _ in self._kept) - len(self._kept[0][1]) >= KEPT:
            self._kept.popleft()

    def _begin_afresh(self, known: Sequence[Any], *batch: Any) -> None:
        """Train a fresh estimator, which knows the new labels too, on the rows that were kept and a batch."""
        X, y, weights = (np.concatenate(parts)[-KEPT:] for parts in zip(*self._kept, batch, strict=True))
        labels = np.unique([*known, *batch[1], *y.tolist()])
        if len(labels) > 1:
            self._model = self._trained(self._fresh(), X, y, weights, classes=labels)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": SGDClassifier(loss="log_loss", random_state=0)}
        yield {"estimator": SGDClassifier(loss="log_loss", random_state=0), "classes": [False, True]}


class FromSklearnRegressor(InBatches, base.MiniBatchRegressor):
    """A regressor of scikit-learn as a model of River.

    Batches, features and weights are those of `FromSklearnClassifier`. Before the estimator is trained, the prediction
    is 0.

    Parameters
    ----------
    estimator
        Stays as it is; an untrained copy of it is trained. It is given arrays, without names.
    batch_size
        How many rows `learn_one` gathers.

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
            raise ValueError(f"estimator={estimator!r} is no regressor of scikit-learn")

    def learn_one(self, x: Row, y: float, w: float = 1.0) -> None:
        """Take in a row; when there are `batch_size` of them, train the estimator.

        Parameters
        ----------
        x
            Its features must be numbers; None and NaN only where the estimator takes NaN.
        y
            A number.
        w
            Goes to estimators that take `sample_weight`; others learn all rows alike, but for those of weight 0.
        """
        self._take_in(x, y, w)

    def learn_many(self, X: Any, y: Any, w: Any = 1.0) -> None:
        """Train the estimator on the rows that wait, and then on a frame, of any library."""
        self._take_in_many(X, y, w)

    def predict_one(self, x: Row) -> float:
        """The estimator's prediction."""
        return 0.0 if self._model is None else float(self._asked("predict", x))

    def predict_many(self, X: Any) -> Any:
        """The estimator's predictions in a series."""
        frame = dataframe.into_frame(X)
        numbers = np.zeros(len(frame)) if self._model is None else self._asked_many("predict", frame)
        return dataframe.to_native_series(numbers, name=None, like=frame)

    def _check_targets(self, y: list[Any]) -> None:
        check_numbers(y)

    def _train(self, X: Floats, y: list[Any], weights: Floats) -> None:
        model = self._fresh() if self._model is None else self._model
        self._model = self._trained(model, X, np.array(y, dtype=np.float64), weights)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"estimator": SGDRegressor(random_state=0)}


def as_river_model(model: Any) -> Any:
    """A classifier or regressor of scikit-learn as a model of River; anything else as it is."""
    if not isinstance(model, BaseEstimator):
        return model
    if is_classifier(model):
        return FromSklearnClassifier(model)
    return FromSklearnRegressor(model) if is_regressor(model) else model
