"""Fitted attributes, the history, pickles and copies."""

import copy
import pickle
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDRegressor
from support.ensemble_streams import CLASSES, ROUNDS, K, classifier, fine, fitted, forecasts, wrong
from support.stream_experts import (
    assert_same_outcome,
)

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.experts import LongTermMemory

pytestmark = pytest.mark.fast_cases(1)


def test_history_of_rows_has_the_mean_weights():
    model, algorithm = classifier(loss="zero_one", rounds="row", record=10), LongTermMemory()
    for at, (batch, labels) in enumerate(forecasts(2, 50)):
        model.partial_fit(batch, labels, classes=CLASSES)
        played = algorithm.run(((batch > 0.5) != labels[:, np.newaxis]).astype(float))
        weights = list(model.history_[at].weights.values())
        np.testing.assert_allclose(weights, played.mean(axis=0))


def test_views_of_the_experts_agree():
    model = fitted("classes")
    for seed in range(10):
        model.partial_fit(*fine("classes", seed))
    experts = model.experts_
    np.testing.assert_array_equal([expert.weight for expert in experts], model.weights_)
    np.testing.assert_array_equal([expert.loss for expert in experts], model.loss_)
    assert experts[int(model.weights_.argmax())].name == model.leader_
    assert len({expert.name for expert in experts}) == len(experts)
    assert {expert.kind for expert in experts} == {"live", "restarted", "snapshot", "stack"}
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert all(0.0 <= expert.long_term_weight <= 1.0 for expert in experts)
    assert list(model.named_estimators_) == ["nb", "sgd"]
    assert model.transform(fine("classes")[0]).shape == (10, 2 * len(experts))
    assert len(model.get_feature_names_out()) == 2 * len(experts)


def test_mean_losses_and_weights_are_means_over_the_rounds():
    model, losses, weights = classifier(loss="zero_one"), [], []
    for X, y in forecasts(20, 5):
        model.partial_fit(X, y, classes=CLASSES)
        losses.append(wrong(X, y).mean(axis=0))
        weights.append(model.weights_)
    np.testing.assert_allclose(model.loss_, np.mean(losses, axis=0))
    np.testing.assert_allclose([expert.long_term_weight for expert in model.experts_], np.mean(weights, axis=0))


def test_nothing_is_shown_before_the_first_round():
    for name in ("weights_", "leader_", "experts_", "loss_", "n_rounds_", "history_", "estimators_"):
        assert not hasattr(classifier(record=3), name)


def test_history_needs_record():
    model = classifier()
    for X, y in forecasts(3, 5):
        model.partial_fit(X, y, classes=CLASSES)
    with pytest.raises(AttributeError, match="no history_ without record="):
        _ = model.history_


@ROUNDS
@pytest.mark.parametrize("record", [1, 2, 7, 64, 1000])
def test_history_covers_the_whole_stream_in_bounded_space(record, rounds):
    model, alone = classifier(loss="zero_one", record=record, rounds=rounds), LongTermMemory()
    issued, losses = [], []
    for X, y in forecasts(150, 4):
        said = X @ alone.weights(K)
        model.partial_fit(X, y, classes=CLASSES)
        issued.append(alone.weights())
        losses.append(wrong(X, y).mean(axis=0))
        if rounds == "batch":
            alone.update(losses[-1])
            issued[-1] = (issued[-1], np.mean((said > 0.5) != y))
    history = model.history_
    assert min(record, 150) / 2 <= len(history) <= record
    assert sum(part.n_rounds for part in history) == model.n_rounds_
    assert [part.round for part in history] == np.cumsum([part.n_rounds for part in history]).tolist()
    shares = [part.n_rounds for part in history]
    mean_losses = np.average([list(part.losses.values()) for part in history], axis=0, weights=shares)
    np.testing.assert_allclose(mean_losses, np.mean(losses, axis=0))
    if rounds == "batch":  # and what was issued, with its weights
        mean_weights = np.average([list(part.weights.values()) for part in history], axis=0, weights=shares)
        np.testing.assert_allclose(mean_weights, np.mean([weights for weights, _ in issued], axis=0), atol=1e-12)
        lost = np.average([part.loss for part in history], weights=shares)
        assert lost == pytest.approx(np.mean([lost for _, lost in issued]))


STREAM = """
import numpy as np
from sklearn.linear_model import SGDRegressor
from sklearn.tree import DecisionTreeRegressor
from ltm_sklearn import LongTermMemoryRegressor, Snapshots

def batch(at):
    rng = np.random.default_rng(at)
    X = rng.normal(size=(10, 2))
    return X, X[:, 0] * (-1.0 if at // 10 % 2 else 1.0)

def fresh():
    experts = [("sgd", SGDRegressor(random_state=0)), ("tree", DecisionTreeRegressor(max_depth=3, random_state=0))]
    return LongTermMemoryRegressor(experts, memory=Snapshots(every=30), combine="sample", random_state=0, record=8)
"""


UNTIL_KILLED = """
import os, pickle, signal, sys

model = fresh()
for at in range(60):
    if at == 37:
        os.kill(os.getpid(), signal.SIGKILL)
    model.partial_fit(*batch(at))
    if at % 5 == 4:
        with open("state.new", "wb") as file:
            pickle.dump(model, file)
        os.replace("state.new", "state.pickle")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_killed_stream_continues_from_its_saved_state(tmp_path):
    killed = subprocess.run([sys.executable, "-c", STREAM + textwrap.dedent(UNTIL_KILLED)], cwd=tmp_path, check=False)
    assert killed.returncode == -signal.SIGKILL
    names = {}
    exec(STREAM, names)
    model, unbroken = pickle.loads((tmp_path / "state.pickle").read_bytes()), names["fresh"]()
    assert model.n_rounds_ == 35
    for at in range(60):
        unbroken.partial_fit(*names["batch"](at))
        if at >= 35:
            model.partial_fit(*names["batch"](at))
            assert_same_outcome(model, unbroken, names["batch"](100)[0])
    assert model.history_ == unbroken.history_
    assert len(model.experts_) > 5


def test_copies_are_independent():
    model = fitted("classes")
    twin, rows = copy.deepcopy(model), fine("classes")[0]
    before = model.predict_proba(rows)
    for seed in range(20):
        twin.partial_fit(fine("classes", seed)[0], fine("classes", seed + 1)[1])
    np.testing.assert_array_equal(model.predict_proba(rows), before)
    assert model.n_rounds_ == 1


def test_frozen_experts_are_never_changed():
    X, y = fine("numbers", n_rows=50)
    inner = SGDRegressor(random_state=0).fit(X, y)
    as_given = pickle.dumps(inner)
    model = LongTermMemoryRegressor([("frozen", FrozenEstimator(inner)), ("sgd", SGDRegressor(random_state=0))])
    for seed in range(40):
        model.partial_fit(*fine("numbers", seed))
    assert pickle.dumps(inner) == as_given
    assert pickle.dumps(model.named_estimators_.frozen.estimator) == as_given
