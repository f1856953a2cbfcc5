"""Parameters of the ensembles that are set after the first round: they hold from the next fit on, River's never."""

import pickle
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeRegressor
from support.interrupted_runs import LABELS, NUMBERS, X

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.bandits import Exp3IX
from ltm_sklearn.experts import FixedShare, Hedge

pytestmark = pytest.mark.fast_cases(2)

N_ROWS, HALF, BATCH = len(X), len(X) // 2, 10
SHARED = {"memory": Snapshots(every=20, max_size=4), "record": 7}
BANDIT = {"feedback": "bandit", "record": 7}

#: Other values, some of them wrong.
OTHERS = {
    "algorithm": [Hedge(), Exp3IX(), "hedge"],
    "feedback": ["full", "bandit", "none such"],
    "n_queries": [2, 0],
    "loss": ["squared_error", "brier", "none such"],
    "combine": ["leader", "sample", "none such"],
    "memory": [None, Snapshots(every=10), "none such"],
    "on_error": ["raise", "none such"],
    "max_pending": [1, 0],
    "record": [None, 3, 0, -1],
}
OF_SKLEARN = {
    "estimators": [None, [], "none such"],
    "rounds": ["row", "none such"],
    "batch_size": [7, 0],
    "random_state": [1, "none such"],
}


def classifier(**parameters):
    models = [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
    return LongTermMemoryClassifier(models, random_state=0, **parameters)


def regressor(**parameters):
    models = [("sgd", SGDRegressor(random_state=0)), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    return LongTermMemoryRegressor(models, random_state=0, **parameters)


def targets_of(model):
    return LABELS if isinstance(model, LongTermMemoryClassifier) else NUMBERS


def in_batches(model, first, stop):
    """Half of the rows wait for their targets for a while."""
    said, targets = [], targets_of(model)
    for at in range(first, stop, BATCH):
        rows = slice(at, at + BATCH)
        if not at:
            model.partial_fit(X[rows], targets[rows], **({"classes": [False, True]} if targets is LABELS else {}))
            continue
        said.append(model.predict(X[rows]))
        said.append(model.issue(X[rows], range(at, at + BATCH)))
        model.partial_fit(X[rows], targets[rows])
        model.learn(range(at, at + BATCH), targets[rows])
    return said


def refusal(model):
    """Why it cannot be fitted; nothing if it can."""
    try:
        model.fit(X, targets_of(model))
    except ValueError as error:
        return str(error)
    return ""


def shown(model):
    names = ["weights_", "leader_", "experts_", "loss_", "n_rounds_", "n_samples_seen_", "history_"]
    seen = {name: getattr(model, name) for name in names}
    return seen | {"predict": model.predict(X), "columns": model.get_feature_names_out().tolist()}


RUNS = {
    "classifier": (classifier, SHARED),
    "classifier-bandit": (classifier, BANDIT),
    "regressor": (regressor, SHARED),
    "regressor-own": (regressor, {"algorithm": FixedShare(), "rounds": "row", "combine": "sample", "record": 7}),
}
CASES = [(run, name, value) for run in RUNS for name, values in {**OTHERS, **OF_SKLEARN}.items() for value in values]


@cache
def half_of(run):
    """A pickle of a model that has learned half of the rows."""
    make, parameters = RUNS[run]
    model = make(**parameters)
    in_batches(model, 0, HALF)
    return pickle.dumps(model)


@pytest.mark.parametrize(("run", "name", "value"), CASES)
def test_parameters_set_in_mid_run_wait_for_the_next_fit(run, name, value):
    model, before = pickle.loads(half_of(run)), pickle.loads(half_of(run))
    model.set_params(**{name: value})
    np.testing.assert_equal(shown(model), shown(before))
    np.testing.assert_equal(in_batches(model, HALF, N_ROWS), in_batches(before, HALF, N_ROWS))
    np.testing.assert_equal(shown(model), shown(before))
    fresh = clone(model)
    refused = refusal(fresh)
    assert refusal(model) == refused
    other = before if refused else fresh
    np.testing.assert_equal(model.predict(X), other.predict(X))
    np.testing.assert_equal(model.weights_, other.weights_)


@pytest.mark.parametrize("make", [classifier, regressor])
def test_each_parameter_is_set_in_mid_run(make):
    tried = {**OTHERS, **OF_SKLEARN}.keys() | {"n_jobs", "verbose"}
    assert tried == make().get_params(deep=False).keys()


@pytest.mark.parametrize("run", RUNS)
def test_what_parameters_have_in_them_is_set_in_mid_run(run):
    make, parameters = RUNS[run]
    model = clone(make(**parameters))
    in_batches(model, 0, HALF)
    before = pickle.loads(pickle.dumps(model))
    model.set_params(sgd__alpha=10.0, sgd__penalty="none such")
    if "memory" in parameters:
        model.set_params(memory__every=1, memory__max_size=-1)
    if "algorithm" in parameters:
        model.set_params(algorithm__switching=0.9)
    np.testing.assert_equal(in_batches(model, HALF, N_ROWS), in_batches(before, HALF, N_ROWS))
    np.testing.assert_equal(shown(model), shown(before))


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
@pytest.mark.parametrize("run", RUNS)
def test_a_wrong_number_of_jobs_in_mid_run_changes_nothing(run, n_jobs):
    make, parameters = RUNS[run]
    model = make(**parameters)
    in_batches(model, 0, HALF)
    before = pickle.loads(pickle.dumps(model))
    model.set_params(n_jobs=n_jobs)
    rows = X[HALF : HALF + BATCH]
    with pytest.raises(ValueError, match="n_jobs="):
        model.partial_fit(rows, targets_of(model)[HALF : HALF + BATCH])
    with pytest.raises(ValueError, match="n_jobs="):
        model.predict(rows)
    model.set_params(n_jobs=None)
    np.testing.assert_equal(shown(model), shown(before))
