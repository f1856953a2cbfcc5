"""LongTermMemory, the default algorithm: its theorem, its memory, and long runs."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.bounds import POTENTIAL_FLOOR, RATES, anytime_shares, memory_complexity, moving_cost, tight_excess
from support.environments import Environment, best_sequence, random_sequence, regrets, stochastic_regret

from ltm_sklearn.experts import BestOfBothWorlds, LongTermMemory
from ltm_sklearn.experts import _compiled as compiled_module
from ltm_sklearn.experts import _long_term_memory as implementation

pytestmark = pytest.mark.fast_cases(1)

ROUNDING = 1e-6


def excess(algorithm, environment, seed, n_segments):
    """Return by how much the theorem fails, over all models, rates and some comparators, in a run of ``update``."""
    n_rounds, n_experts = environment.n_rounds, environment.n_experts
    confidence, played, losses = [], [], []
    for t in range(n_rounds):
        played.append(algorithm.weights(n_experts))
        confidence.append(algorithm.state_["confidence"].T)
        losses.append(environment.losses(played[-1], t))
        algorithm.update(losses[-1])
    losses = np.array(losses)
    rng = np.random.default_rng(seed)
    sequences = [environment.good, *(random_sequence(rng, n_rounds, n_experts, n_segments, n) for n in (1, 2, 3))]
    sequences += [best_sequence(losses, s, n) for s in (1, 3, 10) for n in (1, 3)]
    known = algorithm.horizon is not None
    shares = np.full(n_rounds - 1, 1 / algorithm.horizon) if known else anytime_shares(n_rounds)
    regret = regrets(np.array(played), losses)
    costs = memory_complexity(n_rounds, n_experts, algorithm.prior)
    return tight_excess(np.array(confidence), regret, RATES, costs, sequences, shares)


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(Environment.KINDS),
    n_experts=st.integers(2, 6),
    n_rounds=st.integers(2, 1500),
    n_segments=st.integers(1, 8),
    known=st.booleans(),
    prior=st.one_of(st.none(), st.lists(st.floats(0.01, 1.0), min_size=6, max_size=6)),
    seed=st.integers(0, 2**32 - 1),
)
def test_theorem_holds_over_models_and_trackers(kind, n_experts, n_rounds, n_segments, known, prior, seed):
    environment = Environment(kind, n_experts, n_rounds, seed)
    prior = None if prior is None else prior[:n_experts]
    algorithm = LongTermMemory(horizon=n_rounds if known else None, prior=prior)
    assert excess(algorithm, environment, seed, n_segments) <= ROUNDING


class WithoutTrackers(LongTermMemory):
    _tracker_rates = np.array([])


@pytest.mark.parametrize("make", [LongTermMemory, WithoutTrackers])
@pytest.mark.fast_cases(2)
def test_theorem_holds_on_hard_streams(make):
    for kind in ("alternate", "returning", "thermostat", "switching"):
        assert excess(make(), Environment(kind, 2, 1_000), 1, 3) <= ROUNDING


class WrongSign(LongTermMemory):
    def _next_state(self, state, weights, losses):
        return super()._next_state(state, weights, 1 - losses)


class WithoutBias(LongTermMemory):
    """Confidence grows with r itself, not with r - η|r|."""

    def _next_state(self, state, weights, losses):
        after = super()._next_state(state, weights, losses)
        awake = state["confidence"] * (1 + RATES[:, np.newaxis] * regrets(weights[np.newaxis], losses[np.newaxis]))
        share = 1 / (state["rounds"] + 3)
        return {**after, "confidence": (1 - share) * awake / (awake + 1 - state["confidence"]) + share / 2}


class WithoutConfidence(WithoutTrackers):
    """Potentials grow by 1 + η r, not by 1 + η z r; without trackers, which would make up for it."""

    def _next_state(self, state, weights, losses):
        after = super()._next_state(state, weights, losses)
        grown = state["potential"] * (1 + RATES[:, np.newaxis] * regrets(weights[np.newaxis], losses[np.newaxis]))
        return {**after, "potential": np.maximum(grown, POTENTIAL_FLOOR * state["prior"])}


@pytest.mark.parametrize("broken", [WrongSign, WithoutBias, WithoutConfidence])
@pytest.mark.fast_cases(3)
def test_a_broken_copy_violates_the_theorem(broken):
    assert excess(broken(), Environment("returning", 2, 500), 1, 3) > ROUNDING


def stochastic_bound(n_rounds, n_experts, gap, good):
    """The stochastic half of Theorem 2 with rates four apart, of which the largest is η.

    The best rate of the grid gives 5 sqrt(b X Y) + 2 X/η with b = 1 + 1.45², X what stands over the rate and
    Y = Σ |r| <= Σ (1 - p(i)); as the regret is at least gap Σ (1 - p(i)), it is at most
    2 [25 b X/(2 gap) + 2 X/η] for each of the two experts.
    """
    bound = 0.0
    for expert in (0, 1):
        cost = memory_complexity(n_rounds, n_experts)[expert] + moving_cost(good == expert, anytime_shares(n_rounds))
        bound += 2 * (25 * (1 + 1.45**2) * cost / (2 * gap) + 2 * cost / RATES[0])
    return bound


@settings(max_examples=15, deadline=None)
@given(
    n_experts=st.integers(2, 12), n_segments=st.integers(1, 8), gap=st.floats(0.2, 1.0), seed=st.integers(0, 2**32 - 1)
)
def test_regret_is_logarithmic_on_stochastic_segments(n_experts, n_segments, gap, seed):
    regret, good = stochastic_regret(LongTermMemory(), 100_000, n_experts, n_segments, gap, seed)
    assert regret <= stochastic_bound(100_000, n_experts, gap, good)


def test_the_wrong_sign_exceeds_the_stochastic_bound():
    """Its regret grows by the gap in every round; the bound, per round, is far below that."""
    _, good = stochastic_regret(LongTermMemory(), 100_000, 10, 4, 0.8, 0)
    regret, _ = stochastic_regret(WrongSign(), 4_000, 10, 4, 0.8, 0)
    assert regret / 4_000 > stochastic_bound(100_000, 10, 0.8, good) / 100_000


def test_without_trackers_it_is_tight_algorithm_2(monkeypatch):
    """The fused form of Prod and two-action Fixed Share is what the general reduction does with them."""
    monkeypatch.setattr(implementation, "RATES", BestOfBothWorlds(constants="tight")._rates(4, None))
    monkeypatch.setattr(implementation, "POTENTIAL_FLOOR", 0.0)
    monkeypatch.setattr(LongTermMemory, "_tracker_rates", np.array([]))
    monkeypatch.setattr(compiled_module, "kernel", None)
    losses = np.array([Environment("switching", 4, 600, seed=3).losses(None, t) for t in range(600)])
    expected = BestOfBothWorlds(constants="tight").run(losses)
    np.testing.assert_allclose(LongTermMemory().run(losses), expected, rtol=0, atol=1e-12)


def test_potentials_have_a_lower_limit(monkeypatch):
    monkeypatch.setattr(compiled_module, "kernel", None)
    algorithm = LongTermMemory()
    algorithm.weights(3)
    algorithm.state_ = {**algorithm.state_, "potential": 1e-12 * algorithm.state_["potential"]}
    algorithm.update([0.0, 0.5, 1.0])
    expected = np.tile(POTENTIAL_FLOOR * algorithm.state_["prior"], (5, 1))
    np.testing.assert_allclose(algorithm.state_["potential"], expected, rtol=1e-12)


def test_a_regime_that_returns_costs_less():
    """Two constant experts, six phases of 500 rounds: each return costs less than the one before."""
    algorithm, costs = LongTermMemory(), []
    for phase in range(6):
        losses = np.tile([0.0, 1.0] if phase % 2 == 0 else [1.0, 0.0], (500, 1))
        costs.append((algorithm.run(losses) * losses).sum())
    assert costs[1] > costs[3] > costs[5]
    assert costs[2] > costs[4]
    assert max(costs) < 5
    assert max(costs[2:]) < 0.6 * costs[1]


@pytest.mark.exhaustive
def test_weights_stay_positive_over_ten_million_rounds():
    """Five million rounds for one expert, then for another: found within 40 rounds, and back within 40."""
    algorithm, chunk = LongTermMemory(), 500_000
    first, second = np.tile([0.0, 1.0, 0.6], (chunk, 1)), np.tile([1.0, 0.0, 0.6], (chunk, 1))
    for losses in [first] * 10 + [second] * 10 + [first[:1000]]:
        played = algorithm.run(losses)
        assert np.isfinite(played).all()
        assert (played > 0).all()
        leader = losses[0].argmin()
        assert (played[40:, leader] > 0.9).all()
    assert algorithm.n_rounds_ == 10_001_000


def test_a_known_horizon_is_used_throughout():
    losses = np.random.default_rng(0).random((50, 3))
    assert not np.array_equal(LongTermMemory(horizon=50).run(losses), LongTermMemory().run(losses))


@pytest.mark.parametrize("prior", [[1.0, 1e-40], [1e-90, 1.0, 1e-99]])
def test_the_best_expert_overcomes_an_extreme_prior(prior):
    losses = np.ones((1000, len(prior)))
    losses[:, -1] = 0.0
    played = LongTermMemory(prior=prior).run(losses)
    np.testing.assert_allclose(played.sum(axis=1), 1.0)
    assert played[-1, -1] > 0.9


def test_many_experts_may_be_added_with_large_priors():
    algorithm = LongTermMemory()
    algorithm.weights(2)
    for _ in range(45):
        algorithm.add_expert(0.9)
    losses = np.ones((300, 47))
    losses[:, 0] = 0.0
    assert algorithm.run(losses)[-1, 0] > 0.9


def sum_of_potentials(algorithm):
    return algorithm.state_["potential"].sum() + algorithm.state_["tracker_potential"].sum()


def test_added_and_replaced_experts_raise_the_potentials_by_little():
    rng = np.random.default_rng(0)
    algorithm = LongTermMemory()
    algorithm.run(rng.random((300, 3)) ** [1, 3, 5])
    for n_experts in (4, 5, 6):
        total, before = sum_of_potentials(algorithm), algorithm.state_["potential"]
        algorithm.add_expert()
        np.testing.assert_allclose(algorithm.state_["potential"][:, :-1], before * (1 - 1 / n_experts), rtol=1e-12)
        assert sum_of_potentials(algorithm) <= total + 0.1 / n_experts + 1e-12
        algorithm.run(rng.random((100, n_experts)))
    for at in [0, 3, 1, 5, 2] * 4:
        total, before = sum_of_potentials(algorithm), algorithm.state_["potential"]
        algorithm.drop_expert(at)
        algorithm.add_expert()
        after = algorithm.state_["potential"]
        np.testing.assert_allclose(after[:, :-1], np.delete(before, at, axis=1), rtol=1e-12)
        np.testing.assert_allclose(after[:, -1], 0.1 / 5 / 6, rtol=1e-12)
        assert sum_of_potentials(algorithm) <= total + 0.1 / 6 + 1e-12
        algorithm.run(rng.random((50, 6)) ** (1 + at))
