"""Properties that hold for any losses, any sleeping experts and any order of the experts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from support.expert_algorithms import (
    ALGORITHMS,
    ANY_SIZE,
    REGRET_BASED,
    WITH_HORIZON,
    K,
    assert_distribution,
    drifting_losses,
    for_each,
    fractional_awake,
    random_losses,
    sleepy_losses,
)

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    BestOfBothWorlds,
    ConfidenceRated,
    ExpertAlgorithm,
    FixedShare,
    Hedge,
    MixingPastPosteriors,
    Prod,
    SimpleReduction,
    Squint,
)

pytestmark = pytest.mark.fast_cases(3)

few = settings(deadline=None, max_examples=6)
some = settings(deadline=None, max_examples=40)

#: Losses from everywhere in [0, 1], among them its ends and their neighbours.
EXTREMES = (0.0, 1.0, 0.5, 1e-300, 5e-324, 1e-160, 1e-17, 1.0 - 1e-16, 1.0 - 1e-9, 1e-9)
any_loss = st.sampled_from(EXTREMES) | st.floats(0.0, 1.0)
any_confidence = st.sampled_from((0.0, 1.0, 1e-200, 1e-17, 0.5)) | st.floats(1e-200, 1.0)
seeds = st.integers(0, 2**32 - 1)


@st.composite
def tables(draw, entries, max_rounds=12):
    return draw(arrays(np.float64, (draw(st.integers(1, max_rounds)), K), elements=entries))


# Weights are a distribution -----------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
@few
@given(losses=tables(any_loss))
def test_weights_are_a_distribution_for_any_losses(make, losses):
    algorithm = make()
    assert_distribution(algorithm.run(losses))
    assert_distribution(algorithm.weights())


@for_each(ALGORITHMS)
@few
@given(losses=tables(any_loss | st.just(np.nan)), data=st.data())
def test_weights_are_a_distribution_over_the_awake_experts(make, losses, data):
    awake = data.draw(arrays(np.float64, losses.shape, elements=any_confidence))
    algorithm = make()
    played = algorithm.run(losses, awake)
    assert_distribution(played)
    assert_distribution(algorithm.weights())
    confidence = np.where(np.isnan(losses), 0.0, awake)
    some_awake = confidence.any(axis=1, keepdims=True)
    assert (played[(confidence == 0.0) & some_awake] == 0.0).all()


@for_each({name: ALGORITHMS[name] for name in ("hedge-0-rate", "fixed-share", "confidence", "best-tight")})
@pytest.mark.parametrize("confidence", [1e-290, 1e-300, 1e-310, 5e-324])
def test_an_expert_that_is_hardly_awake_has_all_the_weight(make, confidence):
    algorithm = make()
    algorithm.run(random_losses(5, K))
    awake = [confidence, 0.0, 0.0, 0.0]
    np.testing.assert_allclose(algorithm.weights(awake=awake), [1.0, 0.0, 0.0, 0.0], rtol=1e-12)
    played = algorithm.run([[0.3, 0.4, 0.5, 0.6]], [awake])
    np.testing.assert_allclose(played, [[1.0, 0.0, 0.0, 0.0]], rtol=1e-12)


ADVERSARIES = {
    "against the heaviest": lambda weights: (weights == weights.max()).astype(float),
    "against the heavier half": lambda weights: (weights >= np.median(weights)).astype(float),
    "for the lightest": lambda weights: (weights > weights.min()).astype(float),
    "in proportion": lambda weights: weights / weights.max(),
    "inverse": lambda weights: 1.0 - weights / weights.max(),
}


@for_each(ALGORITHMS)
def test_weights_are_a_distribution_against_an_adversary(make):
    for adversary in ADVERSARIES.values():
        algorithm = make()
        for _ in range(40):
            weights = algorithm.weights(K)
            assert_distribution(weights)
            algorithm.update(adversary(weights))


#: Pairs of losses: denormal, tiny, around one half, and the ends of the interval.
SCALES = [
    (0.0, 5e-324),
    (0.0, 1e-300),
    (0.0, 1e-160),
    (0.0, 1e-17),
    (1.0, 1.0 - 1e-16),
    (0.5, 0.5 + 2.0**-53),
    (1e-300, 1.0 - 1e-16),
    (0.0, 1.0),
]


@for_each(ALGORITHMS)
def test_weights_are_a_distribution_at_any_scale_of_losses(make):
    for low, high in SCALES:
        losses = np.where(drifting_losses(60, K) > 0.5, high, low)
        losses[:15] = [high, low, high, high]
        assert_distribution(make().run(losses))


@for_each({name: make for name, make in ALGORITHMS.items() if name not in WITH_HORIZON and name != "tv-all"})
def test_the_weights_move_to_a_new_best_expert_after_long(make):
    algorithm = make()
    for best, n_rounds in ((0, 300), (K - 1, 600)):
        losses = np.ones((n_rounds, K))
        losses[:, best] = 0.0
        assert_distribution(algorithm.run(losses))
        assert algorithm.weights().argmax() == best


# Losses that the plug-ins of a reduction receive --------------------------------------------------------------------


class Recorder(ExpertAlgorithm):
    """Run another algorithm, and record the weights and losses of each round."""

    def __init__(self, algorithm, prior=None):
        self.algorithm = algorithm
        self.prior = prior
        self.seen = []

    def _initial_state(self, prior, rate=None, horizon=None):
        return self.algorithm._initial_state(prior, rate, horizon)

    def _distribution(self, state):
        return self.algorithm._distribution(state)

    def _next_state(self, state, weights, losses):
        self.seen.append((weights, losses))
        return self.algorithm._next_state(state, weights, losses)


PLUG_INS = (Hedge(), Hedge(variant=1), Hedge(variant=2), Prod(), AdaNormalHedge(), Squint(), BOA())
each_plug_in = pytest.mark.parametrize("plug_in", PLUG_INS, ids=repr)

REDUCTIONS = {
    "rated": ConfidenceRated,
    "simple": SimpleReduction,
    "simple-no-bias": lambda static: SimpleReduction(static, bias=0.0),
    "best-paper": lambda static: BestOfBothWorlds(static),
    "best-tight": lambda static: BestOfBothWorlds(static, constants="tight"),
    "best-past": lambda static: BestOfBothWorlds(static, MixingPastPosteriors(), horizon=100),
}


@for_each(REDUCTIONS)
@each_plug_in
@settings(deadline=None, max_examples=5)
@given(losses=tables(any_loss | st.just(np.nan)), data=st.data())
def test_the_static_algorithm_receives_losses_of_mean_zero(make, plug_in, losses, data):
    awake = data.draw(arrays(np.float64, losses.shape, elements=st.sampled_from((0.0, 0.3, 1.0, 1.0))))
    static = Recorder(plug_in)
    algorithm = make(static)
    algorithm.run(losses, awake)
    assert len(static.seen) == algorithm.n_rounds_
    for weights, fed in static.seen:
        assert_distribution(weights)
        assert (np.abs(fed) <= 1.0).all()
        assert abs(weights @ fed) <= 1e-14


@each_plug_in
@few
@given(losses=tables(any_loss | st.just(np.nan)), data=st.data())
def test_the_static_algorithm_has_the_confidence_rated_regret(plug_in, losses, data):
    awake = data.draw(arrays(np.float64, losses.shape, elements=st.sampled_from((0.0, 0.01, 0.3, 1.0))))
    confidence = np.where(np.isnan(losses), 0.0, awake)
    known = np.nan_to_num(losses)
    counted = confidence.any(axis=1)
    for algorithm, low in ((Recorder(plug_in), 0.0), (ConfidenceRated(Recorder(plug_in)), -1.0)):
        played = algorithm.run(losses, awake)
        expected = confidence * ((played * known).sum(axis=1, keepdims=True) - known)
        seen = algorithm.seen if isinstance(algorithm, Recorder) else algorithm.algorithm.seen
        assert len(seen) == counted.sum()
        for (own, fed), regret in zip(seen, expected[counted], strict=True):
            np.testing.assert_allclose(own @ fed - fed, regret, rtol=0, atol=1e-14)
            assert ((fed >= low - 1e-15) & (fed <= 1.0 + 1e-15)).all()


#: Statistics of each expert that regret-based rules keep.
STATISTICS = ("gain", "regret", "magnitude", "second_moment", "log_weight")
#: Without AdaNormalHedge.TV, whose copies are replaced. ML-Poly's rates depend on the largest regret of all.
KEEP_STATISTICS = {
    name: ALGORITHMS[name] for name in [*REGRET_BASED, "hedge-2", "prod", "adapt-ml-prod"] if name[:2] != "tv"
}


@for_each(KEEP_STATISTICS)
@few
@given(seed=seeds, sleeper=st.integers(0, K - 1))
def test_sleeping_leaves_the_statistics_of_an_expert(make, seed, sleeper):
    def statistics(algorithm):
        state = algorithm.state_.get("static", algorithm.state_)
        return {name: state[name].reshape(K, -1)[sleeper] for name in STATISTICS if name in state}

    algorithm = make()
    algorithm.run(random_losses(10, K, seed=seed))
    before = statistics(algorithm)
    assert before
    losses = random_losses(10, K, seed=seed + 1)
    losses[:, sleeper] = np.nan
    algorithm.run(losses)
    for name, value in statistics(algorithm).items():
        np.testing.assert_allclose(value, before[name], rtol=1e-12, atol=1e-13)


# Symmetries ---------------------------------------------------------------------------------------------------------


def reordered(algorithm, order):
    """Set a prior, and the order of it and of the rates."""
    algorithm.set_params(prior=np.arange(1.0, K + 1.0)[order])
    if np.ndim(algorithm.get_params().get("rate")):
        algorithm.set_params(rate=np.asarray(algorithm.rate)[order])
    return algorithm


@for_each(ALGORITHMS)
@few
@given(seed=seeds, order=st.permutations(range(K)))
def test_permuting_experts_permutes_weights(make, seed, order):
    cases = [
        (random_losses(20, K, seed=seed), None),
        (sleepy_losses(20, K, seed=seed), fractional_awake(20, K, seed=seed + 1)),
    ]
    for losses, awake in cases:
        played = reordered(make(), list(range(K))).run(losses, awake)
        permuted = reordered(make(), order).run(losses[:, order], None if awake is None else awake[:, order])
        np.testing.assert_allclose(permuted, played[:, order], rtol=1e-9, atol=1e-9)


@for_each(ANY_SIZE)
def test_rounding_in_a_tie_with_the_mixture_decides_nothing(make):
    """The middle expert's regret is zero but for rounding, which depends on the order of the sum."""
    for losses in ([0.1, 0.4, 0.7], [0.2, 0.3, 0.4], [0.3, 0.5, 0.7]):
        expected = make().update(losses).weights()
        for order in ([0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
            weights = make().update(np.take(losses, order)).weights()
            np.testing.assert_allclose(weights, expected[order], rtol=1e-9, atol=1e-9)


def uses_losses(name):
    """Return whether a rule has ℓ² or ln(1 - ηℓ), not regrets only: then a constant added to all losses matters."""
    return name.startswith(("hedge-1", "fixed-share-second-order", "fixed-share-prod"))


@for_each({name: make for name, make in ALGORITHMS.items() if not uses_losses(name)})
@few
@given(seed=seeds, data=st.data())
def test_a_constant_added_to_all_losses_changes_nothing(make, seed, data):
    losses = random_losses(15, K, seed=seed) / 2.0
    shift = data.draw(arrays(np.float64, (15, 1), elements=st.floats(0.0, 0.5)))
    np.testing.assert_allclose(make().run(losses + shift), make().run(losses), rtol=1e-9, atol=1e-9)


@for_each({name: make for name, make in ALGORITHMS.items() if uses_losses(name)})
def test_a_constant_added_to_all_losses_matters_to_some_rules(make):
    losses = random_losses(30, K) / 2.0
    assert np.abs(make().run(losses + 0.5) - make().run(losses)).max() > 1e-3


@each_plug_in
def test_a_constant_never_matters_to_confidence_rated(plug_in):
    losses = random_losses(30, K) / 2.0
    shifted = ConfidenceRated(plug_in).run(losses + 0.5)
    np.testing.assert_allclose(shifted, ConfidenceRated(plug_in).run(losses), rtol=1e-9, atol=1e-9)


# Potentials ---------------------------------------------------------------------------------------------------------


def potential(state):
    return np.exp(state["log_prior"] + state["rate"] * state["gain"]).sum()


@some
@given(losses=tables(any_loss | st.just(np.nan), max_rounds=40), rate=st.floats(1e-6, 0.5), data=st.data())
def test_sum_of_prod_potentials_is_constant(losses, rate, data):
    awake = data.draw(arrays(np.float64, losses.shape, elements=any_confidence))
    rates = data.draw(st.just(rate) | arrays(np.float64, K, elements=st.floats(1e-6, 0.5)))
    alone = Prod(rate=rates, prior=[0.1, 0.2, 0.3, 0.4])
    alone.run(losses, awake)
    np.testing.assert_allclose(potential(alone.state_), 1.0, rtol=1e-9)
    reduction = BestOfBothWorlds(constants="tight", switching=FixedShare())
    reduction.run(losses)
    np.testing.assert_allclose(potential(reduction.state_["static"]), 1.0, rtol=1e-9)


@some
@given(losses=tables(any_loss | st.just(np.nan), max_rounds=40), rate=st.floats(1e-6, 0.2))
def test_sum_of_second_order_potentials_never_grows(losses, rate):
    algorithm = Hedge(rate=rate, variant=2)
    before = 1.0
    for row in losses:
        after = potential(algorithm.update(row).state_)
        assert after <= before + 1e-12
        before = after
