"""The record of a run: its content, averaged records, and validation."""

import numpy as np
import pytest
from support.run_records import changed, fitted, regressor, rows, run_record


def test_the_record_has_the_issued_predictions_and_the_targets():
    model, twin = regressor(memory=None, record=100), regressor(memory=None)
    X, y = rows()
    predictions = []
    for at in range(0, 60, 5):
        batch = slice(at, at + 5)
        if at:
            predictions.append(twin.predict(X[batch]).mean())
        for each in (model, twin):
            each.partial_fit(X[batch], y[batch])
    run = model.run_record()
    assert run.names == ["sgd", "slow"]
    assert run.ends.tolist() == list(range(10, 61, 5))
    assert {*run.counts.tolist()} == {5}
    np.testing.assert_allclose(run.targets, y[5:].reshape(-1, 5).mean(axis=1))
    np.testing.assert_allclose(run.predictions, predictions)
    np.testing.assert_allclose((run.weights * run.forecasts).sum(axis=1), run.predictions)
    assert (run.uniform >= 0.0).all()
    assert run.loss_name == "squared_error"
    assert model.history_[-1].row == 60


@pytest.mark.parametrize("record", [1, 3, 8])
def test_thinned_records_are_means_of_all_rows(record):
    full, thin = fitted(regressor(record=1000)).run_record(), fitted(regressor(record=record)).run_record()
    assert thin.counts.sum() == full.counts.sum()
    assert thin.ends[-1] == 60
    for field in ("targets", "predictions", "loss", "uniform"):
        whole = np.average(getattr(full, field), weights=full.counts)
        assert np.average(getattr(thin, field), weights=thin.counts) == pytest.approx(whole)
    np.testing.assert_allclose(thin.thinned(1).targets, full.thinned(1).targets)


def test_thinned_records_keep_missing_losses_and_times():
    losses = np.array([[1.0, np.nan], [3.0, np.nan], [5.0, np.nan], [7.0, 2.0], [9.0, 4.0]])
    run = changed(run_record(2, 5, dated=True), losses=losses, counts=np.array([1, 3, 1, 1, 2])).thinned(3)
    np.testing.assert_allclose(run.losses, [[2.5, np.nan], [6.0, 2.0], [9.0, 4.0]])
    assert run.counts.tolist() == [4, 2, 2]
    assert run.times.astype(str).tolist() == ["2024-01-02", "2024-01-04", "2024-01-05"]


def test_the_plain_mean_is_that_of_the_experts():
    model = regressor(memory=None, record=100, loss="absolute_error")
    X, y = rows(10)
    model.partial_fit(X[:5], y[:5])
    mean = np.mean([expert.predict(X[5:]) for expert in model.estimators_], axis=0)
    model.partial_fit(X[5:], y[5:])
    assert model.run_record().uniform[-1] == pytest.approx(np.abs(mean - y[5:]).mean())


def test_shapes_are_validated():
    run = run_record()
    assert repr(run) == "<RunRecord: 4 experts, 30 rows in 30 records, squared_error loss>"
    with pytest.raises(ValueError, match=r"weights of .* must have shape \(30, 4\); it has \(30, 3\)"):
        changed(run, weights=run.weights[:, 1:])
    with pytest.raises(ValueError, match=r"loss of .* must have shape \(30,\)"):
        changed(run, loss=run.loss[1:])
    with pytest.raises(ValueError, match="records and experts"):
        changed(run, names=[])
