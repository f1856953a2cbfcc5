"""Small ensembles of both kinds on random rows, and comparisons of fitted ensembles."""

import numpy as np
import pytest
from pandas import DataFrame
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import Ridge, SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
labels = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)
numbers = X @ [1.0, -2.0, 0.0] + 0.1 * rng.normal(size=400)
weights = rng.uniform(0.5, 2.0, size=400)
BATCH = 40


def sgd(**parameters):
    return SGDClassifier(loss="log_loss", random_state=0, **parameters)


def classifier(**parameters):
    """Takes several snapshots, of different kinds of experts, in 400 rows."""
    experts = [("bayes", GaussianNB()), ("sgd", sgd()), ("tree", DecisionTreeClassifier(max_depth=3, random_state=0))]
    parameters = {"memory": Snapshots(every=80), "batch_size": BATCH, "random_state": 0, **parameters}
    return LongTermMemoryClassifier(parameters.pop("estimators", experts), **parameters)


def regressor(**parameters):
    experts = [("sgd", SGDRegressor(random_state=0)), ("ridge", Ridge())]
    parameters = {"memory": Snapshots(every=80), "batch_size": BATCH, "random_state": 0, **parameters}
    return LongTermMemoryRegressor(parameters.pop("estimators", experts), **parameters)


TASKS = {"classifier": (classifier, labels, {"classes": [0, 1]}), "regressor": (regressor, numbers, {})}
both = pytest.mark.parametrize(("make", "y", "first"), TASKS.values(), ids=TASKS)


def stream(model, y, start=0, stop=400, first=None, size=BATCH, X=X, **of_rows):
    for at in range(start, stop, size):
        rows = slice(at, at + size)
        more = {name: values[rows] for name, values in of_rows.items()}
        model.partial_fit(X[rows], y[rows], **(first or {}), **more)
    return model


def numbers_of(model, X=X):
    """Everything a user sees of a model."""
    predict = getattr(model, "predict_proba", model.predict)
    return {
        "predictions": predict(X),
        "weights": model.weights_,
        "transformed": model.transform(X),
        "losses": model.loss_,
        "experts": np.array([tuple(expert) for expert in model.experts_], dtype=object).astype(str),
    }


def assert_same(one, other, X=X):
    one, other = numbers_of(one, X), numbers_of(other, X)
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def asks(estimator, **requests):
    """An expert that asks for weights, or for what is told; harmless where routing is off."""
    with config_context(enable_metadata_routing=True):
        return estimator.set_partial_fit_request(**(requests or {"sample_weight": True}))


class KnowsSome(ClassifierMixin, BaseEstimator):
    """Says that rows belong to the classes it knows, with probabilities that are given."""

    def __init__(self, classes=(), probabilities=()):
        self.classes = classes
        self.probabilities = probabilities

    def fit(self, X, y=None):
        self.classes_ = np.array(self.classes)
        return self

    def predict_proba(self, X):
        return np.tile(self.probabilities, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


frame = DataFrame(X, columns=["a", "b", "c"])
words = np.array(["yes", "no", "maybe"])


class Listens(ClassifierMixin, BaseEstimator):
    """Remembers with what it was trained."""

    def partial_fit(self, X, y, classes=None, sample_weight=None, shift=None):
        if not hasattr(self, "heard_"):
            self.classes_, self.heard_ = np.unique(classes), []
        self.heard_.append((sample_weight, shift))
        return self

    fit = partial_fit

    def predict(self, X):
        return np.full(len(X), self.classes_[0])
