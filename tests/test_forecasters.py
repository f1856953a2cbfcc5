"""Ensembles of forecasters, for sktime and for River."""

import copy
import pickle
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("river")
pytest.importorskip("sktime")

from forecasters import RiverReads, SktimeReads, taking_turns  # noqa: E402
from river import datasets, evaluate, linear_model, metrics, time_series  # noqa: E402
from river_experts import rivers_checks  # noqa: E402
from sklearn.linear_model import LinearRegression  # noqa: E402
from sklearn.metrics import mean_squared_error  # noqa: E402
from sktime.forecasting.compose import YfromX, make_reduction  # noqa: E402
from sktime.forecasting.naive import NaiveForecaster  # noqa: E402
from sktime.forecasting.online_learning import (  # noqa: E402
    NNLSEnsemble,
    NormalHedgeEnsemble,
    OnlineEnsembleForecaster,
)
from sktime.forecasting.trend import TrendForecaster  # noqa: E402
from sktime.split import SlidingWindowSplitter  # noqa: E402
from sktime.utils.estimator_checks import check_estimator  # noqa: E402

from ltm_sklearn import ExpertMixture  # noqa: E402
from ltm_sklearn.aggregation._aggregator import Rows  # noqa: E402
from ltm_sklearn.ensemble import ExpertWarning  # noqa: E402
from ltm_sklearn.experts import FixedShare, LongTermMemory  # noqa: E402
from ltm_sklearn.forecasting._horizon_weights import aggregator_of, losses_of  # noqa: E402
from ltm_sklearn.river import LongTermMemoryForecaster as ForRiver  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryEnsemble  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryForecaster as ForSktime  # noqa: E402

pytestmark = pytest.mark.fast_cases(1)

FLAT = [0.0] * 100


def mixture_weights(tables, y, step, every=1, **parameters):
    """What ``ExpertMixture`` makes of forecasts of one step ahead, of which each ``every``-th is issued."""
    rows = np.arange(step, len(y), every)
    lag = 0 if every > 1 else step - 1
    return ExpertMixture(lag=lag, **parameters).fit(np.array(tables).T[rows], np.array(y)[rows]).weights_


def in_phases(said, y, n_phases=6):
    return ((np.asarray(said) - y) ** 2).reshape(n_phases, -1).sum(axis=1)


# River ---------------------------------------------------------------------------------------------------------------

HOLT_WINTERS = time_series.HoltWinters(alpha=0.3, beta=0.1, gamma=0.6, seasonality=12, multiplicative=True)
SMOOTHING = time_series.HoltWinters(alpha=0.8)


@pytest.mark.parametrize(
    ("model", "check"),
    rivers_checks(
        [
            ForRiver(**next(ForRiver._unit_test_params())),
            ForRiver([SMOOTHING], algorithm=FixedShare(), loss="absolute_error", horizon=3),
        ]
    ),
)
def test_rivers_checks(model, check):
    check(model.clone())


def river_run(model, y, horizon=1):
    """What is forecast for each time but the first, one step ahead."""
    said = []
    for value in y:
        said.append(model.forecast(horizon)[0])
        model.learn_one(value)
    return said


@pytest.mark.parametrize("parameters", [{}, {"algorithm": FixedShare(), "loss": "absolute_error"}])
def test_each_step_learns_as_a_mixture_with_that_lag(parameters):
    y, tables = taking_turns(0, length=20, n_more=4)
    model = ForRiver([RiverReads(table) for table in tables], horizon=4, **parameters)
    for value in y[1:].tolist():
        model.learn_one(value)
    expected = [mixture_weights([table[: len(y)] for table in tables], y, step, **parameters) for step in (1, 2, 3, 4)]
    np.testing.assert_allclose(model.weights_, expected, atol=1e-12)


def test_it_learns_the_same_whether_or_not_it_is_asked():
    y, tables = taking_turns(1, length=10, n_more=5)
    silent, asked = (ForRiver([RiverReads(table) for table in tables], horizon=3) for _ in range(2))
    for value in y[1:].tolist():
        for horizon in (2, 5):
            asked.forecast(horizon)
        silent.learn_one(value)
        asked.learn_one(value)
    np.testing.assert_array_equal(silent.weights_, asked.weights_)


def test_the_horizon_is_the_longest_that_was_asked_for():
    model = ForRiver([RiverReads(FLAT), RiverReads([1.0] * 100)])
    model.learn_one(0.0)
    assert model.weights_.shape == (1, 2)
    model.forecast(3)
    for _ in range(5):
        model.learn_one(0.0)
    assert model.weights_.shape == (3, 2)
    assert (model.weights_[:, 0] > 0.6).all()
    # a step that never learned has the weights of the nearest one
    assert model.forecast(20)[-1] == pytest.approx(model.weights_[2, 1])


def test_a_leader_that_returns_is_found_faster():
    y, tables = taking_turns(2)
    model = ForRiver([RiverReads([None, *table[1:]]) for table in tables])
    losses = in_phases(river_run(model, y[1:].tolist()), y[1:])
    first, second = losses[1], losses[[3, 5]].mean()
    assert second < 0.7 * first
    alone = [((np.array(table[1:]) - y[1:]) ** 2).sum() for table in tables]
    assert losses.sum() < 0.2 * min(alone)


def test_in_rivers_evaluation_it_is_close_to_the_best():
    def error(model):
        metric = evaluate.evaluate(datasets.AirlinePassengers(), model, metrics.MAE(), horizon=12)
        return np.mean([each.get() for each in metric.metrics])

    model = ForRiver([HOLT_WINTERS, SMOOTHING])
    best, worst, ours = error(HOLT_WINTERS.clone()), error(SMOOTHING.clone()), error(model)
    assert ours < 1.1 * best
    assert ours < worst
    assert model.weights_.shape == (12, 2)
    assert model.leader_ == "HoltWinters-0"
    steps = list(evaluate.iter_evaluate(datasets.AirlinePassengers(), model.clone(), metrics.MAE(), horizon=3))
    assert len(steps[-1][2]) == 3


def test_clones_are_fresh_and_the_models_stay_as_they_are():
    model = ForRiver([HOLT_WINTERS.clone(), SMOOTHING.clone()], horizon=2)
    for _, y in datasets.AirlinePassengers():
        model.learn_one(y)
    assert not model.models[0]._initialized
    fresh = model.clone()
    np.testing.assert_array_equal(fresh.weights_, [[0.5, 0.5]])
    assert fresh.forecast(2) == [0.0, 0.0]
    full = model.clone(include_attributes=True)
    assert full.forecast(2) == model.forecast(2)
    full.learn_one(1e3)
    assert full.forecast(2) != model.forecast(2)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_goes_on_as_the_original(copied):
    values = [y for _, y in datasets.AirlinePassengers()]
    model = ForRiver([HOLT_WINTERS.clone(), SMOOTHING.clone()], horizon=3)
    river_run(model, values[:50], horizon=2)
    other = copied(model)
    assert river_run(other, values[50:]) == river_run(model, values[50:])
    np.testing.assert_array_equal(other.weights_, model.weights_)


def test_models_that_were_trained_before_go_on():
    trained = SMOOTHING.clone()
    for _ in range(5):
        trained.learn_one(7.0)
    np.testing.assert_allclose(ForRiver([trained]).forecast(2), 7.0)


def test_features_reach_the_experts():
    model = ForRiver([time_series.SNARIMAX(p=0, d=0, q=0, regressor=linear_model.LinearRegression()), SMOOTHING])
    for at in range(300):
        x = {"x": float(at % 5)}
        model.learn_one(10.0 * (at % 5), x)
    assert model.weights_.shape == (1, 2)  # what comes later has features that are not known
    near, far = model.forecast(2, xs=[{"x": 1.0}, {"x": 4.0}])
    assert far - near > 20.0
    model.learn_one(0.0, {"x": 0.0})
    assert model.weights_.shape == (2, 2)  # what was asked for is learned
    with pytest.raises(ValueError, match="features xs of 1 steps, and horizon=2"):
        model.forecast(2, xs=[{"x": 1.0}])


def test_an_expert_that_fails_sleeps_with_one_warning():
    failing = [0.0] * 10 + [None] + [0.0] * 10 + [float("nan")] * 5 + [0.0] * 100
    model = ForRiver([RiverReads(failing), RiverReads([1.0] * 200)])
    with pytest.warns(ExpertWarning) as caught:
        said = river_run(model, [0.0] * 60)
    assert [str(warning.message) for warning in caught] == [
        "expert 'RiverReads-0' could not forecast and slept: RuntimeError: no idea",
        "expert 'RiverReads-0' could not forecast and slept: ValueError: nan is forecast at step 1",
    ]
    np.testing.assert_allclose([said[9], *said[20:25]], 1.0)  # the other has all the weight
    assert said[26] < 0.2  # and it comes back
    assert np.isfinite(said).all()


def test_an_expert_that_cannot_learn_does_not_stop_the_others():
    class Stubborn(RiverReads):
        def learn_one(self, y, x=None):
            raise TypeError("never")

    model = ForRiver([Stubborn(FLAT), SMOOTHING])
    with pytest.warns(ExpertWarning, match="'Stubborn' could not learn and slept: TypeError: never"):
        river_run(model, [1.0, 2.0, 3.0])
    assert model.forecast(1)[0] > 0.0


def test_before_an_expert_has_begun_there_is_no_warning_and_the_last_value_is_the_guess():
    model = ForRiver([HOLT_WINTERS])
    assert model.forecast(2) == [0.0, 0.0]
    model.learn_one(5.0)
    assert model.forecast(2) == [5.0, 5.0]


def test_an_expert_that_never_begins_is_told_of_in_the_end():
    with pytest.warns(ExpertWarning, match="IndexError"):
        river_run(
            ForRiver([time_series.HoltWinters(0.1, 0.1, 0.1, seasonality=200), RiverReads([0.0] * 200)]), [1.0] * 60
        )


@pytest.mark.parametrize("values", [[3.0] * 50, [0.0] * 50, [1e200, -1e200] * 20])
def test_one_expert_and_series_without_news(values):
    for models in ([SMOOTHING], [SMOOTHING, SMOOTHING]):
        model = ForRiver(models, horizon=5)
        alone = SMOOTHING.clone()
        for value in values:
            model.learn_one(value)
            alone.learn_one(value)
        np.testing.assert_allclose(model.forecast(7), alone.forecast(7))
        np.testing.assert_allclose(model.weights_.sum(axis=1), 1.0)


def test_a_horizon_longer_than_the_series():
    model = ForRiver([SMOOTHING, RiverReads([2.0] * 1000)], horizon=500)
    for value in (1.0, 1.0, 1.0):
        model.learn_one(value)
    said = model.forecast(600)
    assert np.isfinite(said).all()
    assert said[-1] == 1.5  # nothing has come of it yet


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"models": []}, "At least 1"),
        ({"models": [linear_model.LinearRegression()]}, r"model 0 \(LinearRegression\) is no forecaster of River"),
        ({"algorithm": "hedge"}, "algorithm='hedge' is no expert algorithm"),
        ({"algorithm": FixedShare(switching=2.0)}, "switching"),
        ({"loss": "sqared"}, "loss='sqared'"),
        ({"horizon": 0}, "horizon=0"),
    ],
)
def test_wrong_parameters_for_river(parameters, message):
    with pytest.raises(ValueError, match=message):
        ForRiver(**{"models": [SMOOTHING], **parameters})


def test_wrong_values_for_river_change_nothing():
    model = ForRiver([SMOOTHING, RiverReads(FLAT)], loss="absolute_percentage_error", horizon=2)
    for value in (1.0, 2.0, 3.0):
        model.learn_one(value)
    before = pickle.dumps(model)
    for wrong, message in ((float("nan"), "nan"), (None, "None"), ("2", "'2'"), (0.0, "0")):
        with pytest.raises(ValueError, match=message):
            model.learn_one(wrong)
    with pytest.raises(ValueError, match="horizon=0"):
        model.forecast(0)
    assert pickle.loads(before).forecast(3) == model.forecast(3)


def test_a_loss_of_ones_own_that_fails_changes_nothing():
    def fails_at_ten(y, forecasts):
        if (y == 10.0).any():
            raise RuntimeError("ten")
        return np.abs(y - forecasts)

    model = ForRiver([RiverReads(FLAT), RiverReads([1.0] * 100)], loss=fails_at_ten, horizon=2)
    for value in (0.0, 0.2, 0.0):
        model.learn_one(value)
    weights = model.weights_
    with pytest.raises(RuntimeError, match="ten"):
        model.learn_one(10.0)
    np.testing.assert_array_equal(model.weights_, weights)
    model.learn_one(0.0)
    assert model.weights_[0, 0] > weights[0, 0]


# sktime --------------------------------------------------------------------------------------------------------------


def reading(tables, **parameters):
    names = [chr(ord("a") + at) for at in range(len(tables))]
    return ForSktime([(name, SktimeReads(table)) for name, table in zip(names, tables, strict=True)], **parameters)


def sktime_run(forecaster, y, start=1):
    """What is forecast for each time from ``start`` on, one step ahead."""
    forecaster.fit(y[:start], fh=[1])
    said = []
    for at in range(start, len(y)):
        said.append(float(forecaster.predict().iloc[0]))
        forecaster.update(y[at : at + 1])
    return said


@pytest.mark.exhaustive
def test_sktimes_checks():
    expected = {}  # no check is expected to fail
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sktime's own, of many kinds
        results = check_estimator(ForSktime.create_test_instance(), raise_exceptions=False, verbose=False)
    failed = {name: result for name, result in results.items() if result != "PASSED"}
    assert len(results) > 300
    assert set(failed) == set(expected), failed


@pytest.mark.parametrize("parameters", [{}, {"algorithm": FixedShare(), "loss": "absolute_error"}])
def test_each_step_of_the_horizon_learns_as_a_mixture_with_that_lag(parameters):
    y, tables = taking_turns(0, length=5, n_more=4)
    series = pd.Series(y)
    forecaster = reading(tables, **parameters).fit(series[:1], fh=[1, 4])
    for at in range(1, len(y)):
        forecaster.update(series[at : at + 1])
    expected = [mixture_weights([table[: len(y)] for table in tables], y, step, **parameters) for step in (1, 4)]
    assert forecaster.weights_.index.tolist() == [1, 4]
    assert forecaster.weights_.columns.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(forecaster.weights_, expected, atol=1e-12)


def test_values_that_come_together_were_forecast_together():
    y, tables = taking_turns(0, length=10)
    series = pd.Series(y)
    forecaster = reading(tables).fit(series[:1])
    for at in range(1, len(y), 3):
        forecaster.update(series[at : at + 3])
    expected = [mixture_weights(tables, y, step, every=3) for step in (1, 2, 3)]
    np.testing.assert_allclose(forecaster.weights_, expected, atol=1e-12)


def test_updates_of_any_size_are_charged_what_was_issued():
    y, tables = taking_turns(3, length=12, n_more=12)
    series, steps = pd.Series(y), [1, 2, 5, 12]
    forecaster = reading(tables).fit(series[:1], fh=steps)
    rng, at, updates = np.random.default_rng(0), 1, []
    while at < len(y):
        updates.append((at, min(at + int(rng.choice([1, 1, 1, 2, 9])), len(y))))
        at = updates[-1][1]
    for first, end in updates:
        forecaster.update(series[first:end])
    losses, forecasts = losses_of("squared_error"), np.array(tables).T
    for step in steps:
        aggregator = aggregator_of(None, losses, 3)
        book = [(0, aggregator.current_weights(), aggregator.views())]
        for first, _ in updates:
            time = first + step - 1
            if time < len(y):
                known_at = next(end for _, end in updates if time < end)
                at = max(page for page, (since, *_) in enumerate(book) if since <= first)
                _, current_weights, views = book[at]
                rows = Rows(forecasts[[time]], y[[time]], None, None, None)
                aggregator.learn(current_weights, None if at == len(book) - 1 else views, rows, losses)
                book.append((known_at, aggregator.current_weights(), aggregator.views()))
        current_weights = aggregator.current_weights()
        np.testing.assert_allclose(
            forecaster.weights_.loc[step], current_weights.trust @ current_weights.member_weights, atol=1e-9
        )


@pytest.mark.parametrize("seed", range(5))
def test_a_leader_that_returns_is_cheaper_and_beats_sktimes_ensembles(seed):
    y, tables = taking_turns(seed, length=100, n_phases=8)
    forecasts = np.array(tables)
    losses = {"mean": in_phases(forecasts.mean(axis=0)[1:], y[1:], n_phases=8)}
    for algorithm in (
        LongTermMemoryEnsemble(3),
        NormalHedgeEnsemble(3, loss_func=mean_squared_error),
        NNLSEnsemble(3),
    ):
        said = []
        for at in range(1, len(y)):
            said.append(algorithm.weights @ forecasts[:, at])
            algorithm.update(forecasts[:, at : at + 1], y[at : at + 1])
        losses[type(algorithm).__name__] = in_phases(said, y[1:], n_phases=8)
    ours = losses.pop("LongTermMemoryEnsemble")
    assert ours[[3, 5, 7]].mean() < 0.7 * ours[1]
    for peer in losses.values():
        assert ours.sum() < 0.7 * peer.sum()


def test_one_step_ahead_the_forecaster_and_the_ensemble_algorithm_say_the_same():
    y, tables = taking_turns(0, length=8)
    forecaster, series = reading(tables), pd.Series(y)
    theirs = OnlineEnsembleForecaster(forecaster.forecasters, LongTermMemoryEnsemble(3))
    np.testing.assert_allclose(sktime_run(forecaster, series), sktime_run(theirs, series))


def test_forecasters_that_are_trained():
    rng = np.random.default_rng(0)
    walk, noise = rng.normal(size=60).cumsum(), 3.0 * rng.normal(size=60)
    y = pd.Series(np.concatenate([np.zeros(20), walk, walk[-1] + noise]))
    experts = [("last", NaiveForecaster()), ("mean", NaiveForecaster("mean", window_length=20))]
    losses = [
        np.mean((np.array(sktime_run(each, y, start=20)) - y[20:]) ** 2)
        for each in (ForSktime(experts), *(expert for _, expert in experts))
    ]
    assert losses[0] < min(losses[1:])


def test_predict_changes_nothing_and_update_predict_is_update_and_predict():
    y, tables = taking_turns(0, length=5)
    series = pd.Series(y)
    by_hand, at_once = reading(tables).fit(series[:3]), reading(tables).fit(series[:3])
    said = []
    for at in range(3, len(y) - 1):
        by_hand.update(series[at : at + 1])
        by_hand.predict(fh=[2])
        said.append(by_hand.predict(fh=[1]).iloc[0])
    again = at_once.update_predict(series[3:], reset_forecaster=False)
    np.testing.assert_allclose(again, said)
    np.testing.assert_allclose(at_once.weights_, by_hand.weights_)
    windows = SlidingWindowSplitter(fh=[1, 2], window_length=4)
    kept = at_once.weights_
    assert at_once.update_predict(series[3:], cv=windows).notna().any().all()
    np.testing.assert_array_equal(at_once.weights_, kept)  # it worked on a copy


def test_weights_are_learned_without_updating_the_forecasters():
    y = pd.Series(np.arange(30.0))
    forecaster = ForSktime([("last", NaiveForecaster()), ("drift", NaiveForecaster("drift"))]).fit(y[:10], fh=[1])
    for at in range(10, 30):
        forecaster.update(y[at : at + 1], update_params=False)
    assert forecaster.weights_.loc[1, "drift"] > 0.9
    assert forecaster.cutoff[0] == 29


def test_forecasts_that_are_nan_sleep():
    y = pd.Series(np.zeros(40))
    forecaster = reading([[np.nan if time % 3 else 0.0 for time in range(50)], [1.0] * 50, [-3.0] * 50])
    said = sktime_run(forecaster, y)
    assert np.isfinite(said).all()
    assert abs(said[-1]) < 0.3  # 39 is one of its times
    assert all(-3.0 <= value <= 1.0 for value in said)
    nobody = reading([[np.nan] * 50]).fit(y[:5])
    assert np.isnan(nobody.update(y[5:6]).predict(fh=[1, 2])).all()


def test_values_that_are_missing_are_not_learned():
    y = pd.Series([0.0, 0.0, np.nan, 0.0, np.nan, 0.0])
    forecaster = reading([FLAT, [1.0] * 100]).fit(y[:1], fh=[1, 2])
    for at in range(1, 6):
        forecaster.update(y[at : at + 1])
    assert [forecaster._outlook.cells[step].tally[1, -1] for step in (1, 2)] == [3, 2]
    assert forecaster.weights_.loc[1, "a"] > 0.5


def test_a_forecaster_that_raises_sleeps_with_a_warning_unless_all_do():
    y = pd.Series(np.zeros(10))
    forecaster = reading([[0.0] * 5 + [None] + [0.0] * 10, [1.0] * 100]).fit(y[:5], fh=[1])
    with pytest.warns(ExpertWarning, match="expert 'a' could not predict and slept: RuntimeError: no idea"):
        assert forecaster.predict().iloc[0] == 1.0
    with pytest.warns(ExpertWarning, match="'a' could not predict"):
        forecaster.update(y[5:6])
    assert forecaster.update(y[6:7]).weights_.loc[1, "a"] > 0.5
    with pytest.raises(RuntimeError, match="no idea"):
        reading([[None] * 10, [None] * 10]).fit(y[:5]).predict(fh=1)


def test_exogenous_data_is_passed_on():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=60)})
    y = 5.0 * X["x"]
    y.name = "y"
    forecaster = ForSktime([("x", YfromX(LinearRegression())), ("mean", NaiveForecaster("mean"))])
    assert forecaster.get_tag("capability:exogenous")
    forecaster.fit(y[:30], X[:30], fh=[1, 3])
    for at in range(30, 50):
        forecaster.update(y[at : at + 1], X[at : at + 1])
    assert forecaster.weights_.index.tolist() == [1]  # three steps ahead X was not known
    assert forecaster.weights_.loc[1, "x"] > 0.8
    said = forecaster.predict(fh=[1, 3], X=X[50:53])
    assert said.name == "y"
    np.testing.assert_allclose(said, y[[50, 52]], atol=1.5)
    forecaster.update(y[50:55], X[50:55])
    assert forecaster.weights_.index.tolist() == [1, 3]


@pytest.mark.filterwarnings("ignore:NotImplementedWarning")  # of a forecaster that sktime fits again
def test_horizons_that_are_absolute_or_needed_in_fit():
    y = pd.Series(np.arange(40.0) % 7, index=pd.period_range("2000-01", periods=40, freq="M"))
    forecaster = ForSktime(
        [
            ("direct", make_reduction(LinearRegression(), window_length=8, strategy="direct")),
            ("last", NaiveForecaster()),
        ]
    )
    assert forecaster.get_tag("requires-fh-in-fit")
    forecaster.fit(y[:30], fh=[1, 2])
    for at in range(30, 38):
        forecaster.update(y[at : at + 1])
    assert (forecaster.weights_["direct"] > 0.8).all()
    assert forecaster.predict().index.tolist() == y.index[38:].tolist()

    absolute = ForSktime([("last", NaiveForecaster()), ("mean", NaiveForecaster("mean"))])
    absolute.fit(y[:30], fh=y.index[[31, 33]])
    for at in range(30, 36):
        absolute.update(y[at : at + 1])
    assert absolute.weights_.index.tolist() == [1, 2, 3, 4]  # as the time came nearer


@pytest.mark.filterwarnings("ignore:NotImplementedWarning")  # of a forecaster that sktime fits again
def test_times_whose_frequency_is_only_known_from_several():
    times = pd.DatetimeIndex(pd.date_range("2024-01-01", periods=30, freq="h").tolist())
    y = pd.Series(np.arange(30.0), index=times)
    forecaster = ForSktime([("last", NaiveForecaster()), ("trend", TrendForecaster())]).fit(y[:20])
    for at in range(20, 30):
        forecaster.update(y[at : at + 1])
    assert forecaster.weights_.loc[1, "trend"] > 0.8


def test_clones_and_fits_are_fresh():
    y, tables = taking_turns(0, length=5)
    series = pd.Series(y)
    forecaster = reading(tables, algorithm=LongTermMemory(), loss="absolute_error")
    sktime_run(forecaster, series)
    learned = forecaster.weights_
    assert forecaster.get_fitted_params()["weights"].equals(learned)
    fresh = forecaster.clone()
    assert isinstance(fresh.algorithm, LongTermMemory)
    assert fresh.loss == "absolute_error"
    assert not hasattr(fresh, "weights_")
    again = pickle.loads(pickle.dumps(forecaster))
    assert again.update(series[-1:]).weights_.equals(learned)  # nothing new
    np.testing.assert_allclose(forecaster.fit(series[:5]).weights_, 1.0 / 3.0)
    assert forecaster.set_params(a__table=FLAT).get_params()["a__table"] == FLAT


def test_series_of_several_variables_have_weights_of_their_own():
    y = pd.DataFrame({"up": np.arange(30.0), "flat": np.tile([0.0, 1.0], 15)})
    forecaster = ForSktime([("last", NaiveForecaster()), ("mean", NaiveForecaster("mean"))]).fit(y[:20], fh=[1])
    for at in range(20, 30):
        forecaster.update(y[at : at + 1])
    weights = {name: forecaster.forecasters_[name].iloc[0].weights_.loc[1, "last"] for name in y}
    assert weights["up"] > 0.8
    assert weights["flat"] < 0.3


@pytest.mark.parametrize("level", [0.0, 3.0])
def test_one_forecaster_ties_and_constant_series(level):
    y = pd.Series(np.full(20, level))
    for n_forecasters in (1, 2):
        forecaster = ForSktime([NaiveForecaster() for _ in range(n_forecasters)])
        np.testing.assert_allclose(sktime_run(forecaster, y, start=5), level)
        np.testing.assert_allclose(forecaster.weights_, 1.0 / n_forecasters)
    far = forecaster.predict(fh=[1, 100])
    np.testing.assert_allclose(far, level)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"algorithm": "hedge"}, "algorithm='hedge' is no expert algorithm"),
        ({"loss": "sqared"}, "loss='sqared'"),
        ({"forecasters": []}, "forecasters is empty"),
    ],
)
def test_wrong_parameters_for_sktime(parameters, message):
    with pytest.raises(ValueError, match=message):
        ForSktime(**{"forecasters": [NaiveForecaster()], **parameters}).fit(pd.Series([1.0, 2.0]))


def test_experts_that_are_no_forecasters():
    with pytest.raises(TypeError, match="must be forecasters"):
        ForSktime([("sgd", LinearRegression())])


# What sktime's own ensemble cannot do ---------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of theirs
def test_ties_one_expert_and_nan_do_not_stop_the_ensemble_algorithm():
    tie, alone = np.ones((2, 3)), np.ones((1, 3))
    with_nan = np.array([[np.nan, 0.0, 0.0], [1.0, 1.0, np.inf]])
    for forecasts in (tie, alone, with_nan):
        theirs = NormalHedgeEnsemble(len(forecasts), loss_func=mean_squared_error)
        with pytest.raises(ValueError, match=r"NaN|sign|infinity"):
            theirs.update(forecasts, np.zeros(3))
        algorithm = LongTermMemoryEnsemble(len(forecasts))
        for _ in range(3):
            algorithm.update(forecasts, [0.0, np.nan, 0.0])
        assert np.isfinite(algorithm.weights).all()
        assert algorithm.weights.sum() == pytest.approx(1.0)
    assert algorithm.weights[0] > 0.5


def test_a_clone_of_the_online_ensemble_does_not_keep_what_was_learned():
    y = pd.Series(np.zeros(10))
    experts = [("a", SktimeReads(FLAT)), ("b", SktimeReads([1.0] * 100))]
    for algorithm, fresh in (
        (NormalHedgeEnsemble(2, loss_func=mean_squared_error), False),
        (LongTermMemoryEnsemble(2), True),
    ):
        forecaster = OnlineEnsembleForecaster(experts, algorithm).fit(y[:5]).update(y[5:])
        assert forecaster.ensemble_algorithm.weights[0] > 0.5
        kept = forecaster.clone().ensemble_algorithm.weights
        assert (kept == 0.5).all() == fresh


def test_sktimes_ensemble_counts_a_missing_forecast_as_zero():
    y = pd.Series(np.full(10, 5.0))
    experts = [("a", SktimeReads([5.0] * 20)), ("b", SktimeReads([np.nan] * 20))]
    theirs = OnlineEnsembleForecaster(experts, LongTermMemoryEnsemble(2)).fit(y[:5])
    assert theirs.predict(fh=[1]).iloc[0] == 2.5
    assert ForSktime(experts).fit(y[:5]).predict(fh=[1]).iloc[0] == 5.0


def test_sktimes_ensemble_learns_from_other_times_in_update_predict():
    y = pd.Series(np.arange(20.0))
    right = ("right", SktimeReads(y.tolist()))
    late = ("late", SktimeReads([value - 1.0 for value in y]))
    theirs = OnlineEnsembleForecaster([right, late], LongTermMemoryEnsemble(2)).fit(y[:5])
    theirs.update_predict(y[5:15], reset_forecaster=False)
    ours = ForSktime([right, late]).fit(y[:5])
    ours.update_predict(y[5:15], reset_forecaster=False)
    assert theirs.ensemble_algorithm.weights[0] < 0.5  # it takes the one that is late for the better one
    assert ours.weights_.loc[1, "right"] > 0.9


@pytest.mark.parametrize(
    ("parameters", "forecasts", "message"),
    [
        ({"n_estimators": 0}, np.zeros((2, 1)), "n_estimators=0"),
        ({"n_estimators": 3}, np.zeros((2, 1)), r"y_pred has shape \(2, 1\), but n_estimators=3"),
        ({"n_estimators": 2}, np.zeros((2, 2)), r"make \(2, 1\)"),
        ({"n_estimators": 2, "loss": "no"}, np.zeros((2, 1)), "loss='no'"),
        ({"n_estimators": 2, "algorithm": 1}, np.zeros((2, 1)), "algorithm=1"),
    ],
)
def test_wrong_input_to_the_ensemble_algorithm(parameters, forecasts, message):
    with pytest.raises(ValueError, match=message):
        LongTermMemoryEnsemble(**parameters).update(forecasts, [0.0])


@pytest.mark.exhaustive
def test_the_package_imports_neither_sktime_nor_river(tmp_path):
    code = """
        import sys
        import ltm_sklearn
        assert not {"sktime", "river"} & sys.modules.keys()
        sys.modules["sktime"] = None
        try:
            import ltm_sklearn.sktime
        except ImportError as error:
            print(error)
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "ltm_sklearn[sktime]" in done.stdout
