"""Oracles on tables of losses: best expert, best sequences, memory curve."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ltm_sklearn.evaluation import _sequence_search, _sequences, oracles

small_shapes = st.tuples(st.integers(1, 6), st.integers(1, 4))
losses_or_asleep = st.one_of(*[st.integers(0, 2).map(float)] * 3, st.just(math.nan))
small_tables = small_shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=losses_or_asleep))


def all_sequences(losses):
    """Yield mean loss, switches and distinct experts of all sequences that follow no sleeping expert."""
    n_rows, n_experts = losses.shape
    for path in itertools.product(range(n_experts), repeat=n_rows):
        mean = losses[np.arange(n_rows), path].mean()
        if not np.isnan(mean):
            yield mean, np.count_nonzero(np.diff(path)), len(set(path))


def least_loss(losses, switches, distinct=math.inf):
    means = [mean for mean, used, n in all_sequences(losses) if used <= switches and n <= distinct]
    return min(means, default=math.inf)


def loss_of_path(losses, path):
    return losses[np.arange(len(losses)), path].mean()


def recurring_losses(n_rows=300, n_experts=12, n_good=3, length=20, seed=0):
    """Losses in which the first experts are good in turn."""
    rng = np.random.default_rng(seed)
    losses = rng.random((n_rows, n_experts))
    losses[np.arange(n_rows), (np.arange(n_rows) // length) % n_good] -= 0.5
    return losses


def test_the_kernel_is_compiled():
    assert _sequences.kernel is not None


@settings(max_examples=60, deadline=None)
@given(small_tables, st.integers(0, 7))
def test_best_sequence_is_the_best_of_all_sequences(losses, max_switches):
    expected = [least_loss(losses, switches) for switches in range(max_switches + 1)]
    if np.isinf(expected[-1]):
        with pytest.raises(ValueError, match="asleep"):
            oracles.best_sequence(losses, max_switches)
        return
    best = oracles.best_sequence(losses, max_switches)
    np.testing.assert_allclose(best.losses, expected, atol=1e-12)
    assert best.loss == best.losses[-1]
    assert loss_of_path(losses, best.path) == pytest.approx(best.loss)
    fewest = min(used for mean, used, _ in all_sequences(losses) if mean <= best.loss + 1e-12)
    assert best.n_switches == fewest <= max_switches
    assert best.n_distinct == len(set(best.path.tolist()))


@pytest.mark.fast_cases(6)
@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (200, 1), (300, 17)])
@pytest.mark.parametrize("max_switches", [0, 1, 6])
def test_compiled_kernel_equals_numpy(shape, max_switches, monkeypatch):
    rng = np.random.default_rng(0)
    groups = np.array(list(itertools.combinations(range(shape[1]), min(2, shape[1]))))
    for losses in (rng.random(shape), rng.integers(0, 2, shape).astype(float), -rng.random(shape)[:, ::-1] * 1e8):
        results = []
        for kernel in (_sequences.kernel, None):
            monkeypatch.setattr(_sequences, "kernel", kernel)
            cells = np.zeros((shape[1], max_switches + 1))
            for part in np.array_split(losses, 3):
                _sequences.advance(part, cells)
            totals, path = _sequences.best_path(losses, max_switches)
            results.append((cells, totals, path, _sequences.least_among(losses, groups, max_switches)))
            monkeypatch.undo()
        for compiled, expected in zip(*results, strict=True):
            np.testing.assert_array_equal(compiled, expected)


def test_best_sequence_of_many_rows_follows_the_good_experts():
    losses = np.random.default_rng(0).random((300, 12))
    good = (np.arange(300) // 50) % 2
    losses[np.arange(300), good] = -1.0
    best = oracles.best_sequence(losses, 5)
    np.testing.assert_array_equal(best.path, good)
    assert best.loss == -1.0
    assert best.losses[4] > -1.0


def test_more_switches_than_rows_change_nothing():
    losses = recurring_losses(n_rows=8)
    best = oracles.best_sequence(losses, 100)
    assert len(best.losses) == 101
    assert best.loss == pytest.approx(losses.min(axis=1).mean())
    np.testing.assert_array_equal(best.path, losses.argmin(axis=1))
    curve = oracles.memory_curve(losses, 100, 2)
    assert curve.upper.shape == curve.lower.shape == curve.exact.shape == (2, 101)
    np.testing.assert_array_equal(curve.of_all, best.losses)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
def test_scale_of_losses_does_not_matter(scale):
    losses = recurring_losses(n_rows=60)
    losses[3, :5] = np.nan
    one, other = oracles.best_sequence(losses, 4), oracles.best_sequence(scale * losses, 4)
    np.testing.assert_array_equal(one.path, other.path)
    np.testing.assert_allclose(other.losses, scale * one.losses)
    one, other = (oracles.best_sequence_among(table, 4, 2) for table in (losses, scale * losses))
    assert one.experts == other.experts
    assert other.upper == pytest.approx(scale * one.upper)
    assert one.exact
    assert other.exact


@pytest.mark.parametrize("seed", range(5))
def test_rounding_is_not_taken_for_sleep(seed):
    # totals are summed in another order than their upper bound
    one = np.random.default_rng(seed).random((1000, 1))
    assert oracles.best_sequence(one, 1).loss == pytest.approx(one.mean())
    ties = np.full((10, 3), 0.7)
    assert oracles.best_expert(ties).loss == pytest.approx(0.7)
    assert np.isfinite(oracles.memory_curve(ties, 2, 2).upper).all()


# Best expert ------------------------------------------------------------------------------------------------------


def test_best_expert_has_the_least_mean_loss():
    losses = recurring_losses()
    best = oracles.best_expert(losses)
    assert best.expert == losses.mean(axis=0).argmin()
    assert best.loss == pytest.approx(losses.mean(axis=0).min())
    assert best.loss == pytest.approx(oracles.best_sequence(losses, 0).loss)
    np.testing.assert_array_equal(best.weights, np.arange(12) == best.expert)
    assert best.n_rows == 300
    assert oracles.best_expert([[1.0, 1.0]]).expert == 0
    assert oracles.best_expert(pd.DataFrame(losses)).loss == best.loss


def test_expert_that_ever_sleeps_is_not_the_best():
    assert oracles.best_expert([[0.0, 0.9], [np.nan, 0.9]]).expert == 1
    with pytest.raises(ValueError, match=r"at most 0 switches .* asleep; among all experts it takes 2 switches"):
        oracles.best_expert([[0.0, np.nan], [np.nan, 0.0], [0.0, np.nan]])


# Sequences among few experts --------------------------------------------------------------------------------------


def limit_search(monkeypatch, steps=150, most_groups=9):
    """Allow too little work to examine all groups."""
    monkeypatch.setattr(_sequence_search, "MOST_STEPS", steps)
    monkeypatch.setattr(_sequence_search.SequenceSearch, "_fits", lambda self, n_groups, n: n_groups <= most_groups)


@settings(max_examples=60, deadline=None)
@given(small_tables, st.integers(0, 6), st.integers(1, 5))
def test_best_sequence_among_few_is_the_best_of_all_sequences(losses, max_switches, n_distinct):
    expected = least_loss(losses, max_switches, n_distinct)
    if np.isinf(expected):
        with pytest.raises(ValueError, match="asleep"):
            oracles.best_sequence_among(losses, max_switches, n_distinct)
        return
    best = oracles.best_sequence_among(losses, max_switches, n_distinct)
    assert best.exact
    assert best.lower == best.upper == pytest.approx(expected)
    assert loss_of_path(losses, best.path) == pytest.approx(expected)
    assert np.count_nonzero(np.diff(best.path)) <= max_switches
    assert best.experts == sorted(set(best.path.tolist()))
    assert len(best.experts) <= n_distinct


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(2, 8))])
@pytest.mark.parametrize("n_distinct", [2, 3, 4])
def test_bounds_hold_where_not_all_groups_are_examined(n_distinct, seed, monkeypatch):
    losses = recurring_losses(n_rows=60, n_experts=9, n_good=4, length=7, seed=seed)
    if seed % 2:
        losses = np.random.default_rng(seed).random((60, 9))
    expected = oracles.best_sequence_among(losses, 8, n_distinct)
    assert expected.exact
    limit_search(monkeypatch)
    best = oracles.best_sequence_among(losses, 8, n_distinct)
    assert best.lower <= expected.upper + 1e-12
    assert best.upper >= expected.upper - 1e-12
    assert best.upper - best.lower <= 0.5 * (best.upper - oracles.best_sequence(losses, 8).loss) + 1e-12
    assert loss_of_path(losses, best.path) == pytest.approx(best.upper)
    assert len(best.experts) <= n_distinct
    assert best.exact == (best.lower == best.upper)


def test_bounds_prove_a_clear_case_exact(monkeypatch):
    limit_search(monkeypatch)
    best = oracles.best_sequence_among(recurring_losses(n_experts=30, n_good=4), 14, 3)
    assert best.exact
    assert set(best.experts) < {0, 1, 2, 3}


def test_no_search_is_needed_if_the_best_sequence_has_few_experts(monkeypatch):
    limit_search(monkeypatch, steps=0, most_groups=0)
    losses = recurring_losses(n_experts=30, n_good=4)[:, ::-1]
    best = oracles.best_sequence_among(losses, 14, 4)
    assert best.exact
    assert best.upper == pytest.approx(oracles.best_sequence(losses, 14).loss)


def test_search_swaps_in_experts_that_are_only_good_together(monkeypatch):
    part = np.arange(80) // 10
    losses = np.ones((80, 11))
    losses[:, 0] = 0.2  # the best single expert, with which the search begins
    losses[part % 2 == 0, 1] = losses[part % 2 == 1, 2] = 0.05  # together the best two
    losses[np.arange(80), 3 + part] = 0.0  # followed by the best sequence of all
    limit_search(monkeypatch, steps=0, most_groups=18)
    assert oracles.best_sequence_among(losses, 7, 1).experts == [0]
    best = oracles.best_sequence_among(losses, 7, 2)
    assert best.experts == [1, 2]
    assert not best.exact
    assert (best.lower, best.upper) == pytest.approx((0.0, 0.05))


# Memory curve -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_limited", [False, True])
def test_curve_decreases_with_switches_and_experts(is_limited, monkeypatch):
    if is_limited:
        limit_search(monkeypatch, steps=40)
    losses = recurring_losses(n_rows=120, n_experts=10, n_good=4, length=10)
    losses[5, :2] = np.nan
    curve = oracles.memory_curve(losses, 20, 6)
    for bound in (curve.lower, curve.upper):
        assert (np.diff(bound, axis=0) <= 0.0).all()
        assert (np.diff(bound[:, 1:], axis=1) <= 0.0).all()
    assert (curve.lower <= curve.upper).all()
    np.testing.assert_array_equal(curve.exact, curve.lower == curve.upper)
    assert curve.exact.all() == (not is_limited)
    assert curve.exact[0].all()
    np.testing.assert_allclose(curve.upper[0], oracles.best_expert(losses).loss)
    np.testing.assert_array_equal(curve.of_all, oracles.best_sequence(losses, 20).losses)
    for n, switches in [(2, 7), (3, 11), (5, 20)]:
        among = oracles.best_sequence_among(losses, switches, n)
        assert curve.lower[n - 1, switches] <= among.upper + 1e-12
        assert curve.upper[n - 1, switches] >= among.lower - 1e-12
        if not is_limited:
            assert curve.upper[n - 1, switches] == pytest.approx(among.upper)


def test_curve_as_frame_and_as_text(monkeypatch):
    losses = recurring_losses(n_rows=120, n_experts=10, n_good=4, length=10)
    curve = oracles.memory_curve(losses, 20, 3)
    frame = curve.frame()
    assert list(frame.columns) == [1, 2, 3, "all"]
    assert list(frame.index) == list(range(21))
    assert frame.loc[20, 2] == curve.upper[1, 20]
    lines = repr(curve).splitlines()
    assert lines[0] == "least mean loss of 120 rows, by switches and distinct ones of 10 experts"
    assert lines[1].split() == ["switches", "1", "2", "3", "all"]
    assert [line.split()[0] for line in lines[2:]] == ["0", "1", "2", "5", "10", "20"]
    assert len({len(line) for line in lines[1:]}) == 1
    limit_search(monkeypatch, steps=0)
    assert ".." in repr(oracles.memory_curve(losses, 20, 3))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 1)])
def test_curve_of_the_smallest_tables_is_exact(shape):
    losses = np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)
    curve = oracles.memory_curve(losses, 3, 9)
    assert curve.upper.shape == (shape[1], 4)
    assert curve.exact.all()
    np.testing.assert_allclose(curve.upper, losses[:, 0].mean())


def test_curve_is_infinite_where_all_sequences_follow_a_sleeping_expert():
    curve = oracles.memory_curve([[0.0, np.nan], [np.nan, 1.0]], 1, 2)
    np.testing.assert_array_equal(curve.upper, [[np.inf, np.inf], [np.inf, 0.5]])
    np.testing.assert_array_equal(curve.of_all, [np.inf, 0.5])


# Errors -----------------------------------------------------------------------------------------------------------

LOSSES = np.ones((3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oracles.best_expert([1.0, 2.0]), r"losses must be a table .* shape \(2,\)"),
        (lambda: oracles.best_expert(np.ones((0, 3))), r"shape \(0, 3\)"),
        (lambda: oracles.best_expert(np.ones((3, 0))), r"shape \(3, 0\)"),
        (lambda: oracles.best_expert([["a", "b"]]), "losses must be numbers"),
        (lambda: oracles.best_sequence([[1.0, 2.0], [np.nan, np.nan]], 1), "all experts are asleep in row 1"),
        (lambda: oracles.best_sequence([[1.0, 2.0], [0.0, -np.inf]], 1), "row 1, column 1 has -inf"),
        (lambda: oracles.best_sequence(LOSSES, -1), "max_switches=-1 must be a whole number"),
        (lambda: oracles.best_sequence(LOSSES, 1.5), r"max_switches=1.5"),
        (lambda: oracles.best_sequence(LOSSES, True), r"max_switches=True"),
        (lambda: oracles.best_sequence_among(LOSSES, 1, 0), "n_distinct=0"),
        (lambda: oracles.best_sequence_among(LOSSES, -1, 1), "max_switches=-1"),
        (lambda: oracles.memory_curve(LOSSES, 1, 0), "max_distinct=0"),
        (lambda: oracles.memory_curve(LOSSES, None, 1), "max_switches=None"),
    ],
)
def test_invalid_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
