"""The ensemble algorithm for the OnlineEnsembleForecaster of sktime."""

import subprocess
import sys
import textwrap

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("river")
pytest.importorskip("sktime")

from sklearn.metrics import mean_squared_error  # noqa: E402
from sktime.forecasting.online_learning import (  # noqa: E402
    NormalHedgeEnsemble,
    OnlineEnsembleForecaster,
)
from support.forecasters import FLAT, SktimeReads  # noqa: E402

from ltm_sklearn.sktime import LongTermMemoryEnsemble  # noqa: E402
from ltm_sklearn.sktime import LongTermMemoryForecaster as ForSktime  # noqa: E402

pytestmark = pytest.mark.fast_cases(1)


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")  # of theirs
def test_ties_one_expert_and_nan_are_accepted():
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


@pytest.mark.parametrize("missing", [np.nan, np.inf])
def test_forecaster_without_a_forecast_keeps_its_weight(missing):
    algorithm = LongTermMemoryEnsemble(2)
    for _ in range(5):
        algorithm.update([[missing], [7.0]], [5.0])
    np.testing.assert_allclose(algorithm.weights, 0.5)


def test_clone_of_the_online_ensemble_is_fresh():
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


def test_online_ensemble_takes_a_missing_forecast_for_zero():
    y = pd.Series(np.full(10, 5.0))
    experts = [("a", SktimeReads([5.0] * 20)), ("b", SktimeReads([np.nan] * 20))]
    theirs = OnlineEnsembleForecaster(experts, LongTermMemoryEnsemble(2)).fit(y[:5])
    assert theirs.predict(fh=[1]).iloc[0] == 2.5
    assert ForSktime(experts).fit(y[:5]).predict(fh=[1]).iloc[0] == 5.0


def test_online_ensemble_confuses_times_in_update_predict():
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
def test_invalid_input_is_named(parameters, forecasts, message):
    with pytest.raises(ValueError, match=message):
        LongTermMemoryEnsemble(**parameters).update(forecasts, [0.0])


@pytest.mark.exhaustive
def test_package_imports_neither_sktime_nor_river(tmp_path):
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
