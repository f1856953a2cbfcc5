"""The aggregator: what its weights and its mixtures promise."""

import numpy as np
import pytest
from support.forecasts import returning

from ltm_sklearn import losses
from ltm_sklearn.aggregation import Aggregator, AggregatorWeights, ForecastRows
from ltm_sklearn.experts import LongTermMemory
from ltm_sklearn.losses import OutputLosses


def uniform(n_experts):
    return np.full(n_experts, 1.0 / n_experts)


def run_by_row(X, y, loss=None, aggregator=None):
    """Learn row by row; return the predictions and the mixtures of the members."""
    aggregator = Aggregator(None, True, uniform(X.shape[1])) if aggregator is None else aggregator
    of_rows = OutputLosses([losses.SquaredError() if loss is None else loss])
    predictions, members = np.empty(len(y)), np.empty((len(y), len(aggregator.current_weights().arbiter_weights)))
    for t in range(len(y)):
        current_weights = aggregator.current_weights()
        rows = ForecastRows(X[t : t + 1], y[t : t + 1])
        members[t] = current_weights.mixtures(rows.forecasts, None)[0]
        predictions[t] = members[t] @ current_weights.arbiter_weights
        aggregator.update(current_weights, None, rows, of_rows)
    return predictions, members


@pytest.mark.parametrize("loss", [losses.SquaredError(), losses.AbsoluteError(), losses.LogCosh()])
def test_linear_regret_bounds_regret_to_each_member(loss):
    """f(ŷ) - f(v) <= f'(ŷ) (ŷ - v): the arbiter's linear regret bounds the regret of the mixture to a member v."""
    X, y = returning(400)
    predictions, members = run_by_row(X, y, loss)
    linear = OutputLosses([loss]).linear(y, predictions, members, None)  # 0 for the mixture itself
    for at in range(3):
        regret = (loss(y, predictions) - loss(y, members[:, at])).sum()
        assert regret <= -linear[:, at].sum() + 1e-9


@pytest.mark.parametrize("loss", [losses.SquaredError(), losses.AbsoluteError(), losses.Pinball(0.3)])
def test_linear_regret_bounds_regret_to_combinations(loss):
    """f(ŷ) - f(u·x) <= f'(ŷ) (ŷ - u·x), which is linear in u: experts' linear regrets bound that of each mixture u."""
    rng = np.random.default_rng(0)
    X, y = returning(400)
    aggregator = Aggregator(LongTermMemory(), True, uniform(4))
    predictions, _ = run_by_row(X, y, loss, aggregator)
    linear = OutputLosses([loss]).linear(y, predictions, X, None)
    for u in rng.dirichlet(np.ones(4), size=20):
        regret = (loss(y, predictions) - loss(y, X @ u)).sum()
        assert regret <= -(linear @ u).sum() + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_aggregator_is_close_to_its_best_member(seed):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=600).cumsum()
    streams = {
        "one expert good in turns": returning(600, seed=seed),
        "all equally good": (y[:, np.newaxis] + rng.normal(size=(600, 5)), y),
        "one expert always best": (y[:, np.newaxis] + rng.normal(size=(600, 5)) * np.array([0.1, 1, 1, 1, 1]), y),
    }
    for name, (X, target) in streams.items():
        predictions, members = run_by_row(X, target)
        own, best = np.mean((predictions - target) ** 2), ((members - target[:, np.newaxis]) ** 2).mean(axis=0).min()
        assert own <= 1.05 * best + 0.01, name  # the errors are of order one: 0.01 is six rows of them


def test_each_member_is_best_on_some_stream():
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
        _, members = run_by_row(X, target)
        assert ((members - target[:, np.newaxis]) ** 2).mean(axis=0).argmin() == best


def test_equal_forecasts_change_nothing():
    # the mixture of equal numbers differs from them in the last bits, of which no range must be made
    aggregator = Aggregator(None, True, uniform(7))
    before = aggregator.current_weights()
    rng = np.random.default_rng(0)
    for y in rng.normal(size=50) * 1e6 + 0.1:
        x = np.full((1, 7), y * rng.normal())
        rows = ForecastRows(x, np.array([y]))
        aggregator.update(aggregator.current_weights(), None, rows, OutputLosses([losses.SquaredError()]))
    after = aggregator.current_weights()
    np.testing.assert_allclose(after.member_weights, before.member_weights, atol=1e-12)
    np.testing.assert_allclose(after.arbiter_weights, before.arbiter_weights, atol=1e-12)


def test_weights_are_restricted_to_awake_experts():
    current_weights = AggregatorWeights(np.array([0.5, 0.5]), np.array([[0.8, 0.2, 0.0], [0.0, 0.0, 1.0]]))
    awake = np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    np.testing.assert_allclose(current_weights.weights_by_row(awake, 2), [[0.65, 0.35, 0.0], [0.0, 0.0, 1.0]])


def test_widened_view_gives_an_added_expert_no_weight():
    algorithm = LongTermMemory()
    algorithm.run(np.random.default_rng(0).random((20, 3)))
    view = algorithm.issued_view()
    wider = algorithm.widened_view(view).reshape(-1, 4)
    np.testing.assert_array_equal(wider[:, :3], view.reshape(-1, 3))
    assert not wider[:, 3].any()
