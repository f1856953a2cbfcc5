"""The expert algorithms as bandit policies of River."""

import numpy as np
import pytest

pytest.importorskip("river")

from river import bandit

from ltm_sklearn.experts import FixedShare
from ltm_sklearn.river import ExpertPolicy


def regret(policy, n_arms=5, n_phases=6, length=1000, seed=1000):
    """Two arms take turns in being right in .8 of the pulls, all others in .4; regret in each phase."""
    rng = np.random.default_rng(seed)
    phases = []
    for phase in range(n_phases):
        wrong = 0
        for _ in range(length):
            arm = policy.pull(range(n_arms))
            good = arm == (0, 3)[phase % 2]
            policy.update(arm, float(rng.random() < (0.8 if good else 0.4)))
            wrong += not good
        phases.append(0.4 * wrong)
    return phases


def test_it_follows_arms_that_return_better_than_exp3():
    ours = [sum(regret(ExpertPolicy(seed=seed), seed=1000 + seed)) for seed in range(3)]
    theirs = [sum(regret(bandit.Exp3(gamma=0.1, seed=seed), seed=1000 + seed)) for seed in range(3)]
    at_random = 0.4 * 0.8 * 6000
    assert np.mean(ours) < 0.7 * np.mean(theirs)
    assert np.mean(ours) < 0.5 * at_random


def test_estimated_losses_are_unbiased_and_in_the_unit_interval():
    told = []

    class Listens(FixedShare):
        def update(self, losses, awake=None):
            told.append(np.array(losses))
            super().update(losses, awake)

    rng = np.random.default_rng(5)
    policy = ExpertPolicy(Listens(rate=0.001, switching=0.1), exploration=0.5, seed=0)
    for _ in range(20_000):
        arm = policy.pull(["a", "b"])
        policy.update(arm, float(rng.random() < {"a": 0.9, "b": 0.3}[arm]))
    told = np.array(told)
    assert told.min() >= 0.0
    assert told.max() <= 1.0
    np.testing.assert_allclose(told.mean(axis=0) / (0.5 / 2), [0.1, 0.7], atol=0.02)


def test_burn_in_pulls_each_arm_and_changes_no_weights():
    policy = ExpertPolicy(burn_in=3, seed=0)
    pulled = []
    for _ in range(6):
        pulled.append(policy.pull(["a", "b"]))
        policy.update(pulled[-1], 1.0 if pulled[-1] == "a" else 0.0)
    assert sorted(pulled) == ["a", "a", "a", "b", "b", "b"]
    policy.pull(["a", "b"])
    np.testing.assert_allclose(policy._weighting.weights(), 0.5)
