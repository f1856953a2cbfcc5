"""Losses of real predictions: values, gradients and parameters."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_sklearn.losses import AbsoluteError, AbsolutePercentageError, Huber, LogCosh, Pinball, SquaredError


@pytest.mark.parametrize(
    ("loss", "below", "above"),
    [
        (SquaredError(), 9.0, 4.0),
        (Huber(1.0), 2.5, 1.5),
        (LogCosh(), np.log(np.cosh(3.0)), np.log(np.cosh(2.0))),
        (AbsoluteError(), 3.0, 2.0),
        (AbsolutePercentageError(), 3.0, 2.0),
        (Pinball(), 1.5, 1.0),
        (Pinball(0.9), 2.7, 0.2),
        (Pinball(0.1), 0.3, 1.8),
    ],
)
def test_losses_equal_values_computed_by_hand(loss, below, above):
    # the target is 1; predictions are 3 below it, on it and 2 above it
    y, predictions = np.ones(3), np.array([-2.0, 1.0, 3.0])
    np.testing.assert_allclose(loss(y, predictions), [below, 0.0, above])
    assert loss.gradient(y, predictions)[1] == 0.0


@pytest.mark.parametrize(
    "loss",
    [SquaredError(), AbsoluteError(), Pinball(0.5), Pinball(0.8), AbsolutePercentageError(), Huber(0.5), LogCosh()],
)
@given(y=st.floats(0.5, 10) | st.floats(-10, -0.5), error=st.floats(0.01, 10), sign=st.sampled_from([-1, 1]))
def test_gradient_is_the_slope_of_the_loss(loss, y, error, sign):
    y, prediction, step = np.array([y]), np.array([y + sign * error]), 1e-4
    slope = (loss(y, prediction + step) - loss(y, prediction - step)) / (2 * step)
    np.testing.assert_allclose(loss.gradient(y, prediction), slope, rtol=1e-6, atol=1e-4)  # Huber's has a corner


@pytest.mark.parametrize("quantile", [0.0, 1.0, -0.5, "half", [0.1, 0.9]])
def test_quantile_outside_the_open_unit_interval_is_refused(quantile):
    with pytest.raises(ValueError, match="quantile="):
        Pinball(quantile)


def test_pinball_is_least_at_its_quantile():
    y = np.random.default_rng(0).exponential(size=20_000)
    candidates = np.linspace(0.0, 5.0, 501)
    best = candidates[np.argmin([Pinball(0.8)(y, np.full_like(y, at)).mean() for at in candidates])]
    assert abs(best - np.quantile(y, 0.8)) <= 0.01


@pytest.mark.parametrize("error", [0.0, 1e-9, 1.0, 700.0, 1e6, 1e300])
def test_log_cosh_does_not_overflow(error):
    loss = LogCosh()(np.array([0.0]), np.array([error]))[0]
    expected = np.log(np.cosh(error)) if error < 500.0 else error - np.log(2.0)
    assert loss == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert abs(LogCosh().gradient(np.array([0.0]), np.array([-error]))[0]) <= 1.0


def test_percentage_error_of_a_zero_target_and_zero_delta_are_refused():
    with pytest.raises(ValueError, match="y is zero in row 1"):
        AbsolutePercentageError().check_targets(np.array([3.0, 0.0]))
    with pytest.raises(ValueError, match="delta"):
        Huber(0.0)
