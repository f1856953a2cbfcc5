"""The default bandit: what it learns, and that it remembers."""

import numpy as np
import pytest

from ltm_sklearn.bandits import Exp3S, LongTermMemoryBandit
from ltm_sklearn.bandits import _filter as filter_module
from ltm_sklearn.bandits._filter import BELIEF, NOVELTY, initial_filter, levels, likelihood_ratios, next_filter


def sparse(order, length, n_arms, seed=0):
    """One good arm at a time, which brings 1 in nine of ten rounds; the others bring nothing."""
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


def test_returns_get_cheaper():
    losses, good = sparse([4, 17] * 6, 500, 30)
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=20)
    lost = (played != good).reshape(20, 12, 500).sum(axis=2).mean(axis=0)
    assert lost[:2].min() > 15  # 30 arms have to be tried
    assert lost[6:].max() < 12
    assert lost[6:].mean() < lost[:2].mean() / 3


@pytest.mark.parametrize(
    "world", [sparse([3, 9] * 10, 500, 20), noisy([3, 9] * 5, 1000, 20, 0.4)], ids=["sparse", "noisy"]
)
def test_below_a_tuned_rival_without_memory(world):
    losses, good = world
    known = (losses.min(), losses.max())
    rivals = [
        Exp3S(exploration, switching, rate, loss_range=known, random_state=0)
        for exploration in (0.003, 0.03)
        for switching in (1e-4, 1e-2)
        for rate in (0.03, 0.3, 1.0)
    ]
    best = min(mean_regret(rival, losses, good, 3) for rival in rivals)
    assert mean_regret(LongTermMemoryBandit(random_state=0), losses, good) < best / 2


@pytest.mark.parametrize(("scale", "shift"), [(0.5, 0.25), (2.0**-20, 0.0), (1.0, -1.0), (2.0**-8, 0.5)])
def test_unit_and_sign_of_losses_do_not_matter(scale, shift):
    losses, _ = noisy([1, 4, 1], 300, 6, 0.5)
    expected = LongTermMemoryBandit(random_state=3).run(losses)
    np.testing.assert_array_equal(LongTermMemoryBandit(random_state=3).run(scale * losses + shift), expected)


def test_a_better_arm_is_found_while_the_old_one_stays_as_it_was():
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


def test_a_newcomer_that_is_better_is_found():
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(np.tile([0.4, 0.6, 0.5], (2_000, 1)))
    assert bandit.add_arm() == 3
    played = bandit.run(np.tile([0.4, 0.6, 0.5, 0.1], (2_000, 1)))
    assert (played[0, -200:] == 3).mean() > 0.9


def test_nothing_is_preferred_while_all_losses_are_the_same():
    played = LongTermMemoryBandit(random_state=0).run(np.full((4_000, 4), 0.3))
    assert np.ptp(np.bincount(played[0], minlength=4)) < 40


def test_levels_of_coins_are_learned():
    losses, _ = noisy([2, 5, 2, 5], 2_000, 8, 0.4)
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(losses)
    now = levels(bandit.state_)
    assert now.good == pytest.approx(0.7, abs=0.05)
    assert now.bad == pytest.approx(0.3, abs=0.15)
    assert now.dispersion == pytest.approx(1.0, abs=0.15)


def test_numbers_that_scatter_little_tell_more_than_coins():
    rng = np.random.default_rng(0)
    losses = 0.6 + 0.02 * rng.standard_normal((4_000, 6))
    losses[:, 2] -= 0.2
    bandit = LongTermMemoryBandit(random_state=0)
    played = bandit.run(losses)
    assert levels(bandit.state_).dispersion < 0.1
    assert (played[0] != 2).sum() < 120


@pytest.mark.parametrize("scatter", [0.02, 0.002, 0.00005])
def test_one_outlier_does_not_blind_it(scatter):
    rng = np.random.default_rng(1)
    losses = 0.45 + scatter * rng.standard_normal((8_000, 6))
    good = np.repeat([1, 4] * 4, 1_000)
    losses[np.arange(8_000), good] -= 3 * scatter
    losses[500] = 1.0
    losses[501] = -1.0
    played = LongTermMemoryBandit(random_state=0).run(losses, n_seeds=5)
    assert (played == good)[:, 4_000:].mean() > 0.9


def test_a_round_written_out():
    """All of a round in plain numbers, from a state in the middle of things; what the kernel does follows from it."""
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(noisy([1, 2, 1], 40, 4, 0.6)[0])
    state, n_arms, arm, loss, chance = bandit.state_, 4, 2, 1.0, 0.125
    t = state["rounds"]

    # The range: what lies beyond the levels fades, then the loss is taken in.
    means = [state["good_loss"] / state["good_count"], state["bad_loss"] / state["bad_count"]]
    low = state["lowest"] + (min(means) - state["lowest"]) / 300
    high = max(state["highest"] - (state["highest"] - max(means)) / 300, loss)
    x = (high - loss) / (high - low)

    # The levels, with ten imagined gains on each.
    width, c = high - low, state["good_count"]
    good = (7.5 + (high * c - state["good_loss"]) / width) / (10 + c)
    bad = (2.5 + (high * state["bad_count"] - state["bad_loss"]) / width) / (10 + state["bad_count"])
    dispersion = min((10 + state["good_squares"] / width**2 / (good * (1 - good))) / (10 + c), 1.0)
    assert 0.1 * np.sqrt(dispersion) < good - bad  # so that none of the limits is in force
    log_ratio = (x * np.log(good / bad) + (1 - x) * np.log((1 - good) / (1 - bad))) / dispersion
    ratio = np.exp(log_ratio)
    assert -5 < log_ratio < 0

    # The filter: six cells, believed by their evidence.
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


def test_the_limits_of_levels_and_ratios():
    """Levels that would be the same are held apart; none is at an end; no loss changes odds by more than e^5."""
    same = {"highest": 1.0, "lowest": 0.0, "good_count": 1e6, "good_loss": 5e5, "bad_count": 1e6, "bad_loss": 5e5}
    now = levels({**same, "good_squares": 2.5e5})
    assert now.good - now.bad == pytest.approx(0.1)
    assert now.good + now.bad == pytest.approx(1.0)
    apart = {**same, "good_loss": 0.0, "bad_loss": 1e6, "good_squares": 0.0}
    now = levels(apart)
    assert now == (0.995, 0.005, 1e-3)
    np.testing.assert_allclose(likelihood_ratios(now, np.array([0.0, 1.0])), np.exp([-5.0, 5.0]))
    few = levels({**apart, "good_count": 10.0, "bad_count": 10.0, "bad_loss": 10.0})
    assert few.good == pytest.approx(0.875)
    assert few.bad == pytest.approx(0.125)


def test_a_newcomer_gets_an_even_share_of_all_that_is_handed_out():
    bandit = LongTermMemoryBandit(random_state=0)
    bandit.run(noisy([1, 2, 1], 40, 4, 0.6)[0])
    before = bandit.state_
    bandit.add_arm()
    for name in ("tracked", "remembered", "weights", "memory"):
        np.testing.assert_allclose(bandit.state_[name][..., -1], 0.2)
        np.testing.assert_allclose(bandit.state_[name][..., :-1], 0.8 * before[name])
    assert bandit.state_["pulls"][-1] == 0


def test_filter_is_bayes_rule_for_arms_that_change(monkeypatch):
    """Against the forward equations of a hidden Markov chain written out plainly, cells and all."""
    monkeypatch.setattr(filter_module, "MEMORY", 1.0)
    monkeypatch.setattr(filter_module, "NOVELTY", 0.2)
    rng = np.random.default_rng(0)
    n_arms, alphas = 4, filter_module.SWITCHING[1:]
    state = {**initial_filter(n_arms), "lowest": 0.0, "highest": 1.0, "rounds": 0}
    weights = {alpha: np.full(n_arms, 1 / n_arms) for alpha in alphas}
    recalled = {alpha: np.full(n_arms, 1 / n_arms) for alpha in alphas}
    for _ in range(30):
        arm, loss = rng.integers(n_arms), float(rng.random() < 0.5)
        ratio = likelihood_ratios(levels(state), np.array([1.0 - loss]))[0]
        state = next_filter(state, np.array([arm]), np.array([loss]), np.array([1.0 - loss]))
        state["rounds"] += 1
        for alpha in alphas:
            posterior = [w * (ratio if i == arm else 1.0) for i, w in enumerate(weights[alpha])]
            posterior = np.array(posterior) / sum(posterior)
            # With probability 1 - α the good arm stays; or it is one that was good a round ago, or any.
            weights[alpha] = (1 - alpha) * posterior + alpha * (0.8 * recalled[alpha] + 0.2 / n_arms)
            recalled[alpha] = posterior
    for alpha, row in zip(alphas, state["tracked"][1:], strict=True):
        np.testing.assert_allclose(row, weights[alpha], rtol=1e-12)
    assert NOVELTY < 0.2  # what was patched is not the default


def test_belief_in_a_pace_of_changes_follows_bayes_rule():
    state = {**initial_filter(3), "lowest": 0.0, "highest": 1.0, "rounds": 0}
    evidence = np.ones(len(BELIEF))
    rng = np.random.default_rng(2)
    for _ in range(20):
        arm = np.array([rng.integers(3)])
        loss = np.array([float(arm[0] != 1)])
        ratio = likelihood_ratios(levels(state), 1.0 - loss)[0]
        evidence *= 1.0 + state["tracked"][:, arm[0]] * (ratio - 1.0)
        state = {**next_filter(state, arm, loss, 1.0 - loss), "rounds": state["rounds"] + 1}
    expected = BELIEF * evidence / (BELIEF @ evidence)
    np.testing.assert_allclose(state["belief"], expected, rtol=1e-2)  # a little is shared in each round


def test_all_cells_find_the_pace():
    """Where the good arm hardly ever changes the slowest cell is believed, where it changes all the time a fast one."""
    slow = LongTermMemoryBandit(random_state=0)
    slow.run(sparse([3], 20_000, 10)[0])
    fast = LongTermMemoryBandit(random_state=0)
    fast.run(sparse([3, 7] * 500, 20, 10)[0])
    assert slow.state_["belief"].argmax() == 0
    assert filter_module.SWITCHING[fast.state_["belief"].argmax()] >= 0.01


def test_several_arms_seen_teach_more_than_one():
    losses, good = noisy([1, 6, 1, 6, 1, 6], 300, 8, 0.4)
    lost = {}
    for n_queries in (1, 4):
        lost[n_queries] = []
        for seed in range(5):
            bandit = LongTermMemoryBandit(random_state=seed)
            wrong = 0
            for row, best in zip(losses, good, strict=True):
                arms = bandit.draw(8, n_queries=n_queries)
                bandit.update(arms, row[arms])
                wrong += arms[0] != best
            lost[n_queries].append(wrong)
    assert np.mean(lost[4]) < 0.8 * np.mean(lost[1])
