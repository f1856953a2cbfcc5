"""Parameters of a mixture that are set after its first round: they hold from the next fit on."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from support.forecasts import returning, sleepy

from ltm_sklearn import ExpertMixture
from ltm_sklearn.experts import BOA, FixedShare
from ltm_sklearn.losses import Huber

pytestmark = pytest.mark.fast_cases(2)

N_ROWS = 120
HALF = N_ROWS // 2
X, y = returning(N_ROWS, length=40)
FRAME = pd.DataFrame(sleepy(X), columns=list("abcd")[: X.shape[1]]).assign(
    shop=np.where(np.arange(N_ROWS) % 2, "north", "south"),
    hall=np.where(np.arange(N_ROWS) % 3, "left", "right"),
    week=np.arange(N_ROWS) // 10,
    day=np.arange(N_ROWS),
)
PLAIN = FRAME.drop(columns=["shop", "hall", "week", "day"])
COLUMNS = {"series": "shop", "group": "hall", "block": "week", "time": "day"}

#: How a mixture is made, and its table.
RUNS = {
    "array": ({}, X),
    "recorded": ({"record": 10}, PLAIN),
    "quantiles": ({"quantiles": [0.1, 0.9], "bias": True, "record": 100}, PLAIN),
    "columns": ({**COLUMNS, "pooled": True, "bias": True, "lag": 3, "record": 100}, FRAME),
    "own": ({"algorithm": FixedShare(), "loss": Huber(0.5), "prior": dict.fromkeys("abcd", 1.0), "block": 4}, PLAIN),
}
OTHERS = {
    "algorithm": [BOA(), None, "hedge"],
    "loss": ["absolute_error", "none such"],
    "gradient": [False, "no"],
    "lag": [0, 7, -1],
    "block": [5, "hall", 0],
    "group": [None, "week", "none such", "hour"],
    "pooled": [True, False, "yes"],
    "series": [None, "hall", "none such"],
    "time": [None, "none such"],
    "quantiles": [None, [0.2, 0.5, 0.8], [2.0]],
    "shared": [True, "yes"],
    "bias": [True, False, "yes"],
    "prior": [None, [4.0, 3.0, 2.0, 1.0], [-1.0]],
    "record": [None, 5, 1000, 0, -1, "/none/such/folder/run.log"],
}
CASES = [(run, name, value) for run in RUNS for name, values in OTHERS.items() for value in values]


def shown(mixture, table):
    """All that can be seen of a mixture."""
    seen = {name: getattr(mixture, name) for name, _ in inspect.getmembers(type(mixture), inspect.isdatadescriptor)}
    seen = {name: value for name, value in seen.items() if name.endswith("_") and not name.startswith("_")}
    assert {"weights_", "cells_", "loss_", "mixture_loss_", "experts_"} <= seen.keys()
    for name in ("n_features_in_", "feature_names_in_"):
        seen[name] = getattr(mixture, name, None)
    seen |= {"predict": mixture.predict(table), "weigh": mixture.weigh(table), "score": mixture.score(table, y)}
    for name in ("run_record", "summary"):
        series = {"series": "north"} if len(mixture._labels.series) > 1 else {}
        try:
            seen[name] = vars(getattr(mixture, name)(**series))
        except ValueError as error:  # that nothing was recorded
            seen[name] = str(error)
    return seen


def learned(mixture, table, first, stop):
    for start in range(first, stop, 20):
        here = slice(start, start + 20)
        mixture.partial_fit(table[here], y[here])
    return mixture


def refusal(mixture, table):
    """Why it cannot be fitted; nothing if it can."""
    try:
        mixture.fit(table, y)
    except ValueError as error:
        return str(error)
    return ""


def same(mixture, other, table):
    np.testing.assert_equal(shown(mixture, table), shown(other, table))


@pytest.mark.parametrize(("run", "name", "value"), CASES)
def test_parameter_set_in_mid_run_holds_from_the_next_fit(run, name, value):
    parameters, table = RUNS[run]
    mixture = learned(ExpertMixture(**parameters), table, 0, HALF)
    before = pickle.loads(pickle.dumps(mixture))
    mixture.set_params(**{name: value})
    same(mixture, before, table)
    same(pickle.loads(pickle.dumps(mixture)), before, table)
    learned(mixture, table, HALF, N_ROWS)
    same(mixture, learned(before, table, HALF, N_ROWS), table)
    fresh = clone(mixture)
    refused = refusal(fresh, table)
    assert refusal(mixture, table) == refused
    same(mixture, before if refused else fresh, table)


def test_cases_cover_all_parameters():
    assert OTHERS.keys() | {"n_jobs", "verbose"} == ExpertMixture().get_params().keys()


def test_objects_in_parameters_are_copied():
    prior = dict.fromkeys("abcd", 1.0)
    made = {"algorithm": FixedShare(), "prior": prior, "quantiles": [0.1, 0.9], "group": "hall"}
    table = FRAME.drop(columns=["shop", "week", "day"]).sort_values("hall", kind="stable")
    mixture = ExpertMixture(**made).fit(table[:30], y[:30])
    expected = pickle.loads(pickle.dumps(mixture))
    mixture.set_params(algorithm__switching=0.3)
    prior["a"] = 9.0
    mixture.quantiles.reverse()
    for each in (mixture, expected):
        each.partial_fit(table[30:], y[30:])  # with a group that is new
        assert len(each.cells_) == 4
    same(mixture, expected, table)


@pytest.mark.parametrize("record", [0, -1])
def test_invalid_record_in_mid_run_does_not_stop_learning(record):
    mixture = ExpertMixture().fit(X, y).set_params(record=record)
    assert mixture.partial_fit(X[:5], y[:5]).n_samples_seen_ == N_ROWS + 5
    with pytest.raises(ValueError, match=f"record={record}"):
        mixture.fit(X, y)


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5])
def test_invalid_n_jobs_in_mid_run_learns_nothing(n_jobs):
    parameters, table = RUNS["columns"]
    mixture = learned(ExpertMixture(**parameters), table, 0, HALF)
    before = pickle.loads(pickle.dumps(mixture))
    mixture.set_params(n_jobs=n_jobs)
    with pytest.raises(ValueError, match="n_jobs="):
        mixture.partial_fit(table[HALF:], y[HALF:])
    same(mixture, before, table)
    mixture.set_params(n_jobs=1)
    same(learned(mixture, table, HALF, N_ROWS), learned(before, table, HALF, N_ROWS), table)
