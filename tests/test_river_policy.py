"""The expert algorithms as bandit policies of River."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from river import bandit, datasets, evaluate, linear_model, metrics, model_selection, optim, preprocessing

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


def test_losses_are_estimated_without_bias_and_in_the_unit_interval():
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


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_rewards_may_be_of_any_scale(scale):
    plain, scaled = ExpertPolicy(seed=0), ExpertPolicy(seed=0)
    rng = np.random.default_rng(7)
    for _ in range(300):
        arm = plain.pull("abc")
        assert scaled.pull("abc") == arm
        reward = rng.random() + (arm == "b")
        plain.update(arm, reward)
        scaled.update(arm, scale * reward - 3.0 * scale)
    np.testing.assert_allclose(plain._weighting.weights(), scaled._weighting.weights(), atol=1e-6)


def test_arms_come_go_and_return_and_all_is_saved():
    policy = ExpertPolicy(seed=0)
    rng = np.random.default_rng(7)
    for at in range(600):
        arms = ["a", "b"] if at < 200 else ["a", "b", "c"] if at < 400 else ["c", "a"]
        policy.update(arm := policy.pull(arms), float(rng.random() < (0.9 if arm == "c" else 0.2)))
        assert arm in arms
    assert policy.ranking[0] == "c"
    copy = pickle.loads(pickle.dumps(policy))
    assert [copy.pull("abc") for _ in range(20)] == [policy.pull("abc") for _ in range(20)]
    assert policy.clone()._arms == []


def test_burn_in_pulls_each_arm_and_changes_no_weights():
    policy = ExpertPolicy(burn_in=3, seed=0)
    pulled = []
    for _ in range(6):
        pulled.append(policy.pull(["a", "b"]))
        policy.update(pulled[-1], 1.0 if pulled[-1] == "a" else 0.0)
    assert sorted(pulled) == ["a", "a", "a", "b", "b", "b"]
    policy.pull(["a", "b"])
    np.testing.assert_allclose(policy._weighting.weights(), 0.5)


def test_rivers_bandit_classifier_and_regressor_use_it():
    classifiers = [linear_model.LogisticRegression(optimizer=optim.SGD(rate)) for rate in (1e-6, 1e-1)]
    model = model_selection.BanditClassifier(classifiers, metric=metrics.Accuracy(), policy=ExpertPolicy(seed=0))
    rows = datasets.Phishing()
    assert evaluate.progressive_val_score(rows, preprocessing.StandardScaler() | model, metrics.Accuracy()).get() > 0.8
    regressors = [linear_model.LinearRegression(optimizer=optim.SGD(rate)) for rate in (1e-6, 1e-2)]
    model = model_selection.BanditRegressor(regressors, metric=metrics.MAE(), policy=ExpertPolicy(seed=0))
    evaluate.progressive_val_score(datasets.TrumpApproval(), preprocessing.StandardScaler() | model, metrics.MAE())
    assert model.policy._counts[1] > 2 * model.policy._counts[0]
    assert model.policy.ranking == [1, 0]  # by weight; River itself predicts with the largest error


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_reward_that_is_none_is_named_and_changes_nothing(reward):
    policy = ExpertPolicy(seed=0)
    policy.update(policy.pull("ab"), 1.0)
    arm, before = policy.pull("ab"), dict(policy._chances)
    with pytest.raises(ValueError, match="the reward is"):
        policy.update(arm, reward)
    assert policy._n == 1
    assert policy._chances == before


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="no expert algorithm"):
        ExpertPolicy("hedge")
    with pytest.raises(ValueError, match="exploration"):
        ExpertPolicy(exploration=0.0)
