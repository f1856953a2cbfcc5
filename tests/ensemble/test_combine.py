"""The parameter ``combine``: average, leader, sample."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.naive_bayes import GaussianNB
from support.stream_experts import (
    RAISES_IN_PREDICT,
    MoodyChance,
    MoodyNumber,
    ReadsChance,
    ReadsNumber,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import ExpertWarning

pytestmark = pytest.mark.fast_cases(1)


CLASSES = [0, 1]


K = 4


def forecasts(n_rounds, n_rows, seed=0):
    """Rounds of rows whose columns are K forecasts in [0, 1], with outcomes 0 or 1; the best column changes."""
    rng = np.random.default_rng(seed)
    for at in range(n_rounds):
        y = rng.integers(0, 2, n_rows)
        X = rng.random((n_rows, K))
        good = at // 10 % 3
        X[:, good] = np.where(rng.random(n_rows) < 0.8, y, 1 - y) * 0.8 + 0.1
        yield X, y


def classifier(**parameters):
    parameters = {"estimators": frozen_readers(ReadsChance, K), "memory": None, **parameters}
    return LongTermMemoryClassifier(**parameters)


def moody(kind, **parameters):
    """A moody expert beside one that always answers, for classes or numbers."""
    if kind == "classes":
        experts = [("moody", MoodyChance(1)), ("steady", FrozenEstimator(ReadsChance(2)))]
        return LongTermMemoryClassifier(experts, **{"memory": None, **parameters})
    experts = [("moody", MoodyNumber(1)), ("steady", FrozenEstimator(ReadsNumber(2)))]
    return LongTermMemoryRegressor(experts, **{"memory": None, **parameters})


def moody_rows(mood=0.0, n_rows=6, seed=0):
    """Column 0 is the mood of the last row, columns 1 and 2 are what the two experts say; the moody one is better."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n_rows)
    X = np.column_stack([np.zeros(n_rows), y * 0.8 + 0.1, np.full(n_rows, 0.3)])
    X[-1, 0] = mood
    return X, y


def learn(model, X, y):
    first = {"classes": CLASSES} if isinstance(model, LongTermMemoryClassifier) else {}
    return model.partial_fit(X, y, **first)


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
