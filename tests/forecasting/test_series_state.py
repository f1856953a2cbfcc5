"""Series state: compiled rounds, lags, added experts."""

import numpy as np
import pytest
from support.bounds import anytime_shares, memory_complexity, sequence_bound
from support.forecasts import returning

from ltm_sklearn import losses
from ltm_sklearn.aggregation import Aggregator, ForecastRows
from ltm_sklearn.experts import BOA, LongTermMemory
from ltm_sklearn.experts._long_term_memory import RATES
from ltm_sklearn.forecasting._series_state import Rounds, SeriesState, compiled_loss
from ltm_sklearn.losses import LossRange, OutputLosses

pytestmark = pytest.mark.fast_cases(3)

LOSSES = [
    losses.SquaredError(),
    losses.AbsoluteError(),
    losses.AbsolutePercentageError(),
    losses.Pinball(0.2),
    losses.Huber(0.7),
    losses.LogCosh(),
]


def rounds_of(X, y, block=1, lag=0, awake=None, row_weights=None, outputs=None, before=0):
    starts = np.arange(0, len(y), block)
    bounds = np.append(starts, len(y)).astype(np.int64)
    whole = starts + block <= len(y)
    issue = before + starts
    return Rounds(ForecastRows(X, y, awake, row_weights, outputs), bounds, issue, issue + block + lag, whole)


def uniform(n_experts):
    return np.full(n_experts, 1.0 / n_experts)


def outcome(state, run, rounds, loss):
    predictions, weights = np.empty(len(rounds.rows.targets)), np.empty_like(rounds.rows.forecasts)
    getattr(state, run)(rounds, loss, predictions, weights)
    arbiter_weights, member_weights = state.current_weights()
    return predictions, weights, state.loss_sums, arbiter_weights, member_weights


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize(("block", "lag"), [(4, 6), (1, 0), (5, 0), (1, 7)])
@pytest.mark.parametrize("who", ["confidences and weights", "all awake", "some asleep"])  # the first case is fast
@pytest.mark.parametrize("own", [None, LongTermMemory()], ids=["aggregator", "memory"])
def test_compiled_rounds_equal_numpy(loss, block, lag, who, own):
    rng = np.random.default_rng(1)
    n_rows, n_experts = 203, 6
    y = rng.normal(size=n_rows) + 3.0
    X = y[:, np.newaxis] + rng.normal(size=(n_rows, n_experts)) * np.linspace(0.2, 2.0, n_experts)
    awake = row_weights = None
    if who != "all awake":
        awake = (rng.random(X.shape) > 0.3).astype(float)
        awake[:, 0] = 1.0
    if who == "confidences and weights":
        awake[:, 1:] *= rng.random((n_rows, n_experts - 1))
        row_weights = rng.random(n_rows)
        row_weights[10:24] = 0.0
    rounds, of_rows = rounds_of(X, y, block, lag, awake, row_weights), OutputLosses([loss])
    states = [
        SeriesState(Aggregator(own, linear, uniform(n_experts)), lags=lag > 0)
        for linear in (True, False)
        for _ in range(2)
    ]
    for numpy, compiled in zip(states[::2], states[1::2], strict=True):
        if not compiled.has_compiled():
            pytest.skip("no compiled kernel")
        expected = outcome(numpy, "run", rounds, of_rows)
        got = outcome(compiled, "run_compiled", rounds, compiled_loss(of_rows, None))
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_compiled_rounds_of_outputs_with_own_losses():
    X, y = returning(300)
    outputs = np.arange(300) % 2
    of_rows = OutputLosses([losses.Pinball(0.1), losses.Pinball(0.9)])
    rounds = rounds_of(X, y, block=2, outputs=outputs)
    numpy, compiled = (SeriesState(Aggregator(None, True, uniform(4)), lags=False) for _ in range(2))
    expected = outcome(numpy, "run", rounds, of_rows)
    for one, other in zip(
        outcome(compiled, "run_compiled", rounds, compiled_loss(of_rows, outputs)), expected, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_unknown_losses_and_algorithms_are_not_compiled():
    assert compiled_loss(OutputLosses([lambda y, x: abs(x - y)]), None) is None
    assert compiled_loss(OutputLosses([losses.SquaredError(), losses.AbsoluteError()]), None) is None
    assert not SeriesState(Aggregator(BOA(), True, uniform(3)), lags=False).has_compiled()
    assert not SeriesState(Aggregator(LongTermMemory(horizon=10), True, uniform(3)), lags=False).has_compiled()


def test_follower_regret_is_bounded_in_units_of_the_loss():
    """If the gap of the losses is B in each round: B times the bound of the algorithm, against a recurring sequence."""
    rng = np.random.default_rng(0)
    n_rounds, width = 6000, 50.0
    y = rng.normal(size=n_rounds).cumsum()
    good = np.arange(n_rounds) // 1000 % 2
    X = y[:, np.newaxis] + np.array([0.0, 0.0, width, 0.3 * width])
    X[np.arange(n_rounds), 1 - good] += width * rng.choice([0.0, 0.9], size=n_rounds)  # the other one errs often
    state = SeriesState(Aggregator(LongTermMemory(), False, uniform(4)), lags=False)
    predictions, weights = np.empty(n_rounds), np.empty_like(X)
    of_rows = OutputLosses([losses.AbsoluteError()])
    state.run(rounds_of(X, y), of_rows, predictions, weights)
    lost = np.abs(X - y[:, np.newaxis])
    assert lost.max(axis=1) - lost.min(axis=1) == pytest.approx(width)
    regret = (weights * lost).sum(axis=1, keepdims=True) / width - lost / width
    costs, shares = memory_complexity(n_rounds, 4), anytime_shares(n_rounds)
    bound = width * sequence_bound(regret, RATES, costs, good, shares)
    beyond = (np.abs(predictions - y) - lost[np.arange(n_rounds), good]).sum()
    assert beyond <= bound
    assert bound < 0.2 * (lost[:, 0] - lost[np.arange(n_rounds), good]).sum()  # so that the bound is not vacuous


def test_late_rounds_are_scored_with_issued_weights():
    """Trackers that follow the last round look accurate with the current weights, and are useless for late labels."""
    rng = np.random.default_rng(0)
    n_rows, lag = 3000, 20
    y = np.zeros(n_rows)
    leader = np.repeat(rng.integers(3, size=n_rows // 10), 10)  # for ten rows, which are over when known
    X = np.where(np.arange(3) == leader[:, np.newaxis], 0.1, 1.0) * rng.choice([-1.0, 1.0], size=(n_rows, 3))
    state = SeriesState(Aggregator(LongTermMemory(), True, uniform(3)), lags=True)
    predictions = np.empty(n_rows)
    rounds = rounds_of(X, y, lag=lag)
    state.run_compiled(rounds, compiled_loss(OutputLosses([losses.SquaredError()]), None), predictions, None)
    late = np.mean(predictions**2)
    naive = LongTermMemory()
    queue, naive_predictions = [], np.empty(n_rows)
    scale = LossRange()
    for t in range(n_rows):
        naive_predictions[t] = prediction = naive.weights(3) @ X[t]
        queue.append(2.0 * prediction * (X[t] - prediction))
        if len(queue) > lag:
            naive.update(scale.rescale(queue.pop(0)[np.newaxis])[0])
    plain = np.mean(X.mean(axis=1) ** 2)
    assert late < 1.1 * plain
    assert np.mean(naive_predictions**2) > 1.5 * plain


@pytest.mark.parametrize("lags", [False, True])
def test_added_expert_has_no_weight_in_earlier_versions(lags):
    y = np.random.default_rng(0).normal(size=60)
    X = np.random.default_rng(1).normal(size=(60, 4))
    state = SeriesState(Aggregator(None, True, uniform(4)), lags)
    run = "run_compiled" if state.has_compiled() else "run"
    loss = OutputLosses([losses.SquaredError()])
    known = compiled_loss(loss, None) if run == "run_compiled" else loss
    getattr(state, run)(rounds_of(X, y, lag=5 * lags), known, np.empty(60), None)
    before = [state.weights_of(version).member_weights for version in state.weight_versions[:-1]]
    state.add_expert()
    for version, old in zip(state.weight_versions, before, strict=False):
        wider = state.weights_of(version).member_weights
        np.testing.assert_array_equal(wider[:, :-1], old)
        assert not wider[:, -1].any()
    assert state.current_weights().member_weights[:, -1].any()
    assert state.loss_sums[1].tolist() == [60.0] * 4 + [0.0] + [60.0] * 2  # the experts, the mixture, the plain mean
    np.testing.assert_allclose(state.current_weights().member_weights.sum(axis=1), 1.0)
    wide = np.column_stack([X, y])
    getattr(state, run)(rounds_of(wide, y, lag=5 * lags, before=60), known, np.empty(60), None)
    assert state.current_weights().weights_by_row(None, 1)[0].argmax() == 4
