"""``python -m benchmarks``: the list, quick runs, and errors."""

import argparse
import csv
import os
import shlex
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

pytestmark = pytest.mark.exhaustive

ROOT = Path(__file__).parent.parent


def benchmarks(*arguments, env=None):
    """Run from the project's folder, where the sources stand first on the path."""
    environment = {**os.environ, "PYTHONPATH": "", **(env or {})}
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *arguments], cwd=ROOT, capture_output=True, text=True, env=environment
    )


def rows_of(path):
    return list(csv.reader(path.read_text().splitlines()))


@pytest.fixture(scope="module")
def package():
    """The package itself, for what needs no process of its own."""
    sys.path.append(str(ROOT))
    import benchmarks.__main__ as command

    yield command
    sys.path.remove(str(ROOT))


def test_the_list_has_the_needs_of_each_benchmark():
    run = benchmarks("--list")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert lines[0].split() == ["name", "takes", "needs", "(peers)", "shows"]
    (real,) = (line for line in lines if line.startswith("recurring real "))
    assert "pandas, data, (capymoa), (river)" in real


def test_a_quick_run_uses_compiled_kernels(tmp_path):
    run = benchmarks("ablation", "--quick", "--out", str(tmp_path))
    assert run.returncode == 0, run.stderr  # without compiled kernels it refuses
    text = (tmp_path / "ablation.md").read_text()
    assert "Made by `python -m benchmarks ablation --regimes 2 --rounds 1000 --seeds 1`." in text
    assert f"numpy {np.__version__}" in text
    header, first, *_ = rows_of(tmp_path / "ablation.csv")
    assert header[:2] == ["variant", "geometric mean"]
    assert first[:2] == ["as it is", "1.00"]


def test_workers_use_compiled_kernels(tmp_path):
    script = tmp_path / "where.py"
    script.write_text(
        "import benchmarks\n"
        "from importlib.util import find_spec\n"
        "from joblib import Parallel, delayed\n"
        "def where():\n"
        "    import benchmarks\n"
        "    return benchmarks.__file__, find_spec('ltm_sklearn.experts._kernel') is not None\n"
        "print(*Parallel(2)(delayed(where)() for _ in range(1))[0], sep='\\n')\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    run = subprocess.run([sys.executable, script], cwd=ROOT, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == [str(ROOT / "benchmarks" / "__init__.py"), "True"]


def test_refuses_to_run_without_compiled_kernels(package, monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.__main__.find_spec", lambda name: None)
    assert package.main(["oracles", "--quick"]) == 1
    assert "ltm_sklearn has no compiled kernels" in capsys.readouterr().err


def test_a_benchmark_without_data_is_skipped_in_a_group(tmp_path, package, capsys):
    options = ["--quick", "--data", str(tmp_path), "--out", str(tmp_path)]
    assert package.main(["forecasting", *options]) == 0
    printed = capsys.readouterr().out
    assert f"forecasting load: skipped, as there is no opera_regional_experts.csv.gz in {tmp_path}" in printed
    assert (tmp_path / "forecasting_panel.md").is_file()  # it needs no data
    assert package.main(["forecasting", "load", *options]) == 1
    assert "forecasting load cannot run, as there is no" in capsys.readouterr().err


def test_a_package_that_is_absent_is_named(tmp_path, package, monkeypatch):
    monkeypatch.setattr("benchmarks.catalogue.find_spec", lambda name: None)
    (river_speed,) = package.named(["river_speed"])
    assert river_speed.missing(tmp_path) == "it needs river, which is not installed"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nothing"], "there is no benchmark 'nothing'"),
        (["forecasting", "--rows", "10"], "--rows 10: options of a single benchmark"),
        (
            ["oracles", "--quick", "--out", str(ROOT / "benchmarks" / "results")],
            "does not write over the saved results",
        ),
        (["oracles", "--sizes", "10"], "unrecognized arguments: --sizes 10"),
    ],
)
def test_wrong_commands_are_exit_code_2(arguments, error, package, capsys):
    with pytest.raises(SystemExit) as end:
        package.main(arguments)
    assert end.value.code == 2
    assert error in capsys.readouterr().err


def test_the_options_of_quick_runs_are_parsed(package):
    for each in package.BENCHMARKS:
        if all(map(find_spec, each.packages)):
            parser = argparse.ArgumentParser()
            each.load().add_options(parser)
            assert parser.parse_args(shlex.split(each.quick))


def test_returns_are_segments_of_an_earlier_concept(package):
    from benchmarks.labelled_streams import after_returns, returns

    concept = np.repeat([0, 1, 0, 2, 1], 100)
    assert returns(concept) == [200, 400]
    right = np.ones(500)
    right[400:425] = 0.0
    assert after_returns(right, [200, 400]) == [1.0, 0.5]
    assert after_returns(right.reshape(-1, 10).mean(axis=1), [200, 400], batch_size=10) == [1.0, 0.5]


def test_rows_reach_moa_as_numbers_or_as_categories(tmp_path, package):
    from benchmarks.moa_learners import is_nominal, write_arff

    X, y = np.array([[0.0, 1.0], [1.0, 2.0]]), np.array([0, 1])
    assert is_nominal(X)
    write_arff(tmp_path / "numbers.arff", X, y, nominal=False)
    write_arff(tmp_path / "categories.arff", X, y, nominal=True)
    assert (tmp_path / "numbers.arff").read_text().splitlines()[1:] == [
        "@attribute x0 numeric",
        "@attribute x1 numeric",
        "@attribute label {0,1}",
        "@data",
        "0.0,1.0,0",
        "1.0,2.0,1",
    ]
    assert (tmp_path / "categories.arff").read_text().splitlines()[1:] == [
        "@attribute x0 {0,1}",
        "@attribute x1 {1,2}",
        "@attribute label {0,1}",
        "@data",
        "0,1,0",
        "1,2,1",
    ]


def test_the_error_of_a_learner_that_fails_is_in_the_table(tmp_path, package):
    from benchmarks import contest
    from benchmarks.report import Report

    runs = {
        ("A", "one"): [{"accuracy": 0.5, "after_return": np.nan, "cpu_seconds": 12.3}],
        ("A", "two"): [{"error": "TypeError: Class not found"}],
    }
    contest.save(Report(tmp_path, "a test"), "both", ["A"], ["one", "two"], runs, ["Said."], ())
    assert rows_of(tmp_path / "both.csv") == [["", "A"], ["one", "0.5000"], ["two", "-"]]
    assert rows_of(tmp_path / "both_returns.csv")[1] == ["one", "-"]
    assert rows_of(tmp_path / "both_seconds.csv")[1] == ["one", "12"]
    assert "two on A: TypeError: Class not found" in (tmp_path / "both.md").read_text()
