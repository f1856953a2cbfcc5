"""Any algorithm that follows the protocol plugs into any reduction, the user's own too."""

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
    """Follow the leader with entropy as regulariser, its strength growing with the root of the rounds."""

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


class QuadraticPotential(ExpertAlgorithm):
    """Weights in proportion to positive regret, as in Blackwell's approachability; no parameters at all."""

    def __init__(self, prior=None):
        self.prior = prior

    def _initial_state(self, prior, rate=None, horizon=None):
        return {"prior": prior, "regret": np.zeros_like(prior)}

    def _distribution(self, state):
        weights = state["prior"] * np.maximum(state["regret"], 0.0)
        weights = np.where(weights.sum(axis=-1, keepdims=True) > 1e-12, weights, state["prior"])
        return weights / weights.sum(axis=-1, keepdims=True)

    def _next_state(self, state, weights, losses):
        return {**state, "regret": state["regret"] + (weights * losses).sum(axis=-1, keepdims=True) - losses}


class OwnFixedShare(ExpertAlgorithm):
    """Fixed Share with the rate it is told, or its own."""

    def __init__(self, rate=0.5, switching=0.05, *, prior=None):
        self.rate = rate
        self.switching = switching
        self.prior = prior

    def _check_parameters(self):
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
    "alone-quadratic": lambda: QuadraticPotential(),
    "alone-share": lambda: OwnFixedShare(),
    "simple-leader": lambda: SimpleReduction(RegularisedLeader(), OwnFixedShare()),
    "simple-quadratic": lambda: SimpleReduction(QuadraticPotential(), OwnFixedShare(), horizon=HORIZON),
    "simple-own-static": lambda: SimpleReduction(static=RegularisedLeader()),
    "simple-own-switching": lambda: SimpleReduction(switching=OwnFixedShare()),
    "best-leader": lambda: BestOfBothWorlds(RegularisedLeader(), OwnFixedShare()),
    "best-quadratic": lambda: BestOfBothWorlds(QuadraticPotential(), OwnFixedShare(), constants="tight"),
    "best-own-static": lambda: BestOfBothWorlds(static=QuadraticPotential(), horizon=HORIZON),
    "best-own-switching": lambda: BestOfBothWorlds(switching=OwnFixedShare(), constants="tight"),
    "rated-leader": lambda: ConfidenceRated(RegularisedLeader()),
    "rated-quadratic": lambda: ConfidenceRated(QuadraticPotential()),
    "rated-share": lambda: ConfidenceRated(OwnFixedShare()),
}


@for_each(OWN)
def test_own_algorithm_has_the_whole_interface(make):
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
def test_own_algorithm_starts_at_the_prior_and_newcomers_at_theirs(make):
    algorithm = make().set_params(prior=[0.2, 0.3, 0.5])
    np.testing.assert_allclose(algorithm.weights(3), [0.2, 0.3, 0.5], rtol=1e-12)
    algorithm.add_expert(prior=0.5)
    np.testing.assert_allclose(algorithm.weights(4), [0.1, 0.15, 0.25, 0.5], rtol=1e-12)


@for_each(OWN)
def test_own_algorithm_finds_the_good_expert(make):
    losses = np.ones((HORIZON, K))
    losses[:, 2] = 0.0
    algorithm = make()
    algorithm.run(losses)
    weights = algorithm.weights()
    assert weights.argmax() == 2
    assert weights[2] > 0.7


def test_own_fixed_share_equals_the_librarys():
    losses = drifting_losses(100, K)
    own, theirs = OwnFixedShare(0.7, 0.02), FixedShare(0.7, 0.02)
    np.testing.assert_allclose(own.run(losses), theirs.run(losses), rtol=1e-9)
    for reduction in (SimpleReduction, BestOfBothWorlds):
        plugged = [reduction(switching=switching).run(losses) for switching in (own, theirs)]
        np.testing.assert_allclose(*plugged, rtol=1e-9)


def test_own_checks_of_parameters_are_made_inside_reductions_too():
    for algorithm in (OwnFixedShare(switching=2.0), BestOfBothWorlds(switching=OwnFixedShare(switching=2.0))):
        with pytest.raises(ValueError, match=r"switching=2\.0 is not inside"):
            algorithm.weights(K)
        assert not hasattr(algorithm, "state_")


def test_plug_ins_are_not_touched():
    static, switching = RegularisedLeader(), OwnFixedShare()
    algorithm = BestOfBothWorlds(static, switching)
    before = dict(vars(static)), dict(vars(switching))
    algorithm.run(random_losses(T, K))
    algorithm.add_expert()
    algorithm.drop_expert(0)
    assert same((dict(vars(static)), dict(vars(switching))), before)


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
WRAPPERS = {
    "simple": lambda static, switching: SimpleReduction(static, switching, horizon=HORIZON),
    "best-paper": lambda static, switching: BestOfBothWorlds(static, switching, horizon=HORIZON),
    "best-tight": lambda static, switching: BestOfBothWorlds(static, switching, constants="tight"),
}


@pytest.mark.parametrize("switching", SWITCHING.values(), ids=SWITCHING.keys())
@pytest.mark.parametrize("static", STATIC.values(), ids=STATIC.keys())
def test_any_static_algorithm_runs_with_any_switching_one(static, switching):
    for reduction in WRAPPERS.values():
        algorithm = reduction(static, switching)
        assert_distribution(algorithm.run(drifting_losses(T, K)))
        assert_distribution(algorithm.run(sleepy_losses(T, K), fractional_awake(T, K)))
        algorithm.add_expert(prior=0.1)
        assert_distribution(algorithm.run(random_losses(T, K + 1)))
        algorithm.drop_expert(1)
        algorithm.drop_expert(1)
        played = algorithm.run(random_losses(T, K - 1))
        assert played.shape == (T, K - 1)
        assert_distribution(played)


@pytest.mark.parametrize("reduction", [WRAPPERS["simple"], WRAPPERS["best-tight"]], ids=["simple", "tight"])
@pytest.mark.parametrize("switching", SWITCHING.values(), ids=SWITCHING.keys())
def test_switching_algorithms_let_the_reduction_follow(switching, reduction):
    """Expert 0 is good, then expert 1: the played weights move over, whatever switches."""
    losses = np.ones((HORIZON, K))
    losses[: HORIZON // 2, 0] = 0.0
    losses[HORIZON // 2 :, 1] = 0.0
    played = reduction(AdaNormalHedge(), switching).run(losses)
    assert played[HORIZON // 2 - 1].argmax() == 0
    assert played[-1].argmax() == 1


@pytest.mark.parametrize("reduction", [SimpleReduction, BestOfBothWorlds])
@pytest.mark.parametrize("switching", STATIC.values(), ids=STATIC.keys())
def test_static_algorithms_also_serve_as_switching_ones(switching, reduction):
    algorithm = reduction(switching=switching)
    assert_distribution(algorithm.run(drifting_losses(T, K)))
    algorithm.add_expert()
    algorithm.drop_expert(0)
    assert_distribution(algorithm.run(random_losses(T, K)))


@pytest.mark.parametrize("outer", [ConfidenceRated, SimpleReduction, BestOfBothWorlds], ids=["rated", "simple", "best"])
@pytest.mark.parametrize("inner", [SimpleReduction(), BestOfBothWorlds()], ids=["simple", "best"])
def test_reduction_may_be_the_static_algorithm_of_another(outer, inner):
    algorithm = outer(inner)
    assert_distribution(algorithm.run(sleepy_losses(T, K)))
    algorithm.add_expert()
    assert_distribution(algorithm.run(random_losses(T, K + 1)))
    algorithm.drop_expert(1)
    assert_distribution(algorithm.run(random_losses(T, K)))
