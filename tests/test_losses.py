import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ltm_sklearn.losses import Absolute, Huber, LogCosh, Percentage, Pinball, Squared
from ltm_sklearn.losses._classification import ClassificationScore
from ltm_sklearn.losses._regression import RegressionScore

pytestmark = pytest.mark.fast_cases(4)

# Classes ------------------------------------------------------------------------------------------------------

#: Two experts, three rows, three classes; the truth is 0, 1, 2.
TRUTH = np.array([0, 1, 2])
SAID = np.array(
    [[[0.8, 0.2, 0.0], [0.5, 0.3, 0.2], [0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.2, 0.4, 0.4]]]
)

BY_HAND = {
    "zero_one": [[0, 1, 0], [0, 1, 1]],  # the first of equally likely classes is taken, as predict does
    "brier": [[0.04, 0.39, 0.0], [0.0, 1.0, 0.28]],
    # p = 0 counts as 1/1000, which loses 1
    "log": [[-np.log(0.8) / np.log(1000), -np.log(0.3) / np.log(1000), 0], [0, 1, -np.log(0.4) / np.log(1000)]],
}


@pytest.mark.parametrize("loss", BY_HAND)
def test_class_losses_are_those_computed_by_hand(loss):
    np.testing.assert_allclose(
        ClassificationScore(loss, 3, average=False).losses(TRUTH, SAID, None), BY_HAND[loss], atol=1e-15
    )
    np.testing.assert_allclose(
        ClassificationScore(loss, 3, average=False).mixture_loss(TRUTH, SAID[0]), BY_HAND[loss][0], atol=1e-15
    )


def test_auto_is_zero_one_for_classes():
    np.testing.assert_array_equal(
        ClassificationScore("auto", 3, average=False).losses(TRUTH, SAID, None), BY_HAND["zero_one"]
    )


def test_expert_that_gives_no_class_any_chance_is_wrong_whatever_the_truth():
    # as one does that predicts a label which the ensemble does not have
    assert ClassificationScore("zero_one", 3, average=False).losses(
        np.array([0, 1]), np.zeros((1, 2, 2)), None
    ).tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize("loss", BY_HAND)
@given(
    weights=arrays(float, (3, 5, 4), elements=st.floats(0.0, 1.0)),
    truth=arrays(np.intp, 5, elements=st.integers(0, 3)),
)
def test_class_losses_of_any_probabilities_are_in_the_unit_interval(loss, weights, truth):
    total = weights.sum(axis=2, keepdims=True)
    chances = np.divide(weights, total, out=np.full_like(weights, 0.25), where=total > 1e-300)
    score = ClassificationScore(loss, 3, average=False)
    losses = score.rescale(score.losses(truth, chances, None).T)
    assert losses.shape == (5, 3)
    assert losses.min() >= 0.0
    assert losses.max() <= 1.0 + 1e-12


def test_own_class_loss_sees_indices_and_the_probabilities_of_one_expert():
    seen = []

    def own(y, probabilities):
        seen.append((y, probabilities))
        return 1.0 - probabilities[np.arange(len(y)), y]

    losses = ClassificationScore(own, 3, average=False).losses(TRUTH, SAID, None)
    np.testing.assert_allclose(losses, [[0.2, 0.7, 0.0], [0.0, 1.0, 0.6]])
    assert all(np.array_equal(y, TRUTH) for y, _ in seen)
    assert [probabilities.shape for _, probabilities in seen] == [(3, 3), (3, 3)]


@pytest.mark.parametrize("wrong", [lambda y, p: 0.5, lambda y, p: np.zeros(2), lambda y, p: np.zeros((len(y), 1))])
def test_own_loss_of_the_wrong_shape_is_refused(wrong):
    with pytest.raises(ValueError, match=r"loss must return one value a row, shape \(3,\); got shape"):
        ClassificationScore(wrong, 3, average=False).losses(TRUTH, SAID, None)
    with pytest.raises(ValueError, match=r"loss must return one value a row, shape \(3,\); got shape"):
        RegressionScore(wrong, average=True).losses(TRUTH.astype(float), SAID[:, :, :1], None)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.inf])
def test_own_class_loss_outside_the_unit_interval_is_refused(value):
    score = ClassificationScore(lambda y, p: np.full(len(y), value), 3, average=False)
    with pytest.raises(ValueError, match=r"loss must return values in \[0, 1\]; got"):
        score.rescale(score.losses(TRUTH, SAID, None).T)


@pytest.mark.parametrize(
    "make", [lambda own: ClassificationScore(own, 3, average=False), lambda own: RegressionScore(own, average=True)]
)
def test_own_loss_of_nan_is_refused_and_does_not_pass_for_sleep(make):
    with pytest.raises(ValueError, match="loss must return numbers; got NaN for row 0"):
        make(lambda y, p: np.full(len(y), np.nan)).losses(TRUTH.astype(float), SAID[:, :, :1], None)


@pytest.mark.parametrize(
    "make", [lambda loss: ClassificationScore(loss, 3, average=False), lambda loss: RegressionScore(loss, average=True)]
)
@pytest.mark.parametrize("loss", ["hinge", None, 3, True])
def test_unknown_loss_is_named(make, loss):
    with pytest.raises(ValueError, match=f"loss={loss!r} is not one of 'auto'"):
        make(loss)


# Numbers ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "below", "above"),
    [
        (Squared(), 9.0, 4.0),
        (Huber(1.0), 2.5, 1.5),
        (LogCosh(), np.log(np.cosh(3.0)), np.log(np.cosh(2.0))),
        (Absolute(), 3.0, 2.0),
        (Pinball(), 1.5, 1.0),
        (Pinball(0.9), 2.7, 0.2),
        (Pinball(0.1), 0.3, 1.8),
    ],
)
def test_regression_losses_are_those_computed_by_hand(loss, below, above):
    # the target is 1, and predictions are 3 below it, on it and 2 above it
    y, said = np.ones(3), np.array([-2.0, 1.0, 3.0])
    np.testing.assert_allclose(loss(y, said), [below, 0.0, above])
    assert loss.gradient(y, said)[1] == 0.0


@pytest.mark.parametrize(
    "loss", [Squared(), Absolute(), Pinball(0.5), Pinball(0.8), Percentage(), Huber(0.5), LogCosh()]
)
@given(y=st.floats(0.5, 10) | st.floats(-10, -0.5), error=st.floats(0.01, 10), sign=st.sampled_from([-1, 1]))
def test_gradient_is_the_slope_of_the_loss(loss, y, error, sign):
    y, said, step = np.array([y]), np.array([y + sign * error]), 1e-4
    slope = (loss(y, said + step) - loss(y, said - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, said), slope, rtol=1e-6, atol=1e-4)  # Huber's has a corner


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.5, "half", [0.1, 0.9]])
def test_quantile_outside_the_open_unit_interval_is_refused(quantile):
    with pytest.raises(ValueError, match="quantile="):
        Pinball(quantile)


def test_pinball_is_least_at_its_quantile():
    y = np.random.default_rng(0).exponential(size=20_000)
    candidates = np.linspace(0.0, 5.0, 501)
    best = candidates[np.argmin([Pinball(0.8)(y, np.full_like(y, at)).mean() for at in candidates])]
    assert abs(best - np.quantile(y, 0.8)) <= 0.01


@pytest.mark.parametrize(
    ("loss", "average", "uses_gradient"),
    [
        ("auto", True, True),
        ("absolute", True, True),
        (Pinball(0.9), True, True),
        ("squared", False, False),
        (lambda y, p: abs(y - p), True, False),
    ],
)
def test_gradient_is_used_where_there_is_one_and_predictions_are_averaged(loss, average, uses_gradient):
    assert RegressionScore(loss, average).uses_gradient is uses_gradient


class Quartic:
    """An own loss with a gradient."""

    def __call__(self, y, prediction):
        return (prediction - y) ** 4

    def gradient(self, y, prediction):
        return 4.0 * (prediction - y) ** 3


def test_linear_losses_are_the_gradient_at_the_mixture_times_the_distance_from_it():
    y, mixture = np.array([0.0, 1.0]), np.array([[1.0], [3.0]])
    said = np.array([[[0.0], [3.0]], [[5.0], [2.0]]])
    losses = RegressionScore(Quartic(), average=True).losses(y, said, mixture)
    np.testing.assert_allclose(losses, [[4.0 * -1.0, 0.0], [4.0 * 4.0, 32.0 * -1.0]])


@pytest.mark.parametrize("slope", [1.0, np.ones((2, 1)), np.ones(3), np.full(2, np.nan)])
def test_own_gradient_of_the_wrong_shape_or_nan_is_refused(slope):
    class Wrong(Quartic):
        def gradient(self, y, prediction):
            return slope

    with pytest.raises(ValueError, match="gradient must return"):
        RegressionScore(Wrong(), average=True).losses(np.zeros(2), np.zeros((2, 2, 1)), np.zeros((2, 1)))


@pytest.mark.parametrize("error", [0.0, 1e-9, 1.0, 700.0, 1e6, 1e300])
def test_log_cosh_never_overflows(error):
    lost = LogCosh()(np.array([0.0]), np.array([error]))[0]
    expected = np.log(np.cosh(error)) if error < 500.0 else error - np.log(2.0)
    assert lost == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert abs(LogCosh().gradient(np.array([0.0]), np.array([-error]))[0]) <= 1.0


def test_percentages_of_zero_are_refused():
    with pytest.raises(ValueError, match="y is zero in row 1"):
        RegressionScore("percentage", average=True).observe(np.array([3.0, 0.0]))
    with pytest.raises(ValueError, match="delta"):
        Huber(0.0)


# The running range --------------------------------------------------------------------------------------------


def rounds_of(y, said, loss="squared", linear=True):
    """Rescaled losses of single rows, as an engine asks for them."""
    score = RegressionScore(loss, average=linear)
    rescaled = []
    for target, experts in zip(y, said, strict=True):
        now = np.array([target])
        score.observe(now)
        sanitize = score.clipped(experts[:, np.newaxis, np.newaxis])
        mixture = sanitize.mean(axis=0) if linear else None
        rescaled.append(score.rescale(score.losses(now, sanitize, mixture).T)[0])
    return np.array(rescaled)


def stream(n_rounds=200, n_experts=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rounds).cumsum()
    return y, y[:, np.newaxis] + rng.normal(size=(n_rounds, n_experts)) * np.arange(1, n_experts + 1)


@pytest.mark.parametrize("linear", [True, False])
@pytest.mark.parametrize("loss", ["squared", "absolute", "pinball"])
@pytest.mark.parametrize("scale", [1e-9, 1e-3, 1.0, 1e3, 1e9])
def test_rescaled_losses_do_not_depend_on_the_unit_of_the_targets(scale, loss, linear):
    y, said = stream()
    plain = rounds_of(y, said, loss, linear)
    assert plain.max() == 1.0
    np.testing.assert_allclose(rounds_of(scale * y, scale * said, loss, linear), plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("shift", [-1e3, 1e6])
def test_rescaled_losses_do_not_depend_on_where_zero_is(shift):
    y, said = stream()
    np.testing.assert_allclose(rounds_of(y + shift, said + shift), rounds_of(y, said), atol=1e-6)


@given(
    y=arrays(float, 12, elements=st.floats(-1e300, 1e300)),
    said=arrays(float, (12, 3), elements=st.floats(-1e300, 1e300)),
    linear=st.booleans(),
)
def test_rescaled_losses_of_anything_are_in_the_unit_interval(y, said, linear):
    rescaled = rounds_of(y, said, linear=linear)
    assert rescaled.min() >= 0.0
    assert rescaled.max() <= 1.0


def test_losses_of_sleeping_experts_stay_nan_and_do_not_touch_the_others():
    score = RegressionScore("squared", average=False)
    losses = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan], [np.nan, 2.0, 1.0], [np.nan, 5.0, np.nan]])
    score.observe(np.array([0.0, 1.0]))
    score.observe(np.array([0.5]))
    expected = [[0.0, np.nan, 1.0], [np.nan] * 3, [np.nan, 0.5 * np.exp(0.02), 0.0], [np.nan, 0.0, np.nan]]
    np.testing.assert_allclose(score.rescale(losses), expected, rtol=1e-12)


def test_runaway_prediction_is_as_bad_as_one_at_the_edge_of_the_widened_range():
    y, said = stream()
    far, edge = said.copy(), said.copy()
    edge[:, 0], far[:, 0] = 1e3, 1e300  # both beyond the range of the targets by more than its width
    far[1::2, 0], edge[1::2, 0] = -1e300, -1e3
    tame_far, tame_edge = rounds_of(y, far), rounds_of(y, edge)
    np.testing.assert_array_equal(tame_far[1:], tame_edge[1:])  # one target alone has no range
    assert np.median(tame_far[1:, 1:].max(axis=1)) > 0.01  # and the others can still be told apart


def test_predictions_are_clipped_to_the_range_seen_widened_by_half_its_width():
    score = RegressionScore("squared", average=True)
    score.observe(np.array([2.0, 4.0, 3.0]))
    assert score.sanitized(np.array([-9.0, 1.5, 3.0, 4.5, 9.0])).tolist() == [1.0, 1.5, 3.0, 4.5, 5.0]


def test_nothing_is_clipped_before_the_targets_have_a_range():
    score = RegressionScore("squared", average=True)
    assert score.sanitized(np.array([1e9])) == 1e9
    score.observe(np.array([5.0, 5.0]))
    assert score.sanitized(np.array([1e9])) == 1e9


def test_constant_targets_are_scored():
    rescaled = rounds_of(np.full(50, 7.0), np.tile([7.0, 8.0, 9.0], (50, 1)), linear=False)
    np.testing.assert_allclose(rescaled, np.tile([0.0, 0.25, 1.0], (50, 1)), atol=1e-12)


def test_runaway_prediction_while_targets_are_constant_is_forgotten_once_they_move():
    y, said = stream()
    y[:10] = 0.0
    said[:10, 0] = 1e300
    rescaled = rounds_of(y, said)
    assert np.isfinite(rescaled).all()
    assert np.median(rescaled[11:].max(axis=1)) > 0.01


def test_experts_that_agree_lose_nothing():
    y = np.random.default_rng(0).normal(size=30)
    assert (rounds_of(y, np.tile(3.0, (30, 4))) == 0.0).all()


def score_that_knows_a_scale():
    score = RegressionScore("absolute", average=False)
    score.observe(np.array([0.0, 1.0]))
    score.observe(np.array([0.0, 1.0]))
    return score


def test_wide_gap_of_the_first_round_fades():
    score = score_that_knows_a_scale()
    score.rescale(np.array([[0.0, 1e6]]))
    usual = np.tile([0.0, 1.0], (1400, 1))
    parts = score.rescale(usual)[:, 1]
    assert parts[0] == pytest.approx(1e-6, rel=0.02)
    assert parts[-1] == 1.0  # a factor e in 100 rounds: 1e6 has faded after 1,380


def test_one_monstrous_gap_hardly_counts_and_several_are_soon_taken_up():
    score = score_that_knows_a_scale()
    score.rescale(np.tile([0.0, 1.0], (10, 1)))
    assert score.rescale(np.array([[0.0, 1e6]]))[0, 1] == 1.0
    assert score.rescale(np.array([[0.0, 1.0]]))[0, 1] == pytest.approx(0.25, rel=0.02)
    score.rescale(np.tile([0.0, 1e6], (10, 1)))
    assert score.rescale(np.array([[0.0, 5e5]]))[0, 1] == pytest.approx(0.5, rel=0.02)


def test_gaps_seen_while_the_targets_had_no_scale_do_not_tell_it():
    score = RegressionScore("absolute", average=False)
    score.observe(np.array([3.0]))
    score.rescale(np.array([[0.0, 1e300]]))
    score.observe(np.array([4.0]))
    np.testing.assert_allclose(score.rescale(np.array([[0.0, 1.0]])), [[0.0, 1.0]])


def test_score_goes_on_after_a_pickle_as_without():
    y, said = stream()
    score = RegressionScore("squared", average=True)
    score.observe(y)
    score.rescale(said)
    again = pickle.loads(pickle.dumps(score))
    np.testing.assert_array_equal(again.sanitized(1e3 * said), score.sanitized(1e3 * said))
    np.testing.assert_array_equal(again.rescale(said / 2), score.rescale(said / 2))


# Distances ----------------------------------------------------------------------------------------------------


def test_classifiers_are_apart_where_they_see_different_classes():
    one = np.array([[0.9, 0.1], [0.4, 0.6], [0.4, 0.6], [0.2, 0.8]])
    other = np.array([[0.6, 0.4], [0.4, 0.6], [0.6, 0.4], [0.2, 0.8]])
    distances = ClassificationScore("auto", 3, average=False).distances(
        one, np.stack([one, other]), np.zeros(4, dtype=int)
    )
    assert distances.mean(axis=1).tolist() == [0.0, 0.25]


def apart(score, one, other, y):
    return score.distances(score.sanitized(one), score.sanitized(other)[np.newaxis], y).mean()


def test_regressors_are_as_far_apart_as_their_distance_in_units_of_the_targets_width():
    score = RegressionScore("squared", average=True)
    constant, zeros = np.full(2, 5.0), np.zeros((2, 1))
    assert apart(score, zeros, zeros, constant) == 0.0
    assert apart(score, zeros, np.full((2, 1), 1e-9), constant) == np.inf  # nothing is known of the width
    y = np.array([0.0, 10.0])  # half of 10 is the median deviation from the median
    score.observe(y)
    assert apart(score, zeros, np.array([[1.0], [5.0]]), y) == pytest.approx(0.1)
    assert apart(score, np.full((2, 1), -1e9), np.full((2, 1), 1e9), y) == pytest.approx(20.0 / 30.0)
    mostly_zero = np.array([0.0, 0.0, 0.0, 4.0])  # of which the mean deviation has to do
    assert apart(score, np.zeros((4, 1)), np.full((4, 1), 3.0), mostly_zero) == pytest.approx(0.5)


def test_one_outlier_does_not_make_all_regressors_agree():
    score = RegressionScore("squared", average=True)
    y = np.append(np.arange(20.0), 1e6)
    score.observe(y)
    assert apart(score, np.zeros((21, 1)), np.full((21, 1), 10.0), y) > 0.1
