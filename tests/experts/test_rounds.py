"""Rounds of every algorithm: weights before losses, updates, sleeping experts, and splits of a run."""

import copy
import pickle

import numpy as np
import pytest
from support.expert_algorithms import (
    ALGORITHMS,
    ANY_SIZE,
    HORIZON,
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

from ltm_sklearn import experts
from ltm_sklearn.experts import LongTermMemory

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


def test_table_covers_every_public_algorithm():
    public = {name for name in experts.__all__ if name != "ExpertAlgorithm"}
    assert public == {type(make()).__name__ for make in ALGORITHMS.values()}
    assert HORIZON >= 3 * T + 50


# Splits of a run ----------------------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
@pytest.mark.fast_cases(6)
def test_run_equals_updates_split_runs_and_pickled_runs(make):
    for rounds in ROUNDS.values():
        losses, awake = rounds(T, K)
        whole, looped, split, pickled = make(), make(), make(), make()
        weights = whole.run(losses, awake)
        assert np.array_equal(play(looped, losses, awake), weights)
        for rows in (slice(0, 1), slice(1, 17), slice(17, 17), slice(17, T)):
            part = None if awake is None else awake[rows]
            assert np.array_equal(split.run(losses[rows], part), weights[rows])
            pickled = pickle.loads(pickle.dumps(pickled))
            assert np.array_equal(pickled.run(losses[rows], part), weights[rows])
        for other in (looped, split, pickled):
            assert same(other.state_, whole.state_)
            assert np.array_equal(other.weights(), whole.weights())


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
def test_arrays_of_the_caller_are_neither_changed_nor_kept(make):
    losses, awake = sleepy_losses(20, K), fractional_awake(20, K)
    given = losses.copy(), awake.copy()
    algorithm = make()
    played = algorithm.run(losses, awake)
    assert np.array_equal(losses, given[0], equal_nan=True)
    assert np.array_equal(awake, given[1])
    before = snapshot(algorithm)
    losses[:], awake[:], played[:] = 0.5, 0.0, 7.0
    algorithm.weights()[:] = 7.0
    algorithm.weights(K, awake=[1.0, 0.0, 0.5, 0.0])[:] = 7.0
    assert same(snapshot(algorithm), before)


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


@for_each({name: make for name, make in ALGORITHMS.items() if name != "tv-all"})
def test_the_state_does_not_grow_with_the_rounds(make):
    sizes = []
    algorithm = make()
    for _ in range(2):
        algorithm.run(random_losses(20, K))
        sizes.append(len(pickle.dumps(algorithm)))
    assert sizes[1] <= 1.2 * sizes[0] + 300


# Sleeping experts ---------------------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
def test_awake_restricts_the_weights(make):
    algorithm = make()
    algorithm.run(random_losses(10, K))
    own, confidence = algorithm.weights(), np.array([0.5, 0.0, 1.0, 0.25])
    expected = own * confidence / (own @ confidence)
    np.testing.assert_allclose(algorithm.weights(awake=confidence), expected, rtol=1e-9)


@for_each(ALGORITHMS)
def test_loss_of_a_sleeping_expert_is_ignored(make):
    """The loss may be NaN, or any number beside ``awake=0``."""
    losses, awake = random_losses(20, K), boolean_awake(20, K)
    expected = make().run(np.where(awake, losses, np.nan))
    for hidden in (losses, 1.0 - losses):
        played = make().run(np.where(awake, losses, hidden), awake)
        np.testing.assert_allclose(played, expected, rtol=1e-9, atol=1e-12)


@for_each(ALGORITHMS)
def test_a_round_in_which_all_sleep_changes_nothing(make):
    silent = np.full(K, np.nan)
    algorithm = make()
    algorithm.update(silent)
    assert algorithm.n_rounds_ == 0
    assert np.array_equal(algorithm.weights(), make().weights(K))
    algorithm.run(random_losses(10, K))
    before = snapshot(algorithm)
    algorithm.update(silent)
    for awake in ([0.0] * K, [False] * K):
        algorithm.update([0.1, 0.2, 0.3, 0.4], awake=awake)
    algorithm.run(np.tile(silent, (3, 1)), np.ones((3, K)))
    assert same(snapshot(algorithm), before)
    assert algorithm.n_rounds_ == 10
    assert np.array_equal(algorithm.weights(awake=np.zeros(K)), algorithm.weights())


def test_masked_losses_are_asleep():
    values, mask = np.array([[0.1, 0.0], [0.2, 0.0]]), np.array([[0, 1], [0, 1]])
    algorithm, expected = LongTermMemory(), LongTermMemory()
    algorithm.run(np.ma.array(values, mask=mask))
    algorithm.update(np.ma.array(values[0], mask=mask[0]))
    expected.run(np.where(mask[[0, 1, 0]], np.nan, values[[0, 1, 0]]))
    assert np.array_equal(algorithm.weights(), expected.weights())


# Numbers of rounds and experts --------------------------------------------------------------------------------------


@for_each(ALGORITHMS)
def test_n_rounds_counts_the_updates(make):
    algorithm = make()
    assert algorithm.n_rounds_ == 0
    with pytest.raises(ValueError, match="n_experts is needed"):
        algorithm.weights()
    before = algorithm.weights(K)
    assert before.shape == (K,)
    assert algorithm.n_rounds_ == 0
    assert np.array_equal(algorithm.run([[0.0, 1.0, 1.0, 1.0]]), [before])
    assert algorithm.n_rounds_ == 1
    assert algorithm.weights()[0] > before[0]
    algorithm.run(random_losses(T, K))
    algorithm.add_expert()
    algorithm.drop_expert(0)
    assert algorithm.n_rounds_ == 1 + T
    assert isinstance(algorithm.n_rounds_, int)


@for_each(ALGORITHMS)
def test_no_rounds_change_nothing(make):
    algorithm = make()
    assert algorithm.run(np.empty((0, K))).shape == (0, K)
    assert algorithm.n_rounds_ == 0
    algorithm.run(random_losses(3, K))
    before = snapshot(algorithm)
    assert algorithm.run(np.empty((0, K)), np.empty((0, K))).shape == (0, K)
    assert same(snapshot(algorithm), before)


@for_each(ANY_SIZE)
def test_a_single_expert_has_all_the_weight(make):
    algorithm = make()
    for value in (0.0, 0.3, 1.0, np.nan):
        np.testing.assert_allclose(algorithm.run(np.full((10, 1), value)), 1.0, rtol=1e-12)
    np.testing.assert_allclose(algorithm.run(random_losses(T, 1), fractional_awake(T, 1)), 1.0, rtol=1e-12)


@for_each(WITH_HORIZON)
def test_any_short_horizon_can_be_played_to_its_end(make):
    """The paper's number of rates is 0 or less below 25 rounds."""
    for horizon in range(1, 31):
        n_experts = (1, 2, 5)[horizon % 3]
        algorithm = make().set_params(horizon=horizon)
        assert_distribution(algorithm.run(random_losses(horizon, n_experts)))
        assert algorithm.n_rounds_ == horizon
        with pytest.raises(ValueError, match=f"horizon of {horizon}"):
            algorithm.update(np.zeros(n_experts))


@for_each(WITH_HORIZON)
def test_a_round_in_which_all_sleep_does_not_use_up_the_horizon(make):
    losses = random_losses(4, K)
    losses[1] = np.nan
    algorithm, split = make().set_params(horizon=3), make().set_params(horizon=3)
    together = algorithm.run(losses)
    assert algorithm.n_rounds_ == 3
    assert np.array_equal([split.run(row[np.newaxis])[0] for row in losses], together)


# Equal losses -------------------------------------------------------------------------------------------------------


@for_each(ANY_SIZE)
def test_equal_losses_leave_the_prior(make):
    for prior in (None, [0.1, 0.2, 0.3, 0.4]):
        for value in (0.0, 0.3, 1.0):
            played = make().set_params(prior=prior).run(np.full((T, K), value))
            np.testing.assert_allclose(played, np.tile(prior or [0.25] * K, (T, 1)), rtol=1e-9)


@for_each(ANY_SIZE)
def test_experts_with_equal_losses_have_equal_weights(make):
    played = make().run(tied_losses(T, K))  # the last expert is a copy of the first
    np.testing.assert_allclose(played[:, 0], played[:, -1], rtol=1e-9, atol=1e-14)


# Kinds of arrays ----------------------------------------------------------------------------------------------------


def read_only(table):
    table = table.copy()
    table.flags.writeable = False
    return table


STORED = {
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
    for stored in STORED.values():
        assert np.array_equal(make().run(stored(losses)), expected)
        assert np.array_equal(make().run(stored(losses), stored(awake)), rated)


@for_each(ALGORITHMS)
def test_float32_losses_are_not_rounded(make):
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
