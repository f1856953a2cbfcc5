"""The command ``mixture``: weights and forecasts of a file, and errors; its page is in test_pages.py."""

import numpy as np
import pytest
from support.commands import N_ROWS, error_of, forecasts, run, several_series, write

from ltm_sklearn import ExpertMixture
from ltm_sklearn.cli._forecast_file import read_forecasts

pandas = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def csv(tmp_path):
    return write(forecasts(), tmp_path / "forecasts.csv")


@pytest.fixture
def no_pictures(monkeypatch):
    """Pictures take most of the time of a report."""
    monkeypatch.setattr("ltm_sklearn.cli._mixture.draw_pictures", lambda run_record: {})


# Tables -----------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("no_pictures")
def test_weights_and_forecasts_are_those_of_the_estimator(csv, capsys):
    options = ["--time", "t", "--block", "24", "--lag", "3", "--loss", "absolute_error", "--group", "weekday"]
    code, out = run("mixture", csv, *options)
    assert code == 0
    table = pandas.read_csv(csv)
    X, y = table.drop(columns="y"), table["y"]
    mixture = ExpertMixture(loss="absolute_error", block=24, lag=3, time="t", group="weekday", record=N_ROWS).fit(X, y)
    run_record = mixture.run_record()
    weights = pandas.read_csv(out / "weights.csv")
    assert list(weights.columns) == ["t", "first", "second", "third"]
    assert list(weights["t"]) == list(table["t"])
    np.testing.assert_allclose(weights.iloc[:, 1:].to_numpy(), run_record.weights, rtol=1e-9, atol=1e-12)
    issued = pandas.read_csv(out / "forecasts.csv")
    assert list(issued.columns) == ["t", "y", "mixture", "plain_mean"]
    np.testing.assert_allclose(issued["mixture"], run_record.predictions, rtol=1e-9)
    np.testing.assert_allclose(issued["y"], y, rtol=1e-9)
    np.testing.assert_allclose(issued["plain_mean"], X[["first", "second", "third"]].mean(axis=1), rtol=1e-9)
    summary = pandas.read_csv(out / "summary.csv", index_col="name")
    np.testing.assert_allclose(summary.loc["mixture", "loss"], mixture.mixture_loss_, rtol=1e-9)
    printed, progress = capsys.readouterr()
    assert printed.startswith(repr(mixture.summary()))
    assert mixture.summary().markdown() in (out / "summary.md").read_text()
    assert str(N_ROWS) in progress


@pytest.mark.usefixtures("no_pictures")
def test_without_times_rows_are_counted(csv):
    code, out = run("mixture", csv, "--drop", "t", "third")
    assert code == 0
    weights = pandas.read_csv(out / "weights.csv")
    assert list(weights["row"]) == list(range(N_ROWS))
    assert list(weights.columns) == ["row", "first", "second"]


@pytest.mark.usefixtures("no_pictures")
@pytest.mark.parametrize(("interleaved", "block"), [(True, "day"), (False, "day"), (True, "7"), (False, "7")])
def test_each_series_has_its_own_weights(tmp_path, interleaved, block):
    table = several_series(interleaved)
    csv = write(table, tmp_path / "many.csv")
    drop = ["--drop", "day"] if block != "day" else []
    code, out = run("mixture", csv, "--time", "t", "--series", "id", "--block", block, "--bias", *drop)
    assert code == 0
    known = table["y"].notna()
    X = table.drop(columns=["y", *drop[1:]])
    mixture = ExpertMixture(time="t", series="id", block=int(block) if block == "7" else block, bias=True, record=200)
    mixture.fit(X[known], table["y"][known])
    issued = pandas.read_csv(out / "forecasts.csv", dtype={"id": str})
    assert list(issued["id"]) == list(table["id"])
    for label in ("001", "b", "c"):
        here = issued[(issued["id"] == label) & known]
        np.testing.assert_allclose(here["mixture"], mixture.run_record(label).predictions, rtol=1e-9)
    np.testing.assert_allclose(issued["mixture"][~known], mixture.predict(X[~known]), rtol=1e-9)
    by_series = pandas.read_csv(out / "series.csv", dtype={"series": str}).set_index("series")
    assert list(by_series.index) == ["b", "001", "c"]
    for label in by_series.index:
        own = mixture.summary(label).rows[0]
        np.testing.assert_allclose(by_series.loc[label, "mixture"], own.loss, rtol=1e-9)
    page = (out / "index.html").read_text()
    assert "Losses by series" in page
    assert "of series b, which has 86 rows" in page


@pytest.mark.usefixtures("no_pictures")
def test_the_series_in_the_pictures_can_be_chosen(tmp_path, capsys):
    csv = write(several_series(), tmp_path / "many.csv")
    options = ["--series", "id", "--drop", "day", "t"]
    code, out = run("mixture", csv, *options, "--show", "001")
    assert code == 0
    assert "of series 001, which has 56 rows" in (out / "index.html").read_text()
    capsys.readouterr()
    assert "'nobody'" in error_of(capsys, run("mixture", csv, *options, "--show", "nobody")[0])


def test_times_are_written_as_they_are_in_the_file(csv):
    local = pandas.date_range("2024-03-30", periods=N_ROWS, freq="h", tz="Europe/Berlin")
    table = forecasts().assign(t=[time.isoformat() for time in local])  # the offset from UTC changes
    file = read_forecasts(write(table, csv), ExpertMixture(time="t"), "y", [])
    assert list(file.time) == list(table["t"])
    assert (np.diff(file.times) == np.timedelta64(1, "h")).all()


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (7, "first", "n/k", ["'first'", "row 7, line 9", "'n/k'"]),
        (7, "y", None, ["'y'", "empty", "row 7, line 9"]),
        (7, "y", "inf", ["'y'", "infinite", "row 7, line 9"]),
        (8, "first", "-inf", ["'first'", "infinite", "row 8, line 10", "2024-01-01T08:00"]),
        (7, "t", "2024-01-01 06:00", ["'t'", "row 7, line 9", "twice"]),
        (7, "t", "2023-12-31 06:00", ["'t'", "row 7, line 9", "comes after"]),
        (7, "t", None, ["'t'", "row 7, line 9", "no time"]),
        (slice(None), "first", None, ["'first'", "no forecast in any row"]),
        (slice(None), "y", None, ["'y'", "empty in all rows"]),
    ],
)
def test_cells_that_cannot_be_used(csv, row, column, value, words):
    table = forecasts().astype({"first": object, "y": object, "t": object})
    table.loc[row, column] = value
    with pytest.raises(ValueError) as error:  # noqa: PT011 - several words, in any order
        read_forecasts(write(table, csv), ExpertMixture(time="t"), "y", [])
    assert all(word in str(error.value) for word in words), error.value


def test_rows_without_a_target_are_checked_too(csv):
    table = forecasts()
    table.loc[N_ROWS - 6 :, "y"] = np.nan
    table.loc[N_ROWS - 2, "second"] = np.inf
    with pytest.raises(ValueError, match=f"row {N_ROWS - 2}, line {N_ROWS}"):
        read_forecasts(write(table, csv), ExpertMixture(time="t"), "y", [])


def test_percentages_of_zero(csv, capsys):
    table = forecasts()
    table.loc[7, "y"] = 0.0
    code, _ = run("mixture", write(table, csv), "--time", "t", "--loss", "absolute_percentage_error")
    assert "row 7, line 9" in error_of(capsys, code)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--drop", "nothing"], 1, ["'nothing'", "--drop", "'first'"]),
        (["--drop", "t", "first", "second", "third"], 1, ["no column of forecasts"]),
        (["--time", "when"], 1, ["'when'", "--time"]),
        (["--series", "id"], 1, ["'id'", "--series"]),
        (["--block", "day"], 1, ["'day'", "--block"]),
        (["--group", "region"], 1, ["'region'", "--group"]),
        (["--group", "hour", "--drop", "t"], 1, ["hour", "--time"]),
        (["--time", "t", "--lag", "120"], 1, ["lag=120", "120 rows"]),
        (["--time", "t", "--block", "500"], 1, ["no round is complete"]),
        ([], 1, ["'t'", "not numeric", "row 0, line 2"]),
        (["--loss", "cubed"], 2, ["loss='cubed'", "'absolute_error'"]),
        (["--lag", "-1"], 2, ["lag=-1"]),
        (["--block", "0"], 2, ["block=0"]),
        (["--pooled"], 2, ["group"]),
        (["--show", "a"], 2, ["--series"]),
        (["--drop", "y"], 2, ["'y'", "--target and --drop"]),
        (["--time", "t", "--drop", "t"], 2, ["'t'", "--time and --drop"]),
        (["--time", "t", "--series", "t"], 2, ["'t'"]),
    ],
)
def test_wrong_options_are_named(csv, capsys, options, code, words):
    found, out = run("mixture", csv, *options)
    error = error_of(capsys, found, code)
    assert all(word in error for word in words), error
    assert not out.exists()
