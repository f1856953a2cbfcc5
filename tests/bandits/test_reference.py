"""SparseLongTermMemory computes the probabilities of the paper's Algorithm 3, to rounding."""

import numpy as np
import pytest
from support.broken_copies import broken_copy

from ltm_sklearn.bandits import SparseLongTermMemory, reference
from ltm_sklearn.bandits._hybrid_regularizer import hybrid_weights

ROUNDING = 1e-11


def sparse_losses(n_rounds, n_arms, seed):
    """Losses of which at most two in a round are not 0; the best arm changes and returns."""
    rng = np.random.default_rng(seed)
    losses = np.zeros((n_rounds, n_arms))
    rounds = np.arange(n_rounds)
    losses[rounds, 4 * rounds // n_rounds % min(2, n_arms)] = -rng.random(n_rounds)
    losses[rounds, rng.integers(n_arms, size=n_rounds)] = rng.choice([-1.0, 0.0, 1.0], size=n_rounds)
    return losses


def algorithm_3_difference(module, bandit, losses, seed=0, confidence=None):
    """Largest difference of probabilities when both algorithms see the same sampled arms."""
    rng = np.random.default_rng(seed)
    n_arms = losses.shape[1]
    bandit.draw(n_arms)
    constants = bandit._constants(n_arms, 0)
    probabilities, arms = module.sparse_bandit(
        losses, constants.rate, constants.barrier, constants.floor, lambda p: int(rng.choice(n_arms, p=p / p.sum()))
    )
    largest = 0.0
    for row, expected, arm in zip(losses, probabilities, arms, strict=True):
        largest = max(largest, np.abs(bandit.probabilities - expected).max())
        bandit.update(int(arm), row[arm], probability=expected[arm])
        if confidence is not None:
            confidence.append(bandit.state_["confidence"])
    return largest


FREE = [(0.1, 1.0, 0.1), (0.05, 2.0, 0.1), (0.5, 10.0, 0.02), (0.01, 25.0, 1.0)]


@pytest.mark.parametrize("n_arms", [1, 2, 3, 12])
@pytest.mark.parametrize(("rate", "barrier", "floor"), FREE)
def test_sparse_long_term_memory_equals_algorithm_3(rate, barrier, floor, n_arms):
    bandit = SparseLongTermMemory(constants="free", rate=rate, barrier=barrier, floor=floor, random_state=0)
    assert algorithm_3_difference(reference, bandit, sparse_losses(400, n_arms, seed=n_arms)) <= ROUNDING


@pytest.mark.parametrize("n_arms", [2, 6])
@pytest.mark.parametrize(("horizon", "n_segments"), [(10**6, 10), (400, 20), (10**9, 3)])
def test_sparse_long_term_memory_equals_algorithm_3_with_the_papers_constants(horizon, n_segments, n_arms):
    bandit = SparseLongTermMemory(horizon=horizon, n_segments=n_segments, sparsity=2, random_state=0)
    assert algorithm_3_difference(reference, bandit, sparse_losses(400, n_arms, seed=9)) <= ROUNDING


def test_the_comparison_reaches_all_confidences():
    """Confidences at 1, at the floor and between."""
    confidence = []
    bandit = SparseLongTermMemory(constants="free", rate=0.5, barrier=10.0, floor=0.3, random_state=0)
    assert algorithm_3_difference(reference, bandit, sparse_losses(400, 3, seed=3), confidence=confidence) <= ROUNDING
    reached = np.array(confidence)
    assert (reached == 1.0).any()
    assert (reached == 0.3).any()
    assert ((reached > 0.3) & (reached < 1.0)).any()


@pytest.mark.parametrize("scale", [0.0, 1.0, 100.0, 1e5])
@pytest.mark.parametrize("barrier", [0.3, 25.0, 3_200.0])
@pytest.mark.parametrize("rate", [0.002, 0.5])
def test_the_leader_fulfils_the_conditions_of_the_optimum(rate, barrier, scale):
    """``C + (ln w)/η - γ/w`` is the same for all arms."""
    losses = np.random.default_rng(0).normal(size=5) * scale
    weights = reference.follow_the_regularised_leader(losses, rate, barrier, np.full(5, 0.2))
    slopes = losses + np.log(weights) / rate - barrier / weights
    assert abs(weights.sum() - 1.0) <= 1e-14
    assert np.ptp(slopes) <= 1e-10 * np.abs(slopes).max()
    assert np.abs(weights - hybrid_weights(losses, rate, barrier)[0]).max() <= ROUNDING


BROKEN = [
    ("p_tilde = (1 - eta) * p + eta / K", "p_tilde = p"),
    ("z * w / (z * w).sum()", "w"),
    ("ell[I] / p_tilde[I]", "ell[I] / p[I]"),
    ("p @ ell_hat - ell_hat", "p_tilde @ ell_hat - ell_hat"),
    ("-z * r - eta * z * ell_hat**2", "-z * r"),
    ("-z * r - eta * z * ell_hat**2", "-r - eta * z * ell_hat**2"),
    ("C = C + c  #", "C = c  #"),
    ("- r  # the slope", "+ r  # the slope"),
    ("delta, 1)  #", "0, 1)  #"),
    ("(np.log(w) + 1) / eta - gamma / w\n", "(np.log(w) + 1) / eta - 0.9 * gamma / w\n"),
]


@pytest.mark.parametrize(("line", "instead"), BROKEN, ids=str)
def test_the_comparison_notices_a_broken_line(line, instead):
    bandit = SparseLongTermMemory(constants="free", rate=0.5, barrier=10.0, floor=0.3, random_state=0)
    broken = broken_copy(reference, line, instead)
    assert algorithm_3_difference(broken, bandit, sparse_losses(400, 3, seed=3)) > 1e4 * ROUNDING
