"""The bandit algorithms as policies of River."""

import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from bandit_experts import Keen, Told
from river import bandit, datasets, evaluate, linear_model, metrics, model_selection, optim, preprocessing, stats

from ltm_sklearn.bandits import Exp3S
from ltm_sklearn.experts import FixedShare
from ltm_sklearn.river import BanditPolicy


def told(policy):
    return policy._bandit.state_["told"]


class Switching:
    """An environment as River has them: two arms take turns in being good; pays 10 more often or less."""

    class action_space:
        n = 5

        @staticmethod
        def seed(seed):
            pass

    def __init__(self, length=600):
        self.length = length

    def reset(self, seed):
        self.rng, self.at = np.random.default_rng(seed), 0

    def step(self, arm):
        good = arm == (0, 3)[self.at * 2 // self.length]
        self.at += 1
        return None, 10.0 * float(self.rng.random() < (0.9 if good else 0.2)), False, self.at == self.length, {}


def test_rivers_evaluation_runs_it():
    policies = [BanditPolicy(Keen(worst=0.0), seed=1), bandit.RandomPolicy(seed=1)]
    rewards = np.zeros(2)
    for step in bandit.evaluate(policies, Switching(), n_episodes=2, seed=4):
        rewards[step["policy_idx"]] += step["reward"] / 2
    assert rewards[0] > 1.4 * rewards[1]
    assert policies[0]._n == 0  # clones were run


def test_rivers_evaluation_of_logs_runs_it():
    rng = np.random.default_rng(0)
    log = [("abc", None, arm, float(rng.random() < 0.2 + 0.6 * (arm == "b"))) for arm in rng.choice(list("abc"), 1500)]
    policy = BanditPolicy(Keen(worst=0.0), seed=0)
    total, n_used = bandit.evaluate_offline(policy, log)
    assert 300 < n_used < 700
    assert total.get() / n_used > 0.6
    assert policy.ranking[0] == "b"


def test_rivers_bandit_classifier_and_regressor_use_it():
    classifiers = [linear_model.LogisticRegression(optimizer=optim.SGD(rate)) for rate in (1e-6, 1e-1)]
    policy = BanditPolicy(Keen(worst=0.0), seed=0)
    model = model_selection.BanditClassifier(classifiers, metric=metrics.Accuracy(), policy=policy)
    rows = datasets.Phishing()
    assert evaluate.progressive_val_score(rows, preprocessing.StandardScaler() | model, metrics.Accuracy()).get() > 0.8
    regressors = [linear_model.LinearRegression(optim.SGD(rate), intercept_lr=rate) for rate in (1e-6, 1e-2)]
    model = model_selection.BanditRegressor(regressors, metric=metrics.MAE(), policy=policy)
    evaluate.progressive_val_score(datasets.TrumpApproval(), preprocessing.StandardScaler() | model, metrics.MAE())
    assert model.policy.ranking == [1, 0]
    assert model.policy._counts[1] > 2 * model.policy._counts[0]


def test_what_is_learned_is_the_reward_on_its_range_with_the_chance_of_its_pull():
    policy = BanditPolicy(Told([1, 2, 3, 4]), seed=0)
    policy.update(policy.pull("abcd"), -100.0)
    assert told(policy) == ()  # there is no range yet
    policy.update(policy.pull("abcd"), 300.0)
    policy.pull("abcd")
    policy.pull("ab")
    arm = policy.pull("ac")  # the last pull counts
    seat = "abcd".index(arm)
    policy.update(arm, 0.0)
    assert told(policy)[-1] == ((seat,), (-0.25,), (pytest.approx([1, 2, 3, 4][seat] / 4),))
    policy.update(arm, 0.0)  # not pulled
    assert len(told(policy)) == 2


def test_pulls_that_overlap_keep_their_own_chances():
    policy = BanditPolicy(Told([1, 2, 3, 4]), seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull("abcd"), reward)
    assert policy.pull("a") == "a"
    assert policy.pull("bd") in "bd"
    policy.update("a", 1.0)
    assert told(policy)[-1] == ((0,), (-1.0,), (1.0,))


def test_pulls_follow_the_probabilities_of_the_arms_that_are_offered():
    policy = BanditPolicy(Told([1, 2, 3, 4]), seed=0)
    policy.pull("abcd")
    pulls = [policy.pull("db") for _ in range(2000)]
    assert np.mean([arm == "d" for arm in pulls]) == pytest.approx(2 / 3, abs=0.05)


def test_arms_come_go_and_return_and_all_is_saved():
    policy, rng = BanditPolicy(Keen(worst=0.0), seed=0), np.random.default_rng(7)
    for at in range(600):
        arms = ["a", "b"] if at < 200 else ["a", "b", "c"] if at < 400 else ["c", "a"]
        policy.update(arm := policy.pull(arms), float(rng.random() < (0.9 if arm == "c" else 0.2)))
        assert arm in arms
    assert policy.ranking[0] == "c"
    copy = pickle.loads(pickle.dumps(policy))
    assert [copy.pull("abc") for _ in range(20)] == [policy.pull("abc") for _ in range(20)]
    assert policy.clone()._arms == []
    assert "c" in repr(policy)


def test_rewards_may_be_of_any_scale():
    plain, scaled = BanditPolicy(Keen(worst=0.0), seed=0), BanditPolicy(Keen(worst=0.0), seed=0)
    rng = np.random.default_rng(7)
    for _ in range(200):
        arm = plain.pull("abc")
        assert scaled.pull("abc") == arm
        reward = rng.random() + (arm == "b")
        plain.update(arm, reward)
        scaled.update(arm, 1e6 * reward - 3e6)
    np.testing.assert_allclose(plain._bandit.probabilities, scaled._bandit.probabilities, atol=1e-6)


def test_burn_in_pulls_each_arm_and_teaches_only_the_range():
    policy = BanditPolicy(Told(), burn_in=3, seed=0)
    pulled = []
    for _ in range(6):
        pulled.append(policy.pull(["a", "b"]))
        policy.update(pulled[-1], 1.0 if pulled[-1] == "a" else 0.0)
    assert sorted(pulled) == ["a", "a", "a", "b", "b", "b"]
    policy.update(policy.pull(["a", "b"]), 0.25)
    assert told(policy) == ((told(policy)[0][0], (-0.25,), (0.5,)),)


def test_a_metric_that_is_an_error_is_a_reward_turned_round():
    policy = BanditPolicy(Told(), reward_obj=metrics.MAE(), seed=0)
    for error in (0.0, 4.0, 1.0):
        policy.update(policy.pull("ab"), 10.0, 10.0 + error)
    assert [losses for _, losses, _ in told(policy)] == [(0.0,), (-0.75,)]


def test_draws_are_those_of_the_seed():
    def pulls(**parameters):
        policy = BanditPolicy(**parameters)
        return [policy.pull(range(9)) for _ in range(20)]

    assert pulls(seed=1) == pulls(seed=1) == pulls(algorithm=Exp3S(random_state=5), seed=1)
    assert pulls(seed=1) != pulls(seed=2)
    assert pulls(algorithm=Exp3S(random_state=5)) == pulls(algorithm=Exp3S(random_state=5))


@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_reward_that_is_none_is_named_and_changes_nothing(reward):
    policy = BanditPolicy(Told(), seed=0)
    policy.update(policy.pull("ab"), 1.0)
    arm, before = policy.pull("ab"), dict(policy._chances)
    with pytest.raises(ValueError, match="the reward is"):
        policy.update(arm, reward)
    assert policy._n == 1
    assert policy._chances == before


def test_a_reward_scaler_and_a_statistic_are_those_of_river():
    policy = BanditPolicy(Keen(worst=0.0), reward_obj=stats.Max(), seed=0)
    for reward in (1.0, 3.0, 2.0):
        policy.update(policy.pull("a"), reward)
    assert policy._rewards["a"].get() == 3.0


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match="no bandit algorithm"):
        BanditPolicy(FixedShare())
    with pytest.raises(ValueError, match="exploration"):
        BanditPolicy(Exp3S(exploration=2.0))
