"""Checkpoints of the commands ``evaluate`` and ``mixture``."""

import numpy as np
import pytest

from ltm_sklearn.persistence import Checkpoint

pandas = pytest.importorskip("pandas")
pytest.importorskip("matplotlib")

N_ROWS = 120
LOSSES = np.random.default_rng(0).random((N_ROWS, 3))


def command(*arguments):
    from ltm_sklearn.cli import main

    return main([str(argument) for argument in arguments])


def stopped_at(monkeypatch, n_rows):
    """Interrupt the command after a number of rows."""
    step = Checkpoint.step

    def stop(self, model, n_more=1):
        saved = step(self, model, n_more)
        if self.n_rows >= n_rows:
            raise KeyboardInterrupt
        return saved

    monkeypatch.setattr(Checkpoint, "step", stop)


def report(folder):
    """Return the files of a report that must be the same in each run."""
    return {path.name: path.read_bytes() for path in folder.glob("*.csv") if path.name != "scores.csv"}


@pytest.fixture
def files(tmp_path):
    y = LOSSES.sum(axis=1)
    pandas.DataFrame(LOSSES, columns=list("abc")).assign(y=y).to_csv(tmp_path / "forecasts.csv", index=False)
    pandas.DataFrame(LOSSES, columns=list("abc")).assign(y=y > 1.5).to_csv(tmp_path / "stream.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("what", "file", "options", "row"),
    [
        ("evaluate", "stream.csv", ["--rows", "60", "--batch", "20"], 40),
        ("mixture", "forecasts.csv", [], 42),
    ],  # by whole steps
)
def test_a_command_that_was_stopped_goes_on(what, file, options, row, files, monkeypatch, capsys):
    monkeypatch.setattr(f"ltm_sklearn.cli._{what}.draw_pictures", lambda _: {})  # which take most of the time
    arguments = [what, files / file, "--target", "y", *options]
    checkpoint = ["--checkpoint", files / "run", "--every", "20"]
    assert command(*arguments, "--out", files / "plain") == 0
    with monkeypatch.context() as patch:
        stopped_at(patch, row)
        assert command(*arguments, "--out", files / "report", *checkpoint) == 130
    assert "the same command resumes the run from" in capsys.readouterr().err
    assert not (files / "report").exists()
    assert command(*arguments, "--out", files / "report", *checkpoint) == 0
    assert f"resumed at row {row}\n" in capsys.readouterr().err
    assert report(files / "report") == report(files / "plain")
    assert len(report(files / "plain")) >= 3


def test_a_command_names_what_is_wrong_with_its_checkpoint(files, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli._mixture.draw_pictures", lambda _: {})
    arguments = ["mixture", files / "forecasts.csv", "--target", "y", "--out", files / "report"]
    assert command(*arguments, "--every", "10") == 2
    assert "--checkpoint" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "run", "--every", "0") == 2
    assert "--every 0" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "report") == 2
    assert "a folder of their own" in capsys.readouterr().err
    (files / "report").mkdir()
    assert command(*arguments, "--checkpoint", files / "report" / "run") == 2  # or the next report would be refused
    assert "a folder of their own outside it" in capsys.readouterr().err
    assert not any((files / "report").iterdir())
    assert command(*arguments, "--checkpoint", files / "absent" / "run") == 1
    assert "there is no folder" in capsys.readouterr().err
    assert command(*arguments, "--checkpoint", files / "run") == 0
    changed = (files / "forecasts.csv").read_text().replace("0.6", "0.7", 1)
    (files / "forecasts.csv").write_text(changed)
    assert command(*arguments, "--checkpoint", files / "run") == 1
    assert "the file's checksum" in capsys.readouterr().err


@pytest.mark.parametrize("column", ["place", "day"])
def test_a_command_notices_other_series_and_times(column, files, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli._mixture.draw_pictures", lambda _: {})
    frame = pandas.read_csv(files / "forecasts.csv")
    days = pandas.date_range("2020", periods=N_ROWS).astype(str)
    frame.assign(place="here", day=days).to_csv(files / "forecasts.csv", index=False)
    arguments = ["mixture", files / "forecasts.csv", "--target", "y", "--series", "place", "--time", "day"]
    arguments += ["--checkpoint", files / "run"]
    assert command(*arguments, "--out", files / "report") == 0
    changed = {"place": ["here"] * 60 + ["there"] * 60, "day": pandas.date_range("2021", periods=N_ROWS).astype(str)}
    frame.assign(**{"place": "here", "day": days, column: changed[column]}).to_csv(files / "forecasts.csv", index=False)
    assert command(*arguments, "--out", files / "other") == 1
    assert "the file's checksum" in capsys.readouterr().err


def test_a_command_notices_other_features(files, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli._evaluate.draw_pictures", lambda _: {})
    arguments = ["evaluate", files / "stream.csv", "--target", "y", "--rows", "40", "--batch", "20"]
    arguments += ["--checkpoint", files / "run"]
    assert command(*arguments, "--out", files / "report") == 0
    frame = pandas.read_csv(files / "stream.csv")
    frame.assign(a=1.0 - frame["a"]).to_csv(files / "stream.csv", index=False)
    assert command(*arguments, "--out", files / "other") == 1
    assert "the checksum of the file's features" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--concept", "--time"])
@pytest.mark.parametrize("what", ["changed", "dropped", "added"])
@pytest.mark.fast_cases(2)
def test_a_command_notices_other_concepts_and_times(what, option, files, monkeypatch, capsys):
    monkeypatch.setattr("ltm_sklearn.cli._evaluate.draw_pictures", lambda _: {})
    frame = pandas.read_csv(files / "stream.csv")
    frame.assign(c=np.arange(N_ROWS) // 30).to_csv(files / "stream.csv", index=False)

    def go(*how):
        arguments = ["evaluate", files / "stream.csv", "--target", "y", "--rows", "60", "--batch", "20"]
        return command(*arguments, *how, "--out", files / "report", "--checkpoint", files / "run", "--every", "20")

    first, then = [(option, "c"), ("--drop", "c")][:: -1 if what == "added" else 1]
    with monkeypatch.context() as patch:
        stopped_at(patch, 40)
        assert go(*first) == 130
    if what == "changed":
        frame.assign(c=np.arange(N_ROWS) // 15).to_csv(files / "stream.csv", index=False)
        then = first
    assert go(*then) == 1
    assert f"is not of this run: the checksum of the {option} column is" in capsys.readouterr().err
    if what != "changed":  # nothing was spoiled
        assert go(*first) == 0
