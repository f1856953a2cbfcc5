"""Bad input raises a ValueError that says what is wrong where, and leaves the algorithm as it was."""

import copy

import numpy as np
import pytest
from support.expert_algorithms import (
    ALGORITHMS,
    WITH_HORIZON,
    K,
    assert_distribution,
    for_each,
    random_losses,
    same,
    snapshot,
)

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BestOfBothWorlds,
    ConfidenceRated,
    FixedShare,
    Hedge,
    MixingPastPosteriors,
    MLPoly,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)

pytestmark = pytest.mark.fast_cases(2)


def table(round_=0, expert=0, value=0.5, n_rounds=5):
    """Losses that are fine but for one."""
    losses = random_losses(n_rounds, K)
    losses[round_, expert] = value
    return losses


def nested(value):
    """A list in a list, as users write it."""
    rows = random_losses(2, K).tolist()
    rows[1][2] = value
    return rows


FINE = random_losses(5, K)

#: What is handed to ``run``, and what the message must say. Rounds are counted from the 3 played before.
BAD_ROUNDS = {
    "loss-inf": ((table(2, 1, np.inf),), r"losses .*round 5, expert 1 has .*inf"),
    "loss-minus-inf": ((table(0, 3, -np.inf),), r"losses .*round 3, expert 3 has .*-inf"),
    "loss-above": ((table(4, 0, 1.0 + 2e-9),), r"losses .*round 7, expert 0 has .*1\.000000002"),
    "loss-below": ((table(1, 2, -2e-9),), r"losses .*round 4, expert 2 has .*-2e-09"),
    "loss-two": ((table(3, 3, 2.0),), r"losses .*round 6, expert 3 has .*2\.0"),
    "awake-nan": ((FINE, table(2, 1, np.nan)), r"awake .*round 5, expert 1 has .*nan"),
    "awake-inf": ((FINE, table(0, 2, np.inf)), r"awake .*round 3, expert 2 has .*inf"),
    "awake-above": ((FINE, table(0, 0, 1.5)), r"awake .*round 3, expert 0 has .*1\.5"),
    "awake-below": ((FINE, table(4, 1, -0.5)), r"awake .*round 7, expert 1 has .*-0\.5"),
    "loss-bad-though-asleep": ((table(2, 1, 9.0), 1.0 - np.eye(5, K, k=-1)), r"round 5, expert 1 has .*9\.0"),
    "awake-other-length": ((FINE, np.ones((4, K))), r"awake has shape \(4, 4\), losses have \(5, 4\)"),
    "awake-other-width": ((FINE, np.ones((5, K - 1))), r"awake has shape \(5, 3\)"),
    "awake-one-round": ((FINE, np.ones(K)), r"awake must have one column per expert.*\(4,\)"),
    "awake-strings": ((FINE[:1], [["yes", "no", "no", "yes"]]), r"awake must be numbers.*'yes'"),
    "too-few-experts": ((random_losses(5, K - 1),), r"3 experts.*runs over 4"),
    "too-many-experts": ((random_losses(5, K + 1),), r"5 experts.*runs over 4"),
    "one-round": ((FINE[0],), r"losses must have one column per expert.*\(4,\)"),
    "three-axes": ((FINE[np.newaxis],), r"one column per expert.*\(1, 5, 4\)"),
    "number": ((0.5,), r"one column per expert.*\(\)"),
    "nothing": (([],), r"one column per expert.*\(0,\)"),
    "no-experts": (([[]],), r"one column per expert.*\(1, 0\)"),
    "ragged": (([[0.1, 0.2, 0.3, 0.4], [0.1, 0.2]],), "losses must be numbers"),
    "word": ((nested("good"),), r"losses must be numbers.*'good'"),
    "dictionary": ((nested({}),), "losses must be numbers"),
    "complex": ((nested(1j),), "losses must be numbers"),
}

#: The same for ``update``.
BAD_UPDATES = {
    "loss-inf": (([0.1, 0.2, np.inf, 0.3],), r"losses .*round 3, expert 2 has .*inf"),
    "loss-above": (([0.1, 0.2, 0.3, 1.1],), r"losses .*round 3, expert 3 has .*1\.1"),
    "awake-nan": (([0.1, 0.2, 0.3, 0.4], [1.0, np.nan, 1.0, 1.0]), r"awake .*round 3, expert 1 has .*nan"),
    "awake-too-short": (([0.1, 0.2, 0.3, 0.4], [1.0, 1.0]), r"awake has shape \(1, 2\), losses have"),
    "awake-number": (([0.1, 0.2, 0.3, 0.4], 1.0), "awake must have one column per expert"),
    "too-few-experts": (([0.1, 0.2],), r"2 experts.*runs over 4"),
    "two-rounds": ((random_losses(2, K),), r"one round.*\(2, 4\)"),
    "number": ((0.5,), r"one round.*\(\)"),
    "nothing": (([],), r"one column per expert"),
    "words": ((["good", "bad", "ugly", "fine"],), r"losses must be numbers.*'good'"),
}


def refuses(algorithm, call, match):
    """The call fails as told, and is as if it had not been made."""
    before = snapshot(algorithm)
    with pytest.raises(ValueError, match=match):
        call(algorithm)
    assert same(snapshot(algorithm), before)


@for_each(ALGORITHMS)
def test_run_refuses_bad_rounds_and_goes_on_as_before(make):
    losses = random_losses(30, K, seed=1)
    algorithm, untroubled = make(), make()
    algorithm.run(losses[:3])
    untroubled.run(losses[:3])
    for arguments, match in BAD_ROUNDS.values():
        refuses(algorithm, lambda a, arguments=arguments: a.run(*arguments), match)
    for arguments, match in BAD_UPDATES.values():
        refuses(algorithm, lambda a, arguments=arguments: a.update(*arguments), match)
    assert np.array_equal(algorithm.run(losses[3:]), untroubled.run(losses[3:]))


ONE = {"hedge": Hedge, "long": lambda: BestOfBothWorlds(constants="tight")}


@for_each(ONE)
@pytest.mark.parametrize(("arguments", "match"), BAD_ROUNDS.values(), ids=BAD_ROUNDS.keys())
def test_each_kind_of_bad_rounds_is_refused_by_run(make, arguments, match):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    refuses(algorithm, lambda a: a.run(*arguments), match)


@for_each(ONE)
@pytest.mark.parametrize(("arguments", "match"), BAD_UPDATES.values(), ids=BAD_UPDATES.keys())
def test_each_kind_of_bad_round_is_refused_by_update(make, arguments, match):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    refuses(algorithm, lambda a: a.update(*arguments), match)


@for_each(ALGORITHMS)
def test_fresh_algorithm_stays_fresh_after_bad_input(make):
    algorithm = make()
    refuses(algorithm, lambda a: a.run(table(1, 2, np.inf)), "round 1, expert 2")
    refuses(algorithm, lambda a: a.update([0.1, 0.2, -3.0, 0.3]), r"round 0, expert 2 has .*-3\.0")
    refuses(algorithm, lambda a: a.run(FINE, np.ones((5, 2))), "awake has shape")
    refuses(algorithm, lambda a: a.run([]), "one column per expert")
    refuses(algorithm, lambda a: a.weights(0), "n_experts=0 must be a positive integer")
    assert not hasattr(algorithm, "state_")
    losses = random_losses(10, K)
    assert np.array_equal(algorithm.run(losses), make().run(losses))


@for_each(ALGORITHMS)
def test_fresh_algorithm_stays_fresh_after_bad_confidences(make):
    refuses(make(), lambda a: a.weights(K, awake=[0.5, 2.0, 0.0, 1.0]), "awake .*expert 1 has .*2")
    refuses(make(), lambda a: a.weights(K, awake=[0.5, 1.0]), r"awake has shape \(1, 2\)")


@for_each(ALGORITHMS)
def test_losses_outside_by_rounding_are_accepted_and_clipped(make):
    losses = np.array([[0.0, 1.0, 0.5, 1.0], [1.0, 0.0, 0.5, 0.0]])
    off = losses + np.array([[-9e-10, 9e-10, 0.0, 2e-16], [1e-12, -1e-12, 0.0, -5e-324]])
    algorithm, exact = make(), make()
    assert np.array_equal(algorithm.run(off), exact.run(losses))
    assert np.array_equal(algorithm.weights(), exact.weights())


def test_confidences_outside_by_rounding_are_not_accepted():
    refuses(Hedge(), lambda a: a.run([[0.5, 0.5]], [[1.0 + 1e-12, 1.0]]), "awake must lie in")


@pytest.mark.parametrize(
    ("confidences", "match"),
    [
        ([1.0, np.nan, 1.0, 1.0], r"awake .*round 3, expert 1 has .*nan"),
        ([1.0, 1.0, 1.0, -0.1], r"awake .*round 3, expert 3 has .*-0\.1"),
        ([1.0, 1.0], r"awake has shape \(1, 2\)"),
        (1.0, "awake must have one column"),
        ("all", "awake must"),
        (np.ones((2, 4)), "awake must have one column"),
    ],
)
def test_weights_refuse_bad_confidences(confidences, match):
    algorithm = Hedge()
    algorithm.run(random_losses(3, K))
    refuses(algorithm, lambda a: a.weights(awake=confidences), match)


@pytest.mark.parametrize("n_experts", [0, -1, 2.0, 2.5, "3", True, [3], np.nan])
def test_number_of_experts_is_a_positive_integer(n_experts):
    refuses(Hedge(), lambda a: a.weights(n_experts), "n_experts=.* must be a positive integer")


@for_each(ALGORITHMS)
def test_weights_refuse_another_number_of_experts(make):
    algorithm = make()
    algorithm.weights(K)
    for n in (1, K - 1, K + 1):
        refuses(algorithm, lambda a, n=n: a.weights(n), f"n_experts={n}, .* runs over {K}")


# Parameters -------------------------------------------------------------------------------------------------

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
    "share-switching-word": (FixedShare(switching="rare"), r"switching='rare' must be a number"),
    "theta-memory": (ShareTheta(memory=-0.1), r"memory=-0\.1 must lie in \[0, 1\]"),
    "theta-memory-nan": (ShareTheta(memory=np.nan), r"memory=nan must lie in \[0, 1\]"),
    "past": (MixingPastPosteriors(past="recent"), r"past='recent' is not one of 'uniform', 'decaying'"),
    "past-segments": (MixingPastPosteriors(n_segments=0), r"n_segments=0 must be a positive integer"),
    "past-distinct": (
        MixingPastPosteriors(n_segments=2, n_distinct=3),
        r"n_distinct=3 must be a positive integer up to 2",
    ),
    "past-doubling-rate": (MixingPastPosteriors(rate=0.1, doubling=True), "doubling=True sets its own rate"),
    "past-doubling-past": (MixingPastPosteriors(doubling=True, past="decaying"), "doubling=True .*uniform"),
    "simple-rate": (SimpleReduction(rate=0.3), r"rate=0\.3 must lie in \(0, 0\.2\]"),
    "simple-rates": (SimpleReduction(rate=[0.1, 0.2]), r"rate=\[0\.1, 0\.2\] must be a number"),
    "simple-bias": (SimpleReduction(bias=-1.0), r"bias=-1\.0 must lie in \[0, 5\]"),
    "simple-bias-inf": (SimpleReduction(bias=np.inf), r"bias=inf must lie in \[0, 5\]"),
    "simple-biases": (SimpleReduction(bias=[1.0, 2.0]), r"bias=\[1\.0, 2\.0\] must be a number"),
    "simple-distinct": (SimpleReduction(n_distinct=2), r"n_distinct=2 must be a positive integer up to 1"),
    "best-constants": (BestOfBothWorlds(constants="loose"), r"constants='loose' is not one of 'paper'"),
    "plug-in-class": (SimpleReduction(static=Hedge), r"static=.*Hedge.* must be an instance of"),
    "plug-in-name": (BestOfBothWorlds(static="hedge"), r"static='hedge' must be an instance"),
    "plug-in-switching": (BestOfBothWorlds(switching=0.1), r"switching=0\.1 must be an instance"),
    "plug-in-object": (SimpleReduction(switching=object()), r"switching=<object.* must be an instance"),
    "plug-in-rated": (ConfidenceRated("hedge"), r"algorithm='hedge' must be an instance"),
    "plug-in-static-rate": (SimpleReduction(static=Hedge(rate=-1.0)), r"rate=-1\.0 must lie in"),
    "plug-in-switching-rule": (BestOfBothWorlds(switching=FixedShare(rule="no")), r"rule='no' is not one of"),
    "plug-in-rated-rate": (ConfidenceRated(Prod(rate=2.0)), r"rate=2\.0 must lie in"),
    "plug-in-reduction": (SimpleReduction(switching=BestOfBothWorlds()), "cannot be the switching algorithm"),
}


@pytest.mark.parametrize(("algorithm", "match"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS.keys())
def test_parameters_outside_their_domain_are_refused(algorithm, match):
    refuses(copy.deepcopy(algorithm), lambda a: a.weights(K), match)
    refuses(copy.deepcopy(algorithm), lambda a: a.run(random_losses(3, K)), match)
    refuses(copy.deepcopy(algorithm), lambda a: a.update([0.0] * K), match)


@for_each(WITH_HORIZON)
@pytest.mark.parametrize("horizon", [0, -5, 2.5, 100.0, "many", True, [5], np.nan])
def test_horizon_is_a_positive_integer(make, horizon):
    match = "horizon=.* must be a positive integer or None"
    refuses(make().set_params(horizon=horizon), lambda a: a.weights(K), match)
    refuses(make().set_params(horizon=horizon), lambda a: a.run(random_losses(2, K)), match)


@for_each(WITH_HORIZON)
def test_rounds_beyond_the_horizon_are_refused(make):
    losses = random_losses(10, K)
    algorithm = make().set_params(horizon=10)
    refuses(algorithm, lambda a: a.run(random_losses(11, K)), "round 10 would exceed the horizon of 10")
    algorithm.run(losses[:8])
    refuses(algorithm, lambda a: a.run(random_losses(3, K)), "round 10 would exceed the horizon of 10")
    resumed = algorithm.run(losses[8:])
    assert np.array_equal(resumed, make().set_params(horizon=10).run(losses)[8:])
    refuses(algorithm, lambda a: a.update([0.0] * K), "round 10 would exceed the horizon of 10")
    assert_distribution(algorithm.weights())


def test_horizon_of_what_is_rated_holds():
    algorithm = ConfidenceRated(Hedge(horizon=3))
    refuses(algorithm, lambda a: a.run(random_losses(4, K)), "horizon of 3")
    assert algorithm.run(random_losses(3, K)).shape == (3, K)


BAD_PRIORS = {
    "too-short": ([0.5, 0.5], r"prior has shape \(2,\), but there are 4 experts"),
    "number": (0.25, r"prior has shape \(\), but there are 4 experts"),
    "table": ([[0.25] * 4], r"prior has shape \(1, 4\), but there are 4 experts"),
    "zero": ([0.5, 0.5, 0.0, 0.5], r"prior must be positive and finite: expert 2 has .*0\.0"),
    "negative": ([0.5, -0.1, 0.3, 0.3], r"prior must be positive and finite: expert 1 has .*-0\.1"),
    "nan": ([0.5, 0.1, 0.3, np.nan], r"prior must be positive and finite: expert 3 has .*nan"),
    "inf": ([np.inf, 0.1, 0.3, 0.3], r"prior must be positive and finite: expert 0 has .*inf"),
    "words": (["a", "b", "c", "d"], r"prior must be numbers.*'a'"),
}


@pytest.mark.parametrize(("prior", "match"), BAD_PRIORS.values(), ids=BAD_PRIORS.keys())
def test_bad_prior_is_refused(prior, match):
    refuses(Hedge(prior=prior), lambda a: a.weights(K), match)
    refuses(BestOfBothWorlds(prior=prior), lambda a: a.run(random_losses(3, K)), match)


@for_each(ALGORITHMS)
def test_every_algorithm_checks_its_prior(make):
    algorithm = make().set_params(prior=[0.5, 0.5, 0.0, 0.5])
    refuses(algorithm, lambda a: a.run(random_losses(3, K)), "expert 2 has")


# The pool ---------------------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
def test_only_experts_that_exist_can_be_dropped(make):
    algorithm, untroubled = make(), make()
    algorithm.run(random_losses(3, K))
    untroubled.run(random_losses(3, K))
    for index in (K, -K - 1, 100):
        refuses(algorithm, lambda a, index=index: a.drop_expert(index), f"no expert {index}: there are {K}")
    losses = random_losses(10, K, seed=1)
    assert np.array_equal(algorithm.run(losses), untroubled.run(losses))


@pytest.mark.parametrize("index", [1.5, "sgd", None, np.nan, [0]])
def test_dropped_expert_is_named_by_an_integer(index):
    algorithm = Hedge()
    algorithm.run(random_losses(3, K))
    refuses(algorithm, lambda a: a.drop_expert(index), "expert")


@for_each(ALGORITHMS)
def test_last_expert_cannot_be_dropped(make):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    for _ in range(K - 1):
        algorithm.drop_expert(-1)
    refuses(algorithm, lambda a: a.drop_expert(0), "last expert cannot be dropped")
    np.testing.assert_allclose(algorithm.weights(), [1.0])


@for_each(ALGORITHMS)
def test_share_of_a_new_expert_lies_between_zero_and_one(make):
    algorithm, untroubled = make(), make()
    algorithm.run(random_losses(3, K))
    untroubled.run(random_losses(3, K))
    for share in (0.0, 1.0, -0.1, 2.0, np.nan, np.inf, "half"):
        refuses(algorithm, lambda a, share=share: a.add_expert(share), f"prior={share!r} must")
    losses = random_losses(10, K, seed=1)
    assert np.array_equal(algorithm.run(losses), untroubled.run(losses))


def test_share_of_a_new_expert_is_one_number():
    algorithm = Hedge()
    algorithm.run(random_losses(3, K))
    refuses(algorithm, lambda a: a.add_expert([0.1, 0.2]), r"prior=\[0\.1, 0\.2\] must")


@for_each(ALGORITHMS)
def test_pool_cannot_change_before_there_is_one(make):
    refuses(make(), lambda a: a.add_expert(), r"add_expert needs a pool: call weights\(n_experts\) first")
    refuses(make(), lambda a: a.drop_expert(0), r"drop_expert needs a pool: call weights\(n_experts\) first")


@for_each(ALGORITHMS)
def test_old_number_of_experts_is_refused_after_the_pool_has_changed(make):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    algorithm.add_expert()
    refuses(algorithm, lambda a: a.update([0.5] * K), f"losses have {K} experts.*runs over {K + 1}")
    algorithm.drop_expert(0)
    algorithm.drop_expert(0)
    refuses(algorithm, lambda a: a.run(random_losses(2, K)), f"losses have {K} experts.*runs over {K - 1}")


@pytest.mark.parametrize("algorithm", [Squint, BOA, MLPoly, AdaptMLProd, AdaNormalHedge])
def test_parameter_free_algorithms_take_no_rate(algorithm):
    with pytest.raises(TypeError, match="rate"):
        algorithm(rate=0.1)
