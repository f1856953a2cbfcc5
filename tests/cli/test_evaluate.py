"""The command ``evaluate``: scores, verdict, and report."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import error_of, run, stream, write

from ltm_sklearn.cli._evaluate import NAMES, TABLES
from ltm_sklearn.cli._evaluate_report import remarks, verdict
from ltm_sklearn.cli._evaluate_run import WITH, WITHOUT, EvaluationRun, StandaloneExpert, run_evaluation
from ltm_sklearn.cli._stream_file import StreamOptions, read_stream
from ltm_sklearn.evaluation import LastTarget, MostFrequent, RunningMean, prequential

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.fixture
def csv(tmp_path):
    return write(stream(), tmp_path / "stream.csv")


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The folder of a report of a file with special letters in a name and rows without a target."""
    table = stream().rename(columns={"a": "a<b> & 'c' $x$ \\ über"})
    table.loc[[5, 77], "y"] = None
    file = write(table, tmp_path_factory.mktemp("report") / "in.csv")
    code, out = run("evaluate", file, "--time", "t", "--concept", "regime", "--batch", "20", out="out")
    assert code == 0
    return out


# The report -------------------------------------------------------------------------------------------------------


def test_scores_are_those_of_a_prequential_run(report):
    from sklearn.naive_bayes import GaussianNB

    scores = pandas.read_csv(report / "scores.csv", index_col="model")
    assert list(scores.index[:2]) == [WITH, WITHOUT]
    assert {"bayes alone", "forest alone", "last target", "most frequent class"} <= {*scores.index}
    table = pandas.read_csv(report.parent / "in.csv")
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


def test_the_page_needs_only_the_files_beside_it(report):
    assert {path.name for path in report.iterdir()} == {*NAMES}
    page = (report / "index.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert not re.search("https?://|<script", page)
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert {*TABLES} < {*links}
    assert all(link.startswith("data:") or (report / link).is_file() for link in links)
    assert page.count("<img") == len(list(report.glob("*.png"))) == 5


def test_the_page_says_what_was_run(report):
    page = (report / "index.html").read_text(encoding="utf-8")
    assert "a&lt;b&gt; &amp; &#39;c&#39;" in page
    assert "a<b>" not in page
    for words in (
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
    ):
        assert words in page, words
    assert " points of accuracy [" in (report / "scores.md").read_text()


def test_the_experts_at_the_end_are_listed(report):
    memory = pandas.read_csv(report / "memory.csv")
    assert {"live", "restarted", "snapshot", "stack"} == {*memory["kind"]}
    assert memory["led"].sum() <= 1.0 + 1e-9
    assert memory["mean_weight"].is_monotonic_decreasing


def test_regression_of_a_short_parquet_file_with_a_delay(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    table = stream().drop(columns=["y", "t", "colour"])
    noise = 0.1 * np.random.default_rng(0).normal(size=len(table))
    table["y"] = 10.0 + np.where(table["regime"] == "odd", -1, 1) * table["a"] + noise
    table.to_parquet(tmp_path / "in.parquet")
    options = ["--drop", "regime", "--batch", "20", "--delay", "10", "--rows", "200"]
    code, out = run("evaluate", tmp_path / "in.parquet", *options)
    assert code == 0
    printed, progress = capsys.readouterr()
    for words in ("200 rows", "regression, because y has numbers that are not whole", "too short to tell"):
        assert words in printed
    assert "significant" not in printed
    assert "+nan" not in printed + (out / "index.html").read_text() + (out / "scores.md").read_text()
    assert "200" in progress
    scores = pandas.read_csv(out / "scores.csv", index_col="model")
    y = table["y"].to_numpy()[:200]
    last = np.repeat(np.arange(0, 200, 20) - 10, 20) - 1  # the last known row when a batch is predicted
    known = last >= 0
    np.testing.assert_allclose(scores.loc["last target", "mae"], np.abs(y - y[last])[known].mean(), rtol=1e-9)
    means = np.array([y[: at + 1].mean() for at in last[known]])
    np.testing.assert_allclose(scores.loc["running mean", "mae"], np.abs(y[known] - means).mean(), rtol=1e-9)


# The run ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_rows", "batch"), [(240, 10), (6_000, 20), (20_000, 50), (100_000, 100), (10**6, 200)])
def test_batches_grow_with_the_file(csv, monkeypatch, n_rows, batch):
    def stop(models, stream, batch_size, **options):
        raise InterruptedError(batch_size)

    monkeypatch.setattr("ltm_sklearn.cli._evaluate_run.prequential", stop)
    file = read_stream(csv, StreamOptions("y"))._replace(y=np.resize(["yes", "no"], n_rows))
    with pytest.raises(InterruptedError, match=f"^{batch}$"):
        run_evaluation(file, None, 7, 3)


def test_an_expert_that_fails_predicts_nothing():
    class Breaks:
        def partial_fit(self, X, y):
            if y[0] < 0:
                raise ValueError("overflow\nand more")

        def predict(self, X):
            if X[0, 0] < 0:
                raise ValueError("overflow")
            return X[:, 0]

    alone = StandaloneExpert(Breaks(), is_class=False)
    X = np.arange(20.0)[:, np.newaxis]
    X[10:] *= -1.0
    result = prequential({"alone": alone}, (X, X[:, 0]), batch_size=5)
    assert result.scores["alone"]["rows"] == 5
    assert alone.failures == {"could not learn: overflow": 2, "could not predict: overflow": 2}


# The verdict ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mean", "low", "words"),
    [
        (0.025, 0.02, "Memory helps on this stream: +2.5 points of accuracy [+2.0, +3.0]"),
        (-0.025, -0.03, "Memory hurts on this stream: -2.5 points"),
        (0.01, -0.01, "Memory makes no significant difference"),
        (0.5, np.nan, "too short to tell"),
    ],
)
def test_the_verdict(mean, low, words):
    difference = SimpleNamespace(mean=mean, low=low, high=2 * mean - low, is_significant=low > 0 or 2 * mean < low)
    assert words in verdict(SimpleNamespace(file=SimpleNamespace(is_class=True), differences={WITHOUT: difference}))


def evaluation(models, X, y, batch):
    """Return the results of models on rows; the first is the pool, the second an expert, the others are baselines."""
    result = prequential(models, (X, y), batch_size=batch)
    differences = {name: result.difference(WITH, name) for name in models if name != WITH}
    file = SimpleNamespace(is_class=y.dtype.kind == "i", y=y)
    _, expert, *baselines = models
    return EvaluationRun(file, result, None, [], [expert], baselines, differences, {}, batch)


def test_a_last_target_that_is_better_suggests_lagged_targets():
    y = np.repeat([0, 1, 0, 1, 0, 1], 30)
    models = {WITH: MostFrequent(), "a alone": MostFrequent(), "last target": LastTarget()}
    assert re.search(r"'last target'.*is better.*lagged targets", remarks(evaluation(models, y[:, None], y, 1))[0])
    in_batches = evaluation(models, y[:, None], y, 20)
    in_batches.differences["last target"] = in_batches.differences["last target"]._replace(mean=0.1)
    assert "Repeating the previous target would reach" in remarks(in_batches)[0]


def test_another_baseline_that_is_better_does_not_suggest_lagged_targets():
    y = np.random.default_rng(0).normal(size=200)
    models = {WITH: LastTarget(), "a alone": LastTarget(), "running mean": RunningMean()}
    warning = remarks(evaluation(models, y[:, None], y, 10))[0]
    assert "the baseline 'running mean'" in warning
    assert "lagged" not in warning


# Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--batch", "100", "--delay", "50"], 1, "too few"),
        (["--batch", "0"], 2, "--batch 0"),
        (["--delay", "-1"], 2, "--delay -1"),
        (["--rows", "0"], 2, "--rows 0"),
        (["--seed", "-1"], 2, "--seed -1"),
        (["--seed", str(2**32)], 2, "--seed 4294967296"),
        (["--drop", "y"], 2, "'y' is named by two options: --target and --drop"),
        (["--time", "t", "--drop", "t"], 2, "'t' is named by two options: --time and --drop"),
        (["--time", "t", "--concept", "t"], 2, "'t' is named by two options: --time and --concept"),
    ],
)
def test_wrong_options_are_named(csv, capsys, options, code, words):
    found, out = run("evaluate", csv, *options)
    assert words in error_of(capsys, found, code)
    assert not out.exists()
