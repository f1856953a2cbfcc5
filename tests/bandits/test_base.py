"""Behaviour that all bandit algorithms share."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare
from sklearn.base import clone
from support.bandit_algorithms import (
    BANDITS,
    COMPARABLE_ROUNDS,
    DETERMINISTIC,
    MODULES_WITH_KERNEL,
    K,
    assert_distribution,
    each_bandit,
    random_losses,
    without_kernel,
)
from support.expert_algorithms import same, snapshot

from ltm_sklearn.bandits import BanditAlgorithm
from ltm_sklearn.bandits._base import draw_from

T = 60


def resumed(bandit):
    return pickle.loads(pickle.dumps(bandit))


def assert_close(left, right, tolerance=1e-9):
    assert left.state_.keys() == right.state_.keys()
    for name, value in right.state_.items():
        np.testing.assert_allclose(left.state_[name], value, rtol=tolerance, atol=tolerance, err_msg=name)
    assert left.random_.bit_generator.state == right.random_.bit_generator.state


def started(make, n_rounds=20):
    bandit = make()
    bandit.run(random_losses(n_rounds))
    return bandit


# run, loop, split, resume ----------------------------------------------------------------------------------------


@each_bandit(BANDITS)
@pytest.mark.parametrize("between", [lambda bandit: bandit, resumed], ids=["plain", "pickled"])
def test_run_equals_a_loop_of_draw_and_update(make, between):
    losses = random_losses(T)
    ran, looped = make(), make()
    played = ran.run(losses)
    assert played.shape == (1, T)
    for row, expected in zip(losses, played[0], strict=True):
        arm = looped.draw(K)
        looped = between(looped)
        looped.update(arm, row[arm])
        assert arm == expected
    assert ran.n_rounds_ == looped.n_rounds_ == T
    assert_close(ran, looped)


@each_bandit(BANDITS)
@pytest.mark.parametrize("cuts", [[0, 2, 3, 40], list(range(T))], ids=["few", "all"])
def test_a_run_equals_its_parts_before_and_after_pickling(make, cuts):
    losses = random_losses(T)
    whole = make()
    played = whole.run(losses)
    split, pickled = make(), make()
    for part in np.split(losses, cuts):
        before = pickle.dumps(pickled)
        arms = split.run(part)
        pickled = pickle.loads(before)
        assert np.array_equal(arms, pickled.run(part))
        assert np.array_equal(arms, played[:, split.n_rounds_ - len(part) : split.n_rounds_])
    assert_close(split, whole)
    assert_close(pickled, whole)


@each_bandit(BANDITS)
def test_rewards_are_minus_losses(make):
    losses = random_losses(T)
    by_loss, by_reward = make(), make()
    assert np.array_equal(by_loss.run(losses), by_reward.run(rewards=-losses))
    arm = by_loss.draw()
    by_loss.update(arm, 0.25)
    by_reward.draw()
    by_reward.update(arm, reward=-0.25)
    assert same(snapshot(by_loss), snapshot(by_reward))


@each_bandit(BANDITS)
def test_run_takes_read_only_and_strided_losses_unchanged(make):
    losses = random_losses(2 * T)
    kept = losses.copy()
    losses.flags.writeable = False
    expected = make().run(kept[::2])
    assert np.array_equal(make().run(losses[::2]), expected)
    assert np.array_equal(make().run(np.asfortranarray(kept[::2])), expected)
    assert np.array_equal(make().run(kept[::2].tolist()), expected)
    assert np.array_equal(losses, kept)


# The compiled rounds ---------------------------------------------------------------------------------------------


def test_the_kernels_are_compiled():
    assert all(module.kernel is not None for module in MODULES_WITH_KERNEL)


@each_bandit(BANDITS, "name")
def test_compiled_equals_numpy(name, monkeypatch):
    losses = random_losses(COMPARABLE_ROUNDS.get(name, 3_000), 7)
    fast, slow = BANDITS[name](), BANDITS[name]()
    played = fast.run(losses)
    without_kernel(monkeypatch)
    assert np.array_equal(played, slow.run(losses))
    assert_close(fast, slow)


@example(seed=0, n_arms=1, n_before=30)
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), n_arms=st.integers(1, 9), n_before=st.integers(0, 200_000))
@each_bandit(BANDITS, "name")
def test_compiled_equals_numpy_from_any_state(name, seed, n_arms, n_before, monkeypatch):
    rng = np.random.default_rng(seed)
    kind = rng.integers(3)
    rows = rng.uniform(-1, 1, (20, n_arms)) if kind else rng.integers(-1, 2, (20, n_arms)).astype(float)
    before = np.repeat(rows, n_before // 200 + 1, axis=0)[: n_before // 10]
    fast = BANDITS[name](seed)
    fast.run(before[:0].reshape(0, n_arms))
    fast.run(before)
    slow = resumed(fast)
    losses = np.clip(rng.normal(rows[0], 0.3, (60, n_arms)), -1, 1) if kind == 2 else rows
    played = fast.run(losses)
    with monkeypatch.context() as patched:
        without_kernel(patched)
        assert np.array_equal(played, slow.run(losses))
    assert_close(fast, slow)


@each_bandit(BANDITS)
def test_a_subclass_with_another_rule_runs_without_kernel(make):
    base = type(make())

    class Lazy(base):
        def _distribution(self, state):
            return np.eye(K)[1]

    lazy = Lazy(**make().get_params())
    assert set(lazy.run(random_losses(20)).ravel()) == {1}


@each_bandit(BANDITS)
def test_probabilities_stay_a_distribution_for_a_million_rounds(make):
    """Long stretches of the best and of the worst losses, then another arm is good."""
    bandit = make()
    for value, good in ((-1.0, 0), (1.0, 1), (0.0, 2), (-1.0, 2), (1.0, 0)):
        losses = np.full((200_000, 3), value)
        losses[:, good] = -1.0
        bandit.run(losses)
        assert_distribution(bandit.probabilities, 3)
        for entry in bandit.state_.values():
            assert np.isfinite(entry).all()
    assert bandit.n_rounds_ == 1_000_000


# Parameters ------------------------------------------------------------------------------------------------------


@each_bandit(BANDITS)
def test_parameters_can_be_read_set_and_shown(make):
    bandit = make()
    params = bandit.get_params()
    assert "random_state" in params
    assert type(bandit)(**params).get_params() == params
    assert clone(bandit).set_params(random_state=5).random_state == 5
    assert type(bandit).__name__ in repr(bandit)
    with pytest.raises(ValueError, match="nonsense"):
        bandit.set_params(nonsense=1)
    losses = random_losses(T)
    played = bandit.run(losses)
    with pytest.raises(ValueError, match="after the first round"):
        bandit.set_params(random_state=5)
    fresh = clone(bandit)
    assert not hasattr(fresh, "state_")
    assert fresh.n_rounds_ == 0
    assert np.array_equal(fresh.run(losses), played)


@each_bandit(BANDITS)
def test_random_state_reproduces_and_other_seeds_differ(make):
    losses = random_losses(200)
    assert np.array_equal(make(3).run(losses), make(3).run(losses))
    assert not np.array_equal(make(3).run(losses), make(4).run(losses))
    state = np.random.RandomState(3)
    assert not np.array_equal(make(state).run(losses), make(state).run(losses))


@each_bandit(BANDITS, "name")
def test_further_seeds_differ_and_do_not_change_the_bandit(name):
    make = BANDITS[name]
    losses = random_losses(150)
    once, often = started(make), started(make)
    first = once.run(losses)
    several = often.run(losses, n_seeds=5)
    assert several.shape == (5, 150)
    assert np.array_equal(several[0], first[0])
    assert same(once.state_, often.state_)
    assert once.random_.bit_generator.state == often.random_.bit_generator.state
    assert np.array_equal(once.run(losses), often.run(losses))
    fresh = make().run(losses, n_seeds=5)
    if name in DETERMINISTIC:  # these draw at random only while arms are unknown
        assert len({tuple(row) for row in fresh}) > 1
    else:
        assert len({tuple(row) for row in several}) == len({tuple(row) for row in fresh}) == 5


# Draws -----------------------------------------------------------------------------------------------------------


def test_an_arm_with_probability_zero_is_never_drawn():
    """The ends of the range of random numbers included."""
    chances = np.array([0.0, 0.5, 0.0, 0.5, 0.0])
    assert [draw_from(chances, uniform) for uniform in (0.0, 0.25, 0.5, 1.0 - 2**-53)] == [1, 1, 3, 3]
    assert draw_from(np.array([1.0]), 1.0 - 2**-53) == 0


@each_bandit(BANDITS)
def test_run_discards_a_waiting_draw(make):
    bandit = started(make)
    arm = bandit.draw()
    bandit.run(random_losses(3))
    with pytest.raises(ValueError, match="no draw waits"):
        bandit.update(arm, 0.5)


@each_bandit(BANDITS)
@pytest.mark.parametrize("awake", [None, [True, False, True, True]], ids=["awake", "asleep"])
def test_arms_are_drawn_with_the_stated_probabilities(make, awake):
    bandit = started(make)
    expected = bandit.probabilities if awake is None else bandit._awake_distribution(bandit.state_, np.array(awake))
    assert_distribution(expected, K)
    counts = np.bincount([bandit.draw(awake=awake) for _ in range(2_000)], minlength=K)
    assert (counts[expected == 0.0] == 0).all()
    drawn = expected > 0.0
    if drawn.sum() > 1:
        assert chisquare(counts[drawn], 2_000 * expected[drawn]).pvalue > 1e-4


@each_bandit(BANDITS)
def test_queried_arms_differ_and_have_the_stated_chances(make):
    bandit = started(make)
    n, first = 3_000, bandit.probabilities
    counts, firsts = np.zeros(K), np.zeros(K)
    claimed = np.full(K, np.nan)
    for _ in range(n):
        arms = bandit.draw(n_queries=3)
        assert len(set(arms.tolist())) == 3
        counts[arms] += 1
        firsts[arms[0]] += 1
        claimed[arms] = bandit.drawn_.chances
    np.testing.assert_allclose(claimed, first + (1 - first) * 2 / 3, atol=1e-12)
    error = 4.5 * np.sqrt(n * 0.25)
    np.testing.assert_allclose(counts, n * claimed, atol=error)
    np.testing.assert_allclose(firsts, n * first, atol=error)


@each_bandit(BANDITS)
def test_losses_of_queried_arms_are_learned_in_any_order(make):
    one, other = started(make), started(make)
    for row in random_losses(20, seed=1):
        arms = one.draw(n_queries=2)
        assert np.array_equal(arms, other.draw(n_queries=2))
        one.update(arms, row[arms])
        other.update(arms.tolist()[::-1], row[arms[::-1]].tolist())
    np.testing.assert_allclose(one.probabilities, other.probabilities, atol=1e-9)
    assert one.n_rounds_ == 40


@each_bandit(BANDITS)
def test_queries_of_all_arms_find_the_best(make):
    bandit = make()
    for _ in range(300):
        arms = bandit.draw(K, n_queries=K)
        bandit.update(arms, np.where(arms == 2, -1.0, 1.0))
    assert bandit.probabilities.argmax() == 2


@each_bandit(BANDITS)
def test_sleeping_arms_are_never_drawn(make):
    bandit = make()
    rng = np.random.default_rng(0)
    for row in random_losses(100):
        awake = rng.random(K) < 0.4
        awake[rng.integers(K)] = True
        n_queries = int(rng.integers(1, awake.sum() + 1))
        arms = bandit.draw(K, awake=awake, n_queries=n_queries)
        assert awake[arms].all()
        bandit.update(arms, row[arms])
        assert_distribution(bandit.probabilities, K)


@each_bandit(BANDITS)
def test_a_single_arm_is_always_drawn(make):
    bandit = make()
    assert set(bandit.run(random_losses(20, 1)).ravel()) == {0}
    assert bandit.draw(awake=[True], n_queries=1).tolist() == [0]
    assert bandit.probabilities.tolist() == [1.0]


@each_bandit(BANDITS)
@pytest.mark.parametrize("value", [-1.0, 0.0, 0.3, 1.0])
def test_equal_losses_keep_all_arms_in_play(make, value):
    bandit = make()
    played = bandit.run(np.full((3_000, 3), value))
    assert (np.bincount(played[0], minlength=3) >= 3).all()
    assert_distribution(bandit.probabilities, 3)


@each_bandit(BANDITS)
def test_the_first_draw_is_uniform(make):
    bandit = make()
    bandit.draw(K)
    np.testing.assert_allclose(bandit.probabilities, 1 / K)


@each_bandit(BANDITS)
def test_a_delayed_loss_is_learned_with_its_own_probability(make):
    prompt, late = started(make), started(make)
    arm = prompt.draw()
    chance = prompt.probabilities[arm]
    prompt.update(arm, 0.5)
    late.draw()
    late.update(arm, 0.5, probability=chance)
    assert same(prompt.state_, late.state_)


@each_bandit(BANDITS)
def test_extreme_probabilities_keep_the_state_finite(make):
    bandit = started(make)
    for chance in (5e-324, 1e-300, 1e-12, 1.0):
        for loss in (-1.0, 1.0):
            bandit.update(1, loss, probability=chance)
            assert_distribution(bandit.probabilities, K)
    bandit.run(random_losses(50))
    assert_distribution(bandit.probabilities, K)


# Added and dropped arms ------------------------------------------------------------------------------------------


@each_bandit(BANDITS)
def test_arms_can_be_added_and_dropped_at_random(make):
    bandit, n_arms = make(), K
    rng = np.random.default_rng(0)
    bandit.draw(K)
    for at in range(200):
        move = rng.random()
        if move < 0.3 and n_arms < 8:
            assert bandit.add_arm() == n_arms
            n_arms += 1
        elif move < 0.6 and n_arms > 1:
            bandit.drop_arm(int(rng.integers(n_arms)))
            n_arms -= 1
        bandit.run(rng.uniform(-1, 1, (int(rng.integers(8)), n_arms)))
        arm = bandit.draw(n_arms)
        if at % 3:
            bandit.update(arm, 1.0)
        if at % 20 == 0:
            bandit = resumed(bandit)
        assert bandit.n_arms_ == n_arms
        assert_distribution(bandit.probabilities, n_arms)


@each_bandit(BANDITS)
def test_adding_and_dropping_an_arm_changes_nothing(make):
    bandit = started(make)
    before = bandit.probabilities
    bandit.drop_arm(bandit.add_arm())
    np.testing.assert_allclose(bandit.probabilities, before, atol=1e-12)


@each_bandit(BANDITS)
def test_indices_behind_a_dropped_arm_fall_by_one(make):
    bandit = make()
    losses = np.ones((400, K))
    losses[:, 2] = -1.0
    bandit.run(losses)
    assert bandit.probabilities.argmax() == 2
    bandit.drop_arm(1)
    assert bandit.probabilities.argmax() == 1
    bandit.drop_arm(2)
    assert bandit.probabilities.argmax() == 1


@each_bandit(BANDITS)
def test_a_new_arm_that_is_best_is_found(make):
    bandit = make()
    losses = np.full((1_000, K), 0.5)
    losses[:, 0] = 0.0
    bandit.run(losses)
    bandit.add_arm()
    played = bandit.run(np.column_stack([np.tile(losses, (20, 1)), np.full(20_000, -1.0)]))
    assert np.mean(played[0, -1_000:] == K) > 1.5 / (K + 1)


@each_bandit(BANDITS)
def test_a_waiting_draw_is_discarded_only_with_its_own_arm(make):
    bandit = started(make)
    bandit.draw(awake=[False, False, True, False])
    bandit.drop_arm(0)
    bandit.add_arm()
    bandit.update(1, 0.5)
    bandit.draw(awake=[False, False, True, False])
    bandit.drop_arm(2)
    with pytest.raises(ValueError, match="no draw"):
        bandit.update(1, 0.5)


# Bad input -------------------------------------------------------------------------------------------------------


def one_bad(value):
    losses = random_losses(5)
    losses[3, 2] = value
    return losses


#: Calls of a bandit that has played 20 rounds and drawn an arm, and a pattern of the message.
BAD_CALLS = {
    "loss-high": (lambda b, arm: b.update(arm, 1.1), r"loss must lie in \[-1, 1\]: round 20, arm \d has 1\.1"),
    "loss-low": (lambda b, arm: b.update(arm, -1.5), r"loss must lie in .*-1\.5"),
    "loss-nan": (lambda b, arm: b.update(arm, np.nan), r"loss must lie in .*nan"),
    "loss-inf": (lambda b, arm: b.update(arm, np.inf), r"loss must lie in .*inf"),
    "loss-text": (lambda b, arm: b.update(arm, "much"), "loss must be numbers"),
    "loss-two": (lambda b, arm: b.update(arm, [0.1, 0.2]), r"loss has shape \(2,\) for 1 arms"),
    "loss-table": (lambda b, arm: b.update(arm, [[0.1]]), "loss has shape"),
    "reward-high": (lambda b, arm: b.update(arm, reward=2.0), "reward must lie in"),
    "reward-text": (lambda b, arm: b.update(arm, reward="a"), "reward must be numbers"),
    "both": (lambda b, arm: b.update(arm, 0.1, reward=0.1), "either a loss or a reward"),
    "neither": (lambda b, arm: b.update(arm), "either a loss or a reward"),
    "arm-unknown": (lambda b, arm: b.update(K, 0.1), "no arm 4: there are 4 arms"),
    "arm-negative": (lambda b, arm: b.update(-1, 0.1), "no arm -1"),
    "arm-text": (lambda b, arm: b.update("a", 0.1), "no arm 'a'"),
    "arm-float": (lambda b, arm: b.update(float(arm), 0.1), "no arm .*integers from 0 to 3"),
    "arm-bool": (lambda b, arm: b.update(True, 0.1), "no arm True"),
    "arm-none": (lambda b, arm: b.update(None, 0.1), "no arm None"),
    "arm-other": (lambda b, arm: b.update((arm + 1) % K, 0.1), "was not drawn"),
    "arms-more": (lambda b, arm: b.update([arm, (arm + 1) % K], [0.1, 0.2]), "was not drawn"),
    "arms-twice": (lambda b, arm: b.update([arm, arm], [0.1, 0.2]), "several distinct arms"),
    "arms-none": (lambda b, arm: b.update([], []), "one arm, or several"),
    "probability-zero": (lambda b, arm: b.update(arm, 0.1, probability=0.0), r"must lie in \(0, 1\]"),
    "probability-high": (lambda b, arm: b.update(arm, 0.1, probability=1.5), r"must lie in \(0, 1\]"),
    "probability-nan": (lambda b, arm: b.update(arm, 0.1, probability=np.nan), r"must lie in \(0, 1\]"),
    "probability-shape": (lambda b, arm: b.update(arm, 0.1, probability=[0.1, 0.2]), "probability has shape"),
    "probability-text": (lambda b, arm: b.update(arm, 0.1, probability="p"), "probability must be numbers"),
    "draw-other-arms": (lambda b, arm: b.draw(K + 1), "n_arms=5, but this bandit has 4 arms"),
    "n_queries-large": (lambda b, arm: b.draw(n_queries=K + 1), "n_queries=5 must be a positive integer up to 4"),
    "n_queries-zero": (lambda b, arm: b.draw(n_queries=0), "n_queries=0"),
    "n_queries-float": (lambda b, arm: b.draw(n_queries=2.0), "n_queries=2.0"),
    "n_queries-awake": (lambda b, arm: b.draw(awake=[True, True, False, False], n_queries=3), "n_queries=3 .*up to 2"),
    "all-asleep": (lambda b, arm: b.draw(awake=[False] * K), "awake is False for all arms"),
    "awake-short": (lambda b, arm: b.draw(awake=[True]), "awake must be True or False for each of 4"),
    "awake-numbers": (lambda b, arm: b.draw(awake=[1.0, 0.0, 1.0, 1.0]), "awake must be True or False"),
    "run-high": (lambda b, arm: b.run(one_bad(1.5)), r"losses must lie in \[-1, 1\]: round 23, arm 2 has 1\.5"),
    "run-nan": (lambda b, arm: b.run(one_bad(np.nan)), "losses must lie in .*round 23, arm 2 has nan"),
    "run-reward": (lambda b, arm: b.run(rewards=one_bad(-2.0)), "rewards must lie in .*round 23, arm 2 has -2"),
    "run-text": (lambda b, arm: b.run([["a"] * K]), "losses must be numbers"),
    "run-ragged": (lambda b, arm: b.run([[0.1] * K, [0.1]]), "losses must be numbers"),
    "run-narrow": (lambda b, arm: b.run(random_losses(5, K - 1)), "losses have 3 columns, but this bandit has 4 arms"),
    "run-row": (lambda b, arm: b.run(np.zeros(K)), r"shape \(n_rounds, n_arms\)"),
    "run-no-arms": (lambda b, arm: b.run(np.zeros((3, 0))), r"shape \(n_rounds, n_arms\)"),
    "run-both": (lambda b, arm: b.run(random_losses(2), rewards=random_losses(2)), "either losses or rewards"),
    "run-neither": (lambda b, arm: b.run(), "either losses or rewards"),
    "run-no-seeds": (lambda b, arm: b.run(random_losses(2), n_seeds=0), "n_seeds=0 must be a positive integer"),
    "run-half-seeds": (lambda b, arm: b.run(random_losses(2), n_seeds=1.5), "n_seeds=1.5"),
    "drop-unknown": (lambda b, arm: b.drop_arm(K), "no arm 4"),
    "drop-text": (lambda b, arm: b.drop_arm("a"), "no arm 'a'"),
    "drop-two": (lambda b, arm: b.drop_arm([0, 1]), "one at a time"),
}


@each_bandit(BANDITS)
def test_messages_of_bad_calls_and_an_unchanged_state(make):
    bandit = started(make)
    arm = bandit.draw()
    untouched = copy.deepcopy(bandit)
    for name, (call, message) in BAD_CALLS.items():
        before = snapshot(bandit)
        with pytest.raises(ValueError, match=message):
            call(bandit, arm)
        assert same(snapshot(bandit), before), name
    bandit.update(arm, 0.5)
    untouched.update(arm, 0.5)
    losses = random_losses(30, seed=2)
    assert np.array_equal(bandit.run(losses), untouched.run(losses))


@each_bandit(BANDITS)
def test_the_last_arm_cannot_be_dropped(make):
    bandit = make()
    bandit.draw(1)
    before = snapshot(bandit)
    with pytest.raises(ValueError, match="last arm"):
        bandit.drop_arm(0)
    assert same(snapshot(bandit), before)


@each_bandit(BANDITS)
def test_a_draw_is_learned_only_once(make):
    bandit = started(make)
    with pytest.raises(ValueError, match="no draw waits"):
        bandit.update(0, 0.1)
    arm = bandit.draw()
    bandit.update(arm, 0.1)
    before = snapshot(bandit)
    with pytest.raises(ValueError, match="no draw waits"):
        bandit.update(arm, 0.1)
    assert same(snapshot(bandit), before)


@each_bandit(BANDITS)
def test_calls_before_the_first_draw_are_refused(make):
    bandit = make()
    for call in (
        lambda: bandit.update(0, 0.1),
        lambda: bandit.add_arm(),
        lambda: bandit.drop_arm(0),
        lambda: bandit.probabilities,
        lambda: bandit.draw(),
        lambda: bandit.draw(0),
        lambda: bandit.draw(2.0),
        lambda: bandit.draw(K, n_queries=K + 1),
        lambda: bandit.draw(K, awake=[False] * K),
        lambda: bandit.run(one_bad(np.nan)),
    ):
        with pytest.raises(ValueError, match=r"arms|n_queries|losses"):
            call()
        assert not hasattr(bandit, "state_")
    assert bandit.n_rounds_ == 0


@each_bandit(BANDITS)
@pytest.mark.parametrize("random_state", ["seed", -1, 1.5, np.random.default_rng(0)], ids=str)
def test_an_invalid_random_state_is_refused(make, random_state):
    bandit = make(random_state)
    for call in (lambda: bandit.draw(K), lambda: bandit.run(random_losses(2))):
        with pytest.raises(ValueError, match="random_state="):
            call()
        assert not hasattr(bandit, "n_arms_")


def test_the_table_of_deterministic_bandits_is_right():
    for name, make in BANDITS.items():
        chances = started(make, 100).probabilities
        assert (set(np.unique(chances)) <= {0.0, chances.max()}) == (name in DETERMINISTIC)


@each_bandit(BANDITS)
def test_a_state_of_wrong_shape_is_refused(make):
    """Compiled rounds would read beyond its arrays."""
    bandit = started(make)
    name = next(name for name, value in bandit.state_.items() if isinstance(value, np.ndarray))
    damaged = bandit.state_[name] + 1_000_000 if name == "seen" else bandit.state_[name][..., :-1]
    bandit.state_ = {**bandit.state_, name: damaged}
    with pytest.raises(ValueError, match=f"{name}.*damaged"):
        bandit.run(random_losses(20))


class Broken(BanditAlgorithm):
    """A custom rule that returns wrong probabilities or raises an error."""

    def __init__(self, chances=None, learns=True, *, random_state=None):
        self.chances = chances
        self.learns = learns
        self.random_state = random_state

    def _initial_state(self, n_arms):
        return {"sums": np.zeros(n_arms)}

    def _distribution(self, state):
        return np.full(len(state["sums"]), 0.25) if self.chances is None else np.array(self.chances)

    def _next_state(self, state, arms, losses, chances):
        if not self.learns:
            raise RuntimeError("no")
        return state


@pytest.mark.parametrize("chances", [[np.nan] * 4, [0.0] * 4, [0.5, 0.5], [-0.5, 0.5, 0.5, 0.5], [np.inf, 0, 0, 0]])
def test_wrong_probabilities_of_a_custom_rule_are_refused(chances):
    for call in (lambda bandit: bandit.draw(K), lambda bandit: bandit.run(random_losses(2))):
        with pytest.raises(ValueError, match=r"Broken\._distribution returned no distribution over 4 arms"):
            call(Broken(chances))


def test_an_error_in_a_custom_rule_changes_nothing():
    bandit = Broken(learns=False, random_state=0)
    arm = bandit.draw(K)
    with pytest.raises(RuntimeError, match="no"):
        bandit.update(arm, 0.5)
    assert bandit.drawn_.arms.tolist() == [arm]
    before = copy.deepcopy(bandit.random_)
    with pytest.raises(RuntimeError, match="no"):
        bandit.run(random_losses(5), n_seeds=3)
    assert bandit.random_.random() == before.random()
    assert bandit.n_rounds_ == 0


@each_bandit(BANDITS)
def test_arms_may_be_any_kind_of_integers(make):
    expected = started(make)
    expected.update([1, 2], [0.5, -0.5], probability=[0.5, 0.5])
    for arms in (np.array([1, 2], dtype=np.int8), (1, 2), pd.Series([1, 2])):
        bandit = started(make)
        bandit.update(arms, [0.5, -0.5], probability=[0.5, 0.5])
        np.testing.assert_array_equal(bandit.probabilities, expected.probabilities)
    bandit.drop_arm(np.array(1))
    assert bandit.n_arms_ == K - 1
