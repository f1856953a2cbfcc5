"""Attributes of River's ensembles that are set after the first round change nothing: a clone takes them."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from river import linear_model, naive_bayes, tree
from support.interrupted_river_runs import classify, delayed, regress
from support.named_models import named

from ltm_sklearn import Snapshots, river
from ltm_sklearn.bandits import Exp3IX
from ltm_sklearn.experts import Hedge

pytestmark = pytest.mark.fast_cases(2)

N_ROWS, HALF = 80, 40

#: Other values, some of them wrong.
OTHERS = {
    "algorithm": [Hedge(), Exp3IX(), "hedge"],
    "loss": ["squared_error", "none such"],
    "combine": ["leader", "none such"],
    "memory": [None, "none such"],
    "on_error": ["raise", "none such"],
    "max_pending": [1, 0],
    "record": [None, 3, -1],
    "seed": [5, "none such"],
    "feedback": ["full", "bandit", "none such"],
    "n_queries": [2, 0],
}


def classifier(**parameters):
    models = [tree.HoeffdingTreeClassifier(grace_period=20), naive_bayes.GaussianNB()]
    return river.LongTermMemoryClassifier(named(models), seed=0, **parameters)


def regressor(**parameters):
    models = [linear_model.LinearRegression(), tree.HoeffdingTreeRegressor(grace_period=20)]
    return river.LongTermMemoryRegressor(named(models), seed=0, **parameters)


RUNS = {"classifier": (classifier, classify), "late": (classifier, delayed), "regressor": (regressor, regress)}
SETTINGS = {
    "full": {"memory": Snapshots(every=20, max_size=4), "record": 7},
    "bandit": {"feedback": "bandit", "record": 7},
}


@pytest.mark.parametrize("setting", SETTINGS)
@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in OTHERS.items() for value in values])
def test_what_is_set_in_mid_run_changes_nothing(run, setting, name, value):
    make, play = RUNS[run]
    model = make(**SETTINGS[setting])
    play(0, HALF, model)
    expected = pickle.loads(pickle.dumps(model))
    setattr(model, name, value)
    np.testing.assert_equal(play(HALF, N_ROWS, model), play(HALF, N_ROWS, expected))
    for shown in ("weights_", "leader_", "experts_", "loss_", "n_rounds_", "n_samples_seen_", "history_"):
        np.testing.assert_equal(getattr(model, shown), getattr(expected, shown))


def test_each_parameter_is_set_in_mid_run():
    assert OTHERS.keys() | {"models"} == classifier()._get_params().keys()
