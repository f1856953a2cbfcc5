"""Losses, confidences and changes of the pool that are refused with a message, and leave the algorithm as it was."""

import numpy as np
import pytest
from support.expert_algorithms import ALGORITHMS, K, for_each, random_losses
from support.refusals import assert_refused

from ltm_sklearn.experts import BestOfBothWorlds, Hedge

pytestmark = pytest.mark.fast_cases(2)


def table(round_=0, expert=0, value=0.5, n_rounds=5):
    """Return losses of which one is replaced."""
    losses = random_losses(n_rounds, K)
    losses[round_, expert] = value
    return losses


def nested(value):
    """Return a list of lists in which one loss is replaced."""
    rows = random_losses(2, K).tolist()
    rows[1][2] = value
    return rows


FINE = random_losses(5, K)

#: Arguments of ``run``, and what the message must say. Rounds are counted from the 3 played before.
BAD_RUNS = {
    "loss-inf": ((table(2, 1, np.inf),), r"losses .*round 5, expert 1 has .*inf"),
    "loss-minus-inf": ((table(0, 3, -np.inf),), r"losses .*round 3, expert 3 has .*-inf"),
    "loss-above": ((table(4, 0, 1.0 + 2e-9),), r"losses .*round 7, expert 0 has .*1\.000000002"),
    "loss-below": ((table(1, 2, -2e-9),), r"losses .*round 4, expert 2 has .*-2e-09"),
    "awake-nan": ((FINE, table(2, 1, np.nan)), r"awake .*round 5, expert 1 has .*nan"),
    "awake-inf": ((FINE, table(0, 2, np.inf)), r"awake .*round 3, expert 2 has .*inf"),
    "awake-above": ((FINE, table(0, 0, 1.0 + 1e-12)), r"awake must lie in .*round 3, expert 0 has .*1\.0"),
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

#: Arguments of ``weights``.
BAD_WEIGHTS = {
    "awake-nan": ({"awake": [1.0, np.nan, 1.0, 1.0]}, r"awake .*round 3, expert 1 has .*nan"),
    "awake-below": ({"awake": [1.0, 1.0, 1.0, -0.1]}, r"awake .*round 3, expert 3 has .*-0\.1"),
    "awake-too-short": ({"awake": [1.0, 1.0]}, r"awake has shape \(1, 2\)"),
    "awake-number": ({"awake": 1.0}, "awake must have one column"),
    "awake-word": ({"awake": "all"}, "awake must"),
    "awake-two-rounds": ({"awake": np.ones((2, 4))}, "awake must have one column"),
    **{f"{n}-experts": ({"n_experts": n}, f"n_experts={n}, .* runs over {K}") for n in (1, K - 1, K + 1)},
    **{
        f"experts-{n!r}": ({"n_experts": n}, "n_experts=.* must be a positive integer")
        for n in (0, -1, 2.0, 2.5, "3", True, [3], np.nan)
    },
}

#: Changes of the pool.
BAD_CHANGES = {
    **{
        f"drop-{index}": (lambda a, index=index: a.drop_expert(index), f"no expert {index}: there are {K}")
        for index in (K, -K - 1, 100)
    },
    **{
        f"drop-{index!r}": (lambda a, index=index: a.drop_expert(index), "expert")
        for index in (1.5, "sgd", None, np.nan, [0])
    },
    **{
        f"add-{share!r}": (lambda a, share=share: a.add_expert(share), r"prior=.* must")
        for share in (0.0, 1.0, -0.1, 2.0, np.nan, np.inf, "half", [0.1, 0.2])
    },
}


@for_each({"hedge": Hedge, "tight": lambda: BestOfBothWorlds(constants="tight"), **ALGORITHMS})
@pytest.mark.fast_cases(5)
def test_bad_calls_are_refused_and_the_run_goes_on_as_before(make):
    losses = random_losses(30, K, seed=1)
    algorithm, untroubled = make(), make()
    algorithm.run(losses[:3])
    untroubled.run(losses[:3])
    for arguments, match in BAD_RUNS.values():
        assert_refused(algorithm, lambda a, arguments=arguments: a.run(*arguments), match)
    for arguments, match in BAD_UPDATES.values():
        assert_refused(algorithm, lambda a, arguments=arguments: a.update(*arguments), match)
    for keywords, match in BAD_WEIGHTS.values():
        assert_refused(algorithm, lambda a, keywords=keywords: a.weights(**keywords), match)
    for change, match in BAD_CHANGES.values():
        assert_refused(algorithm, change, match)
    assert np.array_equal(algorithm.run(losses[3:]), untroubled.run(losses[3:]))


@for_each(ALGORITHMS)
def test_an_algorithm_stays_unstarted_after_bad_calls(make):
    algorithm = make()
    assert_refused(algorithm, lambda a: a.run(table(1, 2, np.inf)), "round 1, expert 2")
    assert_refused(algorithm, lambda a: a.update([0.1, 0.2, -3.0, 0.3]), r"round 0, expert 2 has .*-3\.0")
    assert_refused(algorithm, lambda a: a.run(FINE, np.ones((5, 2))), "awake has shape")
    assert_refused(algorithm, lambda a: a.run([]), "one column per expert")
    assert_refused(algorithm, lambda a: a.weights(0), "n_experts=0 must be a positive integer")
    assert_refused(algorithm, lambda a: a.weights(K, awake=[0.5, 2.0, 0.0, 1.0]), "awake .*expert 1 has .*2")
    assert_refused(algorithm, lambda a: a.weights(K, awake=[0.5, 1.0]), r"awake has shape \(1, 2\)")
    assert_refused(algorithm, lambda a: a.add_expert(), r"add_expert needs a pool: call weights\(n_experts\) first")
    assert_refused(algorithm, lambda a: a.drop_expert(0), r"drop_expert needs a pool: call weights\(n_experts\) first")
    assert not hasattr(algorithm, "state_")
    losses = random_losses(10, K)
    assert np.array_equal(algorithm.run(losses), make().run(losses))


@for_each(ALGORITHMS)
def test_losses_outside_by_rounding_are_clipped(make):
    losses = np.array([[0.0, 1.0, 0.5, 1.0], [1.0, 0.0, 0.5, 0.0]])
    off = losses + np.array([[-9e-10, 9e-10, 0.0, 2e-16], [1e-12, -1e-12, 0.0, -5e-324]])
    algorithm, exact = make(), make()
    assert np.array_equal(algorithm.run(off), exact.run(losses))
    assert np.array_equal(algorithm.weights(), exact.weights())


@for_each(ALGORITHMS)
def test_losses_of_the_old_pool_are_refused_after_a_change(make):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    algorithm.add_expert()
    assert_refused(algorithm, lambda a: a.update([0.5] * K), f"losses have {K} experts.*runs over {K + 1}")
    algorithm.drop_expert(0)
    algorithm.drop_expert(0)
    assert_refused(algorithm, lambda a: a.run(random_losses(2, K)), f"losses have {K} experts.*runs over {K - 1}")
