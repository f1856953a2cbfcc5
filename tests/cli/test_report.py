"""Reports: the folder, what it may replace, missing packages, and terminals."""

import io
import os
import sys

import pytest
from support.commands import error_of, forecasts, run, several_series, write

from ltm_sklearn.cli import main
from ltm_sklearn.cli._mixture import NAMES

pytest.importorskip("pandas")
pytest.importorskip("matplotlib")


@pytest.fixture
def csv(tmp_path):
    return write(forecasts().drop(columns="t"), tmp_path / "forecasts.csv")


@pytest.fixture(autouse=True)
def no_pictures(monkeypatch):
    """Pictures take most of the time of a report."""
    monkeypatch.setattr("ltm_sklearn.cli._mixture.draw_pictures", lambda run_record: {})


def test_an_earlier_report_is_replaced(tmp_path, csv):
    many = write(several_series(), tmp_path / "many.csv")
    code, out = run("mixture", many, "--series", "id", "--drop", "day", "t")
    assert code == 0
    assert (out / "series.csv").exists()
    assert run("mixture", csv)[0] == 0
    assert not (out / "series.csv").exists()
    assert {path.name for path in out.iterdir()} <= {*NAMES}
    assert {path.name for path in tmp_path.iterdir()} == {"many.csv", "forecasts.csv", "report"}


def test_other_files_are_not_replaced_without_force(csv, capsys):
    out = csv.parent / "report"
    out.mkdir()
    notes = out / "notes.txt"
    notes.write_text("mine")
    assert "notes.txt" in error_of(capsys, run("mixture", csv)[0])
    notes.rename(out / "summary.md")
    assert "--force" in error_of(capsys, run("mixture", csv)[0])
    (out / "series.csv").write_text("mine")
    assert run("mixture", csv, "--force")[0] == 0
    assert (out / "series.csv").read_text() == "mine"
    assert "mixture" in (out / "summary.md").read_text()


def test_folders_that_cannot_be_written_are_found_before_the_run(csv, capsys, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.cli._mixture.run_mixture", None)  # it would raise a TypeError
    (csv.parent / "file").write_text("")
    assert "is a file" in error_of(capsys, run("mixture", csv, out="file")[0])
    assert "nowhere" in error_of(capsys, run("mixture", csv, out="nowhere/report")[0])
    (csv.parent / "taken" / "weights.csv").mkdir(parents=True)
    assert "is a folder" in error_of(capsys, run("mixture", csv, "--force", out="taken")[0])
    csv.rename(csv.parent / "weights.csv")
    code = main(["mixture", str(csv.parent / "weights.csv"), "--target", "y", "--out", str(csv.parent), "--force"])
    assert "would overwrite" in error_of(capsys, code, 2)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert f"{csv.parent} cannot be written to" in error_of(capsys, run("mixture", csv)[0])


@pytest.mark.parametrize("earlier", [False, True])
def test_a_report_that_cannot_be_finished_leaves_nothing(csv, capsys, monkeypatch, earlier):
    out = csv.parent / "report"
    if earlier:
        assert run("mixture", csv)[0] == 0
    before = {path.name: path.read_bytes() for path in out.glob("*")}
    capsys.readouterr()
    write_bytes = type(out).write_bytes

    def fail(path, content):
        if path.name == "forecasts.csv":
            raise OSError(28, "No space left on device")
        return write_bytes(path, content)

    monkeypatch.setattr(type(out), "write_bytes", fail)
    assert "No space left" in error_of(capsys, run("mixture", csv, "--loss", "absolute_error")[0])
    assert {path.name for path in csv.parent.iterdir()} == {"forecasts.csv", *(["report"] if earlier else [])}
    assert before == {path.name: path.read_bytes() for path in out.glob("*")}


def test_an_interrupted_command_writes_nothing(csv, capsys, monkeypatch):
    def stop(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("ltm_sklearn.cli._mixture.run_mixture", stop)
    assert run("mixture", csv)[0] == 130
    assert "nothing was written" in capsys.readouterr().err
    assert [path.name for path in csv.parent.iterdir()] == ["forecasts.csv"]


@pytest.mark.parametrize("package", ["pandas", "matplotlib", "jinja2"])
def test_a_missing_extra_is_named(csv, capsys, monkeypatch, package):
    monkeypatch.setitem(sys.modules, package, None)
    assert "ltm_sklearn[cli]" in error_of(capsys, run("mixture", csv)[0])


def test_progress_in_lines_without_rich(csv, capsys, monkeypatch):
    monkeypatch.setattr("ltm_sklearn.recording._progress.find_spec", lambda name: None)
    assert run("mixture", csv)[0] == 0
    assert "mixture: 120 of 120 rows" in capsys.readouterr().err


def test_letters_that_the_terminal_lacks_are_replaced(csv, monkeypatch):
    write(forecasts().rename(columns={"first": "première"}), csv)
    narrow = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", narrow)
    assert run("mixture", csv, "--time", "t")[0] == 0
    narrow.flush()
    assert b"premi?re" in narrow.buffer.getvalue()
