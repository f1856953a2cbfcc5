"""The regularised leader with entropy and log barrier: optimality, limits and number of steps."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_sklearn.bandits import _hybrid_regularizer
from ltm_sklearn.bandits._hybrid_regularizer import hybrid_weights


def kkt_residual(weights, losses, rate, barrier):
    """Return the spread of ``C + (ln w)/η - γ/w`` over the arms, relative to its terms; 0 at the optimum."""
    slopes = rate * losses + np.log(weights) - rate * barrier / weights
    size = 1.0 + np.abs(rate * losses).max() + np.abs(np.log(weights)) + rate * barrier / weights
    best = weights.argmax()
    return np.max(np.abs(slopes - slopes[best]) / (size + size[best]))


@settings(max_examples=200, deadline=None)
@given(
    n_arms=st.sampled_from([1, 2, 3, 10, 200]),
    rate=st.sampled_from([1e-5, 0.002, 0.1, 1.0]),
    barrier=st.sampled_from([1e-9, 0.01, 1.0, 25.0, None]),
    scale=st.sampled_from([0.0, 1e-12, 1.0, 1e3, 1e7, 1e15]),
    start=st.sampled_from([0.0, -1e9, 1e9, -3.0]),
    ties=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_optimality_conditions_hold_to_ten_digits(n_arms, rate, barrier, scale, start, ties, seed):
    barrier = 200.0 * n_arms**2 if barrier is None else barrier
    losses = np.random.default_rng(seed).normal(size=n_arms) * scale
    if ties:
        losses = np.round(losses / (scale or 1.0)) * scale
    weights, _ = hybrid_weights(losses, rate, barrier, start)
    assert abs(weights.sum() - 1.0) <= 1e-12
    assert weights.min() > 0.0
    assert kkt_residual(weights, losses, rate, barrier) <= 1e-10


def test_without_barrier_the_weights_are_exponential():
    losses = np.array([3.0, -2.0, 0.5, 0.5])
    expected = np.exp(-0.7 * losses) / np.exp(-0.7 * losses).sum()
    weights, _ = hybrid_weights(losses, 0.7, 0.0)
    assert np.abs(weights - expected).max() <= 1e-15


@pytest.mark.parametrize("barrier", [0.0, 1e-300, 1.0, 200.0 * 200**2])
@pytest.mark.parametrize("n_arms", [1, 2, 200])
@pytest.mark.parametrize("largest", [0.0, 5e-324, 1e300, 1.7e308])
def test_all_finite_losses_give_weights(n_arms, barrier, largest):
    losses = np.linspace(-largest / 2, largest / 2, n_arms) * 2
    for given_losses in (losses, losses[::-1].copy(), np.where(np.arange(n_arms) == 0, -largest, largest)):
        weights, multiplier = hybrid_weights(given_losses, 0.002, barrier)
        assert np.isfinite(multiplier)
        assert abs(weights.sum() - 1.0) <= 1e-12
        assert weights.min() >= 0.0
        assert weights[given_losses.argmin()] == weights.max()


def test_a_constant_added_to_all_losses_changes_nothing():
    losses = np.random.default_rng(0).normal(size=6) * 30
    weights, multiplier = hybrid_weights(losses, 0.01, 7.0)
    shifted, shifted_multiplier = hybrid_weights(losses + 4096.0, 0.01, 7.0)
    assert np.abs(weights - shifted).max() <= 1e-14
    assert multiplier == pytest.approx(shifted_multiplier, abs=1e-12)


@pytest.mark.parametrize("barrier", [0.0, 1.0, 25.0, 200.0 * 50**2])
def test_number_of_steps_with_and_without_a_multiplier(barrier, monkeypatch):
    steps = []
    solved = _hybrid_regularizer._solved

    def counted(*arguments):
        steps.append(1)
        return solved(*arguments)

    monkeypatch.setattr(_hybrid_regularizer, "_solved", counted)
    rng = np.random.default_rng(0)
    cold, warm = [], []
    for scale in (0.0, 1.0, 1e3, 1e6, 1e9):
        losses = rng.normal(size=50) * scale
        steps.clear()
        _, multiplier = hybrid_weights(losses, 0.002, barrier)
        cold.append(len(steps))
        steps.clear()
        hybrid_weights(losses + rng.normal(size=50) * 0.1, 0.002, barrier, multiplier)
        warm.append(len(steps))
    assert max(cold) <= 15
    assert max(warm) <= 4
