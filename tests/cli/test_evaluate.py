"""The command ``evaluate``: run, verdict, and errors; its report is in test_pages.py."""

import re
from types import SimpleNamespace

import numpy as np
import pytest
from support.commands import error_of, run, stream, write

from ltm_sklearn.cli._evaluate_report import remarks, verdict
from ltm_sklearn.cli._evaluate_run import WITH, WITHOUT, EvaluationRun, StandaloneExpert, run_evaluation
from ltm_sklearn.cli._stream_file import StreamOptions, read_stream
from ltm_sklearn.ensemble import ExpertWarning
from ltm_sklearn.evaluation import LastTarget, MostFrequent, RunningMean, prequential

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.fixture
def csv(tmp_path):
    return write(stream(), tmp_path / "stream.csv")


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

    alone = StandaloneExpert("alone", Breaks(), is_class=False)
    X = np.arange(20.0)[:, np.newaxis]
    X[10:] *= -1.0
    with pytest.warns(ExpertWarning) as failures:
        result = prequential({"alone": alone}, (X, X[:, 0]), batch_size=5)
    assert result.scores["alone"]["rows"] == 5
    assert [str(each.message) for each in failures] == [
        "alone: could not predict: overflow",
        "alone: could not learn: overflow",
    ] * 2


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
