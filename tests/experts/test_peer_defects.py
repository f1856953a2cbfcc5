"""Defects that other libraries' weights have had, and the returning-regime test that memory must pass."""

import copy
import math

import numpy as np
import pytest
from sklearn.base import clone
from support.expert_algorithms import (
    ALGORITHMS,
    ANY_SIZE,
    REGRET_BASED,
    K,
    assert_distribution,
    for_each,
    random_losses,
    sleepy_losses,
)

from ltm_sklearn import experts
from ltm_sklearn.experts import BOA, AdaNormalHedge, FixedShare, LongTermMemory, MixingPastPosteriors, ShareTheta

pytestmark = pytest.mark.fast_cases(3)

# An exponentially weighted ensemble whose weights start at 1 each, underflow together and never come back ---


@for_each(ANY_SIZE)
def test_three_experts_that_say_one_mix_to_one(make):
    algorithm = make()
    predictions = np.ones(3)
    for _ in range(20):
        np.testing.assert_allclose(algorithm.weights(3) @ predictions, 1.0, rtol=1e-12)
        algorithm.update(np.full(3, 0.25))


@for_each(ALGORITHMS)
def test_losses_all_at_the_top_do_not_kill_the_weights(make):
    """Squared errors near 100 drove all weights to 0, and the mixture with them."""
    algorithm = make()
    assert_distribution(algorithm.run(np.full((150, K), 1.0 - 1e-16)))
    weights = algorithm.run(np.tile([1.0, 0.0, 1.0, 1.0], (50, 1)))
    assert_distribution(weights)
    assert algorithm.weights().argmax() == 1


HOT = {name: ALGORITHMS[name] for name in ("hedge-0-rate", "prod-rate", "fixed-share-rates", "best-tight")}


@for_each(HOT)
def test_high_rate_does_not_lose_experts_for_good(make):
    algorithm = make()
    algorithm.run(np.tile([0.0, 1.0, 1.0, 1.0], (1200, 1)))
    assert algorithm.weights()[1] < 1e-2
    algorithm.run(np.tile([1.0, 0.0, 1.0, 1.0], (1800, 1)))
    assert algorithm.weights()[1] > 0.9


def test_weight_of_exactly_zero_returns():
    algorithm = experts.Hedge(rate=50.0)
    algorithm.run(np.tile([0.0, 1.0], (40, 1)))
    assert algorithm.weights()[1] == 0.0
    algorithm.run(np.tile([1.0, 0.0], (41, 1)))
    assert algorithm.weights()[1] > 0.9


@pytest.mark.parametrize("switching", [0.0, 1e-3, None])
@pytest.mark.parametrize("algorithm", [FixedShare, ShareTheta, MixingPastPosteriors])
def test_tracker_with_a_high_rate_finds_an_expert_again(algorithm, switching):
    """Also if it never shares: the weights have a floor of 1e-100, made up for in 29 rounds."""
    tracker = algorithm(rate=8.0, switching=switching)
    tracker.run(np.tile([0.0, 1.0], (500, 1)))
    tracker.run(np.tile([1.0, 0.0], (100, 1)))
    assert tracker.weights()[1] > 0.9


# A bandit that took the largest error for the best ----------------------------------------------------------


@for_each(ALGORITHMS)
def test_small_losses_are_preferred_to_large_ones(make):
    algorithm = make()
    algorithm.run(np.tile([0.9, 0.1, 0.6, 0.4], (100, 1)))
    weights = algorithm.weights()
    assert weights.argmax() == 1
    assert weights[1] > 1 / K
    assert weights[0] < 1 / K


# Clones that keep what was learned --------------------------------------------------------------------------


@for_each(ALGORITHMS)
def test_clone_forgets_what_was_learned_and_a_copy_does_not(make):
    algorithm = make()
    algorithm.run(np.tile([1.0, 0.0, 1.0, 1.0], (50, 1)))
    assert np.array_equal(clone(algorithm).weights(K), make().weights(K))
    assert np.array_equal(copy.deepcopy(algorithm).weights(), algorithm.weights())
    assert not np.array_equal(algorithm.weights(), make().weights(K))


# Bernstein online aggregation whose weights shift to the wrong expert when some sleep -----------------------


def boa_by_hand(losses, prior):
    """The rule in plain Python, for one expert after the other; the sleeping are not touched."""
    n_experts = len(prior)
    gain, moment = [0.0] * n_experts, [0.0] * n_experts
    played = []
    for row in losses:
        known = [1.0 / math.sqrt(q) for q in moment if q > 0.0]
        rate = [1.0 / math.sqrt(q) if q > 0.0 else max(known, default=1.0) for q in moment]
        awake = [i for i in range(n_experts) if not math.isnan(row[i])]
        weight = {i: prior[i] * rate[i] * math.exp(rate[i] * gain[i]) for i in awake}
        played.append([weight.get(i, 0.0) / sum(weight.values()) for i in range(n_experts)])
        mixture = sum(played[-1][i] * row[i] for i in awake)
        for i in awake:
            regret = mixture - row[i]
            moment[i] += 2.2 * regret**2
            gain[i] += regret - regret**2 / math.sqrt(moment[i])
    return np.array(played)


@pytest.mark.parametrize("seed", range(5))
def test_boa_with_sleeping_experts_follows_its_rule(seed):
    losses = sleepy_losses(60, K, seed=seed)
    losses[30] = [0.1, np.nan, 0.7, 0.4]
    losses[:2] = [[0.3, 0.2, 0.9, 0.6], [0.8, 0.1, 0.2, 0.5]]
    losses[np.isnan(losses).all(axis=1)] = 0.5
    prior = [0.1, 0.2, 0.3, 0.4]
    played = BOA(prior=prior).run(losses)
    np.testing.assert_allclose(played, boa_by_hand(losses, prior), rtol=1e-9, atol=1e-12)


def test_boa_gives_no_weight_for_having_slept():
    """A sleeper's regret is zero, not rounding error: 1e-17 would make its rate 1e17 and give it all."""
    losses = random_losses(50, K)
    losses[:, 3] = np.nan
    algorithm = BOA()
    algorithm.run(losses)
    assert algorithm.weights()[3] < 0.9
    awake = losses[:, :3]
    rest = algorithm.weights()[:3]
    alone = BOA()
    alone.run(awake)
    np.testing.assert_allclose(rest / rest.sum(), alone.weights(), rtol=1e-9)


@for_each(REGRET_BASED)
def test_experts_that_always_sleep_are_as_if_they_were_not_there(make):
    algorithm, alone = make(), make()
    if np.ndim(algorithm.get_params().get("rate")):
        alone.set_params(rate=np.asarray(alone.rate)[[0, 2]])
    losses = random_losses(60, K)
    losses[:, [1, 3]] = np.nan
    played = algorithm.run(losses)
    assert (played[:, [1, 3]] == 0.0).all()
    np.testing.assert_allclose(played[:, [0, 2]], alone.run(losses[:, [0, 2]]), rtol=1e-9, atol=1e-12)


@for_each(ALGORITHMS)
def test_good_expert_gains_weight_while_others_sleep(make):
    for good in range(K):
        losses = np.ones((60, K))
        losses[:, good] = 0.0
        for t in range(60):
            losses[t, (good + 1 + t % (K - 1)) % K] = np.nan
        algorithm = make()
        algorithm.run(losses)
        assert algorithm.weights().argmax() == good


# NormalHedge that fails on ties, on one expert and on NaN ---------------------------------------------------


@for_each(ALGORITHMS)
def test_ties_are_no_error(make):
    algorithm = make()
    for losses in ([0.5] * K, [0.0] * K, [1.0] * K, [0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]):
        for _ in range(10):
            algorithm.update(losses)
            assert_distribution(algorithm.weights())


@for_each(ANY_SIZE)
def test_one_expert_is_no_error(make):
    algorithm = make()
    for losses in ([0.0], [1.0], [0.3], [np.nan]):
        np.testing.assert_allclose(algorithm.update(losses).weights(), [1.0], rtol=1e-12)


# A vote in which one NaN turns every weight NaN, silently ---------------------------------------------------


@for_each(ALGORITHMS)
def test_one_nan_loss_touches_no_other_expert(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    algorithm.update([0.2, np.nan, 0.7, 0.4])
    weights = algorithm.weights()
    assert_distribution(weights)
    algorithm.run(np.tile([1.0, 0.0, 1.0, 1.0], (100, 1)))
    assert algorithm.weights().argmax() == 1  # and it comes back


@for_each(ALGORITHMS)
def test_nan_all_over_the_table_leaves_numbers(make):
    algorithm = make()
    losses = sleepy_losses(100, K)
    assert_distribution(algorithm.run(losses))
    assert_distribution(algorithm.weights())


# AdaNormalHedge with C - 1 where the paper has C + 1 --------------------------------------------------------


def ada_normal_hedge_by_hand(losses, prior):
    def potential(regret, magnitude):
        return math.exp(max(regret, 0.0) ** 2 / (3.0 * magnitude))

    def wanted(regret, magnitude):
        return (potential(regret + 1, magnitude + 1) - potential(regret - 1, magnitude + 1)) / 2

    n_experts = len(prior)
    regret, magnitude = [0.0] * n_experts, [0.0] * n_experts
    played = []
    for row in losses:
        weight = [prior[i] * wanted(regret[i], magnitude[i]) for i in range(n_experts)]
        total = sum(weight)
        played.append([w / total for w in weight] if total > 0.0 else list(prior))
        mixture = sum(p * loss for p, loss in zip(played[-1], row, strict=True))
        for i in range(n_experts):
            regret[i] += mixture - row[i]
            magnitude[i] += abs(mixture - row[i])
    return np.array(played)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("prior", [[0.25] * 4, [0.1, 0.2, 0.3, 0.4]], ids=["uniform", "given"])
def test_ada_normal_hedge_is_the_papers(seed, prior):
    losses = random_losses(200, 4, seed=seed)
    losses[:, seed % 4] *= 0.6
    expected = ada_normal_hedge_by_hand(losses, prior)
    np.testing.assert_allclose(AdaNormalHedge(prior=prior).run(losses), expected, rtol=1e-9)


# Ensembles that learn a returning regime anew each time -----------------------------------------------------

PHASE, N_PHASES = 500, 6
MEMORY = {
    "share-theta": lambda: ShareTheta(rate=1.0, switching=0.01, memory=1e-3),
    "past-uniform": lambda: MixingPastPosteriors(rate=1.0, switching=0.01),
    "past-decaying": lambda: MixingPastPosteriors(rate=1.0, switching=0.01, past="decaying"),
    "long-term-memory": lambda: LongTermMemory(),
}


def costs_of_phases(algorithm, n_others=0):
    """Two experts are right in turn, any others never; what is lost in each phase."""
    losses = np.ones((N_PHASES * PHASE, 2 + n_others))
    phase = np.arange(len(losses)) // PHASE
    losses[np.arange(len(losses)), phase % 2] = 0.0
    lost = (algorithm.run(losses) * losses).sum(axis=1)
    return lost.reshape(N_PHASES, PHASE).sum(axis=1)


@for_each(MEMORY)
@pytest.mark.parametrize("n_others", [0, 48])
def test_returning_regimes_get_cheaper(make, n_others):
    costs = costs_of_phases(make(), n_others)
    assert (costs[2:] < costs[1]).all()  # every return is cheaper than the first switch
    assert (costs[3:] <= 1.1 * costs[1:-2]).all()  # nor does a regime get dearer from return to return
    assert costs.max() < 25  # what a rolling choice of the best pays each time


@pytest.mark.parametrize("n_others", [0, 48])
def test_default_gets_cheaper_with_every_return(n_others):
    costs = costs_of_phases(LongTermMemory(), n_others)
    assert (costs[2:] < 0.7 * costs[1]).all()
    assert (costs[3:] < costs[1:-2]).all()


def test_fixed_share_does_not_remember():
    """So that the test above says something: without memory each return costs what the first switch did."""
    costs = costs_of_phases(FixedShare(rate=1.0, switching=0.01), n_others=48)
    np.testing.assert_allclose(costs[2:], costs[1], rtol=1e-3)


@for_each({name: ALGORITHMS[name] for name in ("best-paper", "best-tight", "simple-rate")})
def test_returning_regimes_do_not_cost_a_reduction_more(make):
    costs = costs_of_phases(make(), n_others=2)
    assert (costs[3:] <= costs[1] + 1.0).all()
