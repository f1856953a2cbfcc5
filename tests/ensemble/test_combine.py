"""The parameter ``combine``: average, leader, sample."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from support.ensemble_streams import CLASSES, K, classifier, forecasts, learn, moody, moody_rows
from support.stream_experts import (
    RAISES_IN_PREDICT,
)

from ltm_sklearn import LongTermMemoryClassifier, Snapshots
from ltm_sklearn.ensemble import ExpertWarning

pytestmark = pytest.mark.fast_cases(1)


@pytest.fixture(scope="module")
def learned():
    models = {combine: classifier(combine=combine, random_state=0) for combine in ("average", "leader", "sample")}
    for X, y in forecasts(4, 5):
        for model in models.values():
            model.partial_fit(X, y, classes=CLASSES)
    return models


def test_average_weighs_the_experts(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    model = learned["average"]
    *_, stacked = model.transform(X)[:, 1::2].T
    expected = np.column_stack([X, stacked]) @ model.weights_
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], expected, atol=1e-12)


def test_leader_is_followed_alone(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    model = learned["leader"]
    at = int(model.leader_.removeprefix("column"))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], X[:, at], atol=1e-12)


def test_sample_draws_one_expert_per_round(learned):
    X, _ = next(forecasts(1, 7, seed=1))
    said = learned["sample"].predict_proba(X)[:, 1]
    assert any(np.allclose(said, column) for column in X.T)
    np.testing.assert_array_equal(learned["sample"].predict_proba(X)[:, 1], said)


def test_each_round_has_a_draw_of_its_own():
    model, drawn = classifier(combine="sample", random_state=0), set()
    for X, y in forecasts(20, 3):
        model.partial_fit(np.tile(X[:, :1], K), y, classes=CLASSES)  # all alike, so that their weights stay the same
        said = model.predict_proba(np.arange(K)[np.newaxis] / 10)[0, 1]
        drawn.add(round(10 * said))
    assert len(drawn) > 1


def test_experts_are_drawn_as_often_as_their_weights_say():
    model = classifier(combine="sample", rounds="row", random_state=0)
    for X, y in forecasts(1, 3):
        model.partial_fit(X, y, classes=CLASSES)
    X = np.tile(np.arange(K) / 10, (20_000, 1))
    drawn = np.round(10 * model.predict_proba(X)[:, 1]).astype(int)
    np.testing.assert_allclose(np.bincount(drawn, minlength=K) / len(X), model.weights_, atol=0.02)


def test_expert_that_sleeps_is_neither_leader_nor_drawn():
    X, _ = moody_rows(RAISES_IN_PREDICT)
    for combine in ("leader", "sample"):
        model = moody("numbers", combine=combine, random_state=0)
        for seed in range(20):
            learn(model, *moody_rows(seed=seed))
        assert model.leader_ == "moody"
        with pytest.warns(ExpertWarning):
            np.testing.assert_array_equal(model.predict(X), X[:, 2])


def test_leader_is_one_that_can_predict():
    model = LongTermMemoryClassifier([("nb", GaussianNB())], memory=Snapshots(every=5, on_drift=False))
    X, y = np.random.default_rng(0).normal(size=(200, 2)), np.tile([0, 1], 100)
    for rows in range(0, 200, 5):
        model.partial_fit(X[rows : rows + 5], y[rows : rows + 5], classes=CLASSES)  # the young one has just begun
        assert model.leader_ != "nb@restarted"
