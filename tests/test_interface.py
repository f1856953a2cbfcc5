"""What every algorithm promises its callers, whatever its rule."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from support.expert_algorithms import (
    ALGORITHMS,
    ANY_SIZE,
    HORIZON,
    LOSSES,
    RATE_PER_EXPERT,
    REGRET_BASED,
    WITH_HORIZON,
    K,
    assert_distribution,
    boolean_awake,
    for_each,
    fractional_awake,
    play,
    random_losses,
    same,
    sleepy_losses,
    snapshot,
    tied_losses,
)

from ltm_sklearn.experts import (
    BestOfBothWorlds,
    FixedShare,
    Hedge,
    LongTermMemory,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)

pytestmark = pytest.mark.fast_cases(3)

T = 24

ROUNDS = {
    "awake": lambda n, k: (random_losses(n, k), None),
    "ties": lambda n, k: (tied_losses(n, k), None),
    "nan": lambda n, k: (sleepy_losses(n, k), None),
    "boolean": lambda n, k: (random_losses(n, k), boolean_awake(n, k)),
    "fractional": lambda n, k: (random_losses(n, k), fractional_awake(n, k)),
    "fractional-nan": lambda n, k: (sleepy_losses(n, k), fractional_awake(n, k)),
}
each_kind_of_rounds = pytest.mark.parametrize("rounds", ROUNDS.values(), ids=ROUNDS.keys())


def part(awake, rows):
    return None if awake is None else awake[rows]


def resumed(algorithm):
    return pickle.loads(pickle.dumps(algorithm))


# run, loop, split, resume -----------------------------------------------------------------------------------


@for_each(ALGORITHMS)
@each_kind_of_rounds
def test_run_equals_loop_of_weights_and_update(make, rounds):
    losses, awake = rounds(T, K)
    ran, looped = make(), make()
    assert np.array_equal(ran.run(losses, awake), play(looped, losses, awake))
    assert np.array_equal(ran.weights(), looped.weights())
    assert same(ran.state_, looped.state_)


@for_each(ALGORITHMS)
@each_kind_of_rounds
def test_run_equals_split_and_resumed_runs(make, rounds):
    losses, awake = rounds(T, K)
    whole = make().run(losses, awake)
    split, pickled = make(), make()
    for rows in (slice(0, 1), slice(1, 17), slice(17, 17), slice(17, T)):
        assert np.array_equal(split.run(losses[rows], part(awake, rows)), whole[rows])
        pickled = resumed(pickled)
        assert np.array_equal(pickled.run(losses[rows], part(awake, rows)), whole[rows])
    assert same(split.state_, pickled.state_)


def changing_pool(algorithm, step, between=lambda algorithm: algorithm):
    """Play, add, play, drop, play, drop and add at once, play; the weights of all rounds."""
    played = []

    def stretch(algorithm, n_experts, seed):
        losses, awake = sleepy_losses(12, n_experts, seed), fractional_awake(12, n_experts, seed)
        played.append(step(algorithm, losses, awake))
        return between(algorithm)

    algorithm = stretch(algorithm, K, 0)
    assert algorithm.add_expert(prior=0.2) == K
    algorithm = stretch(algorithm, K + 1, 1)
    algorithm.drop_expert(1)
    algorithm = stretch(algorithm, K, 2)
    algorithm.drop_expert(K - 1)
    algorithm.add_expert()
    algorithm = stretch(algorithm, K, 3)
    played.append(algorithm.weights()[np.newaxis])
    return played


@for_each(ALGORITHMS)
def test_run_equals_loop_split_and_resumed_runs_while_the_pool_changes(make):
    def run(algorithm, losses, awake):
        return algorithm.run(losses, awake)

    def split(algorithm, losses, awake):
        return np.concatenate([algorithm.run(losses[:5], awake[:5]), algorithm.run(losses[5:], awake[5:])])

    expected = changing_pool(make(), run)
    for row in expected:
        assert_distribution(row)
    for other in (
        changing_pool(make(), play),
        changing_pool(make(), split),
        changing_pool(make(), run, between=resumed),
    ):
        assert all(map(np.array_equal, other, expected))


@for_each(ALGORITHMS)
def test_weights_are_played_before_their_losses_are_seen(make):
    losses = random_losses(T, K)
    for at in (0, 13, T - 1):
        other = losses.copy()
        other[at:] = 1.0 - random_losses(T, K, seed=9)[at:]
        first, second = make(), make()
        before, after = first.run(losses), second.run(other)
        assert np.array_equal(before[: at + 1], after[: at + 1])
        assert not np.array_equal(first.weights(), second.weights())


@for_each(ALGORITHMS)
def test_looking_at_weights_changes_nothing(make):
    algorithm = make()
    algorithm.run(random_losses(10, K))
    before = snapshot(algorithm)
    algorithm.weights()[:] = 7.0
    algorithm.weights(K, awake=[1.0, 0.0, 0.5, 0.0])[:] = 7.0
    assert same(snapshot(algorithm), before)


@for_each(ALGORITHMS)
def test_input_is_neither_changed_nor_kept(make):
    losses, awake = sleepy_losses(20, K), fractional_awake(20, K)
    kept = losses.copy(), awake.copy()
    algorithm = make()
    played = algorithm.run(losses, awake)
    assert np.array_equal(losses, kept[0], equal_nan=True)
    assert np.array_equal(awake, kept[1])
    before = snapshot(algorithm)
    losses[:], awake[:], played[:] = 0.5, 0.0, 7.0
    assert same(snapshot(algorithm), before)


@for_each(ALGORITHMS)
def test_awake_restricts_the_weights_that_are_shown(make):
    algorithm = make()
    algorithm.run(random_losses(10, K))
    own, confidence = algorithm.weights(), np.array([0.5, 0.0, 1.0, 0.25])
    expected = own * confidence / (own @ confidence)
    np.testing.assert_allclose(algorithm.weights(awake=confidence), expected, rtol=1e-9)


@for_each(ALGORITHMS)
def test_loss_of_a_sleeping_expert_is_not_looked_at(make):
    """Whether it is NaN, or any number with ``awake`` 0."""
    losses, awake = random_losses(20, K), boolean_awake(20, K)
    hidden = np.where(awake, losses, np.nan)
    flipped = np.where(awake, losses, 1.0 - losses)
    expected = make().run(hidden)
    np.testing.assert_allclose(make().run(losses, awake), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(make().run(flipped, awake), expected, rtol=1e-9, atol=1e-12)


# Parameters and copies --------------------------------------------------------------------------------------


def parameters(algorithm):
    return {name: value for name, value in algorithm.get_params().items() if not hasattr(value, "get_params")}


@for_each(ALGORITHMS)
def test_clone_is_unstarted_with_the_same_parameters(make):
    algorithm = make().set_params(prior=[0.1, 0.2, 0.3, 0.4])
    expected = copy.deepcopy(algorithm).run(random_losses(T, K))
    algorithm.run(random_losses(T, K, seed=8))
    fresh = clone(algorithm)
    assert same(parameters(fresh), parameters(algorithm))
    assert fresh.n_rounds_ == 0
    assert not hasattr(fresh, "state_")
    assert np.array_equal(fresh.run(random_losses(T, K)), expected)


@for_each(ALGORITHMS)
def test_parameters_can_be_read_back_and_handed_to_the_class(make):
    algorithm = make()
    rebuilt = type(algorithm)(**algorithm.get_params(deep=False))
    assert np.array_equal(rebuilt.run(random_losses(T, K)), make().run(random_losses(T, K)))


@for_each(ALGORITHMS)
def test_running_changes_no_parameter(make):
    algorithm = make()
    before = copy.deepcopy(parameters(algorithm))
    algorithm.run(random_losses(T, K))
    assert same(parameters(algorithm), before)


def test_set_params_takes_effect_before_the_start():
    losses = random_losses(T, K)
    changed = Hedge().set_params(rate=0.1, variant=2)
    assert changed.get_params() == {"rate": 0.1, "variant": 2, "horizon": None, "prior": None}
    assert np.array_equal(changed.run(losses), Hedge(rate=0.1, variant=2).run(losses))
    nested = SimpleReduction(Squint(), FixedShare()).set_params(switching__switching=0.3, bias=1.0)
    expected = SimpleReduction(Squint(), FixedShare(switching=0.3), bias=1.0)
    assert np.array_equal(nested.run(losses), expected.run(losses))


def test_set_params_refuses_unknown_names():
    with pytest.raises(ValueError, match="learning_rate"):
        Hedge().set_params(learning_rate=0.1)


@for_each(ALGORITHMS)
def test_repr_names_the_class(make):
    algorithm = make().set_params(prior=np.full(K, 0.25))
    algorithm.run(random_losses(3, K))
    assert repr(algorithm).startswith(f"{type(algorithm).__name__}(")
    assert "prior=" in repr(algorithm)


def test_repr_shows_what_differs_from_the_defaults():
    assert repr(Hedge()) == "Hedge()"
    assert repr(Prod(rate=0.25)) == "Prod(rate=0.25)"
    nested = BestOfBothWorlds(Squint(), constants="tight")
    assert repr(nested) == "BestOfBothWorlds(constants='tight', static=Squint())"


@for_each(ALGORITHMS)
def test_deep_copies_are_independent(make):
    algorithm = make()
    algorithm.run(random_losses(10, K))
    before = snapshot(algorithm)
    twin = copy.deepcopy(algorithm)
    losses = random_losses(20, K, seed=7)
    ahead = twin.run(losses)
    assert same(snapshot(algorithm), before)
    assert np.array_equal(algorithm.run(losses), ahead)


@for_each(ALGORITHMS)
def test_one_plug_in_may_serve_two_algorithms(make):
    """Parameters are shared, states are not."""
    algorithm = make()
    other = type(algorithm)(**algorithm.get_params(deep=False))
    losses = random_losses(20, K)
    expected = make().run(losses)
    assert np.array_equal(algorithm.run(losses), expected)
    assert np.array_equal(other.run(losses), expected)


# Priors and pools -------------------------------------------------------------------------------------------


@for_each(ANY_SIZE)
def test_weights_start_uniform(make):
    algorithm = make()
    np.testing.assert_allclose(algorithm.weights(3), 1 / 3, rtol=1e-12)
    algorithm.add_expert()
    np.testing.assert_allclose(algorithm.weights(4), 1 / 4, rtol=1e-12)
    algorithm.drop_expert(1)
    np.testing.assert_allclose(algorithm.weights(3), 1 / 3, rtol=1e-12)


@for_each(ANY_SIZE)
def test_weights_start_in_the_order_of_the_prior(make):
    weights = make().set_params(prior=[0.3, 0.1, 0.4, 0.2]).weights(4)
    assert weights.argsort().tolist() == [1, 3, 0, 2]


@for_each(ANY_SIZE)
def test_weights_start_at_the_prior(make):
    algorithm = make().set_params(prior=[1.0, 2.0, 3.0, 4.0])  # need not sum to one
    np.testing.assert_allclose(algorithm.weights(4), [0.1, 0.2, 0.3, 0.4], rtol=1e-12)


@for_each(RATE_PER_EXPERT)
def test_weights_start_at_prior_times_rate_where_experts_have_rates(make):
    prior = np.array([0.1, 0.2, 0.3, 0.4])
    algorithm = make().set_params(prior=prior)
    expected = prior * algorithm.rate
    np.testing.assert_allclose(algorithm.weights(K), expected / expected.sum(), rtol=1e-12)


#: Rules in which two equal experts weigh as much as one with both their priors. Not so if the rate depends on
#: the number of experts, or, as in Adapt-ML-Prod, on the expert's own prior.
SPLITS_PRIOR = {
    name: ANY_SIZE[name]
    for name in ANY_SIZE
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
def test_doubled_expert_with_half_the_prior_each_weighs_the_same(make):
    for kind in LOSSES.values():
        losses = kind(T, 3)
        single = make().set_params(prior=[0.5, 0.2, 0.3]).run(losses)
        double = make().set_params(prior=[0.25, 0.2, 0.3, 0.25]).run(losses[:, [0, 1, 2, 0]])
        np.testing.assert_allclose(double[:, 0] + double[:, 3], single[:, 0], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(double[:, 1:3], single[:, 1:], rtol=1e-9, atol=1e-12)


@for_each(ANY_SIZE)
def test_added_expert_has_the_stated_share_of_the_prior(make):
    algorithm = make()
    algorithm.weights(3)
    assert algorithm.add_expert(prior=0.4) == 3
    np.testing.assert_allclose(algorithm.weights(4), [0.2, 0.2, 0.2, 0.4], rtol=1e-12)
    assert algorithm.add_expert() == 4
    np.testing.assert_allclose(algorithm.weights(5), [0.16, 0.16, 0.16, 0.32, 0.2], rtol=1e-12)


@for_each(ANY_SIZE)
def test_dropped_experts_share_of_the_prior_goes_to_the_others(make):
    algorithm = make().set_params(prior=[0.5, 0.1, 0.2, 0.2])
    algorithm.weights(4)
    algorithm.drop_expert(0)
    np.testing.assert_allclose(algorithm.weights(3), [0.2, 0.4, 0.4], rtol=1e-12)


@for_each(ANY_SIZE)
def test_added_expert_has_the_stated_share_of_the_prior_after_a_drop(make):
    algorithm = make().set_params(prior=[0.5, 0.1, 0.2, 0.2])
    algorithm.weights(4)
    algorithm.drop_expert(0)
    algorithm.add_expert(prior=0.25)
    np.testing.assert_allclose(algorithm.weights(4), [0.15, 0.3, 0.3, 0.25], rtol=1e-12)


@for_each(REGRET_BASED)
@pytest.mark.parametrize("share", [0.1, 0.6])
def test_added_expert_is_as_one_that_has_slept(make, share):
    losses, later = random_losses(20, K - 1), random_losses(20, K, seed=1)
    slept = make().set_params(prior=[*[(1.0 - share) / (K - 1)] * (K - 1), share])
    joined = make()
    if np.ndim(joined.get_params().get("rate")):  # the newcomer takes the last expert's rate
        joined.set_params(rate=joined.rate[: K - 1])
        slept.set_params(rate=[*joined.rate, joined.rate[-1]])
    slept.run(np.column_stack([losses, np.full(20, np.nan)]))
    joined.run(losses)
    joined.add_expert(prior=share)
    np.testing.assert_allclose(joined.weights(), slept.weights(), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(joined.run(later), slept.run(later), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("make", [LongTermMemory, lambda: FixedShare(1.0, 0.01), lambda: ShareTheta(1.0, 0.01, 0.01)])
def test_rules_that_share_give_a_newcomer_its_share_of_the_weight(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    algorithm.add_expert(prior=0.2)
    assert 0.1 < algorithm.weights()[-1] < 0.3


def test_the_default_keeps_models_and_trackers_in_proportion_as_the_pool_changes():
    grown, whole = LongTermMemory(), LongTermMemory()
    grown.weights(1)
    for _ in range(9):
        grown.add_expert()
    whole.weights(10)
    for name in ("prior", "potential", "tracker_potential", "tracked", "remembered"):
        np.testing.assert_allclose(grown.state_[name], whole.state_[name], rtol=1e-12)
    for _ in range(5):
        whole.drop_expert(0)
    fresh = LongTermMemory()
    fresh.weights(5)
    np.testing.assert_allclose(whole.state_["potential"], fresh.state_["potential"], rtol=1e-12)


@for_each(ANY_SIZE)
@pytest.mark.parametrize("share", [0.9, 0.01])
def test_a_pool_may_change_for_ever(make, share):
    algorithm = make()
    algorithm.weights(2)
    for _ in range(400):
        algorithm.add_expert(share)
        algorithm.drop_expert(0)
    algorithm.run(random_losses(5, 2))
    np.testing.assert_allclose(algorithm.weights().sum(), 1.0)
    np.testing.assert_allclose(algorithm.prior_.sum(), 1.0)


@for_each(ALGORITHMS)
def test_parameters_cannot_change_in_the_middle_of_a_run(make):
    algorithm = make()
    algorithm.run(random_losses(3, K))
    with pytest.raises(ValueError, match="middle of a run"):
        algorithm.set_params(prior=[0.4, 0.3, 0.2, 0.1])
    assert algorithm.set_params() is algorithm


@for_each({name: make for name, make in ALGORITHMS.items() if name != "tv-all"})
def test_the_state_does_not_grow_with_the_rounds(make):
    """opera keeps its history; here the past is in the state (a pruned copy more or less aside)."""
    sizes = []
    algorithm = make()
    for _ in range(2):
        algorithm.run(random_losses(20, K))
        sizes.append(len(pickle.dumps(algorithm)))
    assert sizes[1] <= 1.2 * sizes[0] + 300


@for_each(ALGORITHMS)
def test_dropping_leaves_a_distribution_over_the_others(make):
    for index in (0, 2, K - 1, -1, -K, np.int64(1)):
        algorithm = make()
        algorithm.run(random_losses(8, K))
        assert algorithm.drop_expert(index) is None
        assert algorithm.n_experts_ == K - 1
        assert_distribution(algorithm.weights(K - 1))
        played = algorithm.run(random_losses(8, K - 1, seed=1))
        assert played.shape == (8, K - 1)
        assert_distribution(played)


@for_each(ALGORITHMS)
def test_index_may_count_from_the_end(make):
    for index in range(K):
        front, back = make(), make()
        front.run(random_losses(8, K))
        back.run(random_losses(8, K))
        front.drop_expert(index)
        back.drop_expert(index - K)
        assert np.array_equal(front.weights(), back.weights())


@for_each({name: make for name, make in REGRET_BASED.items() if name != "ml-poly"})
def test_dropping_keeps_the_others_in_proportion(make):
    """ML-Poly returns to the prior instead if only the dropped one had positive regret."""
    for index in (0, 2, -1):
        algorithm = make()
        algorithm.run(random_losses(20, K))
        rest = np.delete(algorithm.weights(), index)
        algorithm.drop_expert(index)
        np.testing.assert_allclose(algorithm.weights(), rest / rest.sum(), rtol=1e-9)


@for_each(ALGORITHMS)
def test_all_but_one_may_be_dropped(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    for _ in range(K - 1):
        algorithm.drop_expert(0)
    np.testing.assert_allclose(algorithm.weights(), [1.0], rtol=1e-12)
    np.testing.assert_allclose(algorithm.run(random_losses(20, 1)), 1.0, rtol=1e-12)
    algorithm.add_expert(prior=0.5)
    assert_distribution(algorithm.run(random_losses(20, 2)))


@for_each(ALGORITHMS)
def test_pool_may_grow_many_times(make):
    algorithm = make()
    algorithm.weights(K)
    for n_experts in range(K, 2 * K):
        assert_distribution(algorithm.run(random_losses(5, n_experts)))
        algorithm.add_expert()
    assert algorithm.n_experts_ == 2 * K
    assert algorithm.n_rounds_ == 5 * K


@for_each(ALGORITHMS)
def test_newcomer_that_is_better_takes_over(make):
    algorithm = make()
    algorithm.run(random_losses(20, K))
    new = algorithm.add_expert()
    algorithm.run(np.column_stack([np.ones((150, K)), np.zeros(150)]))
    weights = algorithm.weights()
    assert weights.argmax() == new
    assert weights[new] > 0.6


# Small and degenerate cases ---------------------------------------------------------------------------------


@for_each(ANY_SIZE)
def test_single_expert_has_all_the_weight(make):
    algorithm = make()
    for value in (0.0, 0.3, 1.0, np.nan):
        np.testing.assert_allclose(algorithm.run(np.full((10, 1), value)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(algorithm.run(random_losses(T, 1), fractional_awake(T, 1)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(algorithm.weights(1), [1.0], rtol=1e-12)


@for_each(ALGORITHMS)
def test_one_round(make):
    algorithm = make()
    before = algorithm.weights(K)
    assert np.array_equal(algorithm.run([[0.0, 1.0, 1.0, 1.0]]), [before])
    after = algorithm.weights()
    assert_distribution(after)
    assert after[0] > before[0]
    assert algorithm.n_rounds_ == 1


@for_each(ALGORITHMS)
def test_no_rounds_change_nothing(make):
    algorithm = make()
    assert algorithm.run(np.empty((0, K))).shape == (0, K)
    assert algorithm.n_rounds_ == 0
    algorithm.run(random_losses(3, K))
    before = snapshot(algorithm)
    assert algorithm.run(np.empty((0, K)), np.empty((0, K))).shape == (0, K)
    assert same(snapshot(algorithm), before)


@for_each(WITH_HORIZON)
@pytest.mark.parametrize("n_experts", [1, 2, 5])
def test_any_short_horizon_can_be_played_to_its_end(make, n_experts):
    """The paper's number of rates is 0 or less below 25 rounds."""
    for horizon in range(1, 31):
        algorithm = make().set_params(horizon=horizon)
        assert_distribution(algorithm.run(random_losses(horizon, n_experts)))
        assert_distribution(algorithm.weights())
        assert algorithm.n_rounds_ == horizon
        with pytest.raises(ValueError, match=f"horizon of {horizon}"):
            algorithm.update(np.zeros(n_experts))


@pytest.mark.parametrize("constants", ["paper", "tight"])
def test_longer_horizon_never_has_fewer_rates(constants):
    sizes = []
    for horizon in (*range(1, 31), 100, 10_000, 10**6):
        algorithm = BestOfBothWorlds(constants=constants, horizon=horizon)
        algorithm.weights(2)
        rates = algorithm.state_["rates"]
        assert (rates > 0.0).all()
        assert rates.max() <= (0.2 if constants == "paper" else 0.45)
        sizes.append(len(rates))
    assert sizes == sorted(sizes)
    assert sizes[0] == 1
    assert sizes[-1] == (8 if constants == "paper" else 9)


@for_each(ANY_SIZE)
def test_equal_losses_leave_uniform_weights(make):
    for value in (0.0, 0.3, 1.0):
        np.testing.assert_allclose(make().run(np.full((T, K), value)), 1 / K, rtol=1e-9)


@for_each(ANY_SIZE)
def test_equal_losses_leave_the_prior(make):
    prior = [0.1, 0.2, 0.3, 0.4]
    for value in (0.0, 0.3, 1.0):
        played = make().set_params(prior=prior).run(np.full((T, K), value))
        np.testing.assert_allclose(played, np.tile(prior, (T, 1)), rtol=1e-9)


@for_each(ANY_SIZE)
def test_experts_with_equal_losses_have_equal_weights(make):
    played = make().run(tied_losses(T, K))  # the last is a copy of the first
    np.testing.assert_allclose(played[:, 0], played[:, -1], rtol=1e-9, atol=1e-14)


@for_each(ALGORITHMS)
def test_round_in_which_all_sleep_changes_nothing_and_is_not_counted(make):
    silent = np.full(K, np.nan)
    algorithm = make()
    algorithm.update(silent)
    assert algorithm.n_rounds_ == 0
    assert np.array_equal(algorithm.weights(), make().weights(K))
    algorithm.run(random_losses(10, K))
    before = snapshot(algorithm)
    algorithm.update(silent)
    algorithm.update([0.1, 0.2, 0.3, 0.4], awake=[0.0] * K)
    algorithm.update([0.1, 0.2, 0.3, 0.4], awake=[False] * K)
    algorithm.run(np.tile(silent, (3, 1)), np.ones((3, K)))
    assert same(snapshot(algorithm), before)
    assert algorithm.n_rounds_ == 10
    assert np.array_equal(algorithm.weights(awake=np.zeros(K)), algorithm.weights())


@for_each(WITH_HORIZON)
def test_round_in_which_all_sleep_does_not_use_up_the_horizon(make):
    losses = random_losses(4, K)
    losses[1] = np.nan
    algorithm = make().set_params(horizon=3)
    together = algorithm.run(losses)
    assert algorithm.n_rounds_ == 3
    split = make().set_params(horizon=3)
    assert np.array_equal([split.run(row[np.newaxis])[0] for row in losses], together)


# Kinds of input ---------------------------------------------------------------------------------------------


def read_only(table):
    table = table.copy()
    table.flags.writeable = False
    return table


AS = {
    "read-only": read_only,
    "fortran": np.asfortranarray,
    "strided": lambda table: np.repeat(table, 2, axis=1)[:, ::2],
    "reversed": lambda table: table[::-1].copy()[::-1],
    "float32": lambda table: table.astype(np.float32),
    "int": lambda table: table.astype(np.int64),
    "int8": lambda table: table.astype(np.int8),
    "bool": lambda table: table.astype(bool),
    "object": lambda table: table.astype(object),
    "big-endian": lambda table: table.astype(">f8"),
    "list": lambda table: table.tolist(),
    "list-of-rows": list,
    "tuple": lambda table: tuple(map(tuple, table)),
}


@for_each(ALGORITHMS)
def test_numbers_do_not_depend_on_how_the_table_is_stored(make):
    losses = (random_losses(8, K) < 0.5).astype(float)
    awake = boolean_awake(8, K).astype(float)
    expected, rated = make().run(losses), make().run(losses, awake)
    for stored in AS.values():
        assert np.array_equal(make().run(stored(losses)), expected)
        assert np.array_equal(make().run(stored(losses), stored(awake)), rated)


@for_each(ALGORITHMS)
def test_float32_losses_are_used_as_they_are(make):
    losses = random_losses(20, K).astype(np.float32)
    losses[3, 2] = np.nan
    assert np.array_equal(make().run(losses), make().run(losses.astype(np.float64)))


@for_each(ALGORITHMS)
def test_update_takes_lists_and_rows_of_other_arrays(make):
    losses = np.asfortranarray(random_losses(10, K))
    rows, lists = make(), make()
    for row in losses:
        assert rows.update(row) is rows
        lists.update(row.tolist(), awake=[1] * K)
    assert np.array_equal(rows.weights(), lists.weights())


@for_each(ALGORITHMS)
def test_n_rounds_counts_rounds_learned(make):
    algorithm = make()
    assert algorithm.n_rounds_ == 0
    algorithm.weights(K)
    assert algorithm.n_rounds_ == 0
    algorithm.update(np.zeros(K))
    assert algorithm.n_rounds_ == 1
    algorithm.run(random_losses(T, K))
    assert algorithm.n_rounds_ == 1 + T
    algorithm.add_expert()
    algorithm.drop_expert(0)
    assert algorithm.n_rounds_ == 1 + T
    assert isinstance(algorithm.n_rounds_, int)


@for_each(ALGORITHMS)
def test_weights_before_the_first_round_need_the_number_of_experts(make):
    algorithm = make()
    with pytest.raises(ValueError, match="n_experts is needed"):
        algorithm.weights()
    assert algorithm.weights(K).shape == (K,)
    assert np.array_equal(algorithm.weights(), algorithm.weights(K))


def test_table_covers_every_public_algorithm():
    from ltm_sklearn import experts

    public = {name for name in experts.__all__ if name != "ExpertAlgorithm"}
    assert public == {type(make()).__name__ for make in ALGORITHMS.values()}
    assert HORIZON >= 3 * T + 50


def test_masked_losses_are_asleep():
    values, mask = np.array([[0.1, 0.0], [0.2, 0.0]]), np.array([[0, 1], [0, 1]])
    algorithm, expected = LongTermMemory(), LongTermMemory()
    algorithm.run(np.ma.array(values, mask=mask))
    algorithm.update(np.ma.array(values[0], mask=mask[0]))
    expected.run(np.where(mask[[0, 1, 0]], np.nan, values[[0, 1, 0]]))
    assert np.array_equal(algorithm.weights(), expected.weights())
