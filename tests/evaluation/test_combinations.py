"""Best fixed combinations of forecasts in hindsight."""

import numpy as np
import pytest
from scipy.optimize import minimize

from ltm_sklearn.evaluation import oracles
from ltm_sklearn.losses import LOSSES, AbsoluteError, Pinball, RegressionLoss, SquaredError


class PseudoHuber(RegressionLoss):
    """``sqrt(1 + e²) - 1``."""

    def __call__(self, y, prediction):
        return np.sqrt(1.0 + (prediction - y) ** 2) - 1.0

    def gradient(self, y, prediction):
        return (prediction - y) / np.sqrt(1.0 + (prediction - y) ** 2)


class Linex(RegressionLoss):
    """``exp(e) - e - 1``."""

    def __call__(self, y, prediction):
        return np.exp(prediction - y) - (prediction - y) - 1.0

    def gradient(self, y, prediction):
        return np.exp(prediction - y) - 1.0


class WeightedAbsolute(RegressionLoss):
    """Absolute error with a weight of each row."""

    def __init__(self, weight):
        self.weight = weight

    def __call__(self, y, prediction):
        return np.abs(prediction - y) * self.weight(y)

    def gradient(self, y, prediction):
        return np.sign(prediction - y) * self.weight(y)


def inverse_size(y):
    return 1.0 / np.abs(y)


PIECEWISE_LINEAR = [AbsoluteError(), Pinball(0.2), WeightedAbsolute(inverse_size)]
ALL_LOSSES = [SquaredError(), *PIECEWISE_LINEAR, PseudoHuber(), Linex()]
COMBINATIONS = [oracles.best_convex, oracles.best_linear]


def name_of(loss):
    return loss if isinstance(loss, str) else type(loss).__name__


def forecasts(n_rows=80, n_experts=5, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.uniform(5.0, 9.0, n_rows)
    biases = np.linspace(-1.0, 1.0, n_experts) + 0.3
    return y[:, np.newaxis] + biases + rng.normal(scale=0.5, size=(n_rows, n_experts)), y


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=name_of)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (1, 2))])
def test_no_other_convex_combination_is_better(loss, seed):
    X, y = forecasts(seed=seed)
    best = oracles.best_convex(X, y, loss)
    assert best.weights.min() >= 0.0
    assert best.weights.sum() == pytest.approx(1.0)
    assert best.loss == pytest.approx(loss(y, X @ best.weights).mean())
    for corner in (*np.eye(5), *np.random.default_rng(seed).dirichlet(np.ones(5), 20)):
        for step in (1e-4, 1e-2, 1.0):
            other = (1.0 - step) * best.weights + step * corner
            assert loss(y, X @ other).mean() >= best.loss * (1.0 - 1e-9)


@pytest.mark.parametrize("loss", ALL_LOSSES, ids=name_of)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in (1, 2))])
def test_no_other_linear_combination_is_better(loss, seed):
    X, y = forecasts(seed=seed)
    best = oracles.best_linear(X, y, loss)
    assert best.loss == pytest.approx(loss(y, X @ best.weights).mean())
    assert best.loss <= oracles.best_convex(X, y, loss).loss
    for direction in np.random.default_rng(seed).normal(size=(30, 5)):
        for step in (1e-4, 1e-2, 1.0):
            assert loss(y, X @ (best.weights + step * direction)).mean() >= best.loss * (1.0 - 1e-9)


@pytest.mark.parametrize("loss", [SquaredError(), PseudoHuber(), Linex()], ids=name_of)
def test_best_convex_agrees_with_a_general_solver(loss):
    X, y = forecasts(n_rows=300)
    general = minimize(
        lambda w: loss(y, X @ w).mean(),
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
    assert oracles.best_linear(one, y, AbsoluteError()).weights == pytest.approx(4.0)
    assert oracles.best_linear(one, y, Pinball(0.7)).weights == pytest.approx(8.0)
    assert oracles.best_linear(one, y).weights == pytest.approx(y.mean())
    corners = np.column_stack([np.zeros(5), np.full(5, 100.0)])
    np.testing.assert_allclose(oracles.best_convex(corners, y, AbsoluteError()).weights, [0.96, 0.04])


@pytest.mark.fast_cases(8)
@pytest.mark.parametrize("scale", [1e-150, 1e-8, 1e8, 1e150])
@pytest.mark.parametrize("loss", [SquaredError(), *PIECEWISE_LINEAR], ids=name_of)
@pytest.mark.parametrize("best", COMBINATIONS)
def test_scale_of_forecasts_does_not_matter(loss, scale, best):
    X, y = forecasts()
    np.testing.assert_allclose(best(scale * X, scale * y, loss).weights, best(X, y, loss).weights, atol=1e-6)


@pytest.mark.parametrize("best", COMBINATIONS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.exhaustive) for seed in range(1, 5))])
def test_custom_loss_with_a_kink_is_nearly_exact(seed, best):
    X, y = forecasts(n_rows=400, n_experts=20, seed=seed)
    loss = WeightedAbsolute(np.ones_like)
    assert best(X, y, loss).loss == pytest.approx(best(X, y, AbsoluteError()).loss, rel=1e-4)


@pytest.mark.parametrize("best", COMBINATIONS)
@pytest.mark.parametrize(("scale", "limit"), [(1e-6, SquaredError()), (1e6, AbsoluteError())])
def test_smooth_loss_of_tiny_and_huge_errors(scale, limit, best):
    X, y = forecasts()
    reached = best(scale * X, scale * y, PseudoHuber()).loss
    expected = PseudoHuber()(scale * y, scale * X @ best(X, y, limit).weights).mean()
    assert reached == pytest.approx(expected, rel=1e-3)


def test_large_common_level_does_not_cancel_the_errors():
    X, y = forecasts()
    np.testing.assert_allclose(
        oracles.best_convex(X + 1e8, y + 1e8).weights, oracles.best_convex(X, y).weights, atol=1e-5
    )


@pytest.mark.parametrize("loss", [SquaredError(), AbsoluteError(), Pinball(0.5), PseudoHuber()], ids=name_of)
@pytest.mark.parametrize("best", COMBINATIONS)
def test_degenerate_tables_have_a_solution(best, loss):
    y = np.array([1.0, 2.0, 3.0])
    assert best(y[:, np.newaxis], y, loss).weights == pytest.approx(1.0)  # one expert without errors
    assert best([[2.0]], [2.0], loss).loss == pytest.approx(0.0)  # one row
    twins = best(np.column_stack([y + 1.0, y + 1.0, y - 1.0]), y, loss)
    assert twins.loss == pytest.approx(0.0, abs=1e-9)
    more_experts_than_rows = best(np.random.default_rng(0).normal(size=(3, 10)), np.zeros(3), loss)
    assert more_experts_than_rows.weights.shape == (10,)
    assert np.isfinite(best(np.zeros((4, 2)), np.arange(4.0), loss).weights).all()


@pytest.mark.parametrize("best", COMBINATIONS)
def test_rows_with_weight_zero_change_nothing(best):
    X, y = forecasts()
    y = np.where(np.arange(80) < 20, 0.0, y)
    found = best(X, y, WeightedAbsolute(lambda y: y != 0.0)).loss
    assert found == pytest.approx(0.75 * best(X[20:], y[20:], AbsoluteError()).loss)


def test_rows_with_a_missing_forecast_do_not_count():
    X, y = forecasts()
    with_nan = X.copy()
    with_nan[[3, 7], [0, 4]] = np.nan
    best = oracles.best_convex(with_nan, y)
    assert best.n_rows == 78
    expected = oracles.best_convex(np.delete(X, [3, 7], 0), np.delete(y, [3, 7])).weights
    np.testing.assert_array_equal(best.weights, expected)


@pytest.mark.parametrize("loss", [name for name in LOSSES if name.startswith(("absolute_error", "pinball", "percent"))])
@pytest.mark.parametrize("level", [1e3, pytest.param(1e6, marks=pytest.mark.exhaustive), 1e8])
def test_more_freedom_never_increases_the_loss(loss, level):
    rng = np.random.default_rng(0)
    y = level + rng.normal(size=200)
    X = y[:, np.newaxis] + rng.normal(size=(200, 4))
    single = min(float(LOSSES[loss](y, X[:, at]).mean()) for at in range(4))
    convex, linear = oracles.best_convex(X, y, loss).loss, oracles.best_linear(X, y, loss).loss
    assert linear <= convex * (1.0 + 1e-6) <= single * (1.0 + 2e-6)
    assert convex < 0.8 * single
    with_bad_expert = np.column_stack([X, level + 1e10 * rng.normal(size=200)])
    assert oracles.best_convex(with_bad_expert, y, loss).loss == pytest.approx(convex, rel=1e-4)


# Errors -----------------------------------------------------------------------------------------------------------

X, Y = np.ones((3, 2)), np.ones(3)
PERCENTAGE = next(name for name in LOSSES if "absolute_percentage_error" in name)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((X, np.ones(2)), r"each of the 3 rows of forecasts; got shape \(2,\)"),
        ((X, [1.0, np.nan, 1.0]), "row 1 has nan"),
        (([[1.0], [np.inf]], [1.0, 1.0]), "forecasts must not be infinite: row 1, column 0"),
        (([[1.0, np.nan]], [1.0]), "NaN in every row"),
        ((X, Y, "cubed"), "loss='cubed' is not one of"),
        ((X, Y, lambda y, prediction: y - prediction), "no method gradient"),
        (([[1.0, 2.0], [1.0, 2.0]], [1.0, 0.0], PERCENTAGE), "y is zero in row 1"),
        (([[1.0, 2.0], [1e200, 2.0]], [1.0, 0.0]), "the loss must be finite; it is inf in row 1"),
    ],
)
def test_invalid_arguments_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        oracles.best_convex(*arguments)


@pytest.mark.parametrize(
    ("values", "slopes", "message"), [(1.0, [0.0] * 3, "the loss must"), ([0.0] * 3, [np.nan] * 3, "the gradient")]
)
def test_custom_loss_must_return_a_finite_number_for_each_row(values, slopes, message):
    class Invalid:
        def __call__(self, y, prediction):
            return np.asarray(values)

        def gradient(self, y, prediction):
            return np.asarray(slopes)

    with pytest.raises(ValueError, match=message):
        oracles.best_convex(X, Y, Invalid())
