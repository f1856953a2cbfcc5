"""Forecasters of River, combined."""

import copy
import pickle

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("river")
pytest.importorskip("sktime")

from river import datasets, evaluate, linear_model, metrics, time_series  # noqa: E402
from support.forecasters import FLAT, RiverReads, in_phases, mixture_weights, taking_turns  # noqa: E402
from support.named_models import named  # noqa: E402
from support.river_models import rivers_checks  # noqa: E402

from ltm_sklearn.ensemble import ExpertWarning  # noqa: E402
from ltm_sklearn.experts import FixedShare  # noqa: E402
from ltm_sklearn.river import LongTermMemoryForecaster as ForRiver  # noqa: E402

pytestmark = pytest.mark.fast_cases(1)


HOLT_WINTERS = time_series.HoltWinters(alpha=0.3, beta=0.1, gamma=0.6, seasonality=12, multiplicative=True)
SMOOTHING = time_series.HoltWinters(alpha=0.8)


@pytest.mark.parametrize(
    ("model", "check"),
    rivers_checks(
        [
            ForRiver(**next(ForRiver._unit_test_params())),
            ForRiver(named([SMOOTHING]), algorithm=FixedShare(), loss="absolute_error", horizon=3),
        ]
    ),
)
def test_checks_of_river(model, check):
    check(model.clone())


def river_run(model, y, horizon=1):
    """What is forecast for each time but the first, one step ahead."""
    forecasts = []
    for value in y:
        forecasts.append(model.forecast(horizon)[0])
        model.learn_one(value)
    return forecasts


@pytest.mark.parametrize("parameters", [{}, {"algorithm": FixedShare(), "loss": "absolute_error"}])
def test_steps_learn_like_mixtures_with_a_lag(parameters):
    y, tables = taking_turns(0, length=20, n_more=4)
    model = ForRiver(named([RiverReads(table) for table in tables]), horizon=4, **parameters)
    for value in y[1:].tolist():
        model.learn_one(value)
    expected = [mixture_weights([table[: len(y)] for table in tables], y, step, **parameters) for step in (1, 2, 3, 4)]
    np.testing.assert_allclose(model.weights_, expected, atol=1e-12)


def test_forecasting_does_not_change_the_weights():
    y, tables = taking_turns(1, length=10, n_more=5)
    silent, asked = (ForRiver(named([RiverReads(table) for table in tables]), horizon=3) for _ in range(2))
    for value in y[1:].tolist():
        for horizon in (2, 5):
            asked.forecast(horizon)
        silent.learn_one(value)
        asked.learn_one(value)
    np.testing.assert_array_equal(silent.weights_, asked.weights_)


def test_horizon_is_the_longest_that_was_forecast():
    model = ForRiver(named([RiverReads(FLAT), RiverReads([1.0] * 100)]))
    model.learn_one(0.0)
    assert model.weights_.shape == (1, 2)
    model.forecast(3)
    for _ in range(5):
        model.learn_one(0.0)
    assert model.weights_.shape == (3, 2)
    assert (model.weights_[:, 0] > 0.6).all()
    # a step that never learned has the weights of the nearest one
    assert model.forecast(20)[-1] == pytest.approx(model.weights_[2, 1])


def test_recurring_leader_is_found_faster():
    y, tables = taking_turns(2)
    model = ForRiver(named([RiverReads([None, *table[1:]]) for table in tables]))
    losses = in_phases(river_run(model, y[1:].tolist()), y[1:])
    first, second = losses[1], losses[[3, 5]].mean()
    assert second < 0.7 * first
    alone = [((np.array(table[1:]) - y[1:]) ** 2).sum() for table in tables]
    assert losses.sum() < 0.2 * min(alone)


def test_evaluation_of_river_is_close_to_the_best_model():
    def error(model):
        metric = evaluate.evaluate(datasets.AirlinePassengers(), model, metrics.MAE(), horizon=12)
        return np.mean([each.get() for each in metric.metrics])

    model = ForRiver(named([HOLT_WINTERS, SMOOTHING]))
    best, worst, ours = error(HOLT_WINTERS.clone()), error(SMOOTHING.clone()), error(model)
    assert ours < 1.1 * best
    assert ours < worst
    assert model.weights_.shape == (12, 2)
    assert model.leader_ == "HoltWinters-0"
    steps = list(evaluate.iter_evaluate(datasets.AirlinePassengers(), model.clone(), metrics.MAE(), horizon=3))
    assert len(steps[-1][2]) == 3


def test_clones_are_fresh_and_models_stay_untrained():
    model = ForRiver(named([HOLT_WINTERS.clone(), SMOOTHING.clone()]), horizon=2)
    for _, y in datasets.AirlinePassengers():
        model.learn_one(y)
    assert not model[0]._initialized
    fresh = model.clone()
    np.testing.assert_array_equal(fresh.weights_, [[0.5, 0.5]])
    assert fresh.forecast(2) == [0.0, 0.0]
    full = model.clone(include_attributes=True)
    assert full.forecast(2) == model.forecast(2)
    full.learn_one(1e3)
    assert full.forecast(2) != model.forecast(2)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copy_continues_like_the_original(copied):
    values = [y for _, y in datasets.AirlinePassengers()]
    model = ForRiver(named([HOLT_WINTERS.clone(), SMOOTHING.clone()]), horizon=3)
    river_run(model, values[:50], horizon=2)
    other = copied(model)
    assert river_run(other, values[50:]) == river_run(model, values[50:])
    np.testing.assert_array_equal(other.weights_, model.weights_)


def test_trained_models_continue():
    trained = SMOOTHING.clone()
    for _ in range(5):
        trained.learn_one(7.0)
    np.testing.assert_allclose(ForRiver(named([trained])).forecast(2), 7.0)


def test_features_reach_the_experts():
    model = ForRiver(named([time_series.SNARIMAX(p=0, d=0, q=0, regressor=linear_model.LinearRegression()), SMOOTHING]))
    for at in range(300):
        x = {"x": float(at % 5)}
        model.learn_one(10.0 * (at % 5), x)
    assert model.weights_.shape == (1, 2)  # what comes later has features that are not known
    near, far = model.forecast(2, xs=[{"x": 1.0}, {"x": 4.0}])
    assert far - near > 20.0
    model.learn_one(0.0, {"x": 0.0})
    assert model.weights_.shape == (2, 2)  # what was asked for is learned
    with pytest.raises(ValueError, match="xs has features of 1 steps, but horizon=2"):
        model.forecast(2, xs=[{"x": 1.0}])


def test_failing_expert_sleeps_with_one_warning():
    failing = [0.0] * 10 + [None] + [0.0] * 10 + [float("nan")] * 5 + [0.0] * 100
    model = ForRiver(named([RiverReads(failing), RiverReads([1.0] * 200)]))
    with pytest.warns(ExpertWarning) as caught:
        forecasts = river_run(model, [0.0] * 60)
    assert [str(warning.message) for warning in caught] == [
        "expert 'RiverReads-0' could not forecast and slept: RuntimeError: no idea",
        "expert 'RiverReads-0' could not forecast and slept: ValueError: nan is forecast at step 1",
    ]
    np.testing.assert_allclose([forecasts[9], *forecasts[20:25]], 1.0)  # the other has all the weight
    assert forecasts[26] < 0.2  # and it comes back
    assert np.isfinite(forecasts).all()


def test_expert_that_cannot_learn_does_not_stop_others():
    class Stubborn(RiverReads):
        def learn_one(self, y, x=None):
            raise TypeError("never")

    model = ForRiver(named([Stubborn(FLAT), SMOOTHING]))
    with pytest.warns(ExpertWarning, match="'Stubborn' could not learn and slept: TypeError: never"):
        river_run(model, [1.0, 2.0, 3.0])
    assert model.forecast(1)[0] > 0.0


def test_last_value_is_forecast_before_experts_begin():
    model = ForRiver(named([HOLT_WINTERS]))
    assert model.forecast(2) == [0.0, 0.0]
    model.learn_one(5.0)
    assert model.forecast(2) == [5.0, 5.0]


def test_expert_that_never_begins_is_warned_of():
    with pytest.warns(ExpertWarning, match="IndexError"):
        river_run(
            ForRiver(named([time_series.HoltWinters(0.1, 0.1, 0.1, seasonality=200), RiverReads([0.0] * 200)])),
            [1.0] * 60,
        )


@pytest.mark.parametrize("values", [[3.0] * 50, [0.0] * 50, [1e200, -1e200] * 20])
def test_one_expert_and_constant_series(values):
    for models in ([SMOOTHING], [SMOOTHING, SMOOTHING]):
        model = ForRiver(named(models), horizon=5)
        alone = SMOOTHING.clone()
        for value in values:
            model.learn_one(value)
            alone.learn_one(value)
        np.testing.assert_allclose(model.forecast(7), alone.forecast(7))
        np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)


def test_horizon_longer_than_the_series():
    model = ForRiver(named([SMOOTHING, RiverReads([2.0] * 1000)]), horizon=500)
    for value in (1.0, 1.0, 1.0):
        model.learn_one(value)
    forecasts = model.forecast(600)
    assert np.isfinite(forecasts).all()
    assert forecasts[-1] == 1.5  # nothing has come of it yet


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"models": []}, "At least 1"),
        ({"models": [SMOOTHING]}, r"must have names: write models=\[\(\"HoltWinters\", HoltWinters\(...\)\)\]"),
        ({"models": {"line": linear_model.LinearRegression()}}, r"model 'line' \(LinearRegression\) is no forecaster"),
        ({"algorithm": "hedges"}, "algorithm='hedges' .* The names are ada_normal_hedge,"),
        ({"algorithm": FixedShare(switching=2.0)}, "switching"),
        ({"loss": "sqared"}, "loss='sqared'"),
        ({"horizon": 0}, "horizon=0"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        ForRiver(**{"models": {"smooth": SMOOTHING}, **parameters})


def test_invalid_values_change_nothing():
    model = ForRiver(named([SMOOTHING, RiverReads(FLAT)]), loss="absolute_percentage_error", horizon=2)
    for value in (1.0, 2.0, 3.0):
        model.learn_one(value)
    before = pickle.dumps(model)
    for wrong, message in ((float("nan"), "nan"), (None, "None"), ("2", "'2'"), (0.0, "0")):
        with pytest.raises(ValueError, match=message):
            model.learn_one(wrong)
    with pytest.raises(ValueError, match="horizon=0"):
        model.forecast(0)
    assert pickle.loads(before).forecast(3) == model.forecast(3)


def test_failing_custom_loss_changes_nothing():
    def fails_at_ten(y, forecasts):
        if (y == 10.0).any():
            raise RuntimeError("ten")
        return np.abs(y - forecasts)

    model = ForRiver(named([RiverReads(FLAT), RiverReads([1.0] * 100)]), loss=fails_at_ten, horizon=2)
    for value in (0.0, 0.2, 0.0):
        model.learn_one(value)
    weights = model.weights_
    with pytest.raises(RuntimeError, match="ten"):
        model.learn_one(10.0)
    np.testing.assert_array_equal(model.weights_, weights)
    model.learn_one(0.0)
    assert model.weights_[0, 0] > weights[0, 0]
