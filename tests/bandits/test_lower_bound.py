"""The adversary of the lower bound: regret of every bandit, and the losses that it chooses."""

import copy

import numpy as np
import pytest
from support.bandit_algorithms import BANDITS, each_bandit

from ltm_sklearn.bandits import BanditAlgorithm, Exp3, Exp3S, LowerBoundAdversary

T, S, K = 600, 6, 5


class Fixed(BanditAlgorithm):
    """Bandit that plays ``arms[t]`` in round t."""

    def __init__(self, arms, random_state=None):
        self.arms = arms
        self.random_state = random_state

    def _initial_state(self, n_arms):
        return {"n_arms": n_arms}

    def _distribution(self, state):
        return np.eye(state["n_arms"])[self.arms[state["rounds"]]]

    def _next_state(self, state, arms, losses, chances):
        return state


class Clairvoyant(Fixed):
    """Bandit that knows the losses of the round."""

    def _play_rounds(self, state, losses, uniforms):
        return losses.argmin(axis=1), {**state, "rounds": state["rounds"] + len(losses)}


def mean_regret(make, n_games=4):
    games = [
        LowerBoundAdversary(T, S, K, n_simulations=30, random_state=seed).play(make(seed)) for seed in range(n_games)
    ]
    assert len({game.guarantee for game in games}) == 1
    return np.mean([game.regret for game in games]), games[0].guarantee


@each_bandit(BANDITS)
def test_regret_of_every_bandit_is_above_the_lower_bound(make):
    regret, guarantee = mean_regret(make)
    assert guarantee >= np.sqrt(T * K * S) / 16
    assert regret >= guarantee


def test_a_bandit_that_knows_the_losses_has_no_regret():
    regret, guarantee = mean_regret(lambda seed: Clairvoyant(np.zeros(T, dtype=int), seed))
    assert regret == 0.0
    assert guarantee > 0.0


@pytest.mark.parametrize(
    ("n_rounds", "n_segments", "n_arms"), [(1_000, 2, 2), (2_000, 8, 5), (10_000, 30, 40), (999, 7, 3)]
)
def test_the_guarantee_is_that_of_the_theorem_up_to_rounding(n_rounds, n_segments, n_arms):
    bandit = Fixed(np.zeros(n_rounds, dtype=int), 0)
    game = LowerBoundAdversary(n_rounds, n_segments, n_arms, n_simulations=1).play(bandit)
    # of an odd number of segments one is left unused, and 1/(K - 1) is less than the 2/K of the proof
    theorem = np.sqrt(n_rounds * n_arms * (n_segments - n_segments % 2)) / 16
    assert 0.9 * theorem <= game.guarantee <= 1.5 * theorem


@each_bandit(BANDITS)
def test_losses_are_sparse_and_the_benchmark_is_always_best(make):
    game = LowerBoundAdversary(T, S, K, n_simulations=10, random_state=0).play(make())
    assert (np.count_nonzero(game.losses, axis=1) <= 2).all()
    assert set(np.unique(game.losses)) <= {-1.0, -0.5, 0.0}
    assert np.count_nonzero(np.diff(game.benchmark)) <= S - 1
    assert np.array_equal(game.losses[np.arange(T), game.benchmark], game.losses.min(axis=1))
    regret = sum(row[arm] - row.min() for row, arm in zip(game.losses, game.arms, strict=True))
    assert game.regret == pytest.approx(regret)


@each_bandit(BANDITS)
def test_simulations_do_not_change_the_bandit(make):
    game = LowerBoundAdversary(T, S, K, n_simulations=10, random_state=0).play(make())
    assert np.array_equal(make().run(game.losses)[0], game.arms)


def test_simulations_use_other_random_numbers_than_the_bandit():
    taught = Exp3(0.1, 0.5, loss_range=(-1, 0), random_state=0)
    taught.run(np.tile(np.eye(K)[0] * -1.0, (400, 1)))
    games = []
    for seed in range(6):
        bandit = copy.deepcopy(taught)
        bandit.random_ = np.random.default_rng(seed)
        games.append(LowerBoundAdversary(200, 2, K, n_simulations=1, random_state=0).play(bandit))
    assert len({tuple(game.arms) for game in games}) == 6
    assert all(np.array_equal(game.losses, games[0].losses) for game in games)
    assert (games[0].losses == -1.0).any()


def test_a_game_continues_from_the_state_of_the_bandit():
    losses = np.zeros((400, K))
    losses[:, 0] = -1.0
    bandit = Exp3(0.01, 0.5, loss_range=(-1, 0), random_state=0)
    bandit.run(losses)
    game = LowerBoundAdversary(100, 2, K, random_state=0).play(bandit)
    assert bandit.n_rounds_ == 500
    assert game.benchmark[-1] != 0  # the bandit stays with arm 0, so another arm becomes better


def test_a_bandit_that_stays_with_arm_0_meets_a_better_arm():
    game = LowerBoundAdversary(T, S, K, n_simulations=2, random_state=0).play(Fixed(np.zeros(T, dtype=int)))
    assert (game.benchmark != 0).all()
    assert game.regret == 0.5 * T
    starts = game.benchmark[:: T // (S // 2)]
    assert np.array_equal(np.repeat(starts, T // (S // 2)), game.benchmark)


def test_arm_0_stays_best_for_a_bandit_that_often_leaves_it():
    arms = np.arange(T) % 2  # half of the rounds, far more than √(TK/S)
    game = LowerBoundAdversary(T, S, K, n_simulations=2, random_state=0).play(Fixed(arms))
    assert (game.benchmark == 0).all()
    assert game.regret == 0.5 * T / 2


def test_the_rarest_arm_becomes_good_when_it_is_played_least():
    """Arms 1 and 2 are played twice, arm 3 once, and early: it becomes good after that."""
    arms = np.zeros(100, dtype=int)
    arms[[10, 60]], arms[[20, 70]], arms[[4, 30]] = 1, 2, 3
    arms[30] = 0
    game = LowerBoundAdversary(100, 2, 4, n_simulations=2, random_state=0).play(Fixed(arms))
    assert game.benchmark[:5].tolist() == [0] * 5
    assert game.benchmark[5:].tolist() == [3] * 95
    # of two equally rare arms, either becomes good
    arms[4] = 0
    arms[80] = 2
    arms[90] = 1
    arms[95] = 3
    arms[[60, 70, 80]] = 0
    found = {
        int(LowerBoundAdversary(100, 2, 4, n_simulations=2, random_state=seed).play(Fixed(arms)).benchmark[-1])
        for seed in range(12)
    }
    assert found == {2, 3}


def test_random_state_reproduces():
    make = BANDITS["exp3s-rate"]
    first, again = (LowerBoundAdversary(T, S, K, n_simulations=5, random_state=1).play(make()) for _ in range(2))
    assert np.array_equal(first.losses, again.losses)
    assert np.array_equal(first.arms, again.arms)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_rounds": 0}, "n_rounds=0"),
        ({"n_rounds": 2.5}, "n_rounds=2.5"),
        ({"n_rounds": 2}, "n_rounds=2 must be at least half of n_segments=6"),
        ({"n_segments": 1}, "n_segments=1 must be at least 2"),
        ({"n_arms": 1}, "n_arms=1 must be at least 2"),
        ({"n_arms": "a"}, "n_arms='a'"),
        ({"n_simulations": 0}, "n_simulations=0"),
        ({"random_state": "a"}, "random_state"),
    ],
)
def test_invalid_parameters_leave_the_bandit_unchanged(changed, message):
    adversary = LowerBoundAdversary(**{"n_rounds": T, "n_segments": S, "n_arms": K, **changed})
    bandit = Exp3()
    with pytest.raises(ValueError, match=message):
        adversary.play(bandit)
    assert not hasattr(bandit, "state_")


def test_bandits_that_cannot_play_are_refused():
    with pytest.raises(ValueError, match="subclass of BanditAlgorithm"):
        LowerBoundAdversary(T, S, K).play("Exp3")
    other = Exp3S()
    other.draw(3)
    with pytest.raises(ValueError, match="5 columns, but this bandit has 3 arms"):
        LowerBoundAdversary(T, S, K).play(other)
    for bandit, message in ((Exp3(loss_range=(0, 1)), "loss_range"), (Exp3(horizon=T - 1), "horizon of 599")):
        with pytest.raises(ValueError, match=message):
            LowerBoundAdversary(T, S, K).play(bandit)
        assert not hasattr(bandit, "n_arms_")
