"""Priors, and experts that are added to or dropped from every algorithm."""

import pickle

import numpy as np
import pytest
from support.expert_algorithms import (
    ALGORITHMS,
    ANY_SIZE,
    LOSSES,
    RATE_PER_EXPERT,
    REGRET_BASED,
    K,
    assert_distribution,
    for_each,
    fractional_awake,
    play,
    random_losses,
    sleepy_losses,
)

from ltm_sklearn.experts import FixedShare, LongTermMemory, ShareTheta

pytestmark = pytest.mark.fast_cases(3)


def weights_while_the_pool_changes(algorithm, run, between=lambda algorithm: algorithm):
    """Return the weights of rounds between which experts are added and dropped."""
    played = []
    changes = [
        lambda a: a.add_expert(prior=0.2),
        lambda a: a.drop_expert(1),
        lambda a: (a.drop_expert(K - 1), a.add_expert()),
        lambda a: None,
    ]
    for seed, (n_experts, change) in enumerate(zip((K, K + 1, K, K), changes, strict=True)):
        played.append(run(algorithm, sleepy_losses(12, n_experts, seed), fractional_awake(12, n_experts, seed)))
        algorithm = between(algorithm)
        change(algorithm)
    return [*played, algorithm.weights()[np.newaxis]]


@for_each(ALGORITHMS)
def test_runs_can_be_split_while_the_pool_changes(make):
    def run(algorithm, losses, awake):
        return algorithm.run(losses, awake)

    def split(algorithm, losses, awake):
        return np.concatenate([algorithm.run(losses[:5], awake[:5]), algorithm.run(losses[5:], awake[5:])])

    def pickled(algorithm):
        return pickle.loads(pickle.dumps(algorithm))

    expected = weights_while_the_pool_changes(make(), run)
    for weights in expected:
        assert_distribution(weights)
    for other in (
        weights_while_the_pool_changes(make(), play),
        weights_while_the_pool_changes(make(), split),
        weights_while_the_pool_changes(make(), run, between=pickled),
    ):
        assert all(map(np.array_equal, other, expected))


# Priors -------------------------------------------------------------------------------------------------------------


@for_each(ANY_SIZE)
def test_weights_start_at_the_prior(make):
    np.testing.assert_allclose(make().weights(3), 1 / 3, rtol=1e-12)
    algorithm = make().set_params(prior=[3.0, 1.0, 4.0, 2.0])  # need not sum to one
    np.testing.assert_allclose(algorithm.weights(4), [0.3, 0.1, 0.4, 0.2], rtol=1e-12)


@for_each(RATE_PER_EXPERT)
def test_weights_start_at_prior_times_rate_if_experts_have_rates(make):
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    algorithm = make().set_params(prior=prior)
    expected = prior * algorithm.rate
    np.testing.assert_allclose(algorithm.weights(K), expected / expected.sum(), rtol=1e-12)


#: Rules in which two equal experts weigh as much as one with the sum of their priors. That fails if the rate depends on
#: the number of experts or, as in Adapt-ML-Prod, on the expert's own prior.
SPLITS_PRIOR = {
    name: make
    for name, make in ANY_SIZE.items()
    if name in REGRET_BASED
    or name
    in {
        "hedge-1-rate",
        "fixed-share-rates",
        "fixed-share-second-order-rates",
        "fixed-share-prod-rates",
        "share-theta-rates",
        "past-uniform-rates",
        "past-decaying-rates",
        "confidence-fixed-share-prod",
        "simple",
        "simple-rate",
        "simple-no-bias",
        "simple-squint-tv",
        "simple-poly-share-theta",
        "best-paper-horizon",
    }
}


@for_each(SPLITS_PRIOR)
def test_two_copies_of_an_expert_share_its_prior_and_weight(make):
    for kind in LOSSES.values():
        losses = kind(24, 3)
        single = make().set_params(prior=[0.5, 0.2, 0.3]).run(losses)
        double = make().set_params(prior=[0.25, 0.2, 0.3, 0.25]).run(losses[:, [0, 1, 2, 0]])
        np.testing.assert_allclose(double[:, 0] + double[:, 3], single[:, 0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(double[:, 1:3], single[:, 1:], rtol=1e-9, atol=1e-12)


@for_each(ANY_SIZE)
def test_added_and_dropped_experts_change_the_prior(make):
    algorithm = make()
    algorithm.weights(3)
    assert algorithm.add_expert(prior=0.4) == 3
    np.testing.assert_allclose(algorithm.weights(4), [0.2, 0.2, 0.2, 0.4], rtol=1e-12)
    assert algorithm.add_expert() == 4
    np.testing.assert_allclose(algorithm.weights(5), [0.16, 0.16, 0.16, 0.32, 0.2], rtol=1e-12)
    algorithm.drop_expert(1)
    np.testing.assert_allclose(algorithm.weights(4), np.array([0.16, 0.16, 0.32, 0.2]) / 0.84, rtol=1e-12)
    algorithm.add_expert(prior=0.5)
    np.testing.assert_allclose(algorithm.weights(5), [*(np.array([8, 8, 16, 10]) / 84), 0.5], rtol=1e-12)


@for_each(ANY_SIZE)
def test_a_pool_can_change_any_number_of_times(make):
    for share in (0.9, 0.01):
        algorithm = make()
        algorithm.weights(2)
        for _ in range(400):
            algorithm.add_expert(share)
            algorithm.drop_expert(0)
        algorithm.run(random_losses(5, 2))
        assert_distribution(algorithm.weights())
        np.testing.assert_allclose(algorithm.prior_.sum(), 1.0)


# Added experts ------------------------------------------------------------------------------------------------------


@for_each(REGRET_BASED)
@pytest.mark.parametrize("share", [0.1, 0.6])
@pytest.mark.fast_cases(6)
def test_an_added_expert_equals_one_that_has_slept(make, share):
    losses, later = random_losses(20, K - 1), random_losses(20, K, seed=1)
    slept = make().set_params(prior=[*[(1.0 - share) / (K - 1)] * (K - 1), share])
    joined = make()
    if np.ndim(joined.get_params().get("rate")):  # an added expert takes the last one's rate
        joined.set_params(rate=joined.rate[: K - 1])
        slept.set_params(rate=[*joined.rate, joined.rate[-1]])
    slept.run(np.column_stack([losses, np.full(20, np.nan)]))
    joined.run(losses)
    joined.add_expert(prior=share)
    np.testing.assert_allclose(joined.weights(), slept.weights(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(joined.run(later), slept.run(later), rtol=1e-9, atol=1e-12)


@for_each(
    {
        "memory": LongTermMemory,
        "fixed-share": lambda: FixedShare(1.0, 0.01),
        "share-theta": lambda: ShareTheta(1.0, 0.01, 0.01),
    }
)
def test_rules_that_share_give_an_added_expert_its_share(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    algorithm.add_expert(prior=0.2)
    assert 0.1 < algorithm.weights()[-1] < 0.3


def test_the_default_keeps_models_and_trackers_in_proportion():
    grown, whole, fresh = LongTermMemory(), LongTermMemory(), LongTermMemory()
    grown.weights(1)
    for _ in range(9):
        grown.add_expert()
    whole.weights(10)
    for name in ("prior", "potential", "tracker_potential", "tracked", "remembered"):
        np.testing.assert_allclose(grown.state_[name], whole.state_[name], rtol=1e-12)
    for _ in range(5):
        whole.drop_expert(0)
    fresh.weights(5)
    np.testing.assert_allclose(whole.state_["potential"], fresh.state_["potential"], rtol=1e-12)


@for_each(ALGORITHMS)
def test_an_added_expert_that_is_better_takes_over(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    new = algorithm.add_expert()
    algorithm.run(np.column_stack([np.ones((150, K)), np.zeros(150)]))
    weights = algorithm.weights()
    assert weights.argmax() == new
    assert weights[new] > 0.6


@for_each(ALGORITHMS)
def test_a_pool_may_grow_many_times(make):
    algorithm = make()
    algorithm.weights(K)
    for n_experts in range(K, 2 * K):
        assert_distribution(algorithm.run(random_losses(5, n_experts)))
        algorithm.add_expert()
    assert algorithm.n_experts_ == 2 * K
    assert algorithm.n_rounds_ == 5 * K


# Dropped experts ----------------------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
def test_dropping_leaves_a_distribution_over_the_others(make):
    for index in (0, 2, K - 1, np.int64(1)):
        front, back = make(), make()
        for algorithm, at in ((front, index), (back, index - K)):  # which counts from the end
            algorithm.run(random_losses(8, K))
            assert algorithm.drop_expert(at) is None
            assert algorithm.n_experts_ == K - 1
        assert np.array_equal(front.weights(), back.weights())
        played = front.run(random_losses(8, K - 1, seed=1))
        assert played.shape == (8, K - 1)
        assert_distribution(played)


@for_each({name: make for name, make in REGRET_BASED.items() if name != "ml-poly"})
def test_dropping_keeps_the_others_in_proportion(make):
    """ML-Poly returns to the prior instead if only the dropped expert had positive regret."""
    for index in (0, 2, -1):
        algorithm = make()
        algorithm.run(random_losses(20, K))
        rest = np.delete(algorithm.weights(), index)
        algorithm.drop_expert(index)
        np.testing.assert_allclose(algorithm.weights(), rest / rest.sum(), rtol=1e-9)


@for_each(ALGORITHMS)
def test_all_experts_but_one_may_be_dropped(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    for _ in range(K - 1):
        algorithm.drop_expert(0)
    np.testing.assert_allclose(algorithm.run(random_losses(20, 1)), 1.0, rtol=1e-12)
    with pytest.raises(ValueError, match="last expert cannot be dropped"):
        algorithm.drop_expert(0)
    algorithm.add_expert(prior=0.5)
    assert_distribution(algorithm.run(random_losses(20, 2)))
