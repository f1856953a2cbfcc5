"""A round: predictions are scored, weights updated, experts trained."""

import copy

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from support.ensemble_streams import CLASSES, KINDS, K, brier, classifier, fine, forecasts, learn, regressor, wrong
from support.stream_experts import (
    ReadsChance,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.ensemble import SlidingWindow
from ltm_sklearn.experts import BOA, FixedShare, Hedge, LongTermMemory, MixingPastPosteriors, MLPoly
from ltm_sklearn.losses import Pinball

pytestmark = pytest.mark.fast_cases(1)


ALGORITHMS = [LongTermMemory(), BOA(), MLPoly(), Hedge(), FixedShare(), MixingPastPosteriors()]


@pytest.mark.parametrize(("loss", "by_hand"), [("zero_one", wrong), ("brier", brier)])
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: type(algorithm).__name__)
def test_classifier_updates_with_the_mean_losses_of_batches(algorithm, loss, by_hand):
    model = classifier(algorithm=algorithm, loss=loss)
    alone = copy.deepcopy(algorithm)
    for X, y in forecasts(40, 5):
        issued = alone.weights(K)
        if model.__sklearn_is_fitted__():
            np.testing.assert_allclose(model.weights_, issued, rtol=0, atol=1e-12)
            np.testing.assert_allclose(model.predict_proba(X)[:, 1], X @ issued, rtol=0, atol=1e-12)
        model.partial_fit(X, y, classes=CLASSES)
        alone.update(by_hand(X, y).mean(axis=0))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)
    assert model.n_rounds_ == 40
    assert np.ptp(alone.weights()) > 0.1  # something was learned


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda algorithm: type(algorithm).__name__)
def test_classifier_updates_with_the_losses_of_rows(algorithm):
    model = classifier(algorithm=algorithm, loss="brier", rounds="row")
    batches = list(forecasts(40, 5))
    for X, y in batches:
        model.partial_fit(X, y, classes=CLASSES)
    alone = copy.deepcopy(algorithm)
    alone.run(np.concatenate([brier(X, y) for X, y in batches]))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)
    assert model.n_rounds_ == model.n_samples_seen_ == 200


def test_batch_size_does_not_matter_if_rows_are_rounds():
    X, y = (np.concatenate(part) for part in zip(*forecasts(30, 8), strict=True))
    weights = []
    for size in (1, 7, 240):
        model = classifier(rounds="row", loss="zero_one")  # the stack learns once a call, as all learners do
        for at in range(0, 240, size):
            model.partial_fit(X[at : at + size], y[at : at + size], classes=CLASSES)
        weights.append(model.weights_)
    np.testing.assert_allclose(weights[1], weights[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights[2], weights[0], rtol=0, atol=1e-12)


class Range:
    """The documented rescaling, written again: beyond the best, over the widest gap of late."""

    def __init__(self):
        self.widest = 0.0

    def __call__(self, losses):
        beyond = losses - losses.min()
        most = 4.0 * self.widest or np.inf
        self.widest = max(self.widest * np.exp(-1e-2), min(beyond.max(), most))
        return np.minimum(beyond / self.widest, 1.0)


def numbers(n_rounds, n_rows, seed=0):
    """The same for numbers, all within the range of the first round, so that nothing is clipped."""
    rng = np.random.default_rng(seed)
    for at in range(n_rounds):
        y = rng.uniform(-1.0, 1.0, n_rows)
        y[:2] = [-1.0, 1.0]
        X = rng.uniform(-1.0, 1.0, (n_rows, K))
        X[:, at // 10 % 3] = y + rng.normal(size=n_rows) / 10
        yield X, y


def test_regressor_uses_the_gradient_at_the_issued_mixture():
    model, alone, rescale = regressor(), LongTermMemory(), Range()
    for X, y in numbers(40, 6):
        mixture = X @ alone.weights(K)
        if model.__sklearn_is_fitted__():
            np.testing.assert_allclose(model.predict(X), mixture, rtol=0, atol=1e-12)
        model.partial_fit(X, y)
        slope = 2.0 * (mixture - y)
        alone.update(rescale((slope[:, np.newaxis] * (X - mixture[:, np.newaxis])).mean(axis=0)))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)
    assert alone.weights().max() > 1.5 / K


@pytest.mark.parametrize("loss", ["absolute_error", Pinball(0.9), lambda y, said: np.abs(said - y) ** 1.5])
@pytest.mark.parametrize("rounds", ["batch", "row"])
def test_regressor_with_leader_uses_the_plain_losses(loss, rounds):
    model, alone, rescale = regressor(loss=loss, combine="leader", rounds=rounds), LongTermMemory(), Range()
    alone.weights(K)
    for X, y in numbers(40, 6):
        model.partial_fit(X, y)
        by_name = {"absolute_error": lambda y, said: np.abs(said - y)}
        losses = np.column_stack([by_name.get(loss, loss)(y, column) for column in X.T])
        for charged in losses if rounds == "row" else [losses.mean(axis=0)]:
            alone.update(rescale(charged))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)


def test_regressor_in_rows_uses_the_gradient_of_each_row():
    model, alone, rescale = regressor(rounds="row", loss="absolute_error"), LongTermMemory(), Range()
    alone.weights(K)
    for X, y in numbers(30, 6):
        model.partial_fit(X, y)
        for row, target in zip(X, y, strict=True):
            mixture = row @ alone.weights()
            alone.update(rescale(np.sign(mixture - target) * (row - mixture)))
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-9)


def test_rows_are_predicted_before_they_are_learned():
    # labels are coins: who is asked before it learns them cannot know, who is asked after it knows all
    rng = np.random.default_rng(0)
    model = LongTermMemoryClassifier(
        [("memoriser", SlidingWindow(KNeighborsClassifier(1), refit=0.0)), ("nb", GaussianNB())], memory=None
    )
    for _ in range(30):
        X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
        model.partial_fit(X, y, classes=CLASSES)
        assert (model.named_estimators_.memoriser.predict(X) == y).all()
    assert model.loss_.min() > 0.4


@pytest.mark.parametrize("n_rows", [1, 2])
@KINDS
def test_few_rows_at_a_time(kind, n_rows):
    model = LongTermMemoryClassifier if kind == "classes" else LongTermMemoryRegressor
    model = model([("learner", SGDClassifier(random_state=0) if kind == "classes" else SGDRegressor(random_state=0))])
    for seed in range(20):
        X, y = fine(kind, seed, n_rows)
        model.partial_fit(X, y, **({"classes": ["up", "down"]} if kind == "classes" else {}))
        assert len(model.predict(X)) == n_rows
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    assert model.n_samples_seen_ == 20 * n_rows


def test_one_expert_alone_is_followed():
    model = classifier(estimators=frozen_readers(ReadsChance, 1))
    for X, y in forecasts(5, 5):
        model.partial_fit(X, y, classes=CLASSES)
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], X[:, 0], atol=1e-12)
    np.testing.assert_allclose(model.weights_, [1.0])


def test_many_classes():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(200, 5)) * 10
    model = LongTermMemoryClassifier([("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))])
    for _ in range(12):
        y = rng.integers(0, 200, 200)
        model.partial_fit(centres[y] + rng.normal(size=(200, 5)), y, classes=np.arange(200))
    chances = model.predict_proba(centres)
    assert chances.shape == (200, 200)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    assert np.mean(model.predict(centres) == np.arange(200)) > 0.9


def test_expert_of_other_labels_is_wrong_and_does_no_harm():
    X, y = fine("classes", n_rows=50)
    foreign = FrozenEstimator(DummyClassifier(strategy="constant", constant="left").fit(X[:2], ["left", "right"]))
    model = LongTermMemoryClassifier([("foreign", foreign), ("nb", GaussianNB())], memory=None)
    for seed in range(10):
        model.partial_fit(*fine("classes", seed), classes=["up", "down"])
    assert model.loss_[0] == 1.0
    assert model.leader_ in ("nb", "@stack")
    assert np.mean(model.predict(X) == y) > 0.8


@pytest.mark.parametrize(
    "make",
    [
        lambda: classifier(loss="zero_one"),  # for the stack, a row of weight 2 is one step, not two
        regressor,
        lambda: regressor(loss="absolute_error", combine="leader"),
    ],
)
def test_weight_of_a_row_is_as_many_rows(make):
    weighted, repeated = make(), make()
    rng = np.random.default_rng(0)
    for X, y in forecasts(30, 6):
        times = rng.integers(0, 4, 6)
        times[0] += 1
        learn(repeated, X.repeat(times, axis=0), y.repeat(times))
        first = {"classes": CLASSES} if isinstance(weighted, LongTermMemoryClassifier) else {}
        weighted.partial_fit(X, y, sample_weight=times, **first)
    np.testing.assert_allclose(weighted.weights_, repeated.weights_, rtol=1e-9)
    np.testing.assert_allclose(weighted.loss_, repeated.loss_, rtol=1e-9)
    assert np.ptp(weighted.weights_) > 0.01


def test_weights_of_all_rows_alike_change_nothing():
    plain, doubled = classifier(rounds="row"), classifier(rounds="row")
    for X, y in forecasts(10, 5):
        plain.partial_fit(X, y, classes=CLASSES)
        doubled.partial_fit(X, y, classes=CLASSES, sample_weight=np.full(5, 2.0))
    np.testing.assert_allclose(doubled.weights_, plain.weights_, rtol=1e-12)
