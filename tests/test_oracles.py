"""What could have been reached in hindsight."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.optimize import minimize
from scipy.stats import norm

from ltm_sklearn.evaluation import _few_experts, _sequences, crps, oracles
from ltm_sklearn.losses import LOSSES as LOSS_NAMES
from ltm_sklearn.losses import AbsoluteError, Pinball, RegressionLoss, SquaredError

# Sequences --------------------------------------------------------------------------------------------------------

small = st.tuples(st.integers(1, 6), st.integers(1, 4))
ties = st.integers(0, 2).map(float)
awake_or_not = st.one_of(ties, ties, ties, st.just(math.nan))


def tables(values):
    return small.flatmap(lambda shape: arrays(np.float64, shape, elements=values))


def all_sequences(losses):
    """Means, switches and distinct experts of all sequences that never follow an expert asleep."""
    n_rows, n_experts = losses.shape
    for path in itertools.product(range(n_experts), repeat=n_rows):
        mean = losses[np.arange(n_rows), path].mean()
        if not np.isnan(mean):
            yield mean, np.count_nonzero(np.diff(path)), len(set(path))


def least(losses, switches, distinct=math.inf):
    means = [mean for mean, used, n in all_sequences(losses) if used <= switches and n <= distinct]
    return min(means, default=math.inf)


def follow(losses, path):
    return losses[np.arange(len(losses)), path].mean()


def returning(n_rows=300, n_experts=12, n_good=3, length=20, seed=0):
    """Losses of experts of whom a few take turns to be good."""
    rng = np.random.default_rng(seed)
    losses = rng.random((n_rows, n_experts))
    losses[np.arange(n_rows), (np.arange(n_rows) // length) % n_good] -= 0.5
    return losses


def test_the_kernel_is_compiled():
    assert _sequences.kernel is not None


@settings(max_examples=60, deadline=None)
@given(tables(awake_or_not), st.integers(0, 7))
def test_best_sequence_is_the_best_of_all_sequences(losses, max_switches):
    expected = [least(losses, switches) for switches in range(max_switches + 1)]
    if np.isinf(expected[-1]):
        with pytest.raises(ValueError, match="asleep"):
            oracles.best_sequence(losses, max_switches)
        return
    best = oracles.best_sequence(losses, max_switches)
    np.testing.assert_allclose(best.losses, expected, atol=1e-12)
    assert best.loss == best.losses[-1]
    assert follow(losses, best.path) == pytest.approx(best.loss)
    fewest = min(used for mean, used, _ in all_sequences(losses) if mean <= best.loss + 1e-12)
    assert best.n_switches == fewest <= max_switches
    assert best.n_distinct == len(set(best.path.tolist()))


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (200, 1), (300, 17)])
@pytest.mark.parametrize("max_switches", [0, 1, 6])
def test_compiled_equals_numpy(shape, max_switches, monkeypatch):
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
        for compiled, defined in zip(*results, strict=True):
            np.testing.assert_array_equal(compiled, defined)


def test_long_sequences_find_the_turns():
    losses = np.random.default_rng(0).random((300, 12))
    turns = (np.arange(300) // 50) % 2
    losses[np.arange(300), turns] = -1.0
    best = oracles.best_sequence(losses, 5)
    np.testing.assert_array_equal(best.path, turns)
    assert best.loss == -1.0
    assert best.losses[4] > -1.0


def test_more_switches_than_rows_change_nothing():
    losses = returning(n_rows=8)
    best = oracles.best_sequence(losses, 100)
    assert len(best.losses) == 101
    assert best.loss == pytest.approx(losses.min(axis=1).mean())
    np.testing.assert_array_equal(best.path, losses.argmin(axis=1))
    curve = oracles.memory_curve(losses, 100, 2)
    assert curve.upper.shape == curve.lower.shape == curve.exact.shape == (2, 101)
    np.testing.assert_array_equal(curve.of_all, best.losses)


@pytest.mark.parametrize("scale", [1e-200, 1e-8, 1e8, 1e200])
def test_scale_of_losses_does_not_matter(scale):
    losses = returning(n_rows=60)
    losses[3, :5] = np.nan
    one, other = oracles.best_sequence(losses, 4), oracles.best_sequence(scale * losses, 4)
    np.testing.assert_array_equal(one.path, other.path)
    np.testing.assert_allclose(other.losses, scale * one.losses)
    one, other = (oracles.best_sequence_among(table, 4, 2) for table in (losses, scale * losses))
    assert one.experts == other.experts
    assert other.upper == pytest.approx(scale * one.upper)
    assert one.exact
    assert other.exact


# Best expert ------------------------------------------------------------------------------------------------------


def test_best_expert_is_that_with_the_least_mean():
    losses = returning()
    best = oracles.best_expert(losses)
    assert best.expert == losses.mean(axis=0).argmin()
    assert best.loss == pytest.approx(losses.mean(axis=0).min())
    assert best.loss == pytest.approx(oracles.best_sequence(losses, 0).loss)
    np.testing.assert_array_equal(best.weights, np.arange(12) == best.expert)
    assert best.n_rows == 300
    assert oracles.best_expert([[1.0, 1.0]]).expert == 0


def test_expert_that_ever_sleeps_is_not_the_best():
    assert oracles.best_expert([[0.0, 0.9], [np.nan, 0.9]]).expert == 1
    with pytest.raises(ValueError, match=r"at most 0 switches .* asleep; among all experts it takes 2 switches"):
        oracles.best_expert([[0.0, np.nan], [np.nan, 0.0], [0.0, np.nan]])


def test_frames_are_tables():
    losses = pd.DataFrame(returning(n_rows=9), columns=list("abcdefghijkl"))
    assert oracles.best_expert(losses).loss == oracles.best_expert(losses.to_numpy()).loss


# Few experts ------------------------------------------------------------------------------------------------------


def little_work(monkeypatch, steps=150, most_groups=9):
    """So little that not all groups can be gone through."""
    monkeypatch.setattr(_few_experts, "MOST_STEPS", steps)
    monkeypatch.setattr(_few_experts.Search, "_fits", lambda self, n_groups, n: n_groups <= most_groups)


@settings(max_examples=60, deadline=None)
@given(tables(awake_or_not), st.integers(0, 6), st.integers(1, 5))
def test_best_sequence_among_few_is_the_best_of_all_sequences(losses, max_switches, n_distinct):
    expected = least(losses, max_switches, n_distinct)
    if np.isinf(expected):
        with pytest.raises(ValueError, match="asleep"):
            oracles.best_sequence_among(losses, max_switches, n_distinct)
        return
    best = oracles.best_sequence_among(losses, max_switches, n_distinct)
    assert best.exact
    assert best.lower == best.upper == pytest.approx(expected)
    assert follow(losses, best.path) == pytest.approx(expected)
    assert np.count_nonzero(np.diff(best.path)) <= max_switches
    assert best.experts == sorted(set(best.path.tolist()))
    assert len(best.experts) <= n_distinct


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n_distinct", [2, 3, 4])
def test_bounds_hold_where_not_all_groups_are_gone_through(n_distinct, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    losses = rng.random((60, 9)) if seed % 2 else returning(n_rows=60, n_experts=9, n_good=4, length=7, seed=seed)
    expected = oracles.best_sequence_among(losses, 8, n_distinct)
    assert expected.exact
    little_work(monkeypatch)
    best = oracles.best_sequence_among(losses, 8, n_distinct)
    assert best.lower <= expected.upper + 1e-12
    assert best.upper >= expected.upper - 1e-12
    assert best.upper - best.lower <= 0.5 * (best.upper - oracles.best_sequence(losses, 8).loss) + 1e-12
    assert follow(losses, best.path) == pytest.approx(best.upper)
    assert len(best.experts) <= n_distinct
    assert best.exact == (best.lower == best.upper)


def test_search_proves_a_clear_case_exact_without_going_through_all_groups(monkeypatch):
    little_work(monkeypatch)
    best = oracles.best_sequence_among(returning(n_experts=30, n_good=4), 14, 3)
    assert best.exact
    assert set(best.experts) < {0, 1, 2, 3}


def test_no_search_is_needed_where_the_best_sequence_of_all_has_few_experts(monkeypatch):
    little_work(monkeypatch, steps=0, most_groups=0)
    losses = returning(n_experts=30, n_good=4)[:, ::-1]
    best = oracles.best_sequence_among(losses, 14, 4)
    assert best.exact
    assert best.upper == pytest.approx(oracles.best_sequence(losses, 14).loss)


def test_experts_that_are_only_good_together_are_swapped_in(monkeypatch):
    part = np.arange(80) // 10
    losses = np.ones((80, 11))
    losses[:, 0] = 0.2  # the best one, and so the first that is taken
    losses[part % 2 == 0, 1] = losses[part % 2 == 1, 2] = 0.05  # together they are the best two
    losses[np.arange(80), 3 + part] = 0.0  # what the best sequence of all follows
    little_work(monkeypatch, steps=0, most_groups=18)
    assert oracles.best_sequence_among(losses, 7, 1).experts == [0]
    best = oracles.best_sequence_among(losses, 7, 2)
    assert best.experts == [1, 2]
    assert not best.exact
    assert (best.lower, best.upper) == pytest.approx((0.0, 0.05))


@pytest.mark.parametrize("work", ["much", "little"])
def test_curve_falls_with_switches_and_experts(work, monkeypatch):
    if work == "little":
        little_work(monkeypatch, steps=40)
    losses = returning(n_rows=120, n_experts=10, n_good=4, length=10)
    losses[5, :2] = np.nan
    curve = oracles.memory_curve(losses, 20, 6)
    for bound in (curve.lower, curve.upper):
        assert (np.diff(bound, axis=0) <= 0.0).all()
        assert (np.diff(bound[:, 1:], axis=1) <= 0.0).all()
    assert (curve.lower <= curve.upper).all()
    np.testing.assert_array_equal(curve.exact, curve.lower == curve.upper)
    assert curve.exact.all() == (work == "much")
    assert curve.exact[0].all()
    np.testing.assert_allclose(curve.upper[0], oracles.best_expert(losses).loss)
    np.testing.assert_array_equal(curve.of_all, oracles.best_sequence(losses, 20).losses)
    for n, switches in [(2, 7), (3, 11), (5, 20)]:
        among = oracles.best_sequence_among(losses, switches, n)
        assert curve.lower[n - 1, switches] <= among.upper + 1e-12
        assert curve.upper[n - 1, switches] >= among.lower - 1e-12
        if work == "much":
            assert curve.upper[n - 1, switches] == pytest.approx(among.upper)


def test_curve_as_a_frame_and_as_text(monkeypatch):
    losses = returning(n_rows=120, n_experts=10, n_good=4, length=10)
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
    little_work(monkeypatch, steps=0)
    assert ".." in repr(oracles.memory_curve(losses, 20, 3))


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (5, 1)])
def test_curve_of_the_smallest_tables(shape):
    losses = np.arange(1.0, 1.0 + math.prod(shape)).reshape(shape)
    curve = oracles.memory_curve(losses, 3, 9)
    assert curve.upper.shape == (shape[1], 4)
    assert curve.exact.all()
    np.testing.assert_allclose(curve.upper, losses[:, 0].mean())


def test_curve_is_infinite_where_somebody_must_sleep():
    curve = oracles.memory_curve([[0.0, np.nan], [np.nan, 1.0]], 1, 2)
    np.testing.assert_array_equal(curve.upper, [[np.inf, np.inf], [np.inf, 0.5]])
    np.testing.assert_array_equal(curve.of_all, [np.inf, 0.5])


# Combinations -----------------------------------------------------------------------------------------------------


class Smooth(RegressionLoss):
    """Between squared and absolute: ``sqrt(1 + e²) - 1``."""

    def __call__(self, y, prediction):
        return np.sqrt(1.0 + (prediction - y) ** 2) - 1.0

    def gradient(self, y, prediction):
        return (prediction - y) / np.sqrt(1.0 + (prediction - y) ** 2)


class Lopsided(RegressionLoss):
    """``exp(e) - e - 1``."""

    def __call__(self, y, prediction):
        return np.exp(prediction - y) - (prediction - y) - 1.0

    def gradient(self, y, prediction):
        return np.exp(prediction - y) - 1.0


class AbsolutePercentageError(RegressionLoss):
    """A loss whose rows have weights of their own."""

    def __call__(self, y, prediction):
        return np.abs(prediction - y) / np.abs(y)

    def gradient(self, y, prediction):
        return np.sign(prediction - y) / np.abs(y)


LOSSES = [SquaredError(), AbsoluteError(), Pinball(0.2), AbsolutePercentageError(), Smooth(), Lopsided()]


def forecasts(n_rows=80, n_experts=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.uniform(5.0, 9.0, n_rows)
    biases = np.linspace(-1.0, 1.0, n_experts) + 0.3
    return y[:, np.newaxis] + biases + rng.normal(scale=0.5, size=(n_rows, n_experts)), y


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_no_other_convex_combination_is_better(loss, seed):
    X, y = forecasts(seed=seed)
    best = oracles.best_convex(X, y, loss)
    assert best.weights.min() >= 0.0
    assert best.weights.sum() == pytest.approx(1.0)
    assert best.loss == pytest.approx(loss(y, X @ best.weights).mean())
    rng = np.random.default_rng(seed)
    for way in (*np.eye(5), *rng.dirichlet(np.ones(5), 20)):
        for part in (1e-4, 1e-2, 1.0):
            other = (1.0 - part) * best.weights + part * way
            assert loss(y, X @ other).mean() >= best.loss * (1.0 - 1e-9)


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_no_other_linear_combination_is_better(loss, seed):
    X, y = forecasts(seed=seed)
    best = oracles.best_linear(X, y, loss)
    assert best.loss == pytest.approx(loss(y, X @ best.weights).mean())
    assert best.loss <= oracles.best_convex(X, y, loss).loss
    rng = np.random.default_rng(seed)
    for way in rng.normal(size=(30, 5)):
        for part in (1e-4, 1e-2, 1.0):
            assert loss(y, X @ (best.weights + part * way)).mean() >= best.loss * (1.0 - 1e-9)


def test_combinations_agree_with_a_general_solver():
    X, y = forecasts(n_rows=300)
    for loss in (SquaredError(), Smooth(), Lopsided()):
        general = minimize(
            lambda w, loss=loss: loss(y, X @ w).mean(),
            np.full(5, 0.2),
            bounds=[(0.0, 1.0)] * 5,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1.0},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        assert oracles.best_convex(X, y, loss).loss == pytest.approx(general.fun, rel=1e-8)


def test_median_and_quantile_are_the_best_constants():
    y = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    one = np.ones((5, 1))
    assert oracles.best_linear(one, y, "absolute_error").weights == pytest.approx(4.0)
    assert oracles.best_linear(one, y, Pinball(0.7)).weights == pytest.approx(8.0)
    assert oracles.best_linear(one, y, "squared_error").weights == pytest.approx(y.mean())
    corners = np.column_stack([np.zeros(5), np.full(5, 100.0)])
    np.testing.assert_allclose(oracles.best_convex(corners, y, "absolute_error").weights, [0.96, 0.04])


@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
@pytest.mark.parametrize(
    "loss",
    [SquaredError(), AbsoluteError(), Pinball(0.2), AbsolutePercentageError()],
    ids=lambda loss: type(loss).__name__,
)
def test_scale_of_forecasts_does_not_matter(loss, scale):
    X, y = forecasts()
    for best in (oracles.best_convex, oracles.best_linear):
        np.testing.assert_allclose(best(scale * X, scale * y, loss).weights, best(X, y, loss).weights, atol=1e-6)


@pytest.mark.parametrize("seed", range(5))
def test_unknown_loss_with_a_kink_is_nearly_exact(seed):
    class Kinked(RegressionLoss):
        __call__, gradient = AbsoluteError.__call__, AbsoluteError.gradient

    X, y = forecasts(n_rows=400, n_experts=20, seed=seed)
    for best in (oracles.best_convex, oracles.best_linear):
        assert best(X, y, Kinked()).loss == pytest.approx(best(X, y, "absolute_error").loss, rel=1e-4)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_smooth_losses_far_from_their_own_scale(scale):
    X, y = forecasts()
    limit = SquaredError() if scale < 1.0 else AbsoluteError()  # what the loss is like for tiny, and for huge, errors
    for best in (oracles.best_convex, oracles.best_linear):
        reached = best(scale * X, scale * y, Smooth()).loss
        assert reached == pytest.approx(Smooth()(scale * y, scale * X @ best(X, y, limit).weights).mean(), rel=1e-3)


def test_large_common_level_does_not_drown_the_errors():
    X, y = forecasts()
    np.testing.assert_allclose(
        oracles.best_convex(X + 1e8, y + 1e8).weights, oracles.best_convex(X, y).weights, atol=1e-5
    )


@pytest.mark.parametrize(
    "loss",
    ["squared_error", "absolute_error", "pinball", Smooth()],
    ids=["squared_error", "absolute_error", "pinball", "smooth"],
)
@pytest.mark.parametrize("best", [oracles.best_convex, oracles.best_linear])
def test_odd_tables_have_an_answer(best, loss):
    y = np.array([1.0, 2.0, 3.0])
    assert best(y[:, np.newaxis], y, loss).weights == pytest.approx(1.0)  # one expert, always right
    assert best([[2.0]], [2.0], loss).loss == pytest.approx(0.0)  # one row
    twins = best(np.column_stack([y + 1.0, y + 1.0, y - 1.0]), y, loss)
    assert twins.loss == pytest.approx(0.0, abs=1e-9)
    more_experts_than_rows = best(np.random.default_rng(0).normal(size=(3, 10)), np.zeros(3), loss)
    assert more_experts_than_rows.weights.shape == (10,)
    assert np.isfinite(best(np.zeros((4, 2)), np.arange(4.0), loss).weights).all()


def test_rows_that_weigh_nothing_change_nothing():
    class AbsolutePercentageError(RegressionLoss):
        def __call__(self, y, prediction):
            return np.where(y == 0.0, 0.0, np.abs(prediction - y))

        def gradient(self, y, prediction):
            return np.where(y == 0.0, 0.0, np.sign(prediction - y))

    X, y = forecasts()
    some = np.where(np.arange(80) < 20, 0.0, y)
    for best in (oracles.best_convex, oracles.best_linear):
        assert best(X, some, AbsolutePercentageError()).loss == pytest.approx(
            0.75 * best(X[20:], y[20:], "absolute_error").loss
        )


def test_rows_with_a_missing_forecast_do_not_count():
    X, y = forecasts()
    holes = X.copy()
    holes[[3, 7], [0, 4]] = np.nan
    best = oracles.best_convex(holes, y)
    assert best.n_rows == 78
    np.testing.assert_array_equal(
        best.weights, oracles.best_convex(np.delete(X, [3, 7], 0), np.delete(y, [3, 7])).weights
    )


# Quantiles --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [np.arange(0.5, 2000) / 2000, np.sort(norm.cdf(np.linspace(-6, 6, 4001)))])
def test_crps_of_many_quantiles_is_that_of_the_distribution(levels):
    mean, deviation, y = np.array([0.0, 1.0, -3.0]), np.array([1.0, 2.0, 0.1]), np.array([0.3, -4.0, -3.0])
    z = (y - mean) / deviation
    closed = deviation * (z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi))
    quantiles = mean[:, np.newaxis] + deviation[:, np.newaxis] * norm.ppf(levels)
    np.testing.assert_allclose(crps(y, quantiles, levels, mean=False), closed, rtol=2e-3)
    assert crps(y, quantiles, levels) == pytest.approx(closed.mean(), rel=2e-3)


def test_crps_of_one_quantile_is_the_absolute_error():
    assert crps([1.0, 5.0], [[3.0], [4.0]], [0.5]) == pytest.approx(1.5)


def test_uneven_levels_weigh_what_they_stand_for():
    doubled = crps([7.0], [[1.0, 9.0]], [0.2, 0.6])  # up to 0.4, and from there on
    assert doubled == pytest.approx(2.0 * (0.4 * 0.2 * 6.0 + 0.6 * 0.4 * 2.0))


# Bad input --------------------------------------------------------------------------------------------------------

GOOD, TARGETS = np.ones((3, 2)), np.ones(3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: oracles.best_expert([1.0, 2.0]), r"losses must be a table .* shape \(2,\)"),
        (lambda: oracles.best_expert(np.ones((0, 3))), r"shape \(0, 3\)"),
        (lambda: oracles.best_expert(np.ones((3, 0))), r"shape \(3, 0\)"),
        (lambda: oracles.best_expert([["a", "b"]]), "losses must be numbers"),
        (lambda: oracles.best_sequence([[1.0, 2.0], [np.nan, np.nan]], 1), "all experts are asleep in row 1"),
        (lambda: oracles.best_sequence([[1.0, 2.0], [0.0, -np.inf]], 1), "row 1, column 1 has -inf"),
        (lambda: oracles.best_sequence(GOOD, -1), "max_switches=-1 must be a whole number"),
        (lambda: oracles.best_sequence(GOOD, 1.5), r"max_switches=1.5"),
        (lambda: oracles.best_sequence(GOOD, True), r"max_switches=True"),
        (lambda: oracles.best_sequence_among(GOOD, 1, 0), "n_distinct=0"),
        (lambda: oracles.best_sequence_among(GOOD, -1, 1), "max_switches=-1"),
        (lambda: oracles.memory_curve(GOOD, 1, 0), "max_distinct=0"),
        (lambda: oracles.memory_curve(GOOD, None, 1), "max_switches=None"),
        (lambda: oracles.best_convex(GOOD, np.ones(2)), r"each of the 3 rows of forecasts; got shape \(2,\)"),
        (lambda: oracles.best_convex(GOOD, [1.0, np.nan, 1.0]), "row 1 has nan"),
        (lambda: oracles.best_linear([[1.0], [np.inf]], [1.0, 1.0]), "forecasts must not be infinite: row 1, column 0"),
        (lambda: oracles.best_convex([[1.0, np.nan]], [1.0]), "NaN in every row"),
        (lambda: oracles.best_convex(GOOD, TARGETS, "cubed"), "loss='cubed' is not one of"),
        (lambda: oracles.best_convex(GOOD, TARGETS, lambda y, said: y - said), "no method gradient"),
        (lambda: crps(TARGETS, GOOD, [0.5]), "levels must be one for each of the 2 columns"),
        (lambda: crps(TARGETS, GOOD, [0.5, 0.5]), "must increase"),
        (lambda: crps(TARGETS, GOOD, [0.0, 0.5]), "levels="),
        (lambda: crps(TARGETS, [[1.0, np.nan]] * 3, [0.1, 0.5]), "row 0, column 1 has nan"),
        (lambda: crps([1.0], GOOD, [0.1, 0.5]), "quantile_forecasts"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("values", "slopes", "message"), [(1.0, [0.0] * 3, "the loss must"), ([0.0] * 3, [np.nan] * 3, "the gradient")]
)
def test_loss_must_be_a_number_for_each_row(values, slopes, message):
    class Odd:
        def __call__(self, y, prediction):
            return np.asarray(values)

        def gradient(self, y, prediction):
            return np.asarray(slopes)

    with pytest.raises(ValueError, match=message):
        oracles.best_convex(GOOD, TARGETS, Odd())


@pytest.mark.parametrize("seed", range(20))
def test_rounding_is_no_sleep(seed):
    # totals are added up in another order than the most that could be lost
    one = np.random.default_rng(seed).random((1000, 1))
    assert oracles.best_sequence(one, 1).loss == pytest.approx(one.mean())
    ties = np.full((10, 3), 0.7)
    assert oracles.best_expert(ties).loss == pytest.approx(0.7)
    assert np.isfinite(oracles.memory_curve(ties, 2, 2).upper).all()


@pytest.mark.parametrize("loss", ["absolute_error", "pinball", "absolute_percentage_error"])
@pytest.mark.parametrize("level", [1e3, 1e6, 1e8])
def test_more_freedom_never_loses_more_however_high_the_level(loss, level):
    rng = np.random.default_rng(0)
    y = level + rng.normal(size=200)
    X = y[:, np.newaxis] + rng.normal(size=(200, 4))
    single = min(float(LOSS_NAMES[loss](y, X[:, at]).mean()) for at in range(4))
    convex, linear = oracles.best_convex(X, y, loss).loss, oracles.best_linear(X, y, loss).loss
    assert linear <= convex * (1.0 + 1e-6) <= single * (1.0 + 2e-6)
    assert convex < 0.8 * single
    absurd = np.column_stack([X, level + 1e10 * rng.normal(size=200)])
    assert oracles.best_convex(absurd, y, loss).loss == pytest.approx(convex, rel=1e-4)


def test_a_target_or_forecast_that_the_loss_cannot_take_is_named():
    with pytest.raises(ValueError, match="y is zero in row 1"):
        oracles.best_convex([[1.0, 2.0], [1.0, 2.0]], [1.0, 0.0], "absolute_percentage_error")
    with pytest.raises(ValueError, match="the loss must be finite; it is inf in row 1"):
        oracles.best_convex([[1.0, 2.0], [1e200, 2.0]], [1.0, 0.0])
