"""Fitted attributes, the history, pickles and copies."""

import numpy as np
import pytest
from support.ensemble_streams import CLASSES, ROUNDS, K, classifier, fine, fitted, forecasts, wrong

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
