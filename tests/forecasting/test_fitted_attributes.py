"""Attributes, records and summaries of a fitted mixture."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from support.forecasts import fitted, frame, issued, returning, sleepy

from ltm_sklearn import ExpertMixture
from ltm_sklearn.evaluation import oracles

pytestmark = pytest.mark.fast_cases(4)


def test_losses_are_means_over_the_rows_learned():
    X, y = returning(103)
    X = sleepy(X)
    mixture = fitted(X, y, block=10, loss="absolute_error")
    learned = slice(0, 100)  # of the last block not all targets are known
    errors = np.abs(X[learned] - y[learned, np.newaxis])
    np.testing.assert_allclose(mixture.loss_, np.nanmean(errors, axis=0))
    assert mixture.mixture_loss_ == pytest.approx(np.abs(issued(mixture)[learned] - y[learned]).mean())
    assert mixture.n_samples_seen_ == 103
    assert mixture.n_rounds_ == 10


def test_summary_compares_losses_in_the_same_rows():
    X, y = returning(200)
    X[:100, 1] = np.nan
    mixture = fitted(X, y)
    table = mixture.summary(max_switches=4).frame()
    predictions = issued(mixture)
    lost = (predictions - y) ** 2
    assert table.loc["mixture", "loss"] == pytest.approx(lost.mean())
    assert table.loc["mixture", "rmse"] == pytest.approx(np.sqrt(lost.mean()))
    assert table.loc["plain mean", "loss"] == pytest.approx(((np.nanmean(X, axis=1) - y) ** 2).mean())
    other = ((X[100:, 1] - y[100:]) ** 2).mean()
    assert table.loc["x1", "loss"] == pytest.approx(other)
    assert table.loc["x1", "awake"] == 0.5
    assert table.loc["x1", "gain"] == pytest.approx(1.0 - lost[100:].mean() / other)
    best = oracles.best_sequence((X - y[:, np.newaxis]) ** 2, 4)
    assert table.loc["best sequence, 4 switches", "loss"] == pytest.approx(best.loss)
    text = repr(mixture.summary())
    assert "experts slept" in text
    assert "50%" in text
    assert mixture.summary().markdown().splitlines()[1].startswith("| --- | ---:")


def test_summary_has_the_best_combinations():
    X, y = returning(300)
    table = fitted(X, y, loss="absolute_error").summary().frame()
    assert table.loc["best convex combination", "loss"] == pytest.approx(
        oracles.best_convex(X, y, "absolute_error").loss
    )
    assert table.loc["best linear combination", "loss"] <= table.loc["best convex combination", "loss"] + 1e-9
    assert "rmse" not in table
    assert list(table.index[:2]) == ["mixture", "plain mean"]
    experts = table[table["kind"] == "expert"]
    assert experts["loss"].is_monotonic_increasing


def test_summary_covers_the_rows_learned():
    X, y = returning(230)
    summary = fitted(X, y, block=24).summary()
    table = summary.frame()
    assert summary.n_rows == 216
    assert table.loc["best expert", "loss"] == pytest.approx(table.loc[table["kind"] == "expert", "loss"].min())
    one = ExpertMixture(record=5).fit(X[:1], y[:1]).summary()
    assert [row.name for row in one.rows if row.kind == "oracle"][-1] == "best expert"
    pooled = fitted(frame(X, hour=np.arange(230) % 4), y, group="hour", pooled=True, bias=True)
    assert pooled.summary().frame().loc["plain mean", "loss"] == pytest.approx(((X.mean(axis=1) - y) ** 2).mean())
    assert pooled.n_rounds_ == 230
    huge = fitted(np.vstack([X, np.full((1, 4), 1e200)]), np.append(y, 0.0)).summary()
    assert "No best combinations" in huge.note


def test_summary_says_why_oracles_are_missing():
    X, y = returning(100)
    assert "record=" in ExpertMixture().fit(X, y).summary().note
    assert "means of 2 rows" in ExpertMixture(record=50).fit(X, y).summary().note
    assert "several outputs" in ExpertMixture(record=100, quantiles=[0.1, 0.9]).fit(X, y).summary().note
    panel = ExpertMixture(record=100, series="id").fit(frame(X, id=np.arange(100) % 2), y)
    assert "several series" in panel.summary().note
    assert panel.summary(series=1).note == ""
    assert panel.summary(series=1).n_rows == 50
    with pytest.raises(ValueError, match="no round is complete"):
        ExpertMixture(block=200).fit(X, y).summary()


@pytest.mark.parametrize("pieces", [1, 7])
def test_record_is_thinned_to_its_limit(pieces):
    X, y = returning(1000)
    X = sleepy(X)
    whole = fitted(X, y).run_record()
    few = ExpertMixture(record=100)
    for rows in np.array_split(np.arange(1000), pieces):
        few.partial_fit(X[rows], y[rows])
    run_record = few.run_record()
    assert len(run_record.ends) == 63  # of 16 rows, but the last
    assert run_record.counts.sum() == 1000
    np.testing.assert_allclose(run_record.weights[0], whole.weights[:16].mean(axis=0))
    np.testing.assert_allclose(run_record.losses[1], np.nanmean(whole.losses[16:32], axis=0))
    np.testing.assert_allclose(run_record.counts @ run_record.loss, whole.loss.sum())


def test_times_are_recorded_in_local_time():
    X, y = returning(48)
    times = pd.date_range("2024-10-26 12:00", periods=48, freq="h", tz="Europe/Paris")  # a night of 25 hours
    run_record = fitted(frame(X, when=times), y, time="when", group="hour").run_record()
    assert run_record.times[0] == np.datetime64("2024-10-26T12:00")
    assert len(np.unique(run_record.times)) == 47  # 02:00 comes twice, which is right


@pytest.mark.parametrize(
    "convert", [pl.from_pandas, lambda table: pa.Table.from_pandas(table)], ids=["polars", "arrow"]
)
def test_hours_are_local_in_all_frames(convert):
    X, y = returning(60)
    table = frame(X, t=pd.date_range("2024-01-01", periods=60, freq="h", tz="Asia/Tokyo"))
    expected = ExpertMixture(time="t", group="hour").fit(table, y)
    assert ExpertMixture(time="t", group="hour").fit(convert(table), y).cells_ == expected.cells_
    assert expected.cells_[0] == (None, 0, None)
    as_text = ExpertMixture(time="t", group="hour").fit(table.assign(t=[str(each) for each in table["t"]]), y)
    assert as_text.cells_ == expected.cells_
