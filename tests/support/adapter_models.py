"""Models and rows for tests of the adapters between scikit-learn and River."""

import numpy as np
import pytest
from river import (
    base,
    preprocessing,
)
from sklearn.linear_model import SGDClassifier


def scaled(model):
    return preprocessing.StandardScaler() | model


def made(n_rows=200, seed=0):
    """Rows, and whether their first feature is positive."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 2))
    return X, X[:, 0] > 0


def as_rows(X, names="ab"):
    return [dict(zip(names, row, strict=True)) for row in X.tolist()]


def learned(model, rows, labels):
    for x, y in zip(rows, labels, strict=True):
        model.learn_one(x, y)
    return model


class WeightedMean(base.Regressor):
    """The mean of the targets, with weights."""

    def __init__(self):
        self.total = self.weight = 0.0

    def learn_one(self, x, y, w=1.0):
        self.total += w * y
        self.weight += w

    def predict_one(self, x):
        return self.total / self.weight if self.weight else None


class Hears(base.Classifier):
    """Keeps what it is told; says nothing."""

    def __init__(self):
        self.rows, self.labels = [], []

    @property
    def _multiclass(self):
        return True

    def learn_one(self, x, y):
        self.rows.append(x)
        self.labels.append(y)

    def predict_proba_one(self, x):
        return {}


def mended_by(condition):
    """Ours is right, which has been asserted; if theirs is too by now, say so."""
    if condition:
        pytest.skip("River has mended this")


SGD = SGDClassifier(loss="log_loss", random_state=0)
