"""ExpertMixture: what is issued, what is learned, and with which weights."""

import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from support.forecasts import fitted, frame, issued, returning, sleepy

from ltm_sklearn import ExpertMixture
from ltm_sklearn.aggregation._aggregator import Aggregator, ForecastRows
from ltm_sklearn.evaluation import crps, prequential
from ltm_sklearn.experts import BOA, FixedShare, LongTermMemory, MLPoly
from ltm_sklearn.losses import AbsoluteError, Huber, Pinball, SquaredError
from ltm_sklearn.losses._regression_losses import OutputLosses

pytestmark = pytest.mark.fast_cases(4)


# Rounds, blocks, lags -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", [None, BOA()], ids=["aggregator", "BOA"])
@pytest.mark.parametrize(("block", "lag"), [(1, 0), (1, 1), (1, 6), (8, 0), (8, 3), (8, 8), (8, 20)])
def test_rows_are_scored_with_the_weights_in_force_at_issue(block, lag, algorithm):
    # A forecaster predicts a block when it begins, and hands in targets when they are known.
    X, y = returning(160, length=40)
    X = sleepy(X)
    live = ExpertMixture(algorithm, lag=lag, block=block).partial_fit(X[:1], y[:1])
    live = ExpertMixture(algorithm, lag=lag, block=block)
    predictions, n_learned = np.empty(len(y)), 0
    for start in range(0, len(y), block):
        n_known = max(start - lag, 0)
        n_known -= n_known % block  # of a block whose targets are not all known, nothing is learned
        if n_known > n_learned:
            live.partial_fit(X[n_learned:n_known], y[n_learned:n_known])
            n_learned = n_known
        here = slice(start, start + block)
        if n_learned == 0:  # nothing is known: the plain mean
            predictions[here] = np.nanmean(X[here], axis=1)
        else:
            predictions[here] = live.predict(X[here])
    history = fitted(X, y, algorithm=algorithm, lag=lag, block=block)
    np.testing.assert_allclose(issued(history), predictions, rtol=1e-9)


@settings(max_examples=25, deadline=None)
@given(cuts=st.lists(st.integers(1, 119), max_size=6), block=st.sampled_from([1, 7]), lag=st.sampled_from([0, 5]))
def test_any_split_into_batches_gives_the_same_numbers(cuts, block, lag):
    X, y = returning(120, length=30)
    X = sleepy(X)
    parameters = {"block": block, "lag": lag, "bias": True, "record": 1000}
    whole = ExpertMixture(**parameters).partial_fit(X, y)
    parts = ExpertMixture(**parameters)
    edges = sorted({0, *cuts, 120})
    for first, last in pairwise(edges):
        parts = pickle.loads(pickle.dumps(parts)).partial_fit(X[first:last], y[first:last])
    np.testing.assert_array_equal(issued(parts), issued(whole))
    np.testing.assert_array_equal(parts.weights_, whole.weights_)
    np.testing.assert_array_equal(parts.predict(X), whole.predict(X))
    assert parts.n_rounds_ == whole.n_rounds_
    assert parts.mixture_loss_ == pytest.approx(whole.mixture_loss_, rel=1e-12)


def test_blocks_of_a_column_have_any_length():
    X, y = returning(100, length=25)
    days = np.repeat(np.arange(7), [1, 30, 4, 25, 2, 20, 18])
    by_column = fitted(frame(X, day=days), y, block="day")
    predictions, aggregator = np.empty(100), Aggregator(None, True, np.full(4, 0.25))
    for day in range(7):
        here, current_weights = days == day, aggregator.current_weights()
        predictions[here] = current_weights.mixtures(X[here], None) @ current_weights.arbiter_weights
        aggregator.update(
            current_weights, None, ForecastRows(X[here], y[here], None, None, None), OutputLosses([SquaredError()])
        )
    np.testing.assert_allclose(issued(by_column), predictions, rtol=1e-9)
    assert by_column.n_rounds_ == 7
    days = frame(X, day=np.arange(100) // 5)
    np.testing.assert_array_equal(issued(fitted(days, y, block="day", lag=7)), issued(fitted(X, y, block=5, lag=7)))


def test_rows_of_a_block_must_come_in_one_call():
    X, y = returning(20)
    table = frame(X, day=[1] * 12 + [2] * 8)
    mixture = ExpertMixture(block="day").partial_fit(table[:12], y[:12])
    mixture.partial_fit(table[12:16], y[12:16])
    before = pickle.dumps(mixture.predict(table))
    with pytest.raises(ValueError, match=r"row 0 goes on with block 2: pass all rows of a block in one call"):
        mixture.partial_fit(table[16:], y[16:])
    assert pickle.dumps(mixture.predict(table)) == before


def test_block_issued_together_is_not_scored_row_by_row():
    # Ten rows are issued together, and who is good changes with each ten: within them it seems easy to follow.
    rng = np.random.default_rng(0)
    y = np.zeros(4000)
    leader = rng.integers(4, size=400).repeat(10)
    X = np.where(np.arange(4) == leader[:, np.newaxis], 0.1, 1.0) * rng.choice([-1.0, 1.0], size=(4000, 4))
    plain = np.mean(X.mean(axis=1) ** 2)
    in_blocks = fitted(X, y, block=10)
    assert in_blocks.mixture_loss_ < 1.05 * plain
    naive = ExpertMixture(LongTermMemory()).fit(X[:10], y[:10])
    lost = []
    for start in range(10, 4000, 10):
        here = slice(start, start + 10)
        lost.append(np.mean(naive.predict(X[here]) ** 2))
        naive.partial_fit(X[here], y[here])
    assert np.mean(lost) > 1.8 * plain
    assert naive.mixture_loss_ < 0.8 * plain  # what it seemed to be


# Accuracy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "loss", ["squared_error", "absolute_error", "absolute_percentage_error", "huber", "log_cosh", Pinball(0.5)]
)
def test_recurring_leaders_are_found_faster(loss):
    X, y = returning(1200)
    X, y = X + 100.0, y + 100.0
    mixture = fitted(X, y, loss=loss)
    assert mixture.mixture_loss_ < 0.35 * mixture.loss_.min()
    run_record = mixture.run_record()
    phases = run_record.loss[:900].reshape(6, 150).sum(axis=1)
    assert phases[3:].mean() < 0.8 * phases[1:3].mean()


def test_gradient_reaches_the_best_combination():
    rng = np.random.default_rng(0)
    y, hidden = rng.normal(size=2000).cumsum(), rng.normal(size=2000)
    X = np.column_stack([y + 2.0 * hidden, y - hidden, y + 3.0 * rng.normal(size=2000)])
    mixture = fitted(X, y)
    assert mixture.mixture_loss_ < 0.1 * mixture.loss_.min()
    without = fitted(X, y, gradient=False)
    assert without.mixture_loss_ > 5.0 * mixture.mixture_loss_


def test_bias_experts_correct_a_common_error():
    rng = np.random.default_rng(0)
    y = rng.normal(size=2000).cumsum()
    X = y[:, np.newaxis] + 5.0 + rng.normal(size=(2000, 3))
    plain, corrected = fitted(X, y), fitted(X, y, bias=True)
    assert plain.mixture_loss_ > 20.0
    assert corrected.mixture_loss_ < 2.0
    assert corrected.weigh(X[:1]).sum() < 0.99  # the rest is on the two further experts
    one = fitted(X[:, :1], y, bias=True)
    assert one.mixture_loss_ < 3.0


def test_rounding_differences_change_nothing():
    X = np.random.default_rng(1).normal(size=(40, 3)) * np.array([0.1, 1.0, 5.0])
    for parameters in ({}, {"gradient": False}, {"gradient": False, "loss": lambda y, x: (x - y) ** 2}):
        lost = []
        for first in ([0.3, 0.3, 0.3], [0.1 + 0.2, 0.3, 0.3]):
            X[0] = first
            lost.append(ExpertMixture(**parameters).fit(X, np.zeros(40)).mixture_loss_)
        assert lost[1] == pytest.approx(lost[0], rel=1e-9)


@pytest.mark.parametrize("parameters", [{}, {"lag": 3}, {"block": 5}, {"bias": True}, {"gradient": False}])
@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_scale_of_the_forecasts_does_not_matter(scale, parameters):
    X, y = returning(300, length=50)
    plain, scaled = fitted(X, y, **parameters), fitted(scale * X, scale * y, **parameters)
    np.testing.assert_allclose(issued(scaled), scale * issued(plain), rtol=1e-6, atol=1e-9 * scale)


def test_weights_are_normalised_from_the_first_round():
    # River's EWARegressor: three experts that say 1.0 give 3.0; squared losses near 100 end all weights for ever
    mixture = ExpertMixture().partial_fit([[1.0, 1.0, 1.0]], [1.0])
    assert mixture.predict([[1.0, 1.0, 1.0]]) == pytest.approx([1.0])
    X = np.array([[90.0, 110.0, 101.0]] * 50)
    mixture = ExpertMixture().fit(X, np.full(50, 100.0))
    assert 99.0 < mixture.predict(X[:1])[0] < 102.0
    assert mixture.weights_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("X", [[[1.0], [2.0], [4.0]], [[1.0, 1.0], [2.0, 2.0], [4.0, 4.0]]], ids=["one", "ties"])
@pytest.mark.parametrize("parameters", [{}, {"lag": 1}, {"block": 2}, {"algorithm": MLPoly()}])
def test_one_expert_and_equal_experts(X, parameters):
    mixture = fitted(X, [0.0, 0.0, 0.0], **parameters)
    np.testing.assert_allclose(mixture.predict(X), [1.0, 2.0, 4.0])
    assert issued(mixture) == pytest.approx([1.0, 2.0, 4.0])


@given(
    y=st.lists(st.floats(-1e300, 1e300), min_size=8, max_size=8),
    x=st.lists(st.floats(-1e300, 1e300), min_size=24, max_size=24),
)
@settings(deadline=None)
def test_weights_are_valid_for_any_finite_numbers(y, x):
    mixture = ExpertMixture(lag=1, block=2).partial_fit(np.reshape(x, (8, 3)), y)
    assert np.isfinite(mixture.weights_).all()
    assert mixture.weights_.min() >= 0.0
    assert mixture.weights_.sum() == pytest.approx(1.0)


# Losses -------------------------------------------------------------------------------------------------------------


class OwnSquared:
    def __call__(self, y, prediction):
        return (prediction - y) ** 2

    def gradient(self, y, prediction):
        return 2.0 * (prediction - y)


@pytest.mark.parametrize(
    ("own", "built_in", "gradient"),
    [
        (OwnSquared(), SquaredError(), True),
        (OwnSquared(), "squared_error", False),
        (lambda y, x: np.abs(x - y), AbsoluteError(), False),
    ],
    ids=["with gradient", "gradient not used", "without"],
)
def test_custom_loss_equals_the_built_in_one(own, built_in, gradient):
    X, y = returning(200, length=50)
    X = sleepy(X)
    expected = fitted(X, y, loss=built_in, gradient=gradient, block=2, lag=1)
    got = fitted(X, y, loss=own, block=2, lag=1, gradient=gradient or not hasattr(own, "gradient"))
    np.testing.assert_allclose(issued(got), issued(expected), rtol=1e-9)
    assert got.mixture_loss_ == pytest.approx(expected.mixture_loss_)


def moody(y, prediction):
    if (y > 50.0).any():
        raise RuntimeError("too large")
    return np.abs(prediction - y)


def test_failing_loss_leaves_the_mixture_unchanged():
    X, y = returning(100)
    mixture = ExpertMixture(loss=moody, record=100, block=4).fit(X[:50], y[:50] * 0.1)
    before = pickle.dumps(mixture)
    with pytest.raises(RuntimeError, match="too large"):
        mixture.partial_fit(X[50:], np.append(np.zeros(49), 99.0))
    assert pickle.dumps(mixture) == before
    mixture.partial_fit(X[50:], np.zeros(50))


def test_exceeded_horizon_leaves_the_mixture_unchanged():
    X, y = returning(30)
    mixture = ExpertMixture(FixedShare(horizon=20)).partial_fit(X[:15], y[:15])
    weights = mixture.weights_
    with pytest.raises(ValueError, match="horizon of 20"):
        mixture.partial_fit(X[15:], y[15:])
    with pytest.raises(ValueError, match="horizon of 20"):
        ExpertMixture(FixedShare(horizon=20), lag=2).fit(X, y)
    np.testing.assert_array_equal(mixture.weights_, weights)
    assert mixture.n_samples_seen_ == 15


def test_delta_of_huber_is_used():
    X, y = returning(300)
    assert fitted(X, y, loss=Huber(0.1)).loss_.max() < fitted(X, y, loss=Huber(3.0)).loss_.max()


# Experts ------------------------------------------------------------------------------------------------------------


def test_sleeping_experts_have_no_weight_and_recover_it():
    X, y = returning(400, length=400)
    X[200:300, 0] = np.nan
    mixture = fitted(X, y)
    weights = mixture.run_record().weights
    assert weights[199, 0] > 0.9
    assert not weights[200:300, 0].any()
    assert weights[300, 0] > 0.4  # at once
    assert weights[310, 0] > 0.6
    assert weights[399, 0] > 0.9
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    assert mixture.run_record().losses[200:300, 0].size == 100
    assert np.isnan(mixture.run_record().losses[200:300, 0]).all()


def test_experts_join_and_leave_by_column_name():
    X, y = returning(300, n_experts=3, length=300)
    table = frame(X)
    mixture = ExpertMixture(record=1000, lag=2).partial_fit(table[["model 2", "model 1"]][:100], y[:100])
    assert mixture.experts_ == ["model 2", "model 1"]
    mixture.partial_fit(table[:100], y[:100])  # a good one comes
    assert mixture.experts_ == ["model 2", "model 1", "model 0"]
    assert mixture.leader_ == "model 0"
    mixture.partial_fit(table[["model 1", "model 2"]][100:150], y[100:150])  # and goes
    mixture.partial_fit(table[150:151], y[150:151])
    assert mixture.leader_ == "model 0"
    now = mixture.predict(table[200:])
    np.testing.assert_allclose(mixture.predict(table[["model 1", "model 0", "model 2"]][200:]), now)
    np.testing.assert_allclose(mixture.predict(table.assign(unknown=np.pi)[200:]), now)
    assert mixture.run_record().weights.shape == (251, 3)
    assert list(mixture.feature_names_in_) == ["model 2", "model 1", "model 0"]


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, lambda table: pa.Table.from_pandas(table)], ids=["polars", "arrow"]
)
def test_frames_of_other_libraries_give_the_same_numbers(convert):
    X, y = returning(120)
    table = frame(sleepy(X), hour=np.arange(120) % 4, name=np.where(np.arange(120) % 2, "a", "b"))
    parameters = {"group": "hour", "series": "name", "lag": 1}
    expected = ExpertMixture(**parameters).fit(table, y)
    got = ExpertMixture(**parameters).fit(convert(table), y)
    np.testing.assert_array_equal(got.predict(convert(table)), expected.predict(table))


def test_confidences_and_row_weights():
    X, y = returning(200, length=50)
    asleep = np.random.default_rng(0).random(X.shape) < 0.3
    asleep[:, 0] = False
    by_nan = fitted(np.where(asleep, np.nan, X), y, block=5)
    by_confidence = ExpertMixture(record=1000, block=5).fit(X, y, awake=np.where(asleep, 0.0, 1.0))
    np.testing.assert_allclose(issued(by_confidence), issued(by_nan), rtol=1e-12)
    half = np.where(np.arange(4) == 1, 0.5, 1.0) * np.ones_like(X)
    assert ExpertMixture().fit(X, y, awake=half).weights_[1] != pytest.approx(ExpertMixture().fit(X, y).weights_[1])
    uneven = np.random.default_rng(1).random(200)
    relative = [ExpertMixture().fit(X, y, sample_weight=scale * uneven).weights_ for scale in (1.0, 8.0)]
    np.testing.assert_allclose(relative[1], relative[0])
    ignored = np.where(np.arange(200) < 100, 0.0, 3.0)
    tail = ExpertMixture(record=1000).fit(X, y, sample_weight=ignored)
    np.testing.assert_allclose(issued(tail)[100:], issued(fitted(X[100:], y[100:])), rtol=1e-9)
    assert tail.mixture_loss_ == pytest.approx(fitted(X[100:], y[100:]).mixture_loss_)
    np.testing.assert_allclose(
        ExpertMixture().fit(X, y, sample_weight=np.full(200, 7.0)).weights_, ExpertMixture().fit(X, y).weights_
    )


def test_confidences_follow_the_columns_of_the_table():
    X, y = returning(200, n_experts=3)
    table = frame(X)
    mixture = ExpertMixture().fit(table, y)
    turned = table[["model 2", "model 1", "model 0"]][:1]
    awake = pd.DataFrame([[0.0, 1.0, 1.0]], columns=turned.columns)
    for same in (awake, awake.to_numpy()):
        assert mixture.weigh(turned, awake=same)[0, 2] == 0.0  # model 2 sleeps
    by_name = awake[["model 0", "model 2", "model 1"]]
    np.testing.assert_array_equal(mixture.weigh(turned, awake=by_name), mixture.weigh(turned, awake=awake))
    narrow = mixture.weigh(table[["model 1", "model 2"]][:1], awake=[[1.0, 0.0]])
    np.testing.assert_allclose(narrow, [[0.0, 1.0, 0.0]])
    with pytest.raises(ValueError, match="awake has a column 'z'"):
        mixture.weigh(turned, awake=awake.rename(columns={"model 2": "z"}))
    with pytest.raises(ValueError, match="never learned"):
        mixture.predict(turned.assign(new=1.0), awake=[[0.0, 0.0, 0.0, 1.0]])


def test_row_weights_do_not_depend_on_the_batches():
    X, y = returning(60, length=20)
    weights = 5.0 * np.random.default_rng(0).random(60)
    weights[[3, 20]] = 0.0
    for parameters in ({}, {"block": 5, "bias": True}, {"quantiles": [0.2, 0.8], "block": 4}):
        whole = ExpertMixture(**parameters).partial_fit(X, y, sample_weight=weights)
        parts = ExpertMixture(**parameters)
        for at in range(60):
            here = slice(at, at + 1)
            parts.partial_fit(X[here], y[here], sample_weight=weights[here])
        np.testing.assert_allclose(parts.weights_, whole.weights_, rtol=1e-9)
        assert parts.mixture_loss_ == pytest.approx(whole.mixture_loss_, rel=1e-9)
    assert whole.score(X, y) > 0.0  # of quantiles, too


def test_parts_of_a_block_may_lack_weights_and_confidences():
    X, y = returning(40, length=10)
    expected = fitted(X, y, block=4)
    parts = ExpertMixture(record=1000, block=4).partial_fit(X[:2], y[:2])
    parts.partial_fit(X[2:5], y[2:5], sample_weight=np.ones(3), awake=np.ones((3, 4)))
    parts.partial_fit(X[5:], y[5:])
    np.testing.assert_array_equal(issued(parts), issued(expected))
    np.testing.assert_array_equal(parts.weights_, expected.weights_)
    came = ExpertMixture(block=4).partial_fit(frame(X[:2, :3]), y[:2], awake=np.full((2, 3), 0.5))
    came.partial_fit(frame(X[2:4]), y[2:4], awake=np.full((2, 4), 0.5))  # with one expert more, in mid-block
    assert came.weights_.shape == (4,)
    with pytest.raises(ValueError, match="no expert has a forecast in row 1"):
        came.partial_fit(frame(X[4:8]), y[4:8], awake=[[1.0] * 4, [0.0] * 4, [1.0] * 4, [1.0] * 4])


def test_prior_by_position_and_by_name():
    X, y = returning(1)
    shares = [0.7, 0.1, 0.1, 0.1]
    by_place = fitted(X, y, prior=shares)
    by_name = fitted(frame(X), y, prior={f"model {at}": share for at, share in enumerate(shares)})
    assert issued(by_place) == pytest.approx(issued(by_name))
    assert issued(by_place) == pytest.approx(X @ shares)
    panel = ExpertMixture(BOA(prior=[0.5, 0.5]), series="id").partial_fit(frame(X[:, :2], id="u"), y)
    panel.partial_fit(frame(X, id="u"), y)  # two join
    panel.partial_fit(frame(X, id="v"), y)  # and a series
    assert panel.predict(frame(X, id="w")) == pytest.approx(X.mean(axis=1))
    own = fitted(X, y, algorithm=LongTermMemory(prior=shares))
    assert issued(own) == pytest.approx(X @ shares)


# Groups, series, outputs --------------------------------------------------------------------------------------------


def test_groups_are_independent_mixtures():
    X, y = returning(400, length=100)
    hour = np.arange(400) % 4
    together = fitted(frame(X, hour=hour), y, block=4, group="hour")
    for each in range(4):
        here = hour == each
        np.testing.assert_allclose(issued(together)[here], issued(fitted(X[here], y[here])), rtol=1e-9)
    assert together.weights_.shape == (4, 4)
    assert together.cells_ == [(None, each, None) for each in range(4)]


def test_groups_from_times_equal_groups_from_columns():
    X, y = returning(24 * 20, length=100)
    times = pd.date_range("2024-03-29", periods=24 * 20, freq="h")
    by_column = fitted(frame(X, hour=times.hour), y, block=24, group="hour")
    by_index = fitted(frame(X).set_index(times), y, block=24, group="hour")
    by_time = fitted(frame(X, when=times), y, block=24, group="hour", time="when")
    np.testing.assert_array_equal(issued(by_index), issued(by_column))
    np.testing.assert_array_equal(issued(by_time), issued(by_column))
    for name, values in {"weekday": times.weekday, "month": times.month}.items():
        np.testing.assert_array_equal(
            issued(fitted(frame(X).set_index(times), y, group=name)),
            issued(fitted(frame(X, **{name: values}), y, group=name)),
        )


def test_pooled_groups_learn_what_they_share():
    rng = np.random.default_rng(0)
    y = rng.normal(size=2400)
    X = y[:, np.newaxis] + rng.normal(size=(2400, 5)) * np.array([0.1, 1, 1, 1, 1])
    table = frame(X, hour=np.arange(2400) % 24)
    alone, pooled = (fitted(table, y, block=24, group="hour", pooled=pooled) for pooled in (False, True))
    assert pooled.mixture_loss_ < 0.8 * alone.mixture_loss_
    run_record = pooled.run_record()
    np.testing.assert_allclose(run_record.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose((run_record.weights * X).sum(axis=1), run_record.predictions, rtol=1e-9)
    new = pooled.predict(table[:1].assign(hour=99))  # a group never seen has the pool's opinion
    assert abs(new - y[0]) < 0.5
    # and where groups differ, they still find out
    sign = np.where(np.arange(2400) % 2 == 0, 1.0, 4.0)[:, np.newaxis]
    X = y[:, np.newaxis] + rng.normal(size=(2400, 2)) * np.hstack([0.2 * sign, 0.8 / sign])
    table = frame(X, hour=np.arange(2400) % 2)
    assert fitted(table, y, group="hour", pooled=True).mixture_loss_ < 0.06


def test_series_are_independent_mixtures_in_any_row_order():
    streams = {name: returning(150, length=30, seed=seed) for seed, name in enumerate("abc")}
    rows = [(name, at) for at in range(150) for name in streams]
    np.random.default_rng(0).shuffle(rows)
    rows.sort(key=lambda row: row[1])
    X = np.array([streams[name][0][at] for name, at in rows])
    y = np.array([streams[name][1][at] for name, at in rows])
    names = np.array([name for name, _ in rows])
    table = frame(X, id=names, time=[at for _, at in rows])
    parameters = {"block": 4, "lag": 2, "bias": True, "record": 1000}
    panel = ExpertMixture(series="id", time="time", **parameters)
    for first, last in [(0, 100), (100, 101), (101, 450)]:
        panel.partial_fit(table[first:last], y[first:last])
    for name, (own_X, own_y) in streams.items():
        alone = ExpertMixture(**parameters).fit(own_X, own_y)
        np.testing.assert_allclose(issued(panel, series=name), issued(alone), rtol=1e-9)
        np.testing.assert_allclose(panel.predict(table[names == name]), alone.predict(own_X), rtol=1e-9)
    assert [cell[0] for cell in panel.cells_] == list(dict.fromkeys(names))
    threads = ExpertMixture(series="id", n_jobs=2, **parameters).fit(table.drop(columns="time"), y)
    np.testing.assert_array_equal(threads.weights_, panel.weights_)
    new = panel.predict(table[:2].assign(id="never seen"))
    np.testing.assert_allclose(new, X[:2].mean(axis=1))


def test_targets_with_own_and_with_shared_weights():
    (X1, y1), (X2, y2) = returning(200, length=50), returning(200, length=50, seed=5)
    X, y = np.stack([X1, X2], axis=2), np.column_stack([y1, y2])
    apart = fitted(X, y)
    assert apart.predict(X).shape == (200, 2)
    for at, (own_X, own_y) in enumerate([(X1, y1), (X2, y2)]):
        np.testing.assert_allclose(issued(apart, output=at), issued(fitted(own_X, own_y)), rtol=1e-9)
    together = fitted(X, y, shared=True)
    assert together.weights_.shape == (4,)
    doubled = fitted(np.repeat(X1, 2, axis=0), np.repeat(y1, 2), block=2)
    same = fitted(np.stack([X1, X1], axis=2), np.column_stack([y1, y1]), shared=True)
    np.testing.assert_allclose(issued(same, output=0), issued(doubled)[::2], rtol=1e-9)


def test_columns_of_two_levels_are_experts_and_outputs():
    (X1, y1), (X2, y2) = returning(100), returning(100, seed=5)
    columns = pd.MultiIndex.from_product([["north", "south"], ["m0", "m1", "m2", "m3"]]).swaplevel()
    table = pd.DataFrame(np.hstack([X1, X2]), columns=columns)
    y = pd.DataFrame({"south": y2, "north": y1})
    expected = fitted(np.stack([X1, X2], axis=2), np.column_stack([y1, y2]))
    got = fitted(table, y)
    assert got.experts_ == ["m0", "m1", "m2", "m3"]
    np.testing.assert_array_equal(issued(got, output="north"), issued(expected, output=0))
    shuffled = table[list(columns[::-1])]
    np.testing.assert_array_equal(got.predict(shuffled), expected.predict(np.stack([X1, X2], axis=2)))


def test_quantiles_are_calibrated_and_do_not_cross():
    rng = np.random.default_rng(0)
    y = rng.normal(size=3000)
    X = np.tile([-3.0, -1.0, 0.0, 1.0, 3.0], (3000, 1)) + 0.01 * rng.normal(size=(3000, 5))
    levels = [0.9, 0.1, 0.5]
    mixture = fitted(X, y, quantiles=levels)
    last = mixture.predict(X[-500:])
    assert (last[:, 1] <= last[:, 2]).all()
    assert (last[:, 2] <= last[:, 0]).all()
    covered = (y[-1500:, np.newaxis] <= mixture.predict(X[-1500:])).mean(axis=0)
    np.testing.assert_allclose(covered, levels, atol=0.07)
    lost = [Pinball(level)(y, issued(mixture, output=level)).mean() for level in levels]
    assert mixture.mixture_loss_ == pytest.approx(np.mean(lost))  # of what was issued: after the repair
    by_level = np.stack([X - 0.5, X, X + 0.5], axis=2)
    own = ExpertMixture(quantiles=[0.1, 0.5, 0.9]).fit(by_level, y)
    named = pd.DataFrame(
        by_level.reshape(3000, -1), columns=pd.MultiIndex.from_product([list("abcde"), ["0.1", "0.5", "0.9"]])
    )
    np.testing.assert_array_equal(
        ExpertMixture(quantiles=[0.1, 0.5, 0.9]).fit(named, y).predict(named), own.predict(by_level)
    )


def test_sorting_quantiles_reduces_the_loss():
    rng = np.random.default_rng(0)
    y = rng.normal(size=300)
    X = np.stack([rng.normal(size=(300, 2)) for _ in range(3)], axis=2)  # quantiles that cross all the time
    mixture = fitted(X, y, quantiles=[0.1, 0.5, 0.9], series=None)
    raw = np.mean([state.loss_sums[0, -2] / state.loss_sums[1, -2] for state in mixture._panel.states.values()])
    assert mixture.mixture_loss_ < raw
    weights = rng.random(300) + np.arange(300) / 300.0
    weighted = ExpertMixture(quantiles=[0.1, 0.5, 0.9], record=300).fit(X, y, sample_weight=weights)
    relative = weights / np.maximum.accumulate(weights)
    lost = [Pinball(q)(y, issued(weighted, output=q)) @ relative / relative.sum() for q in (0.1, 0.5, 0.9)]
    assert weighted.mixture_loss_ == pytest.approx(np.mean(lost))
    assert mixture.summary().frame().loc["mixture", "loss"] == mixture.mixture_loss_
    assert crps(y, np.column_stack([issued(mixture, output=q) for q in (0.1, 0.5, 0.9)]), [0.1, 0.5, 0.9]) > 0.0


# As an estimator ----------------------------------------------------------------------------------------------------


def test_state_does_not_grow_with_the_stream():
    X, y = returning(20_000)
    mixture = ExpertMixture(lag=5, record=100, block=3).fit(X[:1000], y[:1000])
    before = len(pickle.dumps(mixture))
    mixture.partial_fit(X[1000:], y[1000:])
    assert len(pickle.dumps(mixture)) < 1.1 * before + 2000


def test_pipelines_searches_and_prequential_runs():
    X, y = returning(200)
    pipeline = make_pipeline(FunctionTransformer(), ExpertMixture()).fit(X, y)
    assert pipeline.score(X, y) > 0.8
    search = GridSearchCV(
        ExpertMixture(), {"loss": ["squared_error", "absolute_error"], "bias": [False, True]}, cv=TimeSeriesSplit(3)
    ).fit(X, y)
    assert search.best_score_ > 0.5
    result = prequential({"mixture": ExpertMixture(record=300), "memory": ExpertMixture(LongTermMemory())}, (X, y))
    assert result.frame().loc["mixture", "mae"] < 1.0
    assert list(result.run_records) == ["mixture"]


def test_fit_forgets():
    X, y = returning(100)
    once = ExpertMixture(record=100).fit(X, y)
    twice = ExpertMixture(record=100).fit(frame(X[:, :2]), y).fit(X, y)
    np.testing.assert_array_equal(twice.weights_, once.weights_)
    assert len(twice.run_record().ends) == 100
    assert not hasattr(twice, "feature_names_in_")
    assert not hasattr(clone(once), "_panel")
