"""Ensembles with slow rounds, for tests with threads and with processes, which import this module."""

import copy
import pickle
import time

import numpy as np
import pandas as pd
from river import base
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn import river as in_river
from ltm_sklearn.experts import LongTermMemory

N_ROUNDS = 40
PAUSE = 1e-4  #: seconds in the middle of a round in which other threads run
ROWS = np.linspace(0.0, 1.0, 6).reshape(3, 2)


# Experts whose predictions are the number of learned rounds -- -----------------------------------------------------


class _Counts(BaseEstimator):
    n_learned_ = 0

    def __init__(self, bias=0.0):
        self.bias = bias

    def partial_fit(self, X, y, classes=None):
        time.sleep(PAUSE)
        self.n_learned_ += 1
        return self

    def fit(self, X, y):
        return self.partial_fit(X, y)


class CountsNumber(RegressorMixin, _Counts):
    def predict(self, X):
        return np.full(len(X), self.n_learned_ + self.bias)


class CountsChance(ClassifierMixin, _Counts):
    classes_ = np.array([0, 1])

    def predict_proba(self, X):
        chance = 1.0 / (2.0 + self.n_learned_ + self.bias)
        return np.tile([chance, 1.0 - chance], (len(X), 1))


class _RiverCounts(base.Estimator):
    def __init__(self, bias=0.0):
        self.bias = bias
        self.n_learned = 0

    def learn_one(self, x, y):
        time.sleep(PAUSE)
        self.n_learned += 1


class RiverNumber(_RiverCounts, base.Regressor):
    def predict_one(self, x):
        return self.n_learned + self.bias


class RiverChance(_RiverCounts, base.Classifier):
    def predict_proba_one(self, x):
        chance = 1.0 / (2.0 + self.n_learned + self.bias)
        return {False: chance, True: 1.0 - chance}


# Attributes that a thread reads -----------------------------------------------------------------------------------


def seen(value):
    """Return a comparable text of a value, rounded as compiled rounds may differ in the last digits."""
    return repr(rounded(value.tolist() if isinstance(value, np.ndarray) else value))


def rounded(value):
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each) for each in value]
    return float(f"{value:.9g}") if isinstance(value, float) else value


def state_of(model):
    """Return several attributes of a copy, which no other thread changes."""
    said = model.predict_one({"a": 1.0}) if hasattr(model, "predict_one") else None
    return seen([model.n_rounds_, model.weights_.tolist(), model.loss_.tolist(), said])


LOOKS = {
    "weights": lambda model: seen(model.weights_),
    "losses": lambda model: seen(model.loss_),
    "leader": lambda model: model.leader_,
    "experts": lambda model: seen(model.experts_),
    "pickle": lambda model: state_of(pickle.loads(pickle.dumps(model))),
    "copy": lambda model: state_of(copy.deepcopy(model)),
}
OF_SKLEARN = {
    **LOOKS,
    "predict": lambda model: seen(model.predict(ROWS)),
    "transform": lambda model: seen(model.transform(ROWS)),
    "names": lambda model: seen(model.get_feature_names_out()),
}
OF_RIVER = {
    **LOOKS,
    "predict_one": lambda model: seen(model.predict_one({"a": 1.0})),
    "predict_many": lambda model: seen(model.predict_many(pd.DataFrame({"a": [1.0, 2.0]})).to_numpy()),
}
CLASSES = {
    "predict_proba": lambda model: seen(model.predict_proba(ROWS)),
    "predict_proba_one": lambda model: seen(model.predict_proba_one({"a": 1.0})),
}


def learn_batch(model, at):
    y = np.array([0.0, 1000.0, at]) if isinstance(model, LongTermMemoryRegressor) else np.array([0, 1, at % 2])
    model.partial_fit(ROWS, y, **({"classes": [0, 1]} if isinstance(model, LongTermMemoryClassifier) else {}))


def learn_late(model, at):
    if at == 0:
        learn_batch(model, at)
    else:
        model.issue(ROWS, [(at, row) for row in range(3)])
        model.learn([(at, row) for row in range(3)], np.array([0.0, 1000.0, at]))


def learn_row(model, at):
    x = {"a": float(at)}
    model.learn_one(x, 1000.0 * (at % 2) if isinstance(model, base.Regressor) else at % 3 == 0)


def learn_row_late(model, at):
    model.predict_one({"a": float(at)}, id=at)
    model.learn_one({"a": float(at)}, 1000.0 * (at % 2), id=at)


def of_sklearn(make, counts, **parameters):
    memory = Snapshots(every=20, on_drift=False, max_size=3, merge=None)
    experts = [("one", counts()), ("two", counts(1.0)), ("three", counts(5.0))]
    return make(experts, memory=memory, random_state=0, **parameters)


def of_river(make, counts, **parameters):
    memory = Snapshots(every=20, on_drift=False, max_size=3, merge=None)
    return make({"a": counts(), "b": counts(1.0), "c": counts(5.0)}, memory=memory, seed=0, **parameters)


def table(at):
    rng = np.random.default_rng(at)
    series = np.repeat(["a", "b", "c"], 2)
    return pd.DataFrame({"series": series, "one": rng.normal(size=6), "two": rng.normal(size=6)})


def learn_table(model, at):
    model.partial_fit(table(at), np.random.default_rng(at).normal(size=6))


OF_MIXTURE = {
    "weights": LOOKS["weights"],
    "losses": LOOKS["losses"],
    "predict": lambda model: seen(model.predict(table(0))),
    "weigh": lambda model: seen(model.weigh(table(0))),
    "pickle": LOOKS["pickle"],
    "copy": LOOKS["copy"],
    "summary": lambda model: repr(model.summary()),
    "loss": lambda model: seen(model.mixture_loss_),
}

CASES = {
    "regressor": (lambda: of_sklearn(LongTermMemoryRegressor, CountsNumber), learn_batch, OF_SKLEARN),
    "regressor, late": (lambda: of_sklearn(LongTermMemoryRegressor, CountsNumber), learn_late, OF_SKLEARN),
    "regressor, rows": (lambda: of_sklearn(LongTermMemoryRegressor, CountsNumber, rounds="row"), learn_batch, LOOKS),
    "regressor, bandit": (
        lambda: of_sklearn(LongTermMemoryRegressor, CountsNumber, feedback="bandit"),
        learn_batch,
        OF_SKLEARN,
    ),
    "classifier": (
        lambda: of_sklearn(LongTermMemoryClassifier, CountsChance),
        learn_batch,
        OF_SKLEARN | {"predict_proba": CLASSES["predict_proba"]},
    ),
    "River's regressor": (lambda: of_river(in_river.LongTermMemoryRegressor, RiverNumber), learn_row, OF_RIVER),
    "River's regressor, late": (
        lambda: of_river(in_river.LongTermMemoryRegressor, RiverNumber),
        learn_row_late,
        OF_RIVER,
    ),
    "River's regressor, bandit": (
        lambda: of_river(in_river.LongTermMemoryRegressor, RiverNumber, feedback="bandit"),
        learn_row,
        LOOKS,
    ),
    "River's classifier": (
        lambda: of_river(in_river.LongTermMemoryClassifier, RiverChance),
        learn_row,
        OF_RIVER | {"predict_proba_one": CLASSES["predict_proba_one"]},
    ),
    "mixture": (lambda: ExpertMixture(LongTermMemory(), series="series"), learn_table, OF_MIXTURE),
    "mixture, recorded": (
        lambda: ExpertMixture(loss=lambda y, p: np.abs(y - p), series="series", record=100),
        learn_table,
        OF_MIXTURE,
    ),
}


def go_on(model, learn, look, start, stop):
    """Return the state before and after some rounds; runs in another process."""
    before = look(model)
    for at in range(start, stop):
        learn(model, at)
    return before, look(model)


def learn_losses(algorithm, at):
    algorithm.update(np.random.default_rng(at).random(3))


def look_at(model):
    return seen(model.weights(3)) if isinstance(model, LongTermMemory) else state_of(model)
