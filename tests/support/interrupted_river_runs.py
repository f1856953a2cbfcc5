"""Runs of estimators and policies for River that tests interrupt, save and resume."""

import numpy as np
from river import compose, forest, linear_model, naive_bayes, neighbors, optim, preprocessing, time_series, tree
from sklearn.linear_model import SGDClassifier
from support.interrupted_runs import LABELS, MEMORY, NUMBERS, Run, X
from support.named_models import named

from ltm_sklearn import river
from ltm_sklearn.bandits import Exp3IX

ROWS = [dict(zip("abc", row, strict=True)) for row in X.tolist()]


def classify(first, last, model):
    outputs = []
    for x, y in zip(ROWS[first:last], LABELS[first:last].tolist(), strict=True):
        chances = model.predict_proba_one(x)
        outputs += [chances.get(False, -1.0), chances.get(True, -1.0)]
        model.learn_one(x, y)
    return np.array(outputs)


def regress(first, last, model):
    outputs = []
    for x, y in zip(ROWS[first:last], NUMBERS[first:last].tolist(), strict=True):
        outputs.append(model.predict_one(x))
        model.learn_one(x, y)
    return np.array(outputs)


def delayed(first, last, model):
    outputs = []
    for at in range(first, last):
        outputs += sorted(model.predict_proba_one(ROWS[at], id=at).items())
        if at >= 5:
            model.learn_one(ROWS[at - 5], bool(LABELS[at - 5]), id=at - 5)
    return np.array(outputs)


def forecast(first, last, model):
    outputs = []
    for y in NUMBERS[first:last].tolist():
        model.learn_one(y)
        outputs += model.forecast(3)
    return np.array(outputs)


def pull(first, last, policy):
    outputs = []
    for y in NUMBERS[first:last].tolist():
        arm = policy.pull(["left", "right", None])
        outputs.append(["left", "right", None].index(arm))
        policy.update(arm, y if arm == "left" else -y)
    return np.array(outputs)


def _trees():
    return [tree.HoeffdingTreeClassifier(grace_period=20), naive_bayes.GaussianNB()]


def _mixed():
    scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.Adam())
    chosen = compose.Select("a", "b") | preprocessing.MinMaxScaler() | neighbors.KNNClassifier(3)
    sgd = river.FromSklearnClassifier(SGDClassifier(loss="log_loss", random_state=0), [False, True])
    return [scaled, chosen, forest.ARFClassifier(2, seed=0), sgd]


def _small():
    return [linear_model.Perceptron(), preprocessing.StandardScaler() | linear_model.LogisticRegression()]


def _lines():
    return [linear_model.LinearRegression(), tree.HoeffdingTreeRegressor(grace_period=20), linear_model.PARegressor()]


_RUNS = {
    "river-lines": (lambda: river.LongTermMemoryClassifier(named(_small()), **MEMORY, seed=0), delayed),
    "river-classifier": (lambda: river.LongTermMemoryClassifier(named(_trees()), **MEMORY, record=9, seed=0), classify),
    "river-mixed": (lambda: river.LongTermMemoryClassifier(named(_mixed()), seed=0), classify),
    "river-bandit": (lambda: river.LongTermMemoryClassifier(named(_trees()), feedback="bandit", seed=0), classify),
    "river-late": (lambda: river.LongTermMemoryClassifier(named(_trees()), seed=0), delayed),
    "river-regressor": (lambda: river.LongTermMemoryRegressor(named(_lines()), **MEMORY, seed=0), regress),
    "river-selection": (lambda: river.ExpertSelectionClassifier(_trees()), classify),
    "river-selection-regressor": (lambda: river.ExpertSelectionRegressor(_lines()), regress),
    "river-forecaster": (
        lambda: river.LongTermMemoryForecaster(
            named([time_series.HoltWinters(alpha=0.3, beta=0.1), time_series.SNARIMAX(p=2, d=0, q=1)]), horizon=3
        ),
        forecast,
    ),
    "river-expert-policy": (lambda: river.ExpertPolicy(seed=0), pull),
    "river-bandit-policy": (lambda: river.BanditPolicy(Exp3IX(), seed=0), pull),
}
RUNS = {name: Run(*run) for name, run in _RUNS.items()}
