"""The aggregator: its compiled rounds against the NumPy ones, and what its mixtures promise."""

import numpy as np
import pytest
from forecasts import returning
from support.bounds import anytime_shares, memory_complexity, sequence_bound

from ltm_sklearn import losses
from ltm_sklearn.aggregation._aggregator import Aggregator, AggregatorWeights, Rows
from ltm_sklearn.experts import BOA, LongTermMemory
from ltm_sklearn.experts._long_term_memory import RATES
from ltm_sklearn.forecasting._series_state import Entries, SeriesState, compiled_loss
from ltm_sklearn.losses._regression import LossRange
from ltm_sklearn.losses._regression_losses import OutputLosses

pytestmark = pytest.mark.fast_cases(3)

LOSSES = [
    losses.SquaredError(),
    losses.AbsoluteError(),
    losses.AbsolutePercentageError(),
    losses.Pinball(0.2),
    losses.Huber(0.7),
    losses.LogCosh(),
]


def entries(X, y, block=1, lag=0, awake=None, row_weights=None, outputs=None, before=0):
    starts = np.arange(0, len(y), block)
    bounds = np.append(starts, len(y)).astype(np.int64)
    whole = starts + block <= len(y)
    issue = before + starts
    return Entries(X, y, awake, row_weights, outputs, bounds, issue, issue + block + lag, whole)


def uniform(n_experts):
    return np.full(n_experts, 1.0 / n_experts)


def outcome(cell, run, rounds, loss):
    predictions, weights = np.empty(len(rounds.targets)), np.empty_like(rounds.forecasts)
    getattr(cell, run)(rounds, loss, predictions, weights)
    trust, member_weights = cell.current_weights()
    return predictions, weights, cell.tally, trust, member_weights


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize(("block", "lag"), [(1, 0), (5, 0), (1, 7), (4, 6)])
@pytest.mark.parametrize("who", ["all awake", "some asleep", "confidences and weights"])
@pytest.mark.parametrize("own", [None, LongTermMemory()], ids=["aggregator", "memory"])
def test_compiled_rounds_are_the_numpy_ones(loss, block, lag, who, own):
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
    rounds, of_rows = entries(X, y, block, lag, awake, row_weights), OutputLosses([loss])
    cells = [
        SeriesState(Aggregator(own, linear, uniform(n_experts)), lags=lag > 0)
        for linear in (True, False)
        for _ in range(2)
    ]
    for plain, fused in zip(cells[::2], cells[1::2], strict=True):
        if not fused.has_compiled():
            pytest.skip("no compiled kernel")
        expected = outcome(plain, "run", rounds, of_rows)
        got = outcome(fused, "run_compiled", rounds, compiled_loss(of_rows, None))
        for one, other in zip(got, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_outputs_with_losses_of_their_own_in_one_cell():
    X, y = returning(300)
    outputs = np.arange(300) % 2
    of_rows = OutputLosses([losses.Pinball(0.1), losses.Pinball(0.9)])
    rounds = entries(X, y, block=2, outputs=outputs)
    plain, fused = (SeriesState(Aggregator(None, True, uniform(4)), lags=False) for _ in range(2))
    expected = outcome(plain, "run", rounds, of_rows)
    for one, other in zip(
        outcome(fused, "run_compiled", rounds, compiled_loss(of_rows, outputs)), expected, strict=True
    ):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_a_loss_or_algorithm_that_the_kernel_does_not_know_runs_in_numpy():
    assert compiled_loss(OutputLosses([lambda y, x: abs(x - y)]), None) is None
    assert compiled_loss(OutputLosses([losses.SquaredError(), losses.AbsoluteError()]), None) is None
    assert not SeriesState(Aggregator(BOA(), True, uniform(3)), lags=False).has_compiled()
    assert not SeriesState(Aggregator(LongTermMemory(horizon=10), True, uniform(3)), lags=False).has_compiled()


def run_council(X, y, loss=None, aggregator=None):
    """Row by row in NumPy: predictions, and what each member said."""
    aggregator = Aggregator(None, True, uniform(X.shape[1])) if aggregator is None else aggregator
    of_rows = OutputLosses([losses.SquaredError() if loss is None else loss])
    said, members = np.empty(len(y)), np.empty((len(y), len(aggregator.current_weights().trust)))
    for t in range(len(y)):
        current_weights = aggregator.current_weights()
        rows = Rows(X[t : t + 1], y[t : t + 1], None, None, None)
        members[t] = current_weights.mixtures(rows.forecasts, None)[0]
        said[t] = members[t] @ current_weights.trust
        aggregator.learn(current_weights, None, rows, of_rows)
    return said, members


@pytest.mark.parametrize("loss", [losses.SquaredError(), losses.AbsoluteError(), losses.LogCosh()])
def test_the_mixture_loses_no_more_than_its_linear_regret_to_each_voice(loss):
    # f(ŷ) - f(v) <= f'(ŷ) (ŷ - v): what the arbiter is charged bounds what the mixture loses beyond a member.
    X, y = returning(400)
    said, members = run_council(X, y, loss)
    linear = OutputLosses([loss]).linear(y, said, members, None)  # 0 for the mixture itself
    for at in range(3):
        beyond = (loss(y, said) - loss(y, members[:, at])).sum()
        assert beyond <= -linear[:, at].sum() + 1e-9


def test_a_follower_keeps_its_bound_in_the_units_of_the_loss_where_the_range_is_constant():
    """B times the algorithm's own bound against a sequence that returns, if gaps are B in each round."""
    rng = np.random.default_rng(0)
    n_rounds, width = 6000, 50.0
    y = rng.normal(size=n_rounds).cumsum()
    good = np.arange(n_rounds) // 1000 % 2
    X = y[:, np.newaxis] + np.array([0.0, 0.0, width, 0.3 * width])
    X[np.arange(n_rounds), 1 - good] += width * rng.choice([0.0, 0.9], size=n_rounds)  # who is not good errs often
    cell = SeriesState(Aggregator(LongTermMemory(), False, uniform(4)), lags=False)
    predictions, weights = np.empty(n_rounds), np.empty_like(X)
    of_rows = OutputLosses([losses.AbsoluteError()])
    cell.run(entries(X, y), of_rows, predictions, weights)
    lost = np.abs(X - y[:, np.newaxis])
    assert lost.max(axis=1) - lost.min(axis=1) == pytest.approx(width)
    regret = (weights * lost).sum(axis=1, keepdims=True) / width - lost / width
    costs, shares = memory_complexity(n_rounds, 4), anytime_shares(n_rounds)
    bound = width * sequence_bound(regret, RATES, costs, good, shares)
    beyond = (np.abs(predictions - y) - lost[np.arange(n_rounds), good]).sum()
    assert beyond <= bound
    assert bound < 0.2 * (lost[:, 0] - lost[np.arange(n_rounds), good]).sum()  # which says something


@pytest.mark.parametrize("loss", [losses.SquaredError(), losses.AbsoluteError(), losses.Pinball(0.3)])
def test_gradients_make_it_a_bound_against_combinations(loss):
    """f(ŷ) - f(u·x) <= f'(ŷ) (ŷ - u·x), which is linear in u: experts' linear regrets bound that of each mixture u."""
    rng = np.random.default_rng(0)
    X, y = returning(400)
    aggregator = Aggregator(LongTermMemory(), True, uniform(4))
    said, _ = run_council(X, y, loss, aggregator)
    linear = OutputLosses([loss]).linear(y, said, X, None)
    for u in rng.dirichlet(np.ones(4), size=20):
        beyond = (loss(y, said) - loss(y, X @ u)).sum()
        assert beyond <= -(linear @ u).sum() + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_the_mixture_keeps_up_with_the_best_voice(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=600).cumsum()
    streams = {
        "one expert good in turns": returning(600, seed=seed),
        "all equally good": (y[:, np.newaxis] + rng.normal(size=(600, 5)), y),
        "one expert always best": (y[:, np.newaxis] + rng.normal(size=(600, 5)) * np.array([0.1, 1, 1, 1, 1]), y),
    }
    for name, (X, target) in streams.items():
        said, members = run_council(X, target)
        own, best = np.mean((said - target) ** 2), ((members - target[:, np.newaxis]) ** 2).mean(axis=0).min()
        assert own <= 1.05 * best + 0.01, name  # the errors are of order one: 0.01 is six rows of them


def test_each_voice_has_streams_where_it_is_the_best():
    rng = np.random.default_rng(0)
    y = rng.normal(size=800).cumsum()
    noise = rng.normal(size=(800, 5))
    hidden = 3.0 * rng.normal(size=800)
    cases = {
        0: returning(800, length=100),
        1: (np.column_stack([y - hidden, y + 3.0 * hidden, y + 9.0 * noise[:, 0], y + 9.0 * noise[:, 1]]), y),
        2: (y[:, np.newaxis] + noise, y),
    }
    for best, (X, target) in cases.items():
        _, members = run_council(X, target)
        assert ((members - target[:, np.newaxis]) ** 2).mean(axis=0).argmin() == best


def test_equal_forecasts_leave_everything_as_it_was():
    # the mixture of equal numbers differs from them in the last bits: no ranges are made of that
    aggregator = Aggregator(None, True, uniform(7))
    before = aggregator.current_weights()
    rng = np.random.default_rng(0)
    for y in rng.normal(size=50) * 1e6 + 0.1:
        x = np.full((1, 7), y * rng.normal())
        aggregator.learn(
            aggregator.current_weights(),
            None,
            Rows(x, np.array([y]), None, None, None),
            OutputLosses([losses.SquaredError()]),
        )
    after = aggregator.current_weights()
    np.testing.assert_allclose(after.member_weights, before.member_weights, atol=1e-12)
    np.testing.assert_allclose(after.trust, before.trust, atol=1e-12)


def test_a_standing_restricts_each_voice_to_who_is_awake():
    current_weights = AggregatorWeights(np.array([0.5, 0.5]), np.array([[0.8, 0.2, 0.0], [0.0, 0.0, 1.0]]))
    awake = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(current_weights.weights(awake, 2), [[0.65, 0.35, 0.0], [0.0, 0.0, 1.0]])


def test_a_late_round_is_judged_by_what_was_issued():
    # Trackers that follow the last round look splendid when judged by the weights of now, and are useless a day late.
    rng = np.random.default_rng(0)
    n_rows, lag = 3000, 20
    y = np.zeros(n_rows)
    leader = np.repeat(rng.integers(3, size=n_rows // 10), 10)  # who is good for ten rows, and never known in time
    X = np.where(np.arange(3) == leader[:, np.newaxis], 0.1, 1.0) * rng.choice([-1.0, 1.0], size=(n_rows, 3))
    cell = SeriesState(Aggregator(LongTermMemory(), True, uniform(3)), lags=True)
    predictions = np.empty(n_rows)
    rounds = entries(X, y, lag=lag)
    cell.run_compiled(rounds, compiled_loss(OutputLosses([losses.SquaredError()]), None), predictions, None)
    late = np.mean(predictions**2)
    naive = LongTermMemory()
    queue, said = [], np.empty(n_rows)
    scale = LossRange()
    for t in range(n_rows):
        said[t] = naive.weights(3) @ X[t]
        queue.append(2.0 * said[t] * (X[t] - said[t]))
        if len(queue) > lag:
            naive.update(scale.rescale(queue.pop(0)[np.newaxis])[0])
    plain = np.mean(X.mean(axis=1) ** 2)
    assert late < 1.1 * plain
    assert np.mean(said**2) > 1.5 * plain  # what it is about


@pytest.mark.parametrize("lags", [False, True])
def test_an_expert_joins_a_cell_with_no_weight_in_what_was_issued_before(lags):
    y = np.random.default_rng(0).normal(size=60)
    X = np.random.default_rng(1).normal(size=(60, 4))
    cell = SeriesState(Aggregator(None, True, uniform(4)), lags)
    run = "run_compiled" if cell.has_compiled() else "run"
    loss = OutputLosses([losses.SquaredError()])
    known = compiled_loss(loss, None) if run == "run_compiled" else loss
    getattr(cell, run)(entries(X, y, lag=5 * lags), known, np.empty(60), None)
    old = [cell.current_weights(at) for at in range(len(cell.book) - 1)]
    cell.add_expert()
    for at, current_weights in enumerate(old):
        np.testing.assert_array_equal(cell.current_weights(at).member_weights[:, :-1], current_weights.member_weights)
        assert not cell.current_weights(at).member_weights[:, -1].any()
    assert cell.current_weights().member_weights[:, -1].any()
    wide = np.column_stack([X, y])
    getattr(cell, run)(entries(wide, y, lag=5 * lags, before=60), known, np.empty(60), None)
    assert cell.current_weights().weights(None, 1)[0].argmax() == 4


def test_what_the_trackers_played_gives_a_newcomer_nothing():
    algorithm = LongTermMemory()
    algorithm.run(np.random.default_rng(0).random((20, 3)))
    view = algorithm.issued_view()
    wider = algorithm.widened_view(view).reshape(-1, 4)
    np.testing.assert_array_equal(wider[:, :3], view.reshape(-1, 3))
    assert not wider[:, 3].any()
