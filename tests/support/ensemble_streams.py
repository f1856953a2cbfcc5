"""Streams and ensembles whose weights can be computed by hand."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from support.stream_experts import (
    MoodyChance,
    MoodyNumber,
    ReadsChance,
    ReadsNumber,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots

CLASSES = [0, 1]
K = 4


def forecasts(n_rounds, n_rows, seed=0):
    """Rounds of rows whose columns are K forecasts in [0, 1], with outcomes 0 or 1; the best column changes."""
    rng = np.random.default_rng(seed)
    for at in range(n_rounds):
        y = rng.integers(0, 2, n_rows)
        X = rng.random((n_rows, K))
        good = at // 10 % 3
        X[:, good] = np.where(rng.random(n_rows) < 0.8, y, 1 - y) * 0.8 + 0.1
        yield X, y


def classifier(**parameters):
    parameters = {"estimators": frozen_readers(ReadsChance, K), "memory": None, **parameters}
    return LongTermMemoryClassifier(**parameters)


def regressor(**parameters):
    parameters = {"estimators": frozen_readers(ReadsNumber, K), "memory": None, **parameters}
    return LongTermMemoryRegressor(**parameters)


def brier(X, y):
    return (X - y[:, np.newaxis]) ** 2  # of two classes: half the sum of two equal squares


def wrong(X, y):
    return ((X > 0.5) != y[:, np.newaxis]).astype(float)


def learn(model, X, y):
    first = {"classes": CLASSES} if isinstance(model, LongTermMemoryClassifier) else {}
    return model.partial_fit(X, y, **first)


KINDS = pytest.mark.parametrize("kind", ["classes", "numbers"])


def fine(kind, seed=1, n_rows=10):
    X = np.random.default_rng(seed).normal(size=(n_rows, 3))
    return X, np.where(X[:, 0] > 0, "up", "down") if kind == "classes" else X[:, 0]


def moody(kind, **parameters):
    """A moody expert beside one that always answers, for classes or numbers."""
    if kind == "classes":
        experts = [("moody", MoodyChance(1)), ("steady", FrozenEstimator(ReadsChance(2)))]
        return LongTermMemoryClassifier(experts, **{"memory": None, **parameters})
    experts = [("moody", MoodyNumber(1)), ("steady", FrozenEstimator(ReadsNumber(2)))]
    return LongTermMemoryRegressor(experts, **{"memory": None, **parameters})


def moody_rows(mood=0.0, n_rows=6, seed=0):
    """Column 0 is the mood of the last row, columns 1 and 2 are what the two experts say; the moody one is better."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = np.column_stack([np.zeros(n_rows), y * 0.8 + 0.1, np.full(n_rows, 0.3)])
    X[-1, 0] = mood
    return X, y


ROUNDS = pytest.mark.parametrize("rounds", ["batch", "row"])


def spoilt(array, value):
    array = array.astype(object) if isinstance(value, str) else array.copy()
    array[(3,) + (1,) * (array.ndim - 1)] = value
    return array


def fitted(kind, **parameters):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    if kind == "classes":
        model = LongTermMemoryClassifier(
            [("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))], memory=Snapshots(every=20), **parameters
        )
        return model.partial_fit(X, np.where(X[:, 0] > 0, "up", "down"), classes=["up", "down"])
    experts = [("sgd", SGDRegressor(random_state=0)), ("linear", LinearRegression())]
    return LongTermMemoryRegressor(experts, memory=Snapshots(every=20), **parameters).partial_fit(X, X[:, 0])
