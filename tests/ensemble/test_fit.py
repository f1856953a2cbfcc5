"""``fit``, ``partial_fit`` and ``predict`` keep scikit-learn's conventions."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils import estimator_html_repr
from support.small_ensembles import (
    BATCH,
    X,
    assert_same,
    both,
    classifier,
    labels,
    numbers,
    numbers_of,
    regressor,
    sgd,
    stream,
    weights,
)

from ltm_sklearn.ensemble import SlidingWindow
from ltm_sklearn.experts import Hedge

pytestmark = pytest.mark.fast_cases(1)


def test_attributes_exist_only_when_there_is_something_to_show():
    model = classifier()
    names = ["weights_", "leader_", "experts_", "loss_", "n_rounds_", "n_samples_seen_", "estimators_", "history_"]
    assert not [name for name in names if hasattr(model, name)]
    model.fit(X, labels)
    assert [name for name in names if not hasattr(model, name)] == ["history_"]  # without record=


WAYS = [("average", "batch"), ("average", "row"), ("leader", "batch"), ("sample", "batch"), ("sample", "row")]


@both
@pytest.mark.parametrize(("combine", "rounds"), WAYS)
def test_fit_is_a_loop_of_partial_fit(make, y, first, combine, rounds):
    parameters = {"combine": combine, "rounds": rounds, "batch_size": 30}  # the last batch is a short one
    in_one = make(**parameters).fit(X, y, sample_weight=weights)
    in_parts = stream(make(**parameters), y, first=first, size=30, sample_weight=weights)
    assert_same(in_one, in_parts)


@both
def test_fit_forgets_what_was_before(make, y, first):
    model = stream(make(), y[::-1].copy(), first=first)
    assert_same(model.fit(X, y), make().fit(X, y))
    assert model.n_samples_seen_ == 400


def test_fit_takes_other_features_and_other_classes_than_before():
    model = classifier().fit(X, labels)
    words = np.array(["no", "yes", "maybe"])[np.arange(400) % 3]
    model.fit(X[:, :2], words)
    assert model.classes_.tolist() == ["maybe", "no", "yes"]
    assert_same(model, classifier().fit(X[:, :2], words), X[:, :2])


@both
def test_partial_fit_after_fit_goes_on(make, y, first):
    model = stream(make().fit(X[:200], y[:200]), y, start=200)
    assert_same(model, make().fit(X, y))
    assert model.n_samples_seen_ == 400


@both
def test_rows_without_weight_in_a_round_of_fit(make, y, first):
    # Some rounds of fit may have no weight at all, though partial_fit would refuse them.
    some = np.where(np.arange(400) // BATCH % 2, 0.0, 1.0)
    model = make().fit(X, y, sample_weight=some)
    assert np.isfinite(model.weights_).all()
    assert np.isfinite(model.predict(X)).all()


def test_window_that_failed_once_works_afterwards():
    window = SlidingWindow(KNeighborsClassifier(3)).fit(X[:100], labels[:100])
    expected = copy.deepcopy(window).partial_fit(X[100:], labels[100:]).predict_proba(X)
    with pytest.raises(TypeError, match="sample_weight"):
        window.partial_fit(X[100:], labels[100:], sample_weight=weights[100:])
    np.testing.assert_array_equal(window.partial_fit(X[100:], labels[100:]).predict_proba(X), expected)


@both
def test_callers_may_use_their_arrays_again(make, y, first):
    model, expected = make(), stream(make(), y, first=first)
    rows, targets = np.empty((BATCH, 3)), np.empty(BATCH, dtype=y.dtype)
    for at in range(0, 400, BATCH):
        rows[:], targets[:] = X[at : at + BATCH], y[at : at + BATCH]
        model.partial_fit(rows, targets, **first)
    assert_same(model, expected)


@both
@pytest.mark.parametrize(("combine", "rounds"), WAYS)
def test_predicting_stores_nothing(make, y, first, combine, rounds):
    model = make(combine=combine, rounds=rounds).fit(X, y)
    before, names = pickle.dumps(model), set(vars(model))
    predicted = model.predict(X)
    for _ in range(3):
        np.testing.assert_array_equal(model.predict(X), predicted)
        numbers_of(model)
        model.get_feature_names_out()
        repr(model)
        estimator_html_repr(model)
    assert set(vars(model)) == names
    assert pickle.dumps(model) == before


@both
def test_draws_follow_the_seed(make, y, first):
    def draw(seed):
        model = make(combine="sample", rounds="row", random_state=seed, algorithm=Hedge(rate=1e-9)).fit(X, y)
        return np.asarray(model.predict(X), dtype=float)

    np.testing.assert_array_equal(draw(1), draw(1))
    assert (draw(1) != draw(2)).any()


@both
def test_frozen_expert_is_never_changed(make, y, first):
    inner = sgd().fit(X[:100], labels[:100]) if first else SGDRegressor(random_state=0).fit(X[:100], numbers[:100])
    before = pickle.dumps(inner)
    model = make(estimators=[("frozen", FrozenEstimator(inner)), make().estimators[1]]).fit(X, y, sample_weight=weights)
    stream(model, y)
    model.predict(X)
    assert pickle.dumps(inner) == before
    assert model.named_estimators_.frozen.estimator is inner
    kinds = {expert.name: expert.kind for expert in model.experts_ if "frozen" in expert.name}
    assert kinds == {"frozen": "frozen"}  # no copies: it will stay as it is anyway


def test_frozen_experts_alone_are_weighted():
    good, bad = (FrozenEstimator(GaussianNB().fit(X, labels ^ turned)) for turned in (0, 1))
    model = stream(classifier(estimators=[("bad", bad), ("good", good)]), labels, first={"classes": [0, 1]})
    assert model.leader_ == "good"
    np.testing.assert_array_equal(model.predict(X), good.predict(X))


class Mean(RegressorMixin, BaseEstimator):
    """The least that an expert must have."""

    def fit(self, X, y):
        self.mean_ = np.mean(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.mean_)


def test_expert_with_the_bare_minimum_takes_part():
    model = stream(regressor(estimators=[("mean", Mean())], memory=None), numbers)
    np.testing.assert_allclose(model.predict(X), model.estimators_[0].estimator_.mean_)
