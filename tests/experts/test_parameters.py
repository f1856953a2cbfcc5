"""Parameters of every algorithm: scikit-learn's conventions, and values that are refused."""

import copy

import numpy as np
import pytest
from sklearn.base import clone
from support.expert_algorithms import ALGORITHMS, WITH_HORIZON, K, assert_distribution, for_each, random_losses, same
from support.refusals import assert_refused

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BestOfBothWorlds,
    ConfidenceRated,
    FixedShare,
    Hedge,
    LongTermMemory,
    MixingPastPosteriors,
    MLPoly,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)

pytestmark = pytest.mark.fast_cases(3)

T = 24


def parameters(algorithm):
    return {name: value for name, value in algorithm.get_params().items() if not hasattr(value, "get_params")}


@for_each(ALGORITHMS)
def test_a_clone_is_unstarted_with_the_same_parameters(make):
    algorithm = make().set_params(prior=[0.1, 0.2, 0.3, 0.4])
    before = copy.deepcopy(parameters(algorithm))
    expected = copy.deepcopy(algorithm).run(random_losses(T, K))
    algorithm.run(random_losses(T, K, seed=8))
    fresh = clone(algorithm)
    assert same(parameters(algorithm), before)  # running changes none
    assert same(parameters(fresh), before)
    assert fresh.n_rounds_ == 0
    assert not hasattr(fresh, "state_")
    assert np.array_equal(fresh.run(random_losses(T, K)), expected)


@for_each(ALGORITHMS)
def test_two_algorithms_may_share_parameters_and_plug_ins(make):
    algorithm = make()
    other = type(algorithm)(**algorithm.get_params(deep=False))
    losses = random_losses(T, K)
    expected = make().run(losses)
    assert np.array_equal(algorithm.run(losses), expected)
    assert np.array_equal(other.run(losses), expected)


@for_each(ALGORITHMS)
def test_parameters_cannot_change_in_the_middle_of_a_run(make):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    with pytest.raises(ValueError, match="middle of a run"):
        algorithm.set_params(prior=[0.4, 0.3, 0.2, 0.1])
    assert algorithm.set_params() is algorithm


def test_set_params_takes_effect_before_the_start():
    losses = random_losses(T, K)
    changed = Hedge().set_params(rate=0.1, variant=2)
    assert changed.get_params() == {"rate": 0.1, "variant": 2, "horizon": None, "prior": None}
    assert np.array_equal(changed.run(losses), Hedge(rate=0.1, variant=2).run(losses))
    nested = SimpleReduction(Squint(), FixedShare()).set_params(switching__switching=0.3, bias=1.0)
    expected = SimpleReduction(Squint(), FixedShare(switching=0.3), bias=1.0)
    assert np.array_equal(nested.run(losses), expected.run(losses))
    with pytest.raises(ValueError, match="learning_rate"):
        Hedge().set_params(learning_rate=0.1)


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Hedge()) == "Hedge()"
    assert repr(Prod(rate=0.25)) == "Prod(rate=0.25)"
    nested = BestOfBothWorlds(Squint(), constants="tight")
    assert repr(nested) == "BestOfBothWorlds(constants='tight', static=Squint())"
    started = LongTermMemory(prior=np.full(K, 0.25)).update([0.0] * K)
    assert repr(started) == "LongTermMemory(prior=array([0.25, 0.25, 0.25, 0.25]))"


@pytest.mark.parametrize("constants", ["paper", "tight"])
def test_a_longer_horizon_never_has_fewer_rates(constants):
    sizes = []
    for horizon in (*range(1, 31), 100, 10_000, 10**6):
        algorithm = BestOfBothWorlds(constants=constants, horizon=horizon)
        algorithm.weights(2)
        rates = algorithm.state_["rates"]
        assert (rates > 0.0).all()
        if constants == "tight":
            np.testing.assert_allclose(rates, 0.45 / 2.0 ** np.arange(len(rates)))
        assert rates.max() <= (0.2 if constants == "paper" else 0.45)
        sizes.append(len(rates))
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] == (8 if constants == "paper" else 9)


# Values that are refused --------------------------------------------------------------------------------------------

BAD_PARAMETERS = {
    "hedge-variant": (Hedge(variant=3), r"variant=3 is not one of 0, 1, 2"),
    "hedge-variant-name": (Hedge(variant="second"), r"variant='second' is not one of"),
    "hedge-variant-bool": (Hedge(variant=True), r"variant=True is not one of"),
    "hedge-rate-zero": (Hedge(rate=0.0), r"rate=0\.0 must lie in \(0, inf\)"),
    "hedge-rate-negative": (Hedge(rate=-1.0), r"rate=-1\.0 must lie in"),
    "hedge-rate-inf": (Hedge(rate=np.inf), r"rate=inf must lie in"),
    "hedge-rate-nan": (Hedge(rate=np.nan), r"rate=nan must lie in"),
    "hedge-rate-word": (Hedge(rate="fast"), r"rate='fast' must be a number"),
    "hedge-rate-empty": (Hedge(rate=[], variant=2), r"rate=\[\] must be a number"),
    "hedge-1-rate": (Hedge(rate=0.21, variant=1), r"rate=0\.21 must lie in \(0, 0\.2\]"),
    "hedge-2-rate": (Hedge(rate=0.21, variant=2), r"rate=0\.21 must lie in \(0, 0\.2\]"),
    "hedge-2-rates": (Hedge(rate=[0.1, 0.3, 0.1, 0.1], variant=2), r"rate=\[0\.1, 0\.3, .* must lie in"),
    "hedge-0-rates": (Hedge(rate=[0.1, 0.2, 0.1, 0.1]), "a rate for each expert needs variant=2"),
    "hedge-2-rates-length": (Hedge(rate=[0.1, 0.2], variant=2), "rate has 2 entries.* 4 experts"),
    "hedge-2-rates-axes": (Hedge(rate=[[0.1, 0.2, 0.1, 0.1]], variant=2), "rate"),
    "prod-rate": (Prod(rate=0.51), r"rate=0\.51 must lie in \(0, 0\.5\]"),
    "prod-rates-length": (Prod(rate=[0.1] * 5), "rate has 5 entries, but there are 4 experts"),
    "tv-copies": (AdaNormalHedgeTV("some"), r"copies='some' is not one of 'pruned', 'all'"),
    "share-rule": (FixedShare(rule="linear"), r"rule='linear' is not one of 'exponential', 'second_order'"),
    "share-rate": (FixedShare(rate=-0.1), r"rate=-0\.1 must lie in"),
    "share-rate-second-order": (FixedShare(0.3, rule="second_order"), r"rate=0\.3 must lie in .*0\.2\]"),
    "share-rate-prod": (FixedShare(rate=0.6, rule="prod"), r"rate=0\.6 must lie in .*0\.5\]"),
    "share-rates": (FixedShare(rate=[0.1] * K), r"rate=\[0\.1, .* must be a number"),
    "share-switching": (FixedShare(switching=1.1), r"switching=1\.1 must lie in \[0, 1\]"),
    "share-switching-list": (FixedShare(switching=[0.1] * K), r"switching=\[0\.1, .* must be a number"),
    "theta-memory": (ShareTheta(memory=-0.1), r"memory=-0\.1 must lie in \[0, 1\]"),
    "theta-memory-nan": (ShareTheta(memory=np.nan), r"memory=nan must lie in \[0, 1\]"),
    "past": (MixingPastPosteriors(past="recent"), r"past='recent' is not one of 'uniform', 'decaying'"),
    "past-segments": (MixingPastPosteriors(n_segments=0), r"n_segments=0 must be a positive integer"),
    "past-distinct": (MixingPastPosteriors(n_segments=2, n_distinct=3), "n_distinct=3 must be .* integer up to 2"),
    "past-doubling-rate": (MixingPastPosteriors(rate=0.1, doubling=True), "doubling=True sets its own rate"),
    "past-doubling-past": (MixingPastPosteriors(doubling=True, past="decaying"), "doubling=True .*uniform"),
    "simple-rate": (SimpleReduction(rate=0.3), r"rate=0\.3 must lie in \(0, 0\.2\]"),
    "simple-rates": (SimpleReduction(rate=[0.1, 0.2]), r"rate=\[0\.1, 0\.2\] must be a number"),
    "simple-bias": (SimpleReduction(bias=-1.0), r"bias=-1\.0 must lie in \[0, 5\]"),
    "simple-bias-inf": (SimpleReduction(bias=np.inf), r"bias=inf must lie in \[0, 5\]"),
    "simple-distinct": (SimpleReduction(n_distinct=2), r"n_distinct=2 must be a positive integer up to 1"),
    "best-constants": (BestOfBothWorlds(constants="loose"), r"constants='loose' is not one of 'paper'"),
    "plug-in-class": (SimpleReduction(static=Hedge), r"static=.*Hedge.* must be an instance of"),
    "plug-in-name": (BestOfBothWorlds(static="hedge"), r"static='hedge' must be an instance"),
    "plug-in-switching": (BestOfBothWorlds(switching=0.1), r"switching=0\.1 must be an instance"),
    "plug-in-rated": (ConfidenceRated("hedge"), r"algorithm='hedge' must be an instance"),
    "plug-in-static-rate": (SimpleReduction(static=Hedge(rate=-1.0)), r"rate=-1\.0 must lie in"),
    "plug-in-switching-rule": (BestOfBothWorlds(switching=FixedShare(rule="no")), r"rule='no' is not one of"),
    "plug-in-rated-rate": (ConfidenceRated(Prod(rate=2.0)), r"rate=2\.0 must lie in"),
    "plug-in-reduction": (SimpleReduction(switching=BestOfBothWorlds()), "cannot be the switching algorithm"),
    "prior-too-short": (Hedge(prior=[0.5, 0.5]), r"prior has shape \(2,\), but there are 4 experts"),
    "prior-number": (Hedge(prior=0.25), r"prior has shape \(\), but there are 4 experts"),
    "prior-table": (BestOfBothWorlds(prior=[[0.25] * 4]), r"prior has shape \(1, 4\), but there are 4 experts"),
    "prior-zero": (Hedge(prior=[0.5, 0.5, 0.0, 0.5]), r"prior must be positive and finite: expert 2 has .*0\.0"),
    "prior-negative": (Hedge(prior=[0.5, -0.1, 0.3, 0.3]), r"positive and finite: expert 1 has .*-0\.1"),
    "prior-nan": (BestOfBothWorlds(prior=[0.5, 0.1, 0.3, np.nan]), r"positive and finite: expert 3 has .*nan"),
    "prior-inf": (Hedge(prior=[np.inf, 0.1, 0.3, 0.3]), r"positive and finite: expert 0 has .*inf"),
    "prior-words": (Hedge(prior=["a", "b", "c", "d"]), r"prior must be numbers.*'a'"),
}


@pytest.mark.parametrize(("algorithm", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS.keys())
@pytest.mark.fast_cases(len(BAD_PARAMETERS))
def test_parameters_outside_their_domain_are_refused(algorithm, match):
    assert_refused(copy.deepcopy(algorithm), lambda a: a.weights(K), match)
    assert_refused(copy.deepcopy(algorithm), lambda a: a.run(random_losses(3, K)), match)
    assert_refused(copy.deepcopy(algorithm), lambda a: a.update([0.0] * K), match)


@for_each(ALGORITHMS)
def test_every_algorithm_checks_its_prior(make):
    algorithm = make().set_params(prior=[0.5, 0.5, 0.0, 0.5])
    assert_refused(algorithm, lambda a: a.run(random_losses(3, K)), "expert 2 has")


@pytest.mark.parametrize("algorithm", [Squint, BOA, MLPoly, AdaptMLProd, AdaNormalHedge])
def test_parameter_free_algorithms_take_no_rate(algorithm):
    with pytest.raises(TypeError, match="rate"):
        algorithm(rate=0.1)


@for_each(WITH_HORIZON)
def test_horizon_is_a_positive_integer(make):
    match = "horizon=.* must be a positive integer or None"
    for horizon in (0, -5, 2.5, 100.0, "many", True, [5], np.nan):
        assert_refused(make().set_params(horizon=horizon), lambda a: a.weights(K), match)
        assert_refused(make().set_params(horizon=horizon), lambda a: a.run(random_losses(2, K)), match)


@for_each(WITH_HORIZON)
def test_rounds_beyond_the_horizon_are_refused(make):
    def fresh():
        return make().set_params(horizon=10)

    losses, algorithm = random_losses(10, K), fresh()
    match = "round 10 would exceed the horizon of 10"
    assert_refused(algorithm, lambda a: a.run(random_losses(11, K)), match)
    algorithm.run(losses[:8])
    assert_refused(algorithm, lambda a: a.run(random_losses(3, K)), match)
    assert np.array_equal(algorithm.run(losses[8:]), fresh().run(losses)[8:])
    assert_refused(algorithm, lambda a: a.update([0.0] * K), match)
    assert_distribution(algorithm.weights())
