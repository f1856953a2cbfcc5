"""The default bandit: memory, robustness, and its rules written out."""

import numpy as np
import pytest

from ltm_sklearn.bandits import Exp3S, LongTermMemoryBandit, _bayes_filter
from ltm_sklearn.bandits._bayes_filter import Levels, levels, likelihood_ratios


def sparse(order, length, n_arms, seed=0):
    """Losses of -1 in nine of ten rounds for one good arm at a time, and 0 for the others."""
    rng = np.random.default_rng(seed)
    good = np.repeat(order, length)
    losses = np.zeros((len(good), n_arms))
    losses[np.arange(len(good)), good] = -(rng.random(len(good)) < 0.9).astype(float)
    return losses, good


def noisy(order, length, n_arms, gap, seed=0):
    rng = np.random.default_rng(seed)
    good = np.repeat(order, length)
    means = np.full((len(good), n_arms), 0.5 + gap / 2)
    means[np.arange(len(good)), good] = 0.5 - gap / 2
    return (rng.random(means.shape) < means).astype(float), good


def mean_regret(bandit, losses, good, n_seeds=10):
    rounds = np.arange(len(losses))
    played = bandit.run(losses, n_seeds)
    return (losses[rounds, played] - losses[rounds, good]).sum(axis=1).mean()


def test_returning_arms_are_found_faster():
    losses, good = sparse([4, 17] * 6, 500, 30)
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=20)
    wrong = (played != good).reshape(20, 12, 500).sum(axis=2).mean(axis=0)
    assert wrong[:2].min() > 15  # 30 arms have to be tried
    assert wrong[6:].max() < 12
    assert wrong[6:].mean() < wrong[:2].mean() / 3


@pytest.mark.parametrize(
    "world", [sparse([3, 9] * 10, 500, 20), noisy([3, 9] * 5, 1000, 20, 0.4)], ids=["sparse", "noisy"]
)
def test_regret_is_half_that_of_a_tuned_exp3s(world):
    losses, good = world
    known = (losses.min(), losses.max())
    others = [
        Exp3S(exploration, switching, rate, loss_range=known, random_state=0)
        for exploration in (0.003, 0.03)
        for switching in (1e-4, 1e-2)
        for rate in (0.03, 0.3, 1.0)
    ]
    best = min(mean_regret(other, losses, good, 3) for other in others)
    assert mean_regret(LongTermMemoryBandit(random_state=0), losses, good) < best / 2


@pytest.mark.parametrize(("scale", "shift"), [(0.5, 0.25), (2.0**-20, 0.0), (1.0, -1.0), (2.0**-8, 0.5)])
def test_scale_and_sign_of_losses_do_not_matter(scale, shift):
    losses, _ = noisy([1, 4, 1], 300, 6, 0.5)
    expected = LongTermMemoryBandit(random_state=3).run(losses)
    np.testing.assert_array_equal(LongTermMemoryBandit(random_state=3).run(scale * losses + shift), expected)


def test_a_better_arm_is_found_while_the_good_one_stays_good():
    losses = np.zeros((20_000, 8))
    losses[:, 2] = -0.5
    losses[2_000:, 5] = -1.0
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=10)
    assert (played[:, -2_000:] == 5).mean() > 0.9


def test_the_best_of_many_similar_arms_is_found():
    rng = np.random.default_rng(0)
    losses = (rng.random((20_000, 10)) < np.linspace(0.1, 0.9, 10)).astype(float)
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=10)
    assert (played[:, -5_000:] == 0).mean() > 0.8


def test_arms_are_played_equally_while_losses_are_equal():
    played = LongTermMemoryBandit(random_state=0).run(np.full((4_000, 4), 0.3))
    assert np.ptp(np.bincount(played[0], minlength=4)) < 40


def test_levels_of_binary_losses_are_learned():
    losses, _ = noisy([2, 5, 2, 5], 2_000, 8, 0.4)
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(losses)
    now = levels(bandit.state_)
    assert now.good == pytest.approx(0.7, abs=0.05)
    assert now.bad == pytest.approx(0.3, abs=0.15)
    assert now.dispersion == pytest.approx(1.0, abs=0.15)


def test_losses_of_small_variance_are_learned_faster():
    rng = np.random.default_rng(0)
    losses = 0.6 + 0.02 * rng.standard_normal((4_000, 6))
    losses[:, 2] -= 0.2
    bandit = LongTermMemoryBandit(random_state=0)
    played = bandit.run(losses)
    assert levels(bandit.state_).dispersion < 0.1
    assert (played[0] != 2).sum() < 120


@pytest.mark.parametrize("scatter", [0.02, 0.002, 0.00005])
def test_outliers_do_not_hide_small_differences(scatter):
    rng = np.random.default_rng(1)
    losses = 0.45 + scatter * rng.standard_normal((8_000, 6))
    good = np.repeat([1, 4] * 4, 1_000)
    losses[np.arange(8_000), good] -= 3 * scatter
    losses[500] = 1.0
    losses[501] = -1.0
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=5)
    assert (played == good)[:, 4_000:].mean() > 0.9


@pytest.mark.parametrize("loss", [1.0, 0.25])
def test_a_round_written_out(loss):
    """All steps of a round as formulas, from a state in mid-run."""
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(noisy([1, 2, 1], 40, 4, 0.6)[0])
    state, n_arms, arm, chance = bandit.state_, 4, 2, 0.125
    t = state["rounds"]

    # The range: what lies beyond the levels shrinks, then the loss widens it.
    means = [state["good_loss"] / state["good_count"], state["bad_loss"] / state["bad_count"]]
    low = state["lowest"] + (min(means) - state["lowest"]) / 300
    high = max(state["highest"] - (state["highest"] - max(means)) / 300, loss)
    x = (high - loss) / (high - low)

    # The levels, with a prior of ten gains on each.
    width, c = high - low, state["good_count"]
    good = (7.5 + (high * c - state["good_loss"]) / width) / (10 + c)
    bad = (2.5 + (high * state["bad_count"] - state["bad_loss"]) / width) / (10 + state["bad_count"])
    dispersion = min((10 + state["good_squares"] / width**2 / (good * (1 - good))) / (10 + c), 1.0)
    assert 0.1 * np.sqrt(dispersion) < good - bad  # no limit is reached
    log_ratio = (x * np.log(good / bad) + (1 - x) * np.log((1 - good) / (1 - bad))) / dispersion
    ratio = np.exp(log_ratio)
    assert 0 < abs(log_ratio) < 5

    # The filter: six cells, weighted by their evidence.
    alphas, theta = [1 / (t + 2), 1e-3, 3e-3, 1e-2, 3e-2, 1e-1], max(1e-4, 1 / (t + 2))
    prior = np.array([32, 16, 8, 4, 2, 1]) / 63
    belief, tracked, remembered = np.empty(6), np.empty((6, 4)), np.empty((6, 4))
    posteriors = np.empty((6, 4))
    for k, alpha in enumerate(alphas):
        w, v = state["tracked"][k].copy(), state["remembered"][k]
        w[arm] *= ratio
        belief[k] = state["belief"][k] * w.sum()
        posteriors[k] = w / w.sum()
        tracked[k] = (1 - alpha) * posteriors[k] + alpha * (0.95 * v + 0.05 / n_arms)
        remembered[k] = (1 - theta) * v + theta * posteriors[k]
    belief /= belief.sum()
    is_good = sum(belief[k] * posteriors[k][arm] for k in range(6))

    # The master and Share-theta.
    proposals = bandit._proposals(state)
    trust = state["trust"] * np.exp(0.05 * proposals[:, arm] * x / (chance + 0.01))
    weights = state["weights"].copy()
    weights[arm] *= np.exp(0.03 * x / (chance + 0.001))
    weights /= weights.sum()

    bandit.update(arm, loss, probability=chance)
    expected = {
        "tracked": tracked,
        "remembered": remembered,
        "belief": (1 - 1e-5) * belief + 1e-5 * prior,
        "lowest": low,
        "highest": high,
        "good_count": 0.9997 * c + is_good,
        "good_loss": 0.9997 * state["good_loss"] + is_good * loss,
        "good_squares": 0.9997 * state["good_squares"] + is_good * (loss - (high - width * good)) ** 2,
        "bad_count": 0.9997 * state["bad_count"] + 1 - is_good,
        "bad_loss": 0.9997 * state["bad_loss"] + (1 - is_good) * loss,
        "weights": (1 - 1e-3) * weights + 1e-3 * (0.95 * state["memory"] + 0.05 / n_arms),
        "memory": (1 - 1e-4) * state["memory"] + 1e-4 * weights,
        "pulls": state["pulls"] + np.eye(4)[arm],
        "sums": state["sums"] + loss * np.eye(4)[arm],
        "trust": (1 - 5e-4) * trust / trust.sum() + 5e-4 * np.array([0.8, 0.1, 0.1]),
        "rounds": t + 1,
    }
    assert expected.keys() == bandit.state_.keys()
    for name, value in expected.items():
        np.testing.assert_allclose(bandit.state_[name], value, rtol=1e-12, err_msg=name)


def test_proposals_written_out():
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(noisy([1, 2, 1], 40, 4, 0.6)[0])
    state, t = bandit.state_, bandit.state_["rounds"]
    belief = state["belief"]
    mode = (belief @ state["tracked"]) ** 2
    mode /= mode.sum()
    before = (belief @ state["remembered"]) * (1 - mode)
    before /= before.sum()
    others = min(0.3 * belief @ [1 / (t + 2), 1e-3, 3e-3, 1e-2, 3e-2, 1e-1] + 0.1 / np.sqrt(t + 1), 0.1)
    good, bad, _ = levels(state)
    search = 0.003 * min((1 - good) / (good - bad), 1) ** 2
    gains = (state["highest"] - state["sums"] / state["pulls"]) / (state["highest"] - state["lowest"])
    bounds = gains + np.sqrt(0.1 * np.log(state["pulls"].sum()) / state["pulls"])
    expected = [
        (1 - others - search) * mode + others * (0.8 * before + 0.05) + search / 4,
        0.999 * state["weights"] + 0.001 / 4,
        np.eye(4)[bounds.argmax()],
    ]
    np.testing.assert_allclose(bandit._proposals(state), expected, rtol=1e-12)
    np.testing.assert_allclose(bandit.probabilities, state["trust"] @ expected, rtol=1e-12)


def test_limits_of_levels_and_likelihood_ratios():
    """Levels keep a distance, and stay away from 0 and 1; no loss changes odds by more than e^5."""
    same = {"highest": 1.0, "lowest": 0.0, "good_count": 1e6, "good_loss": 5e5, "bad_count": 1e6, "bad_loss": 5e5}
    now = levels({**same, "good_squares": 2.5e5})
    assert now.good - now.bad == pytest.approx(0.1)
    assert now.good + now.bad == pytest.approx(1.0)
    now = levels({**same, "good_squares": 6.25e4})  # dispersion 1/4
    assert now.good - now.bad == pytest.approx(0.05, rel=1e-3)
    far = {**same, "good_loss": 0.0, "bad_loss": 1e6, "good_squares": 0.0}
    now = levels(far)
    assert now == (0.995, 0.005, 1e-3)
    np.testing.assert_allclose(likelihood_ratios(now, np.array([0.0, 1.0])), np.exp([-5.0, 5.0]))
    ratio = likelihood_ratios(Levels(0.6, 0.4, 0.5), np.array([0.8]))
    np.testing.assert_allclose(ratio, np.exp((0.8 * np.log(1.5) - 0.2 * np.log(1.5)) / 0.5))
    few = levels({**far, "good_count": 10.0, "bad_count": 10.0, "bad_loss": 10.0})
    assert few.good == pytest.approx(0.875)
    assert few.bad == pytest.approx(0.125)


def test_a_new_arm_gets_an_equal_share_of_all_distributions():
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(noisy([1, 2, 1], 40, 4, 0.6)[0])
    before = bandit.state_
    bandit.add_arm()
    for name in ("tracked", "remembered", "weights", "memory"):
        np.testing.assert_allclose(bandit.state_[name][..., -1], 0.2)
        np.testing.assert_allclose(bandit.state_[name][..., :-1], 0.8 * before[name])
    assert bandit.state_["pulls"][-1] == 0


def test_the_switching_rate_is_learned():
    """The slowest cell dominates if the good arm stays, a fast one if it changes often."""
    slow = LongTermMemoryBandit(random_state=0)
    slow.run(sparse([3], 20_000, 10)[0])
    fast = LongTermMemoryBandit(random_state=0)
    fast.run(sparse([3, 7] * 500, 20, 10)[0])
    assert slow.state_["belief"].argmax() == 0
    assert _bayes_filter.SWITCHING[fast.state_["belief"].argmax()] >= 0.01


@pytest.mark.exhaustive
def test_several_queries_per_round_speed_up_learning():
    losses, good = noisy([1, 6, 1, 6, 1, 6], 300, 8, 0.4)
    wrong_draws = {}
    for n_queries in (1, 4):
        wrong_draws[n_queries] = []
        for seed in range(5):
            bandit = LongTermMemoryBandit(random_state=seed)
            wrong = 0
            for row, best in zip(losses, good, strict=True):
                arms = bandit.draw(8, n_queries=n_queries)
                bandit.update(arms, row[arms])
                wrong += arms[0] != best
            wrong_draws[n_queries].append(wrong)
    assert np.mean(wrong_draws[4]) < 0.8 * np.mean(wrong_draws[1])
