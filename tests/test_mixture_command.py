"""One command on a file of forecasts: what it writes, a page that needs nothing else, and what it says if it cannot."""

import base64
import io
import re
import shlex
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from ltm_sklearn import ExpertMixture
from ltm_sklearn.__main__ import main
from ltm_sklearn.cli._mixture_report import CAPTIONS, draw_pictures
from ltm_sklearn.cli.mixture import NAMES

pytestmark = pytest.mark.fast_cases(1)

pandas = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")

N_ROWS = 120


def forecasts(n_rows=N_ROWS, seed=0):
    """Two forecasters that take turns in being right, and one that is there now and then."""
    rng = np.random.default_rng(seed)
    y = 50.0 + rng.normal(size=n_rows).cumsum()
    turn = np.arange(n_rows) // 24 % 2 == 0
    noise = rng.normal(size=(n_rows, 3))
    third = np.where(np.arange(n_rows) % 10 == 3, np.nan, y + noise[:, 2])
    times = pandas.date_range("2024-01-01", periods=n_rows, freq="h").strftime("%Y-%m-%d %H:%M")
    return pandas.DataFrame(
        {
            "t": times,
            "y": y,
            "first": y + noise[:, 0] * np.where(turn, 0.2, 2.0),
            "second": y + noise[:, 1] * np.where(turn, 2.0, 0.2),
            "third": third,
        }
    )


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "forecasts.csv"
    forecasts().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One that most tests of the page share, with names that want care and rows that are to come."""
    folder = tmp_path_factory.mktemp("report")
    table = forecasts().rename(columns={"third": "a<b> & 'c' $x$ \\ über"})
    table.loc[N_ROWS - 5 :, "y"] = np.nan
    table.to_csv(folder / "in.csv", index=False)
    out = folder / "out"
    assert (
        main(["mixture", str(folder / "in.csv"), "--target", "y", "--time", "t", "--block", "24", "--out", str(out)])
        == 0
    )
    return out


def run(csv, *options, target="y", out="report"):
    folder = csv.parent / out
    return main(["mixture", str(csv), "--target", target, "--out", str(folder), *options]), folder


# What is written --------------------------------------------------------------------------------------------------


def test_weights_and_forecasts_are_those_of_the_estimator_row_by_row(csv, capsys):
    code, out = run(csv, "--time", "t", "--block", "24", "--lag", "3", "--loss", "absolute_error", "--group", "weekday")
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
    printed, shown = capsys.readouterr()
    assert printed.startswith(repr(mixture.summary()))
    assert mixture.summary().markdown() in (out / "summary.md").read_text()
    assert str(N_ROWS) in shown  # of the progress


def test_without_times_rows_are_counted(csv):
    code, out = run(csv, "--drop", "t", "third")
    assert code == 0
    assert list(pandas.read_csv(out / "weights.csv")["row"]) == list(range(N_ROWS))
    assert list(pandas.read_csv(out / "weights.csv").columns) == ["row", "first", "second"]


@pytest.mark.parametrize("suffix", [".csv.gz", ".parquet"])
def test_other_files_give_the_same(csv, suffix):
    if suffix == ".parquet":
        pytest.importorskip("pyarrow")
        other = csv.with_suffix(suffix)
        table = forecasts()
        table.assign(t=pandas.to_datetime(table["t"])).to_parquet(other)
    else:
        other = csv.with_suffix(suffix)
        forecasts().to_csv(other, index=False)
    code, out = run(other, "--time", "t", out="other")
    assert code == 0
    _, expected = run(csv, "--time", "t")
    ours, theirs = (pandas.read_csv(folder / "forecasts.csv")["mixture"] for folder in (out, expected))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_the_last_rows_without_a_target_are_forecast(csv):
    table = forecasts()
    table.loc[N_ROWS - 6 :, "y"] = np.nan
    table.to_csv(csv, index=False)
    code, out = run(csv, "--time", "t")
    assert code == 0
    issued, weights = pandas.read_csv(out / "forecasts.csv"), pandas.read_csv(out / "weights.csv")
    assert len(issued) == len(weights) == N_ROWS
    assert list(issued["y"].isna()) == [False] * (N_ROWS - 6) + [True] * 6
    X, y = table.drop(columns="y"), table["y"]
    mixture = ExpertMixture(time="t").fit(X[:-6], y[:-6])
    np.testing.assert_allclose(issued["mixture"][-6:], mixture.predict(X[-6:]), rtol=1e-9)
    np.testing.assert_allclose(weights.iloc[-6:, 1:], mixture.weigh(X[-6:]), rtol=1e-9)
    assert "Forecasts of rows without a target" in (out / "index.html").read_text()


def several_series(interleaved):
    parts = []
    for label, n_rows in (("001", 60), ("b", 90), ("c", 30)):
        part = forecasts(n_rows, seed=len(parts)).assign(id=label)
        part["day"] = part["t"].str[:10]
        part.loc[n_rows - 4 :, "y"] = np.nan
        parts.append(part)
    table = pandas.concat(parts, ignore_index=True)
    return table.sort_values("t", kind="stable", ignore_index=True) if interleaved else table


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("block", ["day", "7"])
def test_series_have_their_own_weights_and_a_table(tmp_path, interleaved, block):
    csv = tmp_path / "many.csv"
    table = several_series(interleaved)
    table.to_csv(csv, index=False)
    drop = ["--drop", "day"] if block != "day" else []
    code, out = run(csv, "--time", "t", "--series", "id", "--block", block, "--bias", *drop)
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


def test_the_series_to_draw_can_be_chosen(tmp_path, capsys):
    csv = tmp_path / "many.csv"
    several_series(interleaved=False).to_csv(csv, index=False)
    options = ["--series", "id", "--drop", "day", "t"]
    code, out = run(csv, *options, "--show", "001")
    assert code == 0
    assert "of series 001, which has 56 rows" in (out / "index.html").read_text()
    capsys.readouterr()
    assert run(csv, *options, "--show", "nobody")[0] == 1
    assert "'nobody'" in capsys.readouterr().err


def test_times_with_offsets_that_change(csv):
    table = forecasts()
    local = pandas.date_range("2024-03-30", periods=N_ROWS, freq="h", tz="Europe/Berlin")
    table["t"] = [time.isoformat() for time in local]
    table.to_csv(csv, index=False)
    code, out = run(csv, "--time", "t")
    assert code == 0
    assert list(pandas.read_csv(out / "weights.csv")["t"]) == list(table["t"])


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


def test_the_page_needs_nothing_but_itself(report):
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


def test_the_page_is_read_by_those_who_do_not_see_it(report):
    elements = Elements((report / "index.html").read_text(encoding="utf-8"))
    assert elements.of("html")[0]["lang"] == "en"
    assert elements.texts["title"] == ["Mixture of forecasts: in.csv"]
    assert all(len(attrs["alt"]) > 30 for attrs in elements.of("img"))
    assert all(attrs["scope"] in ("row", "col") for attrs in elements.of("th"))
    assert len(elements.of("h1")) == 1
    assert [attrs["name"] for attrs in elements.of("meta") if "name" in attrs] == ["generator", "viewport"]


def test_the_page_says_what_was_run_and_names_are_no_markup(report):
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
def test_the_pictures_show_oracles_where_there_are_any():
    table = forecasts()
    mixture = ExpertMixture(time="t", record=N_ROWS).fit(table.drop(columns="y"), table["y"])
    pictures = draw_pictures(mixture.run_record())
    assert [picture.name for picture in pictures] == list(CAPTIONS)
    assert all(picture.png.startswith(b"\x89PNG") for picture in pictures)
    short = ExpertMixture(record=9).fit(table.drop(columns=["y", "t"])[:9], table["y"][:9])
    assert "memory_curve" not in [picture.name for picture in draw_pictures(short.run_record())]


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
    # the page has no script, so a copy has one that tells how wide its pictures are
    page = (report / "index.html").read_text(encoding="utf-8")
    page = re.sub(r"<meta http-equiv=.*?>\n", "", page)
    script = (
        "<script>onload = () => document.title = [...document.images].map(each => each.naturalWidth).join()</script>"
    )
    (tmp_path / "copy.html").write_text(page.replace("</body>", f"{script}</body>"), encoding="utf-8")
    told = chromium("--dump-dom", (tmp_path / "copy.html").as_uri(), folder=tmp_path)
    assert f"<title>{','.join(['1350'] * len(list(report.glob('*.png'))))}</title>" in told.stdout


# What goes wrong --------------------------------------------------------------------------------------------------


def failure(capsys, code, expected):
    """What was said: one line, on stderr."""
    out, err = capsys.readouterr()
    assert code == expected
    assert not out
    said = [line for line in err.splitlines() if "━" not in line]
    assert len(said) == 1, said
    assert said[0].startswith("ltm-sklearn mixture: ")
    return said[0]


def changed(csv, row, column, value):
    table = forecasts().astype({"first": object, "y": object, "t": object})
    table.loc[row, column] = value
    table.to_csv(csv, index=False)


@pytest.mark.parametrize(
    ("row", "column", "value", "words"),
    [
        (7, "first", "n/k", ["'first'", "row 7, line 9", "'n/k'"]),
        (7, "y", "n/k", ["'y'", "row 7, line 9", "'n/k'"]),
        (7, "y", None, ["'y'", "empty", "row 7, line 9"]),
        (7, "y", "inf", ["'y'", "infinite", "row 7, line 9"]),
        (8, "first", "-inf", ["'first'", "infinite", "row 8, line 10", "2024-01-01T08:00"]),
        (7, "t", "2024-01-01 06:00", ["'t'", "row 7, line 9", "twice"]),
        (7, "t", "2023-12-31 06:00", ["'t'", "row 7, line 9", "comes after"]),
        (7, "t", "07/02/2024", ["'t'", "row 7, line 9", "'07/02/2024'", "2024-01-31 13:00"]),
        (7, "t", None, ["'t'", "row 7, line 9", "no time"]),
        (slice(None), "first", None, ["'first'", "no forecast in any row"]),
        (slice(None), "y", None, ["'y'", "empty in all rows"]),
    ],
)
def test_bad_cells_are_named(csv, capsys, row, column, value, words):
    changed(csv, row, column, value)
    code, out = run(csv, "--time", "t")
    said = failure(capsys, code, 1)
    assert all(word in said for word in words), said
    assert not out.exists()


def test_a_row_of_the_future_is_checked_too(csv, capsys):
    table = forecasts()
    table.loc[N_ROWS - 6 :, "y"] = np.nan
    table.loc[N_ROWS - 2, "second"] = np.inf
    table.to_csv(csv, index=False)
    said = failure(capsys, run(csv, "--time", "t")[0], 1)
    assert f"row {N_ROWS - 2}, line {N_ROWS}" in said


def test_lines_are_counted_with_blank_ones(csv, capsys):
    lines = csv.read_text().splitlines()
    lines[5:5] = ["", ""]
    lines[20] = lines[20].replace("2024-", "then-")
    csv.write_text("\n".join([*lines, "", ""]))
    assert "row 17, line 21" in failure(capsys, run(csv, "--time", "t")[0], 1)


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--drop", "nothing"], 1, ["'nothing'", "--drop", "'first'"]),
        (["--time", "when"], 1, ["'when'", "--time"]),
        (["--series", "id"], 1, ["'id'", "--series"]),
        (["--block", "day"], 1, ["'day'", "--block"]),
        (["--group", "region"], 1, ["'region'", "hour, weekday, month"]),
        (["--group", "hour", "--drop", "t"], 1, ["hour", "--time"]),
        (["--time", "t", "--lag", "120"], 1, ["lag=120", "120 rows"]),
        (["--time", "t", "--block", "500"], 1, ["no round is complete"]),
        ([], 1, ["'t'", "not numeric", "row 0, line 2"]),
        (["--loss", "cubed"], 2, ["loss='cubed'", "'absolute_error'"]),
        (["--lag", "-1"], 2, ["lag=-1"]),
        (["--block", "0"], 2, ["block=0"]),
        (["--pooled"], 2, ["group"]),
        (["--show", "a"], 2, ["--series"]),
        (["--drop", "y"], 2, ["'y'", "target"]),
        (["--time", "t", "--drop", "t"], 2, ["'t'", "dropped"]),
        (["--time", "t", "--series", "t"], 2, ["'t'"]),
    ],
)
def test_wrong_options_are_named(csv, capsys, options, code, words):
    found, out = run(csv, *options)
    said = failure(capsys, found, code)
    assert all(word in said for word in words), said
    assert not out.exists()


def test_the_target_must_be_there(csv, capsys):
    said = failure(capsys, run(csv, target="price")[0], 1)
    assert all(word in said for word in ("'price'", "--target", "'first'"))


def test_percentages_of_zero(csv, capsys):
    changed(csv, 7, "y", 0.0)
    assert "row 7, line 9" in failure(capsys, run(csv, "--time", "t", "--loss", "absolute_percentage_error")[0], 1)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"t,y,a\n", "no rows"),
        (b"y,a\n1,2,3\n4,5,6\n", "cannot be read"),
        (b"y,a\n1,2\n4,5,6\n", "line 3"),
        (b"\xff\xfe\x00y,a\n1,2\n", "cannot be read"),
        (b"y,a,a\n1,2,3\n", "two columns 'a'"),
        (b",y,a\n0,1,2\n", "column 1 has no name"),
        (b"y\n1\n2\n", "no column of forecasts"),
    ],
)
def test_files_that_are_no_table(csv, capsys, content, words):
    csv.write_bytes(content)
    assert words in failure(capsys, run(csv)[0], 1)


def test_files_that_cannot_be_opened(csv, capsys):
    assert "no file" in failure(capsys, run(csv.parent / "none.csv")[0], 1)
    assert "is a folder" in failure(capsys, run(csv.parent)[0], 1)
    other = csv.with_suffix(".xlsx")
    other.write_bytes(b"PK")
    assert "neither a CSV" in failure(capsys, run(other)[0], 1)
    cut = csv.parent / "cut.csv.gz"
    forecasts().to_csv(cut, index=False)
    cut.write_bytes(cut.read_bytes()[:500])
    assert "cannot be read" in failure(capsys, run(cut)[0], 1)


def test_a_parquet_file_with_damaged_notes_of_pandas_is_a_message(tmp_path, capsys):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = pa.table({"y": [1.0, 2.0], "a": [1.0, 2.0]}).replace_schema_metadata({b"pandas": b'{"kolumns": []}'})
    parquet.write_table(table, tmp_path / "x.parquet")
    assert "its column metadata is damaged: KeyError" in failure(capsys, run(tmp_path / "x.parquet")[0], 1)


@pytest.mark.parametrize("package", ["pandas", "matplotlib", "jinja2"])
def test_a_missing_extra_is_named(csv, capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert "ltm_sklearn[cli]" in failure(capsys, run(csv, "--time", "t")[0], 1)


def test_progress_in_lines_where_rich_is_missing(csv, capsys, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.recording._progress.find_spec", lambda name: None)
    assert run(csv, "--time", "t")[0] == 0
    assert f"mixture: {N_ROWS} of {N_ROWS} rows" in capsys.readouterr().err


# Where it goes ----------------------------------------------------------------------------------------------------


def test_an_earlier_report_is_replaced_and_nothing_is_left_over(tmp_path):
    many = tmp_path / "many.csv"
    several_series(interleaved=False).to_csv(many, index=False)
    assert run(many, "--series", "id", "--drop", "day", "t")[0] == 0
    csv = tmp_path / "forecasts.csv"
    forecasts().to_csv(csv, index=False)
    code, out = run(csv, "--time", "t")
    assert code == 0
    assert "series.csv" not in {path.name for path in out.iterdir()}
    assert {path.name for path in out.iterdir()} <= {*NAMES}
    assert {path.name for path in tmp_path.iterdir()} == {"many.csv", "forecasts.csv", "report"}


def test_files_of_others_are_not_touched(csv, capsys):
    out = csv.parent / "report"
    out.mkdir()
    notes = out / "notes.txt"
    notes.write_text("mine")
    assert "notes.txt" in failure(capsys, run(csv, "--time", "t")[0], 1)
    notes.rename(out / "summary.md")
    assert "--force" in failure(capsys, run(csv, "--time", "t")[0], 1)
    (out / "series.csv").write_text("mine")
    assert run(csv, "--time", "t", "--force")[0] == 0
    assert (out / "series.csv").read_text() == "mine"
    assert "mixture" in (out / "summary.md").read_text()


def test_folders_that_cannot_be_written(csv, capsys):
    (csv.parent / "file").write_text("")
    assert "is a file" in failure(capsys, run(csv, "--time", "t", out="file")[0], 1)
    assert "nowhere" in failure(capsys, run(csv, "--time", "t", out="nowhere/report")[0], 1)
    folder = str(csv.parent)
    code = main(["mixture", str(csv), "--target", "y", "--time", "t", "--out", folder, "--force"])
    assert "would overwrite" in failure(capsys, code, 2)


@pytest.mark.parametrize("earlier", [False, True])
def test_what_cannot_be_finished_leaves_nothing(csv, capsys, monkeypatch, earlier):
    out = csv.parent / "report"
    before = None
    if earlier:
        assert run(csv, "--time", "t")[0] == 0
        before = {path.name: path.read_bytes() for path in out.iterdir()}
    capsys.readouterr()
    write = type(out).write_bytes

    def full(path, content):
        if path.name == "forecasts.csv":
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(type(out), "write_bytes", full)
    assert "No space left" in failure(capsys, run(csv, "--time", "t", "--loss", "absolute_error")[0], 1)
    assert {path.name for path in csv.parent.iterdir()} == {"forecasts.csv", *(["report"] if earlier else [])}
    assert before is None or before == {path.name: path.read_bytes() for path in out.iterdir()}


def test_a_terminal_that_lacks_letters(csv, monkeypatch):
    forecasts().rename(columns={"first": "première"}).to_csv(csv, index=False)
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert run(csv, "--time", "t")[0] == 0
    narrow.flush()
    assert b"premi?re" in narrow.buffer.getvalue()


def test_stopped_by_hand(csv, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ltm_sklearn.cli.mixture.run_mixture", stop)
    code, out = run(csv, "--time", "t")
    assert code == 130
    assert "nothing was written" in capsys.readouterr().err
    assert not out.exists()


def test_the_help_has_an_example(capsys):
    with pytest.raises(SystemExit) as end:
        main(["mixture", "--help"])
    assert end.value.code == 0
    words = capsys.readouterr().out
    assert "--target price --time hour --block 24" in words
    with pytest.raises(SystemExit) as end:
        main(["mixture", "forecasts.csv"])
    assert end.value.code == 2
    assert "--target" in capsys.readouterr().err


def test_the_commands_in_the_document_are_understood(monkeypatch):
    asked = []
    for command in ("demo", "evaluate", "mixture", "watch"):
        monkeypatch.setattr(f"ltm_sklearn.cli.{command}.run", lambda options: asked.append(options) or 0)
    document = (Path(__file__).parent.parent / "docs" / "command_line.md").read_text()
    shell = "".join(re.findall(r"```sh\n(.*?)```", document, flags=re.DOTALL)).replace("\\\n", " ")
    lines = [line for line in shell.splitlines() if line.startswith("ltm-sklearn")]
    assert len(lines) >= 8
    for line in lines:
        assert main(shlex.split(line, comments=True)[1:]) == 0
    assert len(asked) == len(lines)
