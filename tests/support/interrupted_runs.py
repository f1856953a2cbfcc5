"""Runs of every estimator, mixture, algorithm and bandit that tests interrupt, save and resume."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from support.bandit_algorithms import BANDITS
from support.expert_algorithms import ALGORITHMS, drifting_losses
from support.forecasts import returning

from ltm_sklearn import ExpertMixture, LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.bandits import Exp3IX
from ltm_sklearn.experts import FixedShare

#: Rows of each stream; runs are interrupted after half of them.
N_ROWS = 200

_rng = np.random.default_rng(8)
X = _rng.normal(size=(N_ROWS, 3)).round(3)
_turn = np.where(np.arange(N_ROWS) // 40 % 2, 1.0, -1.0)
NUMBERS = X[:, 0] + _turn * X[:, 1] + 0.1 * _rng.normal(size=N_ROWS)
LABELS = NUMBERS > 0
TABLE, TARGETS = returning(N_ROWS, 4, 25)
LOSSES = drifting_losses(N_ROWS, 4)
MEMORY = {"memory": Snapshots(every=20, max_size=4)}


class Run(NamedTuple):
    """A model, and a function that plays rows of its stream and returns numbers."""

    make: Callable[[], Any]
    play: Callable[[int, int, Any], Any]  #: first row, last row, model

    def __call__(self, first, last, model):
        return np.asarray(self.play(first, last, model))


def experts(first, last, model):
    return model.run(LOSSES[first:last])


def bandit(first, last, model):
    outputs = []
    for losses in LOSSES[first:last]:
        arm = model.draw(4)
        model.update(arm, losses[arm])
        outputs.append([arm, *model.probabilities])
    return np.array(outputs)


def classify(first, last, model):
    outputs = []
    for at in range(first, last, 10):
        rows = slice(at, at + 10)
        if at:
            outputs.append(model.predict_proba(X[rows]).ravel())
        model.partial_fit(X[rows], LABELS[rows], classes=[False, True])
    return np.concatenate([*outputs, model.weights_])


def regress(first, last, model):
    outputs = []
    for at in range(first, last, 10):
        rows = slice(at, at + 10)
        if at:
            outputs.append(model.predict(X[rows]))
        model.partial_fit(X[rows], NUMBERS[rows])
    return np.concatenate([*outputs, model.weights_])


def a_few(play, first, last, model):
    """Play a fifth of the rows: forests are slow."""
    return play(first // 5, last // 5, model)


def delayed(first, last, model):
    """Play a stream whose targets come five rows late; five of them are pending when the run is interrupted."""
    outputs = []
    if not first:
        model.partial_fit(X[:10], LABELS[:10], classes=[False, True])
    for at in range(first + 10, last + 10):
        row = at % N_ROWS
        outputs.append(model.issue_proba(X[row : row + 1], [("row", at)])[0])
        if at >= 15:
            model.learn([("row", at - 5)], LABELS[(at - 5) % N_ROWS : (at - 5) % N_ROWS + 1])
    return np.concatenate([*outputs, model.weights_])


def mix(first, last, model):
    outputs = []
    for at in range(first, last, 10):
        if at:
            outputs.append(model.predict(TABLE[at : at + 10]).ravel())
        model.partial_fit(TABLE[at : at + 10], TARGETS[at : at + 10])
    return np.concatenate([*outputs, model.weights_.ravel()])


def mix_series(first, last, model):
    import pandas as pd

    table = pd.DataFrame(TABLE, columns=list("abcd")).assign(shop=[("north", "south")[at % 2] for at in range(N_ROWS)])
    outputs = [model.predict(table[first:last])] if first else []
    model.partial_fit(table[first:last], TARGETS[first:last])
    return np.concatenate([*outputs, model.weights_.ravel()])


def pipeline(first, last, model):
    if not first:
        model.fit(X[:50], LABELS[:50])
    model[-1].partial_fit(model[0].transform(X[first:last]), LABELS[first:last])
    return model.predict_proba(X).ravel()


def _models():
    return [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]


def _classifier(**parameters):
    return LongTermMemoryClassifier(_models(), random_state=0, **parameters)


def _numbers(**parameters):
    models = [("sgd", SGDRegressor(random_state=0)), ("slow", SGDRegressor(eta0=1e-3, random_state=0))]
    return LongTermMemoryRegressor(models, random_state=0, **parameters)


ENSEMBLES = {
    "default-classifier": (lambda: LongTermMemoryClassifier(random_state=0), partial(a_few, classify)),
    "default-regressor": (lambda: LongTermMemoryRegressor(random_state=0), partial(a_few, regress)),
    "classifier": (lambda: _classifier(**MEMORY, record=7), classify),
    "classifier-rows": (lambda: _classifier(**MEMORY, rounds="row"), classify),
    "classifier-sample": (lambda: _classifier(combine="sample", memory=None), classify),
    "classifier-leader": (lambda: _classifier(combine="leader", algorithm=FixedShare()), classify),
    "classifier-bandit": (lambda: _classifier(feedback="bandit"), classify),
    "classifier-exp3": (lambda: _classifier(feedback="bandit", n_queries=2, algorithm=Exp3IX()), classify),
    "classifier-late": (lambda: _classifier(**MEMORY), delayed),
    "classifier-weights-of-classes": (
        lambda: LongTermMemoryClassifier(
            [("sgd", SGDClassifier(loss="log_loss", class_weight={False: 1.0, True: 3.0}, random_state=0))]
        ),
        classify,
    ),
    "regressor": (lambda: _numbers(**MEMORY, record=7), regress),
    "regressor-leader": (lambda: _numbers(combine="leader"), regress),
    "mixture": (lambda: ExpertMixture(record=10), mix),
    "mixture-lag-bias": (lambda: ExpertMixture(loss="absolute_error", lag=3, block=5, bias=True), mix),
    "mixture-series": (lambda: ExpertMixture(series="shop", lag=2), mix_series),
    "mixture-quantiles": (lambda: ExpertMixture(quantiles=[0.1, 0.5, 0.9]), mix),
    "pipeline": (lambda: make_pipeline(StandardScaler(), _classifier(**MEMORY)), pipeline),
}
RUNS = {
    **{f"experts-{name}": Run(make, experts) for name, make in ALGORITHMS.items()},
    **{f"bandits-{name}": Run(make, bandit) for name, make in BANDITS.items()},
    **{name: Run(*run) for name, run in ENSEMBLES.items()},
}
