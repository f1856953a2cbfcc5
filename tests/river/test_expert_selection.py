"""Model selection with the weights of an expert algorithm."""

import numpy as np
import pytest

pytest.importorskip("river")
from river import (
    bandit,
    datasets,
    evaluate,
    linear_model,
    metrics,
    model_selection,
    naive_bayes,
    preprocessing,
)
from support.named_models import named
from support.river_models import ReadsLabel, ReadsNumber
from support.river_streams import scaled_linear, scaled_logistic

from ltm_sklearn.experts import FixedShare
from ltm_sklearn.river import (
    ExpertSelectionClassifier,
    ExpertSelectionRegressor,
    LongTermMemoryRegressor,
)


def test_selection_updates_with_the_losses_of_the_metric():
    model = ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b"), ReadsLabel("c")], algorithm=FixedShare())
    alone = FixedShare()
    rng = np.random.default_rng(0)
    for _ in range(100):
        x, y = {name: bool(rng.integers(2)) for name in "abc"}, bool(rng.integers(2))
        model.learn_one(x, y)
        alone.update([float(said != y) for said in x.values()])
        np.testing.assert_allclose(model.weights, alone.weights())
        assert model.best_model is model.models[int(alone.weights().argmax())]


def test_error_of_any_size_selects_the_better_regressor():
    """River's BanditRegressor takes the largest error for the best."""

    x = {"a": 0.0, "b": 1000.0, "c": 3000.0}
    for metric in (None, metrics.MSE(), metrics.RMSE()):
        model = ExpertSelectionRegressor([ReadsNumber(name) for name in x], metric=metric)
        for y in [900.0] * 30:
            model.learn_one(x, y)
        assert model.predict_one(x) == 1000.0
        for y in [0.0] * 30:
            model.learn_one(x, y)
        assert model.predict_one(x) == 0.0


def test_selection_by_log_loss_with_silent_models():
    model = ExpertSelectionClassifier([naive_bayes.GaussianNB(), scaled_logistic()], metric=metrics.LogLoss())
    accuracy = evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy())
    assert accuracy.get() > 0.8
    assert not model.clone()[0].class_counts


def test_model_without_a_prediction_is_not_selected():
    class Silent(ReadsLabel):
        def predict_proba_one(self, x):
            return {}

    model = ExpertSelectionClassifier([Silent("a"), ReadsLabel("a")])
    for _ in range(5):
        model.learn_one({"a": True}, True)
    assert model.predict_one({"a": True}) is True


def test_selection_refuses_targets_that_are_missing():
    classifier, regressor = (
        ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b")]),
        ExpertSelectionRegressor([scaled_linear(), scaled_linear()]),
    )
    for missing in (None, float("nan")):
        with pytest.raises(ValueError, match="the label is"):
            classifier.learn_one({"a": True, "b": True}, missing)
        with pytest.raises(ValueError, match="the target is"):
            regressor.learn_one({"a": 1.0}, missing)


def test_selection_refuses_unknown_algorithms():
    with pytest.raises(ValueError, match=r"algorithm='hedges' .* nor the name"):
        ExpertSelectionClassifier([ReadsLabel("a"), ReadsLabel("b")], algorithm="hedges")


@pytest.mark.parametrize(
    "selector",
    [
        lambda models: model_selection.GreedyRegressor(models, metrics.MAE()),
        lambda models: model_selection.SuccessiveHalvingRegressor(models, metrics.MAE(), budget=200),
        lambda models: model_selection.BanditRegressor(models, metrics.MAE(), bandit.EpsilonGreedy(0.2, seed=1)),
        ExpertSelectionRegressor,
    ],
)
def test_the_estimators_are_selected_among_others(selector):
    ours = LongTermMemoryRegressor(named([linear_model.LinearRegression(intercept_lr=0.1), linear_model.PARegressor()]))
    model = preprocessing.StandardScaler() | selector(
        [ours, linear_model.LinearRegression(), LongTermMemoryRegressor(named([ours]))]
    )
    error = evaluate.progressive_val_score(datasets.TrumpApproval().take(300), model, metrics.MAE())
    assert np.isfinite(error.get())
