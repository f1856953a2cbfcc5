"""Run records, and small fitted models that have one, for the tests of displays and of the recording."""

from dataclasses import replace

import numpy as np
from sklearn.linear_model import SGDRegressor

from ltm_sklearn import LongTermMemoryRegressor
from ltm_sklearn.recording import RunRecord

changed = replace


def run_record(n_experts=4, n_records=30, dated=False, counts=1, leaders=None, seed=0):
    """Return the record of experts that forecast a sine with noise; ``leaders`` have most of the weight."""
    rng = np.random.default_rng(seed)
    targets = 10.0 + np.sin(np.arange(n_records))
    forecasts = targets[:, np.newaxis] + rng.normal(size=(n_records, n_experts))
    weights = rng.random((n_records, n_experts)) * 0.1
    if leaders is not None:
        weights[np.arange(n_records), leaders] += 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    predictions = (weights * forecasts).sum(axis=1)
    counts = np.full(n_records, counts)
    return RunRecord(
        names=[f"expert {at}" for at in range(n_experts)],
        ends=counts.cumsum(),
        counts=counts,
        times=np.datetime64("2024-01-01") + np.arange(n_records) if dated else None,
        weights=weights,
        losses=(forecasts - targets[:, np.newaxis]) ** 2,
        loss=(predictions - targets) ** 2,
        forecasts=forecasts,
        targets=targets,
        predictions=predictions,
        loss_name="squared_error",
        uniform=(forecasts.mean(axis=1) - targets) ** 2,
    )


def rows(n=60, seed=0):
    """Return features and a noisy linear target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.1 * rng.normal(size=n)


def regressor(**parameters):
    """Return a regressor of two linear models."""
    experts = [("sgd", SGDRegressor(random_state=0)), ("slow", SGDRegressor(eta0=1e-4, random_state=0))]
    return LongTermMemoryRegressor(experts, **parameters)


def fitted(model, batch=5, n=60):
    """Fit a model batch by batch."""
    X, y = rows(n)
    for at in range(0, n, batch):
        model.partial_fit(X[at : at + batch], y[at : at + batch])
    return model
