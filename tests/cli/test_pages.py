"""Reports of ``evaluate`` and ``mixture``: tables, pictures, and pages, which need nothing but their folder."""

import base64
import io
import re
import shutil
import subprocess

import numpy as np
import pytest
from support.commands import N_ROWS, forecasts, run, stream, write

from ltm_sklearn import ExpertMixture
from ltm_sklearn.cli import _evaluate, _mixture
from ltm_sklearn.cli._evaluate_run import WITH, WITHOUT
from ltm_sklearn.cli._mixture_report import PICTURES, draw_pictures
from ltm_sklearn.evaluation import prequential

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

COMMANDS = {"evaluate": _evaluate, "mixture": _mixture}
STRANGE = "a<b> & 'c' $x$ \\ über"  #: name of a column


@pytest.fixture(scope="module")
def reports(tmp_path_factory):
    """Folders of a report of each command, of files with a strange name and rows without a target."""
    folder = tmp_path_factory.mktemp("reports")
    rows = stream().rename(columns={"a": STRANGE})
    rows.loc[[5, 77], "y"] = None
    table = forecasts().rename(columns={"third": STRANGE})
    table.loc[N_ROWS - 5 :, "y"] = np.nan
    options = ["--time", "t", "--concept", "regime", "--batch", "20"]
    codes = [run("evaluate", write(rows, folder / "stream.csv"), *options, out="evaluate")[0]]
    options = ["--time", "t", "--block", "24"]
    codes += [run("mixture", write(table, folder / "forecasts.csv"), *options, out="mixture")[0]]
    assert codes == [0, 0]
    return {command: folder / command for command in COMMANDS}


# Tables -----------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_a_prequential_run(reports):
    from sklearn.naive_bayes import GaussianNB

    report = reports["evaluate"]
    scores = pandas.read_csv(report / "scores.csv", index_col="model")
    assert list(scores.index[:2]) == [WITH, WITHOUT]
    assert {"bayes alone", "forest alone", "last target", "most frequent class"} <= {*scores.index}
    table = pandas.read_csv(report.parent / "stream.csv")
    known = table["y"].notna()
    times = pandas.to_datetime(table["t"])
    X = np.column_stack(
        [
            times.dt.hour,
            times.dt.weekday,
            table.iloc[:, 1],
            table["b"].ffill().fillna(0.0),
            table["b"].isna(),
            *(table["colour"] == label for label in table["colour"].unique()),
        ]
    ).astype(float)
    rows = X[known], table.loc[known, "y"].to_numpy(dtype=str), table.loc[known, "regime"].to_numpy(dtype=str)
    result = prequential({"bayes": GaussianNB()}, rows, batch_size=20)
    for column in ("accuracy", "kappa", "log_loss", "after_change", "after_return"):
        np.testing.assert_allclose(scores.loc["bayes alone", column], result.scores["bayes"][column], rtol=1e-6)
    gain = scores.loc[WITH, "accuracy"] - scores.loc[WITHOUT, "accuracy"]
    assert scores.loc[WITHOUT, "gain"] == pytest.approx(gain, abs=1e-9)
    assert (scores["gain_low"] <= scores["gain"])[1:].all()
    assert (scores["gain_high"] >= scores["gain"])[1:].all()


def test_the_experts_at_the_end_are_listed(reports):
    memory = pandas.read_csv(reports["evaluate"] / "memory.csv")
    assert {"live", "restarted", "snapshot", "stack"} == {*memory["kind"]}
    assert memory["led"].sum() <= 1.0 + 1e-9
    assert memory["mean_weight"].is_monotonic_decreasing


def test_the_last_rows_without_a_target_are_forecast(reports):
    report = reports["mixture"]
    table = pandas.read_csv(report.parent / "forecasts.csv")
    issued, weights = pandas.read_csv(report / "forecasts.csv"), pandas.read_csv(report / "weights.csv")
    assert len(issued) == len(weights) == N_ROWS
    assert list(issued["y"].isna()) == [False] * (N_ROWS - 5) + [True] * 5
    X, y = table.drop(columns="y"), table["y"]
    mixture = ExpertMixture(time="t", block=24).fit(X[:-5], y[:-5])
    np.testing.assert_allclose(issued["mixture"][-5:], mixture.predict(X[-5:]), rtol=1e-9)
    np.testing.assert_allclose(weights.iloc[-5:, 1:], mixture.weigh(X[-5:]), rtol=1e-9)
    assert "Forecasts of rows without a target" in (report / "index.html").read_text()


# Pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_needs_only_the_files_beside_it(reports, command):
    from matplotlib.image import imread

    report = reports[command]
    files = {path.name for path in report.iterdir()}
    assert files == {*COMMANDS[command].NAMES} - {"series.csv"}
    page = (report / "index.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert not re.search(r"https?://|<script|url\(|@import", page)
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert all(link.startswith("data:") or link in files for link in links)
    assert files - {*links} == {"index.html"}
    images = re.findall(r'width="(\d+)" height="(\d+)" src="data:image/png;base64,([^"]*)"', page)
    assert len(images) == len(list(report.glob("*.png")))
    for width, height, png in images:
        assert imread(io.BytesIO(base64.b64decode(png)), format="png").shape[:2] == (int(height), int(width))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_page_is_accessible_and_escapes_names(reports, command):
    page = (reports[command] / "index.html").read_text(encoding="utf-8")
    assert '<html lang="en">' in page
    assert all(len(text) > 30 for text in re.findall(r'<img alt="([^"]*)"', page))
    assert not re.search(r'<th(?! scope="(row|col)")[ >]', page)
    assert page.count("<h1>") == 1
    assert "a&lt;b&gt; &amp; &#39;c&#39; $x$ \\ über" in page
    assert "a<b>" not in page


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (
            "evaluate",
            [
                "238 rows",
                "2 rows without a target were skipped",
                "classification of 2 classes, because y has 2 values that are not numbers",
                "counts the rows",
                "constant: 1.0",
                "missing in 34 rows",
                "batch means",
                "snapshot, not trained",
                "ltm-sklearn evaluate",
                "3 times; in 2 of the changes an earlier concept returns",
                "2024-01-10T23:00",
            ],
        ),
        (
            "mixture",
            [
                "<title>Mixture of forecasts: forecasts.csv</title>",
                "ltm-sklearn mixture",
                "120 rows, 3 forecasts",
                "known in 115 rows",
                "2024-01-05 23:00",
                "block 24",
                "scikit-learn",
                "In 96 rows",
                "2024-01-04 23:00",
                "blocks that are not complete",
            ],
        ),
    ],
)
def test_a_page_says_what_was_run(reports, command, words):
    page = (reports[command] / "index.html").read_text(encoding="utf-8")
    assert [each for each in words if each not in page] == []


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
@pytest.mark.parametrize(("command", "n_tables"), [("evaluate", 4), ("mixture", 3)])
def test_a_browser_shows_the_page(reports, tmp_path, command, n_tables):
    report = reports[command]
    shown = chromium("--dump-dom", (report / "index.html").as_uri(), folder=tmp_path)
    assert shown.stdout.count("<table") == n_tables
    assert "CONSOLE" not in shown.stderr  # neither a failed request nor anything that the page forbids
    assert "net_error" not in shown.stderr
    # the page has no script: a copy gets one that reports the widths of the pictures
    page = (report / "index.html").read_text(encoding="utf-8")
    page = re.sub(r"<meta http-equiv=.*?>\n", "", page)
    script = "<script>onload = () => document.title = [...document.images].map(each => each.naturalWidth)</script>"
    (tmp_path / "copy.html").write_text(page.replace("</body>", f"{script}</body>"), encoding="utf-8")
    measured = chromium("--dump-dom", (tmp_path / "copy.html").as_uri(), folder=tmp_path)
    assert f"<title>{','.join(['1350'] * len(list(report.glob('*.png'))))}</title>" in measured.stdout
