"""Any algorithm with the three methods of the protocol plugs into any reduction, also one written by a user."""

import numpy as np
import pytest
from sklearn.base import clone
from support.expert_algorithms import (
    HORIZON,
    K,
    assert_distribution,
    drifting_losses,
    for_each,
    fractional_awake,
    play,
    random_losses,
    same,
    sleepy_losses,
)

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BestOfBothWorlds,
    ConfidenceRated,
    ExpertAlgorithm,
    FixedShare,
    Hedge,
    MixingPastPosteriors,
    MLPoly,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)

pytestmark = pytest.mark.fast_cases(3)

T = 10


class RegularisedLeader(ExpertAlgorithm):
    """Follow the leader with entropy as regulariser, whose strength grows with the root of the rounds."""

    def __init__(self, strength=1.0, *, prior=None):
        self.strength = strength
        self.prior = prior

    def _initial_state(self, prior, rate=None, horizon=None):
        return {"prior": prior, "total": np.zeros_like(prior)}

    def _distribution(self, state):
        temperature = self.strength * np.sqrt(state["rounds"] + 1.0)
        best = state["total"].min(axis=-1, keepdims=True)
        weights = state["prior"] * np.exp((best - state["total"]) / temperature)
        return weights / weights.sum(axis=-1, keepdims=True)

    def _next_state(self, state, weights, losses):
        return {**state, "total": state["total"] + losses}


class OwnFixedShare(ExpertAlgorithm):
    """Fixed Share with the rate that a reduction passes, or its own."""

    def __init__(self, rate=0.5, switching=0.05, *, prior=None):
        self.rate = rate
        self.switching = switching
        self.prior = prior

    def check_parameters(self):
        if not 0.0 < self.switching < 1.0:
            raise ValueError(f"switching={self.switching!r} is not inside (0, 1)")

    def _initial_state(self, prior, rate=None, horizon=None):
        return {"prior": prior, "weights": prior, "rate": self.rate if rate is None else np.asarray(rate)}

    def _distribution(self, state):
        return state["weights"] / state["weights"].sum(axis=-1, keepdims=True)

    def _next_state(self, state, weights, losses):
        rate = np.asarray(state["rate"], dtype=float)
        posterior = weights * np.exp(-(rate if rate.ndim == losses.ndim else rate[..., np.newaxis]) * losses)
        posterior = posterior / posterior.sum(axis=-1, keepdims=True)
        start = state["prior"] / state["prior"].sum(axis=-1, keepdims=True)
        return {**state, "weights": (1.0 - self.switching) * posterior + self.switching * start}


OWN = {
    "alone-leader": lambda: RegularisedLeader(),
    "alone-share": lambda: OwnFixedShare(),
    "simple-both": lambda: SimpleReduction(RegularisedLeader(), OwnFixedShare(), horizon=HORIZON),
    "simple-static": lambda: SimpleReduction(static=RegularisedLeader()),
    "best-both": lambda: BestOfBothWorlds(RegularisedLeader(), OwnFixedShare()),
    "best-switching": lambda: BestOfBothWorlds(switching=OwnFixedShare(), constants="tight"),
    "rated-leader": lambda: ConfidenceRated(RegularisedLeader()),
    "rated-share": lambda: ConfidenceRated(OwnFixedShare()),
}


@for_each(OWN)
@pytest.mark.fast_cases(len(OWN))
def test_an_algorithm_of_ones_own_has_the_whole_interface(make):
    algorithm = make().set_params(prior=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(algorithm.weights(3), [0.2, 0.3, 0.5], rtol=1e-12)
    algorithm.add_expert(prior=0.5)
    np.testing.assert_allclose(algorithm.weights(4), [0.1, 0.15, 0.25, 0.5], rtol=1e-12)

    losses, awake = sleepy_losses(T, K), fractional_awake(T, K)
    algorithm, looped = make(), make()
    played = algorithm.run(losses, awake)
    assert_distribution(played)
    np.testing.assert_allclose(play(looped, losses, awake), played, rtol=1e-12, atol=1e-15)
    assert algorithm.n_rounds_ == (awake * ~np.isnan(losses)).any(axis=1).sum()
    assert algorithm.add_expert(prior=0.3) == K
    assert_distribution(algorithm.run(random_losses(T, K + 1)))
    algorithm.drop_expert(0)
    assert_distribution(algorithm.run(random_losses(T, K)))
    assert np.array_equal(clone(algorithm).run(losses, awake), played)


@for_each(OWN)
@pytest.mark.fast_cases(len(OWN))
def test_an_algorithm_of_ones_own_finds_the_good_expert(make):
    losses = np.ones((HORIZON, K))
    losses[:, 2] = 0.0
    algorithm = make()
    algorithm.run(losses)
    assert algorithm.weights()[2] > 0.7


def test_fixed_share_of_ones_own_equals_the_librarys():
    losses = drifting_losses(100, K)
    own, theirs = OwnFixedShare(0.7, 0.02), FixedShare(0.7, 0.02)
    np.testing.assert_allclose(own.run(losses), theirs.run(losses), rtol=1e-9)
    for reduction in (SimpleReduction, BestOfBothWorlds):
        plugged = [reduction(switching=switching).run(losses) for switching in (own, theirs)]
        np.testing.assert_allclose(*plugged, rtol=1e-9)


def test_reductions_check_the_parameters_of_plug_ins():
    for algorithm in (OwnFixedShare(switching=2.0), BestOfBothWorlds(switching=OwnFixedShare(switching=2.0))):
        with pytest.raises(ValueError, match=r"switching=2\.0 is not inside"):
            algorithm.weights(K)
        assert not hasattr(algorithm, "state_")


def test_reductions_leave_their_plug_ins_as_they_are():
    static, switching = RegularisedLeader(), OwnFixedShare()
    algorithm = BestOfBothWorlds(static, switching)
    before = dict(vars(static)), dict(vars(switching))
    algorithm.run(random_losses(T, K))
    algorithm.add_expert()
    algorithm.drop_expert(0)
    assert same((dict(vars(static)), dict(vars(switching))), before)


# Pairs of the library's algorithms ----------------------------------------------------------------------------------

STATIC = {
    "hedge-0": Hedge(),
    "hedge-1": Hedge(variant=1),
    "hedge-2": Hedge(variant=2),
    "prod": Prod(),
    "adapt-ml-prod": AdaptMLProd(),
    "ada-normal-hedge": AdaNormalHedge(),
    "squint": Squint(),
    "boa": BOA(),
    "ml-poly": MLPoly(),
    "rated": ConfidenceRated(Squint()),
}
SWITCHING = {
    "fixed-share": FixedShare(),
    "fixed-share-second-order": FixedShare(rule="second_order"),
    "fixed-share-prod": FixedShare(rule="prod", switching=0.01),
    "tv-all": AdaNormalHedgeTV("all"),
    "tv-pruned": AdaNormalHedgeTV("pruned"),
    "share-theta": ShareTheta(),
    "past-uniform": MixingPastPosteriors(),
    "past-decaying": MixingPastPosteriors(past="decaying"),
    "past-doubling": MixingPastPosteriors(doubling=True),
}
REDUCTIONS = {
    "simple": lambda static, switching: SimpleReduction(static, switching, horizon=HORIZON),
    "best-paper": lambda static, switching: BestOfBothWorlds(static, switching, horizon=HORIZON),
    "best-tight": lambda static, switching: BestOfBothWorlds(static, switching, constants="tight"),
}


def assert_runs(algorithm):
    """Run an algorithm with and without sleeping experts, and while the pool changes."""
    assert_distribution(algorithm.run(drifting_losses(T, K)))
    assert_distribution(algorithm.run(sleepy_losses(T, K), fractional_awake(T, K)))
    algorithm.add_expert(prior=0.1)
    assert_distribution(algorithm.run(random_losses(T, K + 1)))
    algorithm.drop_expert(1)
    algorithm.drop_expert(1)
    assert_distribution(algorithm.run(random_losses(T, K - 1)))


@pytest.mark.parametrize("switching", [*SWITCHING, *STATIC])
@pytest.mark.parametrize("static", STATIC)
@pytest.mark.fast_cases(6)
def test_any_static_algorithm_runs_with_any_switching_one(static, switching):
    for reduction in REDUCTIONS.values():
        assert_runs(reduction(STATIC[static], {**SWITCHING, **STATIC}[switching]))


@pytest.mark.parametrize("reduction", [REDUCTIONS["simple"], REDUCTIONS["best-tight"]], ids=["simple", "tight"])
@pytest.mark.parametrize("switching", SWITCHING.values(), ids=SWITCHING.keys())
@pytest.mark.fast_cases(6)
def test_reductions_follow_the_best_expert(switching, reduction):
    losses = np.ones((HORIZON, K))
    losses[: HORIZON // 2, 0] = 0.0
    losses[HORIZON // 2 :, 1] = 0.0
    played = reduction(AdaNormalHedge(), switching).run(losses)
    assert played[HORIZON // 2 - 1].argmax() == 0
    assert played[-1].argmax() == 1


@pytest.mark.parametrize("outer", [ConfidenceRated, SimpleReduction, BestOfBothWorlds], ids=["rated", "simple", "best"])
@pytest.mark.parametrize("inner", [SimpleReduction(), BestOfBothWorlds()], ids=["simple", "best"])
def test_a_reduction_may_be_the_static_algorithm_of_another(outer, inner):
    assert_runs(outer(inner))
