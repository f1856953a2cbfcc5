"""Models whose predictions are a feature, and rows for them: all scores are then known."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin


class EchoRiver:
    """River-like model that predicts one feature and records its calls."""

    def __init__(self, feature="a"):
        self.feature = feature
        self.events = []

    def predict_one(self, x):
        self.events.append(("predict", x))
        return x[self.feature]

    def learn_one(self, x, y):
        self.events.append(("learn", x, y))

    @property
    def learned(self):
        return [(x, y) for kind, x, *y in self.events if kind == "learn" for y in y]


class EchoSklearn(ClassifierMixin, BaseEstimator):
    """scikit-learn classifier that predicts one column and records the rows that it learns."""

    def __init__(self, column=0):
        self.column = column

    def partial_fit(self, X, y, classes=None):
        if classes is not None:
            self.classes_ = np.asarray(classes)
            self.learned_ = []
        self.learned_.append((X, y))
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def noisy_labels(n_rows=200, n_classes=3, seed=0):
    """Labels y, and an X of three columns that each equal y in at least three quarters of the rows."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    X = np.where(rng.random((n_rows, 3)) < 0.75, y[:, np.newaxis], rng.integers(0, n_classes, (n_rows, 3)))
    return X, y


def pairs_of(X, y):
    """Rows as River has them, with features a, b and c."""
    return [(dict(zip("abc", row, strict=False)), label) for row, label in zip(X.tolist(), y.tolist(), strict=True)]
