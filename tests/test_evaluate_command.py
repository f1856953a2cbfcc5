"""One command on a labelled file: what it finds, what it writes, and what it says if it cannot."""

import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from ltm_sklearn.__main__ import main
from ltm_sklearn.cli._evaluate_report import remarks, verdict
from ltm_sklearn.cli._evaluate_run import WITH, WITHOUT, EvaluationRun, StandaloneExpert, batch_for
from ltm_sklearn.cli._features import MOST_CATEGORIES, encode_columns
from ltm_sklearn.cli.evaluate import NAMES, TABLES
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.evaluation._baselines import LastTarget, MostFrequent, RunningMean
from ltm_sklearn.evaluation._difference import batch_means

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

N_ROWS = 240


def stream(n_rows=N_ROWS, seed=0):
    """Two regimes that take turns, the labels of one being the other's turned round."""
    rng = np.random.default_rng(seed)
    regime = np.arange(n_rows) // 60 % 2
    a, b = rng.normal(size=(2, n_rows))
    right = (a > 0) ^ (regime == 1)
    return pandas.DataFrame(
        {
            "t": pandas.date_range("2024-01-01", periods=n_rows, freq="h").strftime("%Y-%m-%d %H:%M"),
            "a": a,
            "b": np.where(np.arange(n_rows) % 7 == 3, np.nan, b),
            "colour": rng.choice(["red", "green"], n_rows),
            "id": np.arange(n_rows),
            "same": 1.0,
            "regime": np.where(regime == 1, "odd", "even"),
            "y": np.where(right, "yes", "no"),
        }
    )


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "stream.csv"
    stream().to_csv(path, index=False)
    return path


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """One that most tests of what is written share, with names that want care; and what was printed."""
    folder = tmp_path_factory.mktemp("report")
    table = stream().rename(columns={"a": "a<b> & 'c' $x$ \\ über"})
    table.loc[[5, 77], "y"] = None
    table.to_csv(folder / "in.csv", index=False)
    code, out = run(folder / "in.csv", "--time", "t", "--concept", "regime", "--batch", "20", out="out")
    assert code == 0
    return out


def run(csv, *options, target="y", out="report"):
    folder = csv.parent / out
    return main(["evaluate", str(csv), "--target", target, "--out", str(folder), *options]), folder


@pytest.fixture
def not_run(monkeypatch):
    """The file as it was read, and how it was to be run, without the run."""
    seen = {}

    def take(file, batch, delay, seed, checkpoint):
        seen.update(file=file, batch=batch, delay=delay, seed=seed)
        raise ValueError("not run")

    monkeypatch.setattr("ltm_sklearn.cli.evaluate.run_evaluation", take)
    return seen


# What is written --------------------------------------------------------------------------------------------------


def test_the_scores_are_those_of_a_prequential_run(report):
    from sklearn.naive_bayes import GaussianNB

    scores = pandas.read_csv(report / "scores.csv", index_col="model")
    assert list(scores.index[:2]) == [WITH, WITHOUT]
    assert {"bayes alone", "forest alone", "last target", "most frequent class"} <= {*scores.index}
    table = pandas.read_csv(report.parent / "in.csv")
    known = table["y"].notna()
    b_known = table["b"].notna()
    times = pandas.to_datetime(table["t"])
    X = np.column_stack(
        [
            *(getattr(times.dt, part) for part in ("hour", "weekday")),
            table.iloc[:, 1],
            table["b"].ffill().fillna(0.0),
            ~b_known,
            *(table["colour"] == label for label in table["colour"].unique()),
        ]
    ).astype(float)
    result = prequential(
        {"bayes": GaussianNB()},
        (X[known], table.loc[known, "y"].to_numpy(dtype=str), table.loc[known, "regime"].to_numpy(dtype=str)),
        batch_size=20,
    )
    for column in ("accuracy", "kappa", "log_loss", "after_change", "after_return"):
        np.testing.assert_allclose(scores.loc["bayes alone", column], result.scores["bayes"][column], rtol=1e-6)
    assert scores.loc[WITHOUT, "gain"] == pytest.approx(
        scores.loc[WITH, "accuracy"] - scores.loc[WITHOUT, "accuracy"], abs=1e-9
    )
    assert (scores["gain_low"] <= scores["gain"])[1:].all()
    assert (scores["gain_high"] >= scores["gain"])[1:].all()


def test_all_files_are_there_and_the_page_needs_nothing_else(report):
    assert {path.name for path in report.iterdir()} == {*NAMES}
    page = (report / "index.html").read_text(encoding="utf-8")
    assert len(page) < 3_000_000
    assert "http://" not in page
    assert "https://" not in page
    assert "<script" not in page
    links = re.findall(r'(?:src|href)="([^"]*)"', page)
    assert len(links) > len(TABLES)
    assert all(link.startswith("data:") or (report / link).is_file() for link in links)
    assert page.count("<img") == len(list(report.glob("*.png"))) == 5


def test_the_page_says_what_was_done(report):
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


def test_the_memory_is_listed(report):
    memory = pandas.read_csv(report / "memory.csv")
    assert {"live", "restarted", "snapshot", "stack"} == {*memory["kind"]}
    assert memory["led"].sum() <= 1.0 + 1e-9
    assert memory["mean_weight"].is_monotonic_decreasing


def test_regression_of_a_parquet_file_with_a_delay(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    rng = np.random.default_rng(0)
    table = stream().drop(columns=["y", "t", "colour"])
    table["y"] = 10.0 + np.where(table["regime"] == "odd", -1, 1) * table["a"] + 0.1 * rng.normal(size=N_ROWS)
    table.to_parquet(tmp_path / "in.parquet")
    code, out = run(tmp_path / "in.parquet", "--drop", "regime", "--batch", "20", "--delay", "10", "--rows", "200")
    assert code == 0
    printed, shown = capsys.readouterr()
    assert "regression, because y has numbers that are not whole" in printed
    assert "200 rows" in printed
    assert "too short to tell" in printed  # of five stretches at least
    assert "200" in shown  # of the progress
    scores = pandas.read_csv(out / "scores.csv", index_col="model")
    y = table["y"].to_numpy()[:200]
    ends = [np.arange(0, 200, 20) - 10] * 20  # the rows that are known when a batch is predicted
    last = np.array(ends).T.ravel() - 1
    answered = last >= 0
    np.testing.assert_allclose(scores.loc["last target", "mae"], np.abs(y - y[last])[answered].mean(), rtol=1e-9)
    means = np.array([y[: at + 1].mean() if at >= 0 else np.nan for at in last])
    np.testing.assert_allclose(scores.loc["running mean", "mae"], np.nanmean(np.abs(y - means)), rtol=1e-9)


# What a file is taken for -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "is_class", "why"),
    [
        (np.arange(N_ROWS) % 3, True, "3 different values, all whole"),
        (np.arange(N_ROWS) % 3 + 0.5, False, "not whole"),
        (np.arange(N_ROWS) % 21, False, "21 different numbers"),
        (np.arange(N_ROWS) % 2 == 0, True, "not numbers"),
        (np.where(np.arange(N_ROWS) % 2, "1", "two"), True, "not numbers"),
    ],
)
def test_classes_or_numbers(csv, not_run, values, is_class, why):
    stream().assign(y=values).to_csv(csv, index=False)
    run(csv)
    assert not_run["file"].is_class == is_class
    assert why in not_run["file"].reason


def test_the_task_can_be_said(csv, not_run):
    stream().assign(y=np.arange(N_ROWS) % 3).to_csv(csv, index=False)
    run(csv, "--task", "regression")
    assert not not_run["file"].is_class
    stream().assign(y=np.arange(N_ROWS) % 30).to_csv(csv, index=False)
    run(csv, "--task", "classification")
    assert not_run["file"].y.tolist() == (np.arange(N_ROWS) % 30).tolist()


def test_batches_grow_with_the_file(csv, not_run):
    sizes = [batch_for(n_rows) for n_rows in (100, 6_000, 20_000, 100_000, 10**6)]
    assert sizes == [10, 20, 50, 100, 200]
    run(csv, "--delay", "7", "--seed", "3")
    assert (not_run["batch"], not_run["delay"], not_run["seed"]) == (10, 7, 3)
    run(csv, "--batch", "25")
    assert not_run["batch"] == 25


def test_features_look_at_no_later_row():
    table = stream().assign(
        flag=[None, True, False] * (N_ROWS // 3),
        place=[f"p{at % 60}" for at in range(N_ROWS)],
        day=pandas.date_range("2024-01-01", periods=N_ROWS, freq="D"),
    )
    table = table.drop(columns=["y", "regime"])
    whole = encode_columns(table, [])
    # values that come later are other ones: what stands before them stays the same
    later = table.copy()
    later.loc[120:, ["a", "b"]] = 1000.0
    later.loc[120:, "colour"] = "blue"
    changed = encode_columns(later, [])
    at = {name: place for place, name in enumerate(changed.names)}
    for place, name in enumerate(whole.names):
        np.testing.assert_array_equal(whole.X[:120, place], changed.X[:120, at[name]], err_msg=name)
    assert np.isfinite(whole.X).all()
    kinds = {column.name: column.kind for column in whole.columns}
    expected = {"t": "dates", "a": "numbers", "colour": "text", "id": "left out", "same": "left out", "flag": "flags"}
    assert expected.items() <= kinds.items()
    assert sum(name.startswith("place") for name in whole.names) == MOST_CATEGORIES + 1
    assert {"weekday of day", "month of day"} <= {*whole.names}
    assert "hour of day" not in whole.names


def test_a_column_called_as_one_that_is_made_is_kept_beside_it():
    frame = pandas.DataFrame({"a": [1.0, None, 5.0], "a is missing": [7.0, 9.0, 8.0]})
    features = encode_columns(frame, [])
    assert features.names == ["a", "a is missing", "a is missing"]
    assert features.X.tolist() == [[1.0, 0.0, 7.0], [1.0, 1.0, 9.0], [5.0, 0.0, 8.0]]


def test_numbers_that_are_names(csv, not_run):
    stream().assign(station=np.arange(N_ROWS) % 3 * 7).to_csv(csv, index=False)
    run(csv, "--categories", "station")
    assert {"station = 0", "station = 7", "station = 14"} <= {*not_run["file"].names}


def test_files_with_a_mark_of_their_encoding(csv, not_run):
    csv.write_bytes(b"\xef\xbb\xbf" + stream()[["y", "a"]].to_csv(index=False).encode())
    run(csv)
    assert not_run["file"].names == ["a"]


# Verdicts ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("blocks", "words"),
    [
        ([0.02, 0.03] * 3, "Memory helps on this stream: +2.5 points"),
        ([-0.02, -0.03] * 3, "Memory hurts on this stream: -2.5 points"),
        ([0.5, -0.5, 0.5, -0.4, 0.0], "Memory makes no significant difference"),
        ([0.5], "too short to tell"),
    ],
)
def test_the_verdict(blocks, words):
    found = batch_means(np.array(blocks), np.full(len(blocks), 50.0), 0.95)
    done = SimpleNamespace(file=SimpleNamespace(is_class=True), differences={WITHOUT: found})
    assert words in verdict(done)


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        (1, r"the baseline 'last target'.*is better.*lagged targets"),
        (20, "Repeating the previous target would reach"),
    ],
)
def test_targets_that_come_in_runs_are_said(batch, words):
    y = np.repeat([0, 1, 0, 1, 0, 1], 30)
    models = {
        WITH: MostFrequent(),
        "a alone": MostFrequent(),
        "last target": LastTarget(),
        "most frequent": MostFrequent(),
    }
    result = prequential(models, (np.zeros((180, 1)), y), batch_size=batch)
    differences = {name: result.difference(WITH, name) for name in models if name != WITH}
    if batch > 1:  # as if a pool were better than what batches leave of the last target
        differences["last target"] = differences["last target"]._replace(mean=0.1)
    file = SimpleNamespace(is_class=True, y=y)
    done = EvaluationRun(file, result, None, [], ["a alone"], ["last target", "most frequent"], differences, {}, batch)
    assert any(re.search(words, remark) for remark in remarks(done))


def test_only_a_last_target_that_wins_suggests_lagged_targets():
    y = np.random.default_rng(0).normal(size=200)
    models = {WITH: LastTarget(), "a alone": LastTarget(), "running mean": RunningMean()}
    result = prequential(models, (np.zeros((200, 1)), y), batch_size=10)
    differences = {name: result.difference(WITH, name) for name in models if name != WITH}
    file = SimpleNamespace(is_class=False, y=y)
    warning, *_ = remarks(EvaluationRun(file, result, None, [], ["a alone"], ["running mean"], differences, {}, 10))
    assert "the baseline 'running mean'" in warning
    assert "lagged" not in warning


def test_a_stream_too_short_for_an_interval_shows_none(tmp_path, capsys):
    stream(30).to_csv(tmp_path / "short.csv", index=False)
    assert main(["evaluate", str(tmp_path / "short.csv"), "--target", "y", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "too short to tell" in out
    assert "significant" not in out
    for words in (out, (tmp_path / "out" / "index.html").read_text(), (tmp_path / "out" / "scores.md").read_text()):
        assert "+nan" not in words


def test_an_expert_that_fails_has_no_answer():
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


# What goes wrong --------------------------------------------------------------------------------------------------


def failure(capsys, code, expected=1):
    """What was said: one line, on stderr."""
    out, err = capsys.readouterr()
    assert code == expected
    assert not out
    (said,) = [line for line in err.splitlines() if "━" not in line]
    assert said.startswith("ltm-sklearn evaluate: ")
    return said


def many_rows(line, n_rows=30):
    return "\n".join(["y,a,b", *(line.format(at=at, odd=at % 2) for at in range(n_rows))]) + "\n"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "is empty"),
        ("y,a\n", "no rows"),
        ("y,a\n1,2\n", "only 1 of the rows have a target"),
        (many_rows("1,{at}.5,2"), "'y' (--target) is 1 in all rows"),
        (many_rows(",{at}.5,2"), "empty in all 30 rows"),
        (many_rows("{odd},1,2"), "no column is left to learn from ('a': constant: 1"),
        (many_rows("{odd},x{at},2"), "'a': text with 30 different values in 30 rows"),
        (many_rows("{odd},{at},2"), "'a': counts the rows"),
        (many_rows("c{at},{at}.5,2"), "30 different values in 30 rows: too many for classes"),
        (many_rows("{odd};{at};2").replace("y,a,b", "y;a;b"), "separated by ';'"),
        (many_rows("{odd},{at}.5,2").replace("y,a,b", "y,a,a"), "two columns 'a'"),
        (many_rows("{odd},{at}.5,2").replace("y,a,b", "y,a,"), "column 3 has no name"),
        (many_rows("{odd},{at}.5,2").replace(",7.5", ",1e300"), "'a' has 1e+300 in row 7, line 9"),
        (many_rows("{odd},{at}.5,2").replace("\n1,7.5", "\n1,-inf"), "'a' has -inf in row 7, line 9"),
        (many_rows("{at}.25,{at}.5,2").replace("\n7.25", "\n1e300"), "(--target) has 1e+300 in row 7, line 9"),
        (many_rows("{at}.25,{at}.5,2").replace("\n7.25", "\nn/k"), "'y' holds numbers, but row 7, line 9 has 'n/k'"),
        (many_rows("{odd},{at}.5,2").replace(",7.5", ",n/k"), "'a' holds numbers, but row 7, line 9 has 'n/k'"),
        (many_rows("{odd},{at}.5,2").replace("7.5", "caf\xe9").encode("latin-1"), "not UTF-8 text (byte 0xe9)"),
    ],
)
def test_files_that_cannot_be_used(csv, capsys, content, words):
    csv.write_bytes(content if isinstance(content, bytes) else content.encode())
    code, out = run(csv)
    assert words in failure(capsys, code)
    assert not out.exists()


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (["--drop", "nothing"], 1, ["'nothing'", "--drop", "'colour'"]),
        (["--time", "when"], 1, ["'when'", "--time"]),
        (["--time", "colour"], 1, ["'colour' (--time)", "row 0, line 2"]),
        (["--concept", "phase"], 1, ["'phase'", "--concept"]),
        (["--concept", "b"], 1, ["'b' (--concept) is empty in row 3, line 5"]),
        (["--categories", "phase"], 1, ["'phase'", "--categories"]),
        (["--task", "regression"], 1, ["'y' is not numeric", "row 0, line 2"]),
        (["--batch", "100", "--delay", "50"], 1, ["too few"]),
        (["--rows", "10"], 1, ["only 10 of the rows have a target"]),
        (["--batch", "0"], 2, ["--batch 0"]),
        (["--delay", "-1"], 2, ["--delay -1"]),
        (["--rows", "0"], 2, ["--rows 0"]),
        (["--seed", "-1"], 2, ["--seed -1"]),
        (["--drop", "y"], 2, ["'y' is the target"]),
        (["--time", "t", "--drop", "t"], 2, ["'t' is named by two options"]),
        (["--time", "t", "--concept", "t"], 2, ["'t' is named by two options"]),
    ],
)
def test_wrong_options_are_named(csv, capsys, options, code, words):
    found, out = run(csv, *options)
    said = failure(capsys, found, code)
    assert all(word in said for word in words), said
    assert not out.exists()


def test_times_must_not_go_back(csv, capsys, not_run):
    table = stream()
    table.loc[7, "t"] = table.loc[6, "t"]  # twice the same is fine
    table.to_csv(csv, index=False)
    assert "not run" in failure(capsys, run(csv, "--time", "t")[0])
    table.loc[9, "t"] = "2023-12-31 09:00"
    table.to_csv(csv, index=False)
    assert "'t' (--time) goes back: row 9, line 11" in failure(capsys, run(csv, "--time", "t")[0])


def test_files_and_folders_that_cannot_be_opened(csv, capsys):
    assert "no file" in failure(capsys, run(csv.parent / "none.csv")[0])
    assert "is a folder" in failure(capsys, run(csv.parent)[0])
    assert "nowhere" in failure(capsys, run(csv, out="nowhere/report")[0])
    (csv.parent / "report").mkdir()
    (csv.parent / "report" / "notes.txt").write_text("mine")
    assert "notes.txt" in failure(capsys, run(csv)[0])
    inside = csv.parent / "curve.csv"
    csv.rename(inside)
    code = main(["evaluate", str(inside), "--target", "y", "--out", str(csv.parent), "--force"])
    assert "would overwrite" in failure(capsys, code, 2)


@pytest.mark.parametrize("package", ["pandas", "matplotlib", "jinja2"])
def test_a_missing_extra_is_named(csv, capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert "ltm_sklearn[cli]" in failure(capsys, run(csv)[0])


def test_stopped_by_hand(csv, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ltm_sklearn.cli.evaluate.run_evaluation", stop)
    code = run(csv)[0]
    assert code == 130
    assert "nothing was written" in capsys.readouterr().err
    assert [path.name for path in csv.parent.iterdir()] == ["stream.csv"]


def test_the_help_tells_which_command_is_for_what(capsys):
    for arguments in (["--help"], ["evaluate", "--help"]):
        with pytest.raises(SystemExit) as end:
            main(arguments)
        assert end.value.code == 0
        words = capsys.readouterr().out
        assert "ltm-sklearn evaluate stream.csv --target y" in words
        assert "exit codes" in words
        assert all(len(line) <= 100 for line in words.splitlines())
    with pytest.raises(SystemExit) as end:
        main(["evaluate", "stream.csv"])
    assert end.value.code == 2
    assert "--target" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_is_found_before_the_run(csv, not_run, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli._report_folder.os.access", lambda path, mode: False)
    code, _ = run(csv)
    assert f"{csv.parent} cannot be written to" in failure(capsys, code)
    assert not not_run
