"""The command ``mixture``: weights and forecasts of a file, the page, and errors."""

import base64
import io
import re
import shutil
import subprocess
from html.parser import HTMLParser

import numpy as np
import pytest
from support.commands import N_ROWS, error_of, forecasts, run, several_series, write

from ltm_sklearn import ExpertMixture
from ltm_sklearn.cli._forecast_file import read_forecasts
from ltm_sklearn.cli._mixture_report import PICTURES, draw_pictures

pandas = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")


@pytest.fixture
def csv(tmp_path):
    return write(forecasts(), tmp_path / "forecasts.csv")


@pytest.fixture
def no_pictures(monkeypatch):
    """Pictures take most of the time of a report."""
    monkeypatch.setattr("ltm_sklearn.cli._mixture.draw_pictures", lambda run_record: {})


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report of a file with special letters in a name and rows without a target."""
    table = forecasts().rename(columns={"third": "a<b> & 'c' $x$ \\ über"})
    table.loc[N_ROWS - 5 :, "y"] = np.nan
    file = write(table, tmp_path_factory.mktemp("report") / "in.csv")
    code, out = run("mixture", file, "--time", "t", "--block", "24", out="out")
    assert code == 0
    return out


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


def test_the_last_rows_without_a_target_are_forecast(report):
    table = pandas.read_csv(report.parent / "in.csv")
    issued, weights = pandas.read_csv(report / "forecasts.csv"), pandas.read_csv(report / "weights.csv")
    assert len(issued) == len(weights) == N_ROWS
    assert list(issued["y"].isna()) == [False] * (N_ROWS - 5) + [True] * 5
    X, y = table.drop(columns="y"), table["y"]
    mixture = ExpertMixture(time="t", block=24).fit(X[:-5], y[:-5])
    np.testing.assert_allclose(issued["mixture"][-5:], mixture.predict(X[-5:]), rtol=1e-9)
    np.testing.assert_allclose(weights.iloc[-5:, 1:], mixture.weigh(X[-5:]), rtol=1e-9)
    assert "Forecasts of rows without a target" in (report / "index.html").read_text()


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


# The page ---------------------------------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Tags with their attributes, and the text of some."""

    def __init__(self, page):
        super().__init__()
        self.found, self.texts, self.open = [], {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, data):
        if self.open:
            self.texts.setdefault(self.open[-1], []).append(data)

    def of(self, tag):
        return [attrs for each, attrs in self.found if each == tag]


def test_the_page_needs_only_the_files_beside_it(report):
    page = (report / "index.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    elements = Elements(page)
    assert not elements.of("script")
    sources = [attrs[name] for _, attrs in elements.found for name in ("src", "href") if name in attrs]
    assert all(source.startswith("data:") or (report / source).is_file() for source in sources)
    assert "http://" not in page
    assert "https://" not in page
    assert not re.search(r"url\(|@import", page)
    pictures = elements.of("img")
    assert len(pictures) == len(list(report.glob("*.png"))) >= 7
    from matplotlib.image import imread

    for attrs in pictures:
        kind, content = attrs["src"].split(",")
        assert kind == "data:image/png;base64"
        image = imread(io.BytesIO(base64.b64decode(content)), format="png")
        assert image.shape[:2] == (int(attrs["height"]), int(attrs["width"]))


def test_the_page_is_accessible(report):
    elements = Elements((report / "index.html").read_text(encoding="utf-8"))
    assert elements.of("html")[0]["lang"] == "en"
    assert elements.texts["title"] == ["Mixture of forecasts: in.csv"]
    assert all(len(attrs["alt"]) > 30 for attrs in elements.of("img"))
    assert all(attrs["scope"] in ("row", "col") for attrs in elements.of("th"))
    assert len(elements.of("h1")) == 1
    assert [attrs["name"] for attrs in elements.of("meta") if "name" in attrs] == ["generator", "viewport"]


def test_the_page_says_what_was_run_and_escapes_names(report):
    elements = Elements((report / "index.html").read_text(encoding="utf-8"))
    assert "a<b> & 'c' $x$ \\ über" in elements.texts["th"]
    assert not elements.of("b")
    (command,) = elements.texts["code"]
    assert command.startswith("ltm-sklearn mixture ")
    facts = " ".join(elements.texts["span"])
    for fact in ("120 rows, 3 forecasts", "known in 115 rows", "2024-01-05 23:00", "block 24", "numpy", "scikit-learn"):
        assert fact in facts
    words = " ".join(elements.texts["p"])
    assert "2024-01-04 23:00" in " ".join(elements.texts["span"])  # the last time of a complete block
    assert "In 96 rows" in words
    assert "blocks that are not complete" in words


@pytest.mark.exhaustive
def test_pictures_of_a_short_run_have_no_memory_curve():
    table = forecasts()
    mixture = ExpertMixture(time="t", record=N_ROWS).fit(table.drop(columns="y"), table["y"])
    pictures = draw_pictures(mixture.run_record())
    assert tuple(pictures) == PICTURES
    assert all(picture.png.startswith(b"\x89PNG") for picture in pictures.values())
    short = ExpertMixture(record=9).fit(table.drop(columns=["y", "t"])[:9], table["y"][:9])
    assert "memory_curve" not in draw_pictures(short.run_record())


def chromium(*options, folder):
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        pytest.skip("there is no chromium to open the page with")
    quiet = ("background-networking", "component-update", "sync", "gpu", "quic")
    flags = [
        "--headless",
        "--no-sandbox",
        "--no-first-run",
        "--enable-logging=stderr",
        *(f"--disable-{each}" for each in quiet),
    ]
    profile = folder / "profile"
    command = [found, *flags, f"--user-data-dir={profile}", *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)


@pytest.mark.exhaustive
def test_a_browser_shows_the_page(report, tmp_path):
    shown = chromium("--dump-dom", (report / "index.html").as_uri(), folder=tmp_path)
    assert "<title>Mixture of forecasts: in.csv</title>" in shown.stdout
    assert shown.stdout.count("<table") == 3
    assert "CONSOLE" not in shown.stderr  # neither a failed request nor anything that the page forbids
    assert "net_error" not in shown.stderr
    # the page has no script: a copy gets one that reports the widths of the pictures
    page = (report / "index.html").read_text(encoding="utf-8")
    page = re.sub(r"<meta http-equiv=.*?>\n", "", page)
    script = (
        "<script>onload = () => document.title = [...document.images].map(each => each.naturalWidth).join()</script>"
    )
    (tmp_path / "copy.html").write_text(page.replace("</body>", f"{script}</body>"), encoding="utf-8")
    measured = chromium("--dump-dom", (tmp_path / "copy.html").as_uri(), folder=tmp_path)
    assert f"<title>{','.join(['1350'] * len(list(report.glob('*.png'))))}</title>" in measured.stdout


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
