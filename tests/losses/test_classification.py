"""Losses of class probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ltm_sklearn.losses._classification_score import ClassificationScore

#: Two experts, three rows, three classes; the truth is 0, 1, 2.
TRUTH = np.array([0, 1, 2])
PROBABILITIES = np.array(
    [[[0.8, 0.2, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.4, 0.4]]]
)

EXPECTED = {
    "zero_one": [[0, 1, 0], [0, 1, 1]],  # the first of equally probable classes is taken, as predict does
    "brier": [[0.04, 0.39, 0.0], [0.0, 1.0, 0.28]],
    # p = 0 counts as 1/1000, whose loss is 1
    "log_loss": [[-np.log(0.8) / np.log(1000), -np.log(0.3) / np.log(1000), 0], [0, 1, -np.log(0.4) / np.log(1000)]],
}
EXPECTED["auto"] = EXPECTED["zero_one"]


def score_of(loss, n_classes=3):
    return ClassificationScore(loss, n_classes, average=False)


@pytest.mark.parametrize("loss", EXPECTED)
def test_losses_equal_values_computed_by_hand(loss):
    score = score_of(loss)
    np.testing.assert_allclose(score.losses(TRUTH, PROBABILITIES, None), EXPECTED[loss], atol=1e-15)
    np.testing.assert_allclose(score.mixture_loss(TRUTH, PROBABILITIES[0]), EXPECTED[loss][0], atol=1e-15)


def test_linearised_margin_losses_equal_values_computed_by_hand():
    score = ClassificationScore("auto", 3, average=True)
    y, experts = np.array([0, 0]), np.repeat(np.eye(3)[:, np.newaxis], 2, axis=1)
    mixture = np.array([[0.7, 0.25, 0.05], [0.77, 0.23, 0.0]])  # margins 0.45 and 0.54: only the first is below 1/2
    assert score.losses(y, experts, mixture).tolist() == [[0.0, 0.0], [1.0, 0.0], [0.5, 0.0]]


def test_probabilities_of_zero_for_all_classes_are_a_mistake():
    # as of an expert that predicts a label which the ensemble does not have
    losses = score_of("zero_one", 2).losses(np.array([0, 1]), np.zeros((1, 2, 2)), None)
    assert losses.tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("loss", ["zero_one", "brier", "log_loss"])
@given(
    weights=arrays(float, (3, 5, 4), elements=st.floats(0.0, 1.0)),
    truth=arrays(np.intp, 5, elements=st.integers(0, 3)),
)
def test_losses_of_any_probabilities_lie_in_the_unit_interval(loss, weights, truth):
    total = weights.sum(axis=2, keepdims=True)
    probabilities = np.divide(weights, total, out=np.full_like(weights, 0.25), where=total > 1e-300)
    score = score_of(loss)
    losses = score.rescale(score.losses(truth, probabilities, None).T)
    assert losses.shape == (5, 3)
    assert losses.min() >= 0.0
    assert losses.max() <= 1.0 + 1e-12


def test_custom_loss_gets_class_indices_and_probabilities_per_expert():
    calls = []

    def loss(y, probabilities):
        calls.append((y, probabilities))
        return 1.0 - probabilities[np.arange(len(y)), y]

    losses = score_of(loss).losses(TRUTH, PROBABILITIES, None)
    np.testing.assert_allclose(losses, [[0.2, 0.7, 0.0], [0.0, 1.0, 0.6]])
    assert all(np.array_equal(y, TRUTH) for y, _ in calls)
    assert [probabilities.shape for _, probabilities in calls] == [(3, 3), (3, 3)]


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf])
def test_custom_loss_outside_the_unit_interval_is_refused(value):
    with pytest.raises(ValueError, match=r"loss must return values in \[0, 1\]; got"):
        score_of(lambda y, p: np.full(len(y), value)).losses(TRUTH, PROBABILITIES, None)


def test_disagreements_are_one_where_the_predicted_classes_differ():
    one = np.array([[0.9, 0.1], [0.4, 0.6], [0.4, 0.6], [0.2, 0.8]])
    other = np.array([[0.6, 0.4], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]])
    disagreements = score_of("auto").disagreements(one, np.stack([one, other]), np.zeros(4, dtype=int))
    assert disagreements.tolist() == [[0.0] * 4, [0.0, 0.0, 1.0, 0.0]]
