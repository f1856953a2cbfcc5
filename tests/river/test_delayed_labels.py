"""Labels that come later, under ids."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river")
from river import (
    datasets,
    linear_model,
    naive_bayes,
    preprocessing,
    stream,
)
from support.named_models import named
from support.river_models import ReadsChance, ReadsLabel
from support.river_streams import scaled_linear

from ltm_sklearn import Snapshots
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import LongTermMemory
from ltm_sklearn.river import (
    LongTermMemoryClassifier,
    LongTermMemoryRegressor,
)
from ltm_sklearn.streams import stagger


def test_delayed_labels_score_the_issued_predictions():
    models = [ReadsChance("a"), ReadsChance("b")]  # which know the labels beforehand
    model, alone = LongTermMemoryClassifier(named(models), loss="zero_one", memory=None), LongTermMemory()
    rng = np.random.default_rng(0)
    waiting, labels = {}, {}
    for at in range(200):
        x = {"a": bool(rng.integers(2)), "b": bool(rng.integers(2))}
        model.predict_one(x, id=at)
        waiting[at], labels[at] = x, x["b"] if at > 100 else x["a"]
        if len(waiting) > 20:
            due = int(rng.choice(list(waiting)))  # in any order
            model.learn_one({"a": None, "b": None}, labels[due], id=due)  # what the experts would say now is not asked
            x = waiting.pop(due)
            alone.update([float(x["a"] != labels[due]), float(x["b"] != labels[due])])
    assert model.n_rounds_ == 180
    np.testing.assert_allclose(model.weights_, alone.weights(2))


def test_simulate_qa_of_river():
    """`simulate_qa` gives (i, x, None) and later (i, x, y)."""
    rows = stagger(order="random", length=100, n_segments=6, seed=0)
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=Snapshots(every=50, max_size=5))
    right, asked, answered = [], {}, 0
    for i, x, y in stream.simulate_qa(rows, moment=None, delay=lambda x, y: 5 + int(x["size"]) * 10):
        if y is None:
            asked[i] = model.predict_one(x, id=i)
        else:
            right.append(asked.pop(i) == y)
            model.learn_one(x, y, id=i)
            answered += 1
    assert answered == model.n_samples_seen_ == 600
    assert not asked
    assert np.mean(right) > 0.6


def test_regression_with_ids_and_in_a_pipeline():
    model = preprocessing.StandardScaler() | LongTermMemoryRegressor(
        named([linear_model.LinearRegression(intercept_lr=0.1)])
    )
    rows = list(datasets.TrumpApproval().take(200))
    errors = []
    for at, (x, y) in enumerate(rows):
        errors.append(abs(model.predict_one(x, id=at) - y))
        if at >= 3:
            model.learn_one(*rows[at - 3], id=at - 3)
    assert model["LongTermMemoryRegressor"].n_rounds_ == 197
    assert np.mean(errors[50:]) < 0.5 * np.mean(errors[:20])


def test_label_that_was_not_known_when_the_row_was_issued():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    assert model.predict_proba_one({"a": 0.0}, id="first") == {}
    model.predict_proba_one({"a": 1.0}, id="second")
    model.learn_one({"a": 1.0}, "late", id="second")
    model.learn_one({"a": 0.0}, "early", id="first")
    model.predict_proba_one({"a": 2.0}, id="third")
    model.learn_one({"a": 2.0}, "new", id="third")
    assert set(model.predict_proba_one({"a": 0.0})) == {"late", "early", "new"}
    assert model.n_rounds_ == 3


def test_only_so_many_wait():
    model = LongTermMemoryClassifier(named([ReadsLabel("a")]), max_pending=3)
    for at in range(5):
        model.predict_one({"a": 1}, id=at)
    with pytest.raises(ValueError, match=r"id 1 is not waiting.*more than 3 rows waited"):
        model.learn_one({"a": 1}, 1, id=1)
    model.learn_one({"a": 1}, 1, id=2)


@pytest.mark.parametrize("make", [LongTermMemoryClassifier, LongTermMemoryRegressor])
def test_unknown_and_repeated_ids_are_named_and_change_nothing(make):
    model = make(named([naive_bayes.GaussianNB() if make is LongTermMemoryClassifier else scaled_linear()]))
    with pytest.raises(ValueError, match="id 'never' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="never")
    assert not hasattr(model, "_engine")
    model.predict_one({"a": 1.0}, id="once")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="id 'once' is waiting for its target already"):
        model.predict_one({"a": 2.0}, id="once")
    with pytest.raises(ValueError, match="id 'never' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="never")
    with pytest.raises(ValueError, match="is None"):
        model.learn_one({"a": 1.0}, None, id="once")
    assert pickle.dumps(model) == before
    model.learn_one({"a": 1.0}, 1.0, id="once")
    with pytest.raises(ValueError, match="id 'once' is not waiting"):
        model.learn_one({"a": 1.0}, 1.0, id="once")


def test_what_waits_is_saved():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]))
    for at, (x, y) in enumerate(stagger(length=30, n_segments=1, seed=0)):
        model.learn_one(x, y)
        model.predict_one(x, id=at)
    again = pickle.loads(pickle.dumps(model))
    for each in (model, again):
        for at in range(30):
            each.learn_one(x, y, id=at)
    assert model.weights_.tolist() == again.weights_.tolist()
    assert model.predict_proba_one(x) == again.predict_proba_one(x)


@pytest.mark.parametrize("delayed", [False, True])
def test_warnings_as_errors_do_not_repeat_a_round(delayed):
    class Fails(ReadsLabel):
        def learn_one(self, x, y):
            raise RuntimeError("not now")

    model = LongTermMemoryClassifier(named([ReadsLabel("a"), Fails("a")]), memory=None)
    x = {"a": True}
    if delayed:
        model.predict_one(x, id=1)
    with pytest.raises(ExpertWarning, match="'Fails' could not learn"):
        model.learn_one(x, True, id=1 if delayed else None)
    assert model.n_rounds_ == 1
    if delayed:
        with pytest.raises(ValueError, match="id 1 is not waiting"):
            model.learn_one(x, True, id=1)


def test_failure_is_reported_once_under_ids():
    class Mute(ReadsLabel):
        def predict_proba_one(self, x):
            raise RuntimeError("no comment")

    model = LongTermMemoryClassifier(named([ReadsLabel("a"), Mute("a")]), memory=None)
    with pytest.warns(ExpertWarning, match="'Mute' could not predict"):
        model.predict_one({"a": True}, id=0)
    for at in range(30):  # where warnings are errors
        model.learn_one({"a": True}, True, id=at)
        model.predict_one({"a": True}, id=at + 1)


def test_clone_with_attributes_goes_on_by_itself():
    model = LongTermMemoryClassifier(named([naive_bayes.GaussianNB()]), memory=None)
    for at in range(40):
        model.learn_one({"a": float(at % 2)}, "pq"[at % 2])
    model.predict_one({"a": 0.0}, id="waits")
    copied = model.clone(include_attributes=True)
    for _ in range(60):
        copied.learn_one({"a": 5.0}, "new")
    copied.learn_one({"a": 0.0}, "p", id="waits")
    assert copied.predict_one({"a": 5.0}) == "new"
    assert copied.n_rounds_ == 101
    assert set(model.predict_proba_one({"a": 5.0})) == {"p", "q"}
