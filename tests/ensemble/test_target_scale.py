"""Regression on targets of any scale."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LinearRegression
from support.ensemble_streams import regressor
from support.stream_experts import (
    ReadsNumber,
    frozen_readers,
)

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.ensemble import ExpertWarning

pytestmark = pytest.mark.fast_cases(1)


@pytest.mark.parametrize("rounds", ["batch", "row"])
@pytest.mark.parametrize("scale", [1e-9, 1e-4, 1e4, 1e9])
def test_weights_do_not_depend_on_the_unit_of_the_targets(scale, rounds):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    truths = rng.normal(size=(3, 3))
    y = np.concatenate([rows @ truth for rows, truth in zip(np.split(X, 3), truths, strict=True)])
    weights, said = {}, {}
    for unit in (1.0, scale):
        experts = [(f"e{at}", FrozenEstimator(LinearRegression().fit(X, unit * X @ t))) for at, t in enumerate(truths)]
        model = LongTermMemoryRegressor(experts, rounds=rounds, batch_size=10).fit(X, unit * y)
        weights[unit], said[unit] = model.weights_, model.predict(X) / unit
    np.testing.assert_allclose(weights[scale], weights[1.0], rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(said[scale], said[1.0], rtol=1e-6, atol=1e-9)
    assert weights[1.0].argmax() == 2


def costs_of_phases(scales, outlier=None, loss="squared_error"):
    """Two constant experts, 0 and the scale, of which each is right in every second phase of 300 rounds."""
    model = LongTermMemoryRegressor(frozen_readers(ReadsNumber, 2), memory=None, loss=loss)
    costs = []
    for phase, scale in enumerate(scales):
        X, right, cost = np.array([[0.0, scale]]), scale * (phase % 2), 0.0
        for at in range(300):
            y = outlier if outlier is not None and (phase, at) == (0, 100) else right
            if phase or at:
                cost += float(abs(model.predict(X)[0] - right)) / scale
            model.partial_fit(X, [y])
        costs.append(cost)
    return np.array(costs)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("outlier", [100.0, 1e4, -1e9])
def test_one_outlier_does_not_stop_the_learning(loss, outlier):
    assert (costs_of_phases([1.0] * 6, outlier, loss)[2:] < 5.0).all()


@pytest.mark.parametrize("scales", [[10.0, 10.0, 1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 1e3, 1e3, 1e3, 1e3]])
def test_targets_may_come_to_vary_less_or_more(scales):
    assert (costs_of_phases(scales)[3:] < 6.0).all()


def test_target_without_weight_is_ignored():
    models = [LongTermMemoryRegressor(frozen_readers(ReadsNumber, 2), memory=None) for _ in range(2)]
    X, y = np.array([[0.0, 1.0], [0.2, 0.9], [0.3, 0.1]]), np.array([0.1, 0.8, 1e9])
    models[0].partial_fit(X[:2], y[:2])
    models[1].partial_fit(X, y, sample_weight=[1.0, 1.0, 0.0])
    far = [[1e12, -1e12]]
    np.testing.assert_array_equal(models[0].predict(far), models[1].predict(far))
    np.testing.assert_allclose(models[0].weights_, models[1].weights_)


def test_constant_targets_and_diverging_predictions():
    model = regressor(record=5)
    X = np.tile([5.0, 1e300, -1e300, 4.0], (3, 1))
    with pytest.warns(ExpertWarning, match="absurdly large"):
        model.partial_fit(X, np.full(3, 5.0))
    for _ in range(50):
        model.partial_fit(X, np.full(3, 5.0))
    assert model.leader_ == "column0"
    assert np.isfinite(model.predict(X)).all()
    assert np.isfinite(model.weights_).all()
    model.partial_fit(X, [5.0, 6.0, 7.0])
    assert 3.0 <= model.predict(X)[0] <= 9.0
