"""What the bandit policies for River have in common."""

import copy
import datetime
import pickle

import numpy as np
import pytest

pytest.importorskip("river")

from river import (
    bandit,
    base,
    datasets,
    evaluate,
    linear_model,
    metrics,
    model_selection,
    optim,
    preprocessing,
    stats,
    utils,
)
from support.bandit_experts import Keen

from ltm_sklearn.bandits import Exp3
from ltm_sklearn.experts import FixedShare, Hedge
from ltm_sklearn.river import BanditPolicy, ExpertPolicy

pytestmark = pytest.mark.fast_cases(2)

both = pytest.mark.parametrize("policy_of", [BanditPolicy, ExpertPolicy])
N_MODELS = 8


class ReadsNumber(base.Regressor):
    """Says what stands in a column, and learns nothing."""

    def __init__(self, column):
        self.column = column

    def predict_one(self, x):
        return x[self.column]

    def learn_one(self, x, y):
        pass


class ReadsChance(base.Classifier):
    def __init__(self, column):
        self.column = column

    def predict_proba_one(self, x):
        return {True: x[self.column], False: 1.0 - x[self.column]}

    def learn_one(self, x, y):
        pass


def recurring(labels, length=250, n_segments=8):
    """Rows in which columns 1 and 5 take turns in being right; the others know nothing."""
    rng = np.random.default_rng(0)
    for at in range(length * n_segments):
        good = (1, 5)[at // length % 2]
        x = rng.random(N_MODELS) if labels else rng.normal(size=N_MODELS)
        y = bool(rng.random() < 0.5) if labels else float(rng.normal())
        if labels:
            x[good] = 0.9 if y == (rng.random() < 0.95) else 0.1
        else:
            x[good] = y + 0.2 * rng.normal()
        yield dict(enumerate(x.tolist())), y


def score(policy, metric):
    """How good River's model selection with a policy is: accuracy, or the mean absolute error."""
    labels = isinstance(metric, metrics.base.ClassificationMetric)
    selector, model, overall = (
        (model_selection.BanditClassifier, ReadsChance, metrics.Accuracy())
        if labels
        else (model_selection.BanditRegressor, ReadsNumber, metrics.MAE())
    )
    selected = selector([model(at) for at in range(N_MODELS)], metric=metric, policy=policy)
    return evaluate.progressive_val_score(recurring(labels), selected, overall).get()


def rivers_own():
    return bandit.EpsilonGreedy(0.1, seed=0), bandit.UCB(1.0, burn_in=1, seed=0)


@pytest.mark.parametrize(("policy_of", "largest"), [(BanditPolicy, 0.3), (ExpertPolicy, 0.6)])
def test_rivers_bandit_regressor_uses_the_largest_weight(policy_of, largest):
    error = score(policy_of(seed=0), metrics.MAE())
    assert error < largest
    assert error < 0.6 * min(score(policy, metrics.MAE()) for policy in rivers_own())


@pytest.mark.parametrize("metric", [metrics.Accuracy, metrics.LogLoss])
@pytest.mark.parametrize(("policy_of", "least"), [(BanditPolicy, 0.88), (ExpertPolicy, 0.7)])
def test_rivers_bandit_classifier_uses_the_largest_weight(policy_of, least, metric):
    accuracy = score(policy_of(seed=0), metric())
    assert accuracy > least
    assert accuracy > 0.02 + max(score(policy, metric()) for policy in rivers_own())


@both
def test_rivers_bandit_models_train_the_pulled_models(policy_of):
    classifiers = [linear_model.LogisticRegression(optimizer=optim.SGD(rate)) for rate in (1e-6, 1e-1)]
    policy = policy_of(seed=0)
    model = model_selection.BanditClassifier(classifiers, metric=metrics.Accuracy(), policy=policy)
    rows = datasets.Phishing()
    assert evaluate.progressive_val_score(rows, preprocessing.StandardScaler() | model, metrics.Accuracy()).get() > 0.8
    regressors = [linear_model.LinearRegression(optim.SGD(rate), intercept_lr=rate) for rate in (1e-6, 1e-2)]
    model = model_selection.BanditRegressor(regressors, metric=metrics.MAE(), policy=policy)
    evaluate.progressive_val_score(datasets.TrumpApproval(), preprocessing.StandardScaler() | model, metrics.MAE())
    assert model.policy.ranking == [1, 0]
    assert model.best_model is model[1]
    assert model.policy._counts[1] > 2 * model.policy._counts[0]


@both
def test_burn_in_ranks_arms_by_their_rewards(policy_of):
    policy = policy_of(burn_in=3, seed=0)
    assert "without arms" in repr(policy)
    for _ in range(6):
        arm = policy.pull(["a", "b", "c"])
        policy.update(arm, {"a": 1.0, "b": 3.0, "c": 2.0}[arm])
    assert policy.ranking == ["b", "a"]
    assert max(policy._rewards, key=lambda each: policy._rewards[each].get()) == "b"
    assert "Mean: 3." in repr(policy)
    assert policy._counts == {"a": 3, "b": 3}


@both
def test_an_error_is_a_bad_reward_in_the_burn_in_too(policy_of):
    policy = policy_of(burn_in=1, reward_obj=metrics.MAE(), seed=0)
    for error in (2.0, 1.0, 3.0):
        policy.update(policy.pull("abc"), 0.0, error)
    assert policy.ranking == ["b", "a", "c"]


@both
def test_weights_are_not_found_anew_for_each_arm(policy_of, monkeypatch):
    policy = policy_of(seed=0)
    for reward in (0.0, 1.0, 2.0):
        policy.update(policy.pull(range(5)), reward)
    calls, found = [], policy_of._weights_now
    monkeypatch.setattr(policy_of, "_weights_now", lambda self: calls.append(1) or found(self))
    standings = [policy._rewards[arm].get() for arm in policy.ranking]
    assert len(calls) == 1
    assert sum(standings) == pytest.approx(1.0)
    assert standings == sorted(standings, reverse=True)


@both
def test_arms_come_go_and_return_and_all_is_saved(policy_of):
    policy, rng = policy_of(*[Keen(worst=0.0)] * (policy_of is BanditPolicy), seed=0), np.random.default_rng(7)
    for at in range(600):
        arms = ["a", "b"] if at < 200 else ["a", "b", "c"] if at < 400 else ["c", "a"]
        policy.update(arm := policy.pull(arms), float(rng.random() < (0.9 if arm == "c" else 0.2)))
        assert arm in arms
    assert policy.ranking[0] == "c"
    for saved in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert repr(saved) == repr(policy)
        assert saved._rewards["c"].policy is saved
        ours = copy.deepcopy(policy)
        assert [saved.pull("abc") for _ in range(20)] == [ours.pull("abc") for _ in range(20)]
    assert policy.clone()._arms == []
    assert "c" in repr(policy)


@both
def test_arms_may_come_before_the_first_reward(policy_of):
    policy = policy_of(seed=0)
    policy.pull("ab")
    assert policy.pull("abc") in "abc"
    policy.update("z", 1.0)  # never offered
    assert set(policy.ranking) == set("abcz")
    with pytest.raises(ValueError, match="there are no arms to pull"):
        policy.pull([])


@both
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_rewards_may_be_of_any_scale(policy_of, scale):
    plain, scaled = policy_of(seed=0), policy_of(seed=0)
    rng = np.random.default_rng(7)
    for _ in range(200):
        arm = plain.pull("abc")
        assert scaled.pull("abc") == arm
        reward = rng.random() + (arm == "b")
        plain.update(arm, reward)
        scaled.update(arm, scale * reward - 3.0 * scale)
    np.testing.assert_allclose(plain._weights_now(), scaled._weights_now(), atol=1e-6)


@pytest.mark.parametrize(("outlier", "when"), [(-1e6, 10), (-1e308, 0), (1e308, 10)])
@pytest.mark.parametrize(("policy_of", "least"), [(BanditPolicy, 0.7), (ExpertPolicy, 0.55)])
def test_one_outlier_is_soon_forgotten(policy_of, least, outlier, when):
    policy, rng, good = policy_of(seed=0), np.random.default_rng(0), 0
    for at in range(1000):
        arm = policy.pull(range(5))
        policy.update(arm, outlier if at == when else rng.normal(arm == 2, 0.5))
        good += arm == 2
    assert good > least * 1000


@both
def test_the_largest_rewards_that_there_are_can_be_learned(policy_of):
    policy = policy_of(seed=0)
    for _ in range(40):
        policy.update(arm := policy.pull("ab"), 1e308 if arm == "b" else -1e308)
    assert policy.ranking == ["b", "a"]


@both
def test_metric_in_a_window_is_still_a_metric(policy_of):
    plain = policy_of(reward_obj=metrics.MAE(), seed=0)
    rolling = policy_of(reward_obj=utils.Rolling(metrics.MAE, 50), seed=0)
    timed = policy_of(reward_obj=utils.TimeRolling(metrics.MAE, datetime.timedelta(days=1)), seed=0)
    for error in (3.0, 1.0, 2.0, 0.0):
        arms = {policy.pull("ab") for policy in (plain, rolling, timed)}
        assert len(arms) == 1
        for policy in (plain, rolling, timed):
            policy.update(next(iter(arms)), 10.0, 10.0 + error)
    assert plain._seen == rolling._seen == timed._seen
    assert plain._seen.high < 3.1


@both
def test_what_makes_no_single_reward_is_named(policy_of):
    policy = policy_of(seed=0)
    arm = policy.pull("ab")
    with pytest.raises(ValueError, match=r"one reward is needed, got 2: Mean: 0\. is no metric"):
        policy.update(arm, 1.0, 2.0)
    with pytest.raises(ValueError, match="one reward is needed, got 0"):
        policy.update(arm)
    with pytest.raises(ValueError, match="reward_scaler must be None"):
        policy_of(reward_obj=metrics.MAE(), reward_scaler=preprocessing.TargetMinMaxScaler(None))
    assert policy._n == 0


@both
def test_rewards_are_scaled_as_by_river(policy_of):
    policy = policy_of(reward_scaler=preprocessing.TargetMinMaxScaler(None), seed=0)
    theirs = bandit.UCB(1.0, reward_scaler=preprocessing.TargetMinMaxScaler(None))
    for reward in (5.0, 15.0, 10.0, 25.0):
        policy.update(policy.pull("a"), reward)
        theirs.update("a", reward)
    assert policy._rewards["a"].own.get() == theirs._rewards["a"].get() == 0.625
    assert policy._seen.low == -1.0  # and that is what was learned from
    assert policy._seen.high == pytest.approx(-0.14)  # 0 came in by 2 · 0.05, and then by 0.8 · 0.05


@both
def test_statistics_are_updated_with_the_rewards(policy_of):
    policy = policy_of(reward_obj=stats.Max(), seed=0)
    for reward in (1.0, 3.0, 2.0):
        policy.update(policy.pull("a"), reward)
    assert policy._rewards["a"].own.get() == 3.0
    assert str(policy._rewards["a"]) == str(policy._rewards["a"].own)
    assert policy._rewards["a"].get() == pytest.approx(1.0)  # its weight


def contents(policy):
    return pickle.dumps(policy)


@both
@pytest.mark.parametrize("reward", [float("nan"), float("inf")])
def test_invalid_rewards_are_named_and_change_nothing(policy_of, reward):
    policy = policy_of(reward_scaler=preprocessing.TargetStandardScaler(None), seed=0)
    for given in (1.0, 2.0, 4.0):
        policy.update(policy.pull("ab"), given)
    arm, before = policy.pull("ab"), contents(policy)
    with pytest.raises(ValueError, match="the reward is"):
        policy.update(arm, reward)
    assert contents(policy) == before


@pytest.mark.parametrize(
    ("policy_of", "algorithm"), [(BanditPolicy, Exp3(horizon=3)), (ExpertPolicy, Hedge(horizon=3))]
)
def test_reward_that_the_algorithm_refuses_changes_nothing(policy_of, algorithm):
    policy = policy_of(algorithm, seed=0)
    for reward in (0.0, 1.0, 2.0, 1.0):  # the first makes no range
        policy.update(policy.pull("ab"), reward)
    arm, before = policy.pull("ab"), contents(policy)
    with pytest.raises(ValueError, match="horizon"):
        policy.update(arm, 9.0)
    assert contents(policy) == before


@both
def test_reward_that_rivers_object_refuses_changes_nothing(policy_of):
    policy = policy_of(seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull("ab"), reward)
    arm, before = policy.pull("ab"), contents(policy)
    with pytest.raises(TypeError):
        policy.update(arm, 1.0, colour="red")
    assert contents(policy) == before


@both
def test_each_of_several_pulls_of_an_arm_has_its_reward(policy_of):
    policy = policy_of(seed=0)
    for reward in (0.0, 1.0):
        policy.update(policy.pull(["a"]), reward)
    algorithm = policy._bandit if policy_of is BanditPolicy else policy._weighting
    before = algorithm.n_rounds_
    assert policy.pull(["a"]) == policy.pull(["a"]) == "a"
    for _ in range(3):  # one more than was pulled
        policy.update("a", 0.5)
    assert algorithm.n_rounds_ == before + 2


@both
def test_no_more_than_a_thousand_pulls_wait(policy_of):
    policy = policy_of(seed=0)
    for _ in range(1001):
        policy.pull(["a"])
    assert len(policy._waiting) == 1000


def test_bad_parameters_are_named():
    with pytest.raises(ValueError, match=r"nor the name of an algorithm of ltm_sklearn\.bandits"):
        BanditPolicy(FixedShare())
    with pytest.raises(ValueError, match=r"nor the name of an algorithm of ltm_sklearn\.experts"):
        ExpertPolicy("exp3")
    with pytest.raises(ValueError, match="exploration"):
        ExpertPolicy(exploration=0.0)
    with pytest.raises(ValueError, match="exploration"):
        BanditPolicy(Exp3(exploration=2.0))
    with pytest.raises(
        ValueError, match=r"takes losses from 0 to 1; this policy needs losses from -1 to 0.*loss_range"
    ):
        BanditPolicy(Exp3(loss_range=(0, 1)))
    assert BanditPolicy(Exp3(loss_range=(-1, 0))).pull("a") == "a"
