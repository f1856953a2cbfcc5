"""Forecasters of sktime, combined."""

import pickle
import warnings

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("river")
pytest.importorskip("sktime")

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
from support.forecasters import FLAT, SktimeReads, in_phases, mixture_weights, taking_turns  # noqa: E402

from ltm_sklearn.aggregation._aggregator import ForecastRows  # noqa: E402
from ltm_sklearn.ensemble import ExpertWarning  # noqa: E402
from ltm_sklearn.experts import FixedShare, LongTermMemory  # noqa: E402
from ltm_sklearn.forecasting._horizon_weights import losses_of, new_aggregator  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryEnsemble  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryForecaster as ForSktime  # noqa: E402

pytestmark = pytest.mark.fast_cases(1)


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
def test_checks_of_sktime():
    expected = {}  # no check is expected to fail
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # sktime's own, of many kinds
        results = check_estimator(ForSktime.create_test_instance(), raise_exceptions=False, verbose=False)
    failed = {name: result for name, result in results.items() if result != "PASSED"}
    assert len(results) > 300
    assert set(failed) == set(expected), failed


@pytest.mark.parametrize("parameters", [{}, {"algorithm": FixedShare(), "loss": "absolute_error"}])
def test_steps_learn_like_mixtures_with_a_lag(parameters):
    y, tables = taking_turns(0, length=5, n_more=4)
    series = pd.Series(y)
    forecaster = reading(tables, **parameters).fit(series[:1], fh=[1, 4])
    for at in range(1, len(y)):
        forecaster.update(series[at : at + 1])
    expected = [mixture_weights([table[: len(y)] for table in tables], y, step, **parameters) for step in (1, 4)]
    assert forecaster.weights_.index.tolist() == [1, 4]
    assert forecaster.weights_.columns.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(forecaster.weights_, expected, atol=1e-12)


def test_values_of_one_update_are_one_block():
    y, tables = taking_turns(0, length=10)
    series = pd.Series(y)
    forecaster = reading(tables).fit(series[:1])
    for at in range(1, len(y), 3):
        forecaster.update(series[at : at + 3])
    expected = [mixture_weights(tables, y, step, every=3) for step in (1, 2, 3)]
    np.testing.assert_allclose(forecaster.weights_, expected, atol=1e-12)


def test_updates_of_any_size_are_scored_as_issued():
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
        aggregator = new_aggregator(None, losses, 3)
        book = [(0, aggregator.current_weights(), aggregator.issued_views())]
        for first, _ in updates:
            time = first + step - 1
            if time < len(y):
                known_at = next(end for _, end in updates if time < end)
                at = max(page for page, (since, *_) in enumerate(book) if since <= first)
                _, current_weights, views = book[at]
                rows = ForecastRows(forecasts[[time]], y[[time]], None, None, None)
                aggregator.update(current_weights, None if at == len(book) - 1 else views, rows, losses)
                book.append((known_at, aggregator.current_weights(), aggregator.issued_views()))
        current_weights = aggregator.current_weights()
        np.testing.assert_allclose(forecaster.weights_.loc[step], current_weights.awake_weights, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_recurring_leader_beats_ensembles_of_sktime(seed):
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


def test_forecaster_equals_ensemble_algorithm_one_step_ahead():
    y, tables = taking_turns(0, length=8)
    forecaster, series = reading(tables), pd.Series(y)
    theirs = OnlineEnsembleForecaster(forecaster.forecasters, LongTermMemoryEnsemble(3))
    np.testing.assert_allclose(sktime_run(forecaster, series), sktime_run(theirs, series))


def test_trained_forecasters_are_combined():
    rng = np.random.default_rng(0)
    walk, noise = rng.normal(size=60).cumsum(), 3.0 * rng.normal(size=60)
    y = pd.Series(np.concatenate([np.zeros(20), walk, walk[-1] + noise]))
    experts = [("last", NaiveForecaster()), ("mean", NaiveForecaster("mean", window_length=20))]
    losses = [
        np.mean((np.array(sktime_run(each, y, start=20)) - y[20:]) ** 2)
        for each in (ForSktime(experts), *(expert for _, expert in experts))
    ]
    assert losses[0] < min(losses[1:])


def test_update_predict_equals_update_and_predict():
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


def test_weights_are_learned_without_update_params():
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


def test_missing_values_are_not_learned():
    y = pd.Series([0.0, 0.0, np.nan, 0.0, np.nan, 0.0])
    forecaster = reading([FLAT, [1.0] * 100]).fit(y[:1], fh=[1, 2])
    for at in range(1, 6):
        forecaster.update(y[at : at + 1])
    assert [forecaster._horizon_weights.states[step].loss_sums[1, -1] for step in (1, 2)] == [3, 2]
    assert forecaster.weights_.loc[1, "a"] > 0.5


def test_failing_forecaster_sleeps_unless_all_fail():
    y = pd.Series(np.zeros(10))
    forecaster = reading([[0.0] * 5 + [None] + [0.0] * 10, [1.0] * 100]).fit(y[:5], fh=[1])
    with pytest.warns(ExpertWarning, match="expert 'a' could not predict and slept: RuntimeError: no idea"):
        assert forecaster.predict().iloc[0] == 1.0
    with pytest.warns(ExpertWarning, match="'a' could not predict"):
        forecaster.update(y[5:6])
    assert forecaster.update(y[6:7]).weights_.loc[1, "a"] > 0.5
    with pytest.raises(RuntimeError, match="no idea"):
        reading([[None] * 10, [None] * 10]).fit(y[:5]).predict(fh=1)


def test_exogenous_data_are_passed_on():
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
def test_absolute_horizons_and_horizons_needed_in_fit():
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
def test_frequency_is_kept_from_fit():
    times = pd.DatetimeIndex(pd.date_range("2024-01-01", periods=30, freq="h").tolist())
    y = pd.Series(np.arange(30.0), index=times)
    forecaster = ForSktime([("last", NaiveForecaster()), ("trend", TrendForecaster())]).fit(y[:20])
    for at in range(20, 30):
        forecaster.update(y[at : at + 1])
    assert forecaster.weights_.loc[1, "trend"] > 0.8


def test_clone_and_fit_start_afresh():
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


def test_each_variable_has_its_own_weights():
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
        ({"algorithm": "hedges"}, "algorithm='hedges' .* The names are ada_normal_hedge,"),
        ({"loss": "sqared"}, "loss='sqared'"),
        ({"forecasters": []}, "forecasters is empty"),
    ],
)
def test_invalid_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        ForSktime(**{"forecasters": [NaiveForecaster()], **parameters}).fit(pd.Series([1.0, 2.0]))


def test_experts_must_be_forecasters():
    with pytest.raises(TypeError, match="must be forecasters"):
        ForSktime([("sgd", LinearRegression())])
