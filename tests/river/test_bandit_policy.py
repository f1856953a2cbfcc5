"""The bandit algorithms as policies of River."""

import numpy as np
import pytest

pytest.importorskip("river")

from river import bandit, metrics
from support.bandit_experts import Keen, RecordingBandit

from ltm_sklearn.bandits import Exp3S
from ltm_sklearn.river import BanditPolicy


def told(policy):
    return policy._bandit.state_["updates"]


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


def on_range(policy, reward):
    """The loss, from -1 to 0, that a reward is on the range as it is now."""
    return float(policy._seen.rescaled(np.array([-reward]))[0]) - 1.0


def test_scaled_reward_is_learned_with_its_probability():
    policy = BanditPolicy(RecordingBandit([1, 2, 3, 4]), seed=0)
    policy.update(policy.pull("abcd"), -100.0)
    assert told(policy) == ()  # there is no range yet
    policy.update(policy.pull("abcd"), 300.0)
    policy.pull("abcd")
    policy.pull("ab")
    arm = policy.pull("ac")  # the last pull counts
    seat = "abcd".index(arm)
    policy.update(arm, 0.0)
    arms, losses, chances = told(policy)[-1]
    assert arms == (seat,)
    # from [-300, 100] both ends came in by 2 · 400 · 0.05 = 40, so that the loss is 260/320 - 1
    assert losses == pytest.approx([-0.1875])
    assert chances == pytest.approx([[1, 2, 3, 4][seat] / 4])


def test_reward_of_an_arm_that_was_not_pulled_is_not_learned():
    policy = BanditPolicy(RecordingBandit(), seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull("ab"), reward)
    policy.update("b" if policy.pull("ab") == "a" else "a", 0.5)
    assert len(told(policy)) == 1


def test_rewards_belong_to_the_latest_pulls_of_their_arm():
    policy = BanditPolicy(RecordingBandit([1, 1]), seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull("ab"), reward)
    while policy.pull("ab") != "a":
        pass
    assert policy.pull("a") == "a"
    for _ in range(2):
        policy.update("a", 1.0)
    assert [chances for _, _, chances in told(policy)[-2:]] == [(1.0,), (0.5,)]


def test_pulls_that_overlap_keep_their_own_chances():
    policy = BanditPolicy(RecordingBandit([1, 2, 3, 4]), seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull("abcd"), reward)
    assert policy.pull("a") == "a"
    assert policy.pull("bd") in "bd"
    policy.update("a", 1.0)
    assert told(policy)[-1] == ((0,), (-1.0,), (1.0,))


def test_pulls_follow_the_probabilities_of_the_offered_arms():
    policy = BanditPolicy(RecordingBandit([1, 2, 3, 4]), seed=0)
    policy.pull("abcd")
    pulls = [policy.pull("db") for _ in range(2000)]
    assert np.mean([arm == "d" for arm in pulls]) == pytest.approx(2 / 3, abs=0.05)


def test_burn_in_pulls_each_arm_and_teaches_only_the_range():
    policy = BanditPolicy(RecordingBandit(), burn_in=3, seed=0)
    pulled = []
    for _ in range(6):
        pulled.append(policy.pull(["a", "b"]))
        policy.update(pulled[-1], 1.0 if pulled[-1] == "a" else 0.0)
    assert sorted(pulled) == ["a", "a", "a", "b", "b", "b"]
    policy.update(policy.pull(["a", "b"]), 0.25)
    ((_, losses, chances),) = told(policy)
    assert losses == pytest.approx([on_range(policy, 0.25)])
    assert -0.4 < losses[0] < -0.1
    assert chances == (0.5,)


def test_a_metric_that_is_an_error_is_a_reward_turned_round():
    policy = BanditPolicy(RecordingBandit(), reward_obj=metrics.MAE(), seed=0)
    for error in (0.0, 4.0, 1.0):
        policy.update(policy.pull("ab"), 10.0, 10.0 + error)
    # the range [0, 4] came in by 0.4 at both ends: 0.6/3.2 - 1
    assert [losses[0] for _, losses, _ in told(policy)] == pytest.approx([0.0, -0.8125])


def test_draws_are_those_of_the_seed():
    def pulls(**parameters):
        policy = BanditPolicy(**parameters)
        return [policy.pull(range(9)) for _ in range(20)]

    assert pulls(seed=1) == pulls(seed=1) == pulls(algorithm=Exp3S(random_state=5), seed=1)
    assert pulls(seed=1) != pulls(seed=2)
    assert pulls(algorithm=Exp3S(random_state=5)) == pulls(algorithm=Exp3S(random_state=5))
