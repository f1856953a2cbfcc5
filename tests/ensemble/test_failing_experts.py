"""Experts that raise errors, predict NaN or diverge."""

import copy
import warnings

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from support.ensemble_streams import (
    CLASSES,
    KINDS,
    ROUNDS,
    brier,
    classifier,
    fine,
    forecasts,
    learn,
    moody,
    moody_rows,
    spoilt,
)
from support.stream_experts import (
    RAISES_IN_LEARN,
    RAISES_IN_PREDICT,
    SAYS_NAN,
    MoodyChance,
    MoodyNumber,
    assert_same_outcome,
)

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.experts import LongTermMemory

pytestmark = pytest.mark.fast_cases(1)


def says(model, X):
    return model.predict_proba(X)[:, 1] if hasattr(model, "predict_proba") else model.predict(X)


@KINDS
@ROUNDS
@pytest.mark.parametrize(
    ("mood", "warning"),
    [
        (RAISES_IN_PREDICT, r"expert 'moody' could not predict and slept: RuntimeError: no mood to predict"),
        (RAISES_IN_LEARN, r"expert 'moody' could not learn and slept: RuntimeError: no mood to learn"),
        (SAYS_NAN, r"expert 'moody' could not predict and slept: NoPredictionError: the prediction is NaN"),
    ],
)
def test_expert_that_fails_sleeps_with_a_warning_and_comes_back(kind, rounds, mood, warning):
    model = moody(kind, rounds=rounds, loss="brier" if kind == "classes" else "absolute_error")
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    weights, learned = model.weights_, model.named_estimators_.moody.n_seen_
    with pytest.warns(ExpertWarning, match=warning):
        learn(model, *moody_rows(mood, seed=5))
    assert model.n_samples_seen_ == 36
    assert model.named_estimators_.moody.n_seen_ == learned + (0 if mood == RAISES_IN_LEARN else 6)
    if mood == RAISES_IN_PREDICT:  # alone, the other one gains nothing
        np.testing.assert_allclose(model.weights_[0], weights[0], atol=0.05)
    for seed in range(6, 30):  # no warning any more
        learn(model, *moody_rows(seed=seed))
    assert model.leader_ == "moody"
    assert np.isfinite(model.loss_).all()


@KINDS
def test_rows_without_a_prediction_are_left_to_other_experts(kind):
    model = moody(kind, **({"loss": "zero_one"} if kind == "classes" else {}))
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    X, _ = moody_rows(SAYS_NAN)
    with pytest.warns(ExpertWarning, match="moody"):
        said = says(model, X)
    np.testing.assert_allclose(said[:-1], X[:-1, 1:] @ model.weights_, atol=1e-12)
    np.testing.assert_allclose(said[-1], X[-1, 2], atol=1e-12)
    X, _ = moody_rows(RAISES_IN_PREDICT)
    with pytest.warns(ExpertWarning, match="moody"):
        np.testing.assert_allclose(says(model, X), X[:, 2], atol=1e-12)


def test_partly_sleeping_expert_is_scored_on_the_other_rows():
    model = moody("numbers", loss="absolute_error", combine="leader")
    learn(model, *moody_rows())
    X, y = moody_rows(SAYS_NAN, seed=1)
    X[:-1, 1] = y[:-1] + 0.5
    with pytest.warns(ExpertWarning):
        learn(model, X, y)
    assert model.loss_[0] == pytest.approx(0.5)  # it had learned nothing to be asked about in the first round
    of_rounds = [np.abs(0.3 - targets).mean() for targets in (moody_rows()[1], y)]
    assert model.loss_[1] == pytest.approx(np.mean(of_rounds))


@KINDS
@ROUNDS
@pytest.mark.parametrize("mood", [RAISES_IN_PREDICT, RAISES_IN_LEARN, SAYS_NAN])
def test_raised_error_changes_nothing(kind, rounds, mood):
    model = moody(kind, rounds=rounds, on_error="raise", memory=Snapshots(every=10, merge=None), record=10)
    for seed in range(5):
        learn(model, *moody_rows(seed=seed))
    twin, fine = copy.deepcopy(model), moody_rows()[0]
    with pytest.raises((RuntimeError, ValueError), match=r"mood|NaN") as raised:
        learn(model, *moody_rows(mood, seed=5))
    assert any("expert 'moody'" in note for note in raised.value.__notes__)
    assert_same_outcome(model, twin, fine)
    assert model.named_estimators_.moody.n_seen_ == 30
    for seed in range(6, 10):
        assert_same_outcome(learn(model, *moody_rows(seed=seed)), learn(twin, *moody_rows(seed=seed)), fine)
    assert model.history_ == twin.history_


def test_raised_error_undoes_the_training_of_other_experts():
    experts = [("early", SGDRegressor(random_state=0)), ("moody", MoodyNumber(1))]
    model = LongTermMemoryRegressor(experts, memory=None, on_error="raise").partial_fit(*moody_rows())
    before = model.named_estimators_.early.coef_.copy()
    with pytest.raises(RuntimeError, match="no mood to learn"):
        model.partial_fit(*moody_rows(RAISES_IN_LEARN, seed=1))
    np.testing.assert_array_equal(model.named_estimators_.early.coef_, before)


def test_partly_sleeping_expert_counts_for_its_share_of_a_round():
    model = moody("classes", loss="brier")
    alone = LongTermMemory()
    alone.weights(2)
    for seed in range(20):
        X, y = moody_rows(SAYS_NAN, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExpertWarning)
            learn(model, X, y)
        losses = brier(X[:, 1:], y)
        if seed:  # before it has learned anything it sleeps altogether
            alone.update([losses[:-1, 0].mean(), losses[:, 1].mean()], awake=[5 / 6, 1.0])
        else:
            alone.update([np.nan, losses[:, 1].mean()])
    np.testing.assert_allclose(model.weights_, alone.weights(), rtol=0, atol=1e-12)


@KINDS
def test_fallback_where_no_expert_predicts(kind):
    reader = MoodyChance if kind == "classes" else MoodyNumber
    ensemble = LongTermMemoryClassifier if kind == "classes" else LongTermMemoryRegressor
    model = ensemble([("one", reader(1)), ("two", reader(2))], memory=None)
    for seed in range(3):
        learn(model, *moody_rows(seed=seed))
    weights = model.weights_
    X, y = moody_rows(SAYS_NAN)
    with pytest.warns(ExpertWarning):
        said = model.predict_proba(X) if kind == "classes" else model.predict(X)
    seen = np.concatenate([moody_rows(seed=seed)[1] for seed in range(3)])
    fallback = np.array([np.mean(seen == label) for label in model.classes_]) if kind == "classes" else np.mean(seen)
    np.testing.assert_allclose(said[-1], fallback, rtol=1e-12)
    with pytest.warns(ExpertWarning):
        learn(model, X[-1:], y[-1:])
    np.testing.assert_array_equal(model.weights_, weights)
    assert model.named_estimators_.one.n_seen_ == 19


def test_first_error_is_raised_if_no_expert_can_learn():
    model = LongTermMemoryRegressor([("one", MoodyNumber(1)), ("two", MoodyNumber(2))])
    with pytest.raises(RuntimeError, match="no mood to learn"):
        model.partial_fit(*moody_rows(RAISES_IN_LEARN))
    assert not model.__sklearn_is_fitted__()
    assert not hasattr(model, "n_features_in_")


def test_record_of_a_round_with_predictions_of_weightless_rows():
    model = LongTermMemoryRegressor([("one", MoodyNumber(1))], memory=None, record=5)
    model.partial_fit(*moody_rows())
    X, y = moody_rows(SAYS_NAN, n_rows=2)
    with pytest.warns(ExpertWarning):
        model.partial_fit(X, y, sample_weight=[0.0, 1.0])
    assert model.n_rounds_ == 2


def test_diverging_expert_does_not_change_the_mixture():
    rng = np.random.default_rng(0)
    true, lost, usual = rng.normal(size=3), [], []
    experts = [("wild", SGDRegressor(random_state=0)), ("linear", LinearRegression())]
    model = LongTermMemoryRegressor(experts, memory=None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ExpertWarning)
        for at in range(60):
            X = 1e4 * rng.normal(size=(20, 3))
            y = X @ true + rng.normal(size=20)
            if at >= 10:
                lost.append(np.mean((model.predict(X) - y) ** 2))
                usual.append(np.var(y))
            model.partial_fit(X, y)
    assert np.abs(model.named_estimators_.wild.coef_).max() > 1e6  # it did run away
    assert model.leader_ == "linear"
    assert max(np.divide(lost, usual)) < 1.0  # better than the mean of the targets throughout
    assert np.mean(lost[-10:]) < 0.05 * np.mean(usual[-10:])  # and what little weight is left costs less and less
    assert np.mean(lost[-10:]) < 0.5 * np.mean(lost[:10])


def test_nan_in_rows_is_left_to_experts_that_take_it():
    X, y = fine("classes", n_rows=60)
    model = LongTermMemoryClassifier([("tree", DecisionTreeClassifier(random_state=0))], memory=None)
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, X)
    model.partial_fit(holes, y, classes=["down", "up"])
    assert np.mean(model.predict(holes) == y) > 0.9


def test_expert_that_takes_no_nan_sleeps_beside_one_that_does():
    experts = [("tree", DecisionTreeClassifier(random_state=0)), ("nb", GaussianNB())]
    model = LongTermMemoryClassifier(experts, loss="zero_one", memory=None)
    X, y = fine("classes", n_rows=60)
    model.partial_fit(X, y, classes=["down", "up"])
    holes = spoilt(X, np.nan)
    with pytest.warns(
        ExpertWarning, match=r"expert 'nb' could not predict and slept: ValueError: Input X contains NaN"
    ):
        said = model.predict_proba(holes)
    np.testing.assert_allclose(said, model.named_estimators_.tree.predict_proba(holes))


@pytest.fixture(scope="module")
def learned():
    models = {combine: classifier(combine=combine, random_state=0) for combine in ("average", "leader", "sample")}
    for X, y in forecasts(4, 5):
        for model in models.values():
            model.partial_fit(X, y, classes=CLASSES)
    return models
