"""Scores of real predictions: linearised losses, the learned range, clipping, disagreements."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ltm_sklearn.losses import Pinball
from ltm_sklearn.losses._regression_score import RegressionScore


class Quartic:
    """A custom loss with a gradient."""

    def __call__(self, y, prediction):
        return (prediction - y) ** 4

    def gradient(self, y, prediction):
        return 4.0 * (prediction - y) ** 3


# Linearised losses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "average", "uses_gradient"),
    [
        ("auto", True, True),
        ("absolute_error", True, True),
        (Pinball(0.9), True, True),
        (Quartic(), True, True),
        ("squared_error", False, False),
        (lambda y, p: abs(y - p), True, False),
    ],
)
def test_gradients_are_used_if_there_are_any_and_predictions_are_averaged(loss, average, uses_gradient):
    assert RegressionScore(loss, average).uses_gradient is uses_gradient


def test_linear_losses_are_the_gradient_at_the_mixture_times_the_deviation():
    y, mixture = np.array([0.0, 1.0]), np.array([[1.0], [3.0]])
    predictions = np.array([[[0.0], [3.0]], [[5.0], [2.0]]])
    losses = RegressionScore(Quartic(), average=True).losses(y, predictions, mixture)
    np.testing.assert_allclose(losses, [[4.0 * -1.0, 0.0], [4.0 * 4.0, 32.0 * -1.0]])


@pytest.mark.parametrize("slope", [1.0, np.ones((2, 1)), np.ones(3), np.full(2, np.nan)])
def test_custom_gradient_of_the_wrong_shape_or_nan_is_refused(slope):
    class Wrong(Quartic):
        def gradient(self, y, prediction):
            return slope

    with pytest.raises(ValueError, match="gradient must return"):
        RegressionScore(Wrong(), average=True).losses(np.zeros(2), np.zeros((2, 2, 1)), np.zeros((2, 1)))


# The learned range --------------------------------------------------------------------------------------------


def rescaled_rounds(y, predictions, loss="squared_error", linear=True):
    """Rescaled losses of single rows, computed in the order of the engine."""
    score = RegressionScore(loss, average=linear)
    rescaled = []
    for target, experts in zip(y, predictions, strict=True):
        now = np.array([target])
        score.observe(now)
        clipped = score.clipped(experts[:, np.newaxis, np.newaxis])
        mixture = clipped.mean(axis=0) if linear else None
        rescaled.append(score.rescale(score.losses(now, clipped, mixture).T)[0])
    return np.array(rescaled)


def stream(n_rounds=200, n_experts=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rounds).cumsum()
    return y, y[:, np.newaxis] + rng.normal(size=(n_rounds, n_experts)) * np.arange(1, n_experts + 1)


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize(("loss", "scale"), [("squared_error", 1e-9), ("squared_error", 1e9), ("pinball", 1e3)])
def test_rescaled_losses_do_not_depend_on_the_unit_of_the_targets(scale, loss, linear):
    y, predictions = stream()
    plain = rescaled_rounds(y, predictions, loss, linear)
    assert plain.max() == 1.0
    np.testing.assert_allclose(
        rescaled_rounds(scale * y, scale * predictions, loss, linear), plain, rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("shift", [-1e3, 1e6])
def test_rescaled_losses_do_not_depend_on_the_origin_of_the_targets(shift):
    y, predictions = stream()
    expected = rescaled_rounds(y, predictions)
    np.testing.assert_allclose(rescaled_rounds(y + shift, predictions + shift), expected, atol=1e-6)


@given(
    y=arrays(float, 12, elements=st.floats(-1e300, 1e300)),
    predictions=arrays(float, (12, 3), elements=st.floats(-1e300, 1e300)),
    linear=st.booleans(),
)
def test_rescaled_losses_of_any_numbers_lie_in_the_unit_interval(y, predictions, linear):
    rescaled = rescaled_rounds(y, predictions, linear=linear)
    assert rescaled.min() >= 0.0
    assert rescaled.max() <= 1.0


def test_losses_of_sleeping_experts_stay_nan_and_do_not_change_others():
    score = RegressionScore("squared_error", average=False)
    losses = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [np.nan, 2.0, 1.0], [np.nan, 5.0, np.nan]])
    score.observe(np.array([0.0, 1.0]))
    score.observe(np.array([0.5]))
    expected = [[0.0, np.nan, 1.0], [np.nan] * 3, [np.nan, 0.5 * np.exp(0.02), 0.0], [np.nan, 0.0, np.nan]]
    np.testing.assert_allclose(score.rescale(losses), expected, rtol=1e-12)


def test_constant_targets_are_scored():
    rescaled = rescaled_rounds(np.full(50, 7.0), np.tile([7.0, 8.0, 9.0], (50, 1)), linear=False)
    np.testing.assert_allclose(rescaled, np.tile([0.0, 0.25, 1.0], (50, 1)), atol=1e-12)


def test_equal_predictions_have_loss_zero():
    y = np.random.default_rng(0).normal(size=30)
    assert (rescaled_rounds(y, np.tile(3.0, (30, 4))) == 0.0).all()
    mixture = np.array([[(0.1 + 0.1 + 0.1) / 3]])  # not 0.1, by rounding
    losses = RegressionScore("auto", average=True).losses(np.ones(1), np.full((3, 1, 1), 0.1), mixture)
    assert losses.tolist() == [[0.0]] * 3


def score_with_a_scale():
    score = RegressionScore("absolute_error", average=False)
    score.observe(np.array([0.0, 1.0]))
    score.observe(np.array([0.0, 1.0]))
    return score


def test_a_wide_gap_of_the_first_round_fades_by_e_in_100_rounds():
    score = score_with_a_scale()
    score.rescale(np.array([[0.0, 1e6]]))
    shares = score.rescale(np.tile([0.0, 1.0], (1400, 1)))[:, 1]
    assert shares[0] == pytest.approx(1e-6, rel=0.02)
    assert shares[-1] == 1.0  # 1e6 has faded after 1,380 rounds


def test_one_wide_gap_changes_the_range_by_a_factor_of_four_at_most():
    score = score_with_a_scale()
    score.rescale(np.tile([0.0, 1.0], (10, 1)))
    assert score.rescale(np.array([[0.0, 1e6]]))[0, 1] == 1.0
    assert score.rescale(np.array([[0.0, 1.0]]))[0, 1] == pytest.approx(0.25, rel=0.02)
    score.rescale(np.tile([0.0, 1e6], (10, 1)))
    assert score.rescale(np.array([[0.0, 5e5]]))[0, 1] == pytest.approx(0.5, rel=0.02)


def test_gaps_from_before_the_targets_had_a_scale_are_dropped():
    score = RegressionScore("absolute_error", average=False)
    score.observe(np.array([3.0]))
    score.rescale(np.array([[0.0, 1e300]]))
    score.observe(np.array([4.0]))
    np.testing.assert_allclose(score.rescale(np.array([[0.0, 1.0]])), [[0.0, 1.0]])


def test_a_pickled_score_continues_with_the_same_numbers():
    y, predictions = stream()
    score = RegressionScore("squared_error", average=True)
    score.observe(y)
    score.rescale(predictions)
    loaded = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(loaded.sanitized(1e3 * predictions), score.sanitized(1e3 * predictions))
    np.testing.assert_array_equal(loaded.rescale(predictions / 2), score.rescale(predictions / 2))


# Clipping -----------------------------------------------------------------------------------------------------


def test_a_diverging_prediction_is_no_worse_than_one_at_the_edge_of_the_range():
    y, predictions = stream()
    far, edge = predictions.copy(), predictions.copy()
    edge[:, 0], far[:, 0] = 1e3, 1e300  # both beyond the range of the targets by more than its width
    far[1::2, 0], edge[1::2, 0] = -1e300, -1e3
    losses = rescaled_rounds(y, far)
    np.testing.assert_array_equal(losses[1:], rescaled_rounds(y, edge)[1:])  # a single target has no range
    assert np.median(losses[1:, 1:].max(axis=1)) > 0.01  # the other experts still differ


def test_predictions_are_clipped_to_the_range_extended_by_half_its_width():
    score = RegressionScore("squared_error", average=True)
    assert score.sanitized(np.array([1e9])) == 1e9
    score.observe(np.array([5.0, 5.0]))
    assert score.sanitized(np.array([1e9])) == 1e9  # equal targets have no range
    score.observe(np.array([4.0, 6.0]))
    assert score.sanitized(np.array([-9.0, 3.5, 5.0, 6.5, 9.0])).tolist() == [3.0, 3.5, 5.0, 6.5, 7.0]


def test_a_diverging_prediction_is_forgotten_once_the_targets_vary():
    y, predictions = stream()
    y[:10] = 0.0
    predictions[:10, 0] = 1e300
    rescaled = rescaled_rounds(y, predictions)
    assert np.isfinite(rescaled).all()
    assert np.median(rescaled[11:].max(axis=1)) > 0.01


# Distances ----------------------------------------------------------------------------------------------------


def mean_disagreement(score, one, other, y):
    one, other = (np.full((len(y), 1), value) if np.isscalar(value) else value for value in (one, other))
    return score.disagreements(score.sanitized(one), score.sanitized(other)[np.newaxis], y).mean()


def test_disagreements_are_in_units_of_the_width_of_the_targets():
    score = RegressionScore("squared_error", average=True)
    constant = np.full(2, 5.0)
    assert mean_disagreement(score, 0.0, 0.0, constant) == 0.0
    assert mean_disagreement(score, 0.0, 1e-9, constant) == np.inf  # the width is unknown
    y = np.array([0.0, 10.0])  # half of 10 is the median deviation from the median
    score.observe(y)
    assert mean_disagreement(score, 0.0, np.array([[1.0], [5.0]]), y) == pytest.approx(0.1)
    assert mean_disagreement(score, -1e9, 1e9, y) == pytest.approx(20.0 / 30.0)
    mostly_zero = np.array([0.0, 0.0, 0.0, 4.0])  # the median deviation is 0; the mean deviation replaces it
    assert mean_disagreement(score, 0.0, 3.0, mostly_zero) == pytest.approx(0.5)


def test_one_outlier_does_not_make_all_disagreements_small():
    score = RegressionScore("squared_error", average=True)
    y = np.append(np.arange(20.0), 1e6)
    score.observe(y)
    assert mean_disagreement(score, 0.0, 10.0, y) > 0.1
