"""Experts for tests of the ensembles: what they say can be read off the rows."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.frozen import FrozenEstimator

#: A row with this in column 0 makes a moody expert fail.
RAISES_IN_PREDICT, RAISES_IN_LEARN, SAYS_NAN = 1001.0, 1002.0, 1003.0


class _Reader(BaseEstimator):
    """Says what stands in one column; learns nothing."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return True


class ReadsNumber(RegressorMixin, _Reader):
    def predict(self, X):
        return np.asarray(X)[:, self.column]


class ReadsChance(ClassifierMixin, _Reader):
    """The column is the probability of the second of two classes, 0 and 1."""

    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        chance = np.asarray(X)[:, self.column]
        return np.column_stack([1.0 - chance, chance])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


class _Moody(_Reader):
    """Learns by counting rows, and fails where column 0 tells it to."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if RAISES_IN_LEARN in np.asarray(X)[:, 0]:
            raise RuntimeError("no mood to learn")
        self.n_seen_ = getattr(self, "n_seen_", 0) + len(X)
        return self

    def _moods(self, X):
        moods = np.asarray(X)[:, 0]
        if RAISES_IN_PREDICT in moods:
            raise RuntimeError("no mood to predict")
        return np.where(moods == SAYS_NAN, np.nan, 0.0)


class MoodyNumber(RegressorMixin, _Moody):
    def predict(self, X):
        return np.asarray(X)[:, self.column] + self._moods(X)


class MoodyChance(ClassifierMixin, _Moody):
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        chance = np.asarray(X)[:, self.column] + self._moods(X)
        return np.column_stack([1.0 - chance, chance])

    def predict(self, X):
        return self.predict_proba(X).argmax(axis=1)


def frozen_readers(reader, n_columns):
    """One frozen expert for each column."""
    return [(f"column{at}", FrozenEstimator(reader(at))) for at in range(n_columns)]


def outcome(model, X):
    """Everything that must be the same for two ensembles to be the same."""
    said = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)
    return (
        said,
        model.weights_,
        np.array(model.loss_),
        [tuple(expert)[:3] for expert in model.experts_],
        model.n_rounds_,
    )


def assert_same_outcome(one, other, X):
    for left, right in zip(outcome(one, X), outcome(other, X), strict=True):
        np.testing.assert_array_equal(left, right)


class Says(ClassifierMixin, BaseEstimator):
    """Always the same class."""

    def __init__(self, at=0):
        self.at = at

    def fit(self, X, y):
        return self.partial_fit(X, y, np.unique(y))

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = classes
        return self

    def predict_proba(self, X):
        chances = np.zeros((len(X), len(self.classes_)))
        chances[:, self.at] = 1.0
        return chances
