"""The command ``watch``: the status of a run from its log."""

import signal
import subprocess
import sys
import time

import pytest
from support.commands import error_of
from support.logged_runs import logged_run

from ltm_sklearn.cli import _watch, main
from ltm_sklearn.recording import read_log

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A fitted model and its log."""
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    return logged_run(path), path


def test_once_prints_the_status(run, capsys):
    model, path = run
    assert main(["watch", str(path), "--once"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("run.jsonl: LongTermMemoryRegressor, squared_error loss, process ")
    assert lines[1].startswith("row 1,200 (120 rounds): loss ")
    assert lines[2].startswith("overall loss ")
    assert lines[4].split() == ["expert", "weight", "mean", "loss", "led"]
    last = model.history_[-1].weights
    assert lines[5].split()[0] == max(last, key=last.get)
    assert f"{max(last.values()):.0%}" in lines[5]


def test_the_status_is_written_as_a_page(run, tmp_path, capsys):
    assert main(["watch", str(run[1]), "--once", "--every", "5", "--out", str(tmp_path / "page.html")]) == 0
    assert 'content="5"' in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["nowhere.jsonl"], 1, "there is no file nowhere.jsonl"),
        (["."], 1, ". is no file"),
        (["data.csv", "--once"], 1, "data.csv is no log of ltm_sklearn"),
        (["run.jsonl", "--once", "--out", "page.doc"], 1, "neither a page nor a picture"),
        (["run.jsonl", "--once", "--out", "nowhere/page.html"], 1, "there is no folder"),
        (["run.jsonl", "--every", "0"], 2, "--every 0"),
        (["run.jsonl", "--out", "run.jsonl"], 2, "is the log itself"),
    ],
)
def test_wrong_options_are_named(arguments, code, words, run, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run.jsonl").write_bytes(run[1].read_bytes())
    (tmp_path / "data.csv").write_text("a,b\n")
    assert words in error_of(capsys, main(["watch", *arguments]), code)


def test_a_line_is_printed_when_rows_have_come(run, tmp_path, monkeypatch, capsys):
    lines = run[1].read_text().splitlines(keepends=True)
    path, naps = tmp_path / "run.jsonl", []
    path.write_text("".join(lines[:-3]))

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            path.write_text("".join(lines))
        elif len(naps) == 3:
            path.unlink()
        elif len(naps) == 4:
            raise KeyboardInterrupt

    log = read_log(path)
    monkeypatch.setattr(_watch.time, "sleep", nap)
    assert main(["watch", str(path), "--every", "3"]) == 0
    assert naps == [3.0] * 4
    first, second, third = capsys.readouterr().out.splitlines()
    assert (first, second) == (str(log.now), str(read_log(run[1]).now))
    assert third == f"there is no file {path}"


def test_a_page_that_cannot_be_written_for_a_while_is_an_error_line(run, tmp_path, monkeypatch, capsys):
    folder, naps = tmp_path / "pages", []
    folder.mkdir()

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 1:
            folder.rename(tmp_path / "away")
        elif len(naps) == 2:
            (tmp_path / "away").rename(folder)
            (folder / "now.html").unlink()
        elif len(naps) == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(_watch.time, "sleep", nap)
    assert main(["watch", str(run[1]), "--out", str(folder / "now.html")]) == 0
    first, second, third = capsys.readouterr().out.splitlines()
    assert "No such file" in second
    assert third == first == str(read_log(run[1]).now)
    assert (folder / "now.html").exists()


@pytest.mark.exhaustive
def test_a_run_in_another_process_is_watched(tmp_path):
    path = tmp_path / "run.jsonl"
    stream = (
        "import numpy as np, time\n"
        "from sklearn.linear_model import SGDRegressor\n"
        "from ltm_sklearn import LongTermMemoryRegressor\n"
        f"model = LongTermMemoryRegressor([('sgd', SGDRegressor())], memory=None, record={str(path)!r})\n"
        "X = np.ones((5, 2))\n"
        "while True:\n"
        "    model.partial_fit(X, X[:, 0]); time.sleep(0.01)\n"
    )
    with subprocess.Popen([sys.executable, "-P", "-c", stream]) as streaming:
        try:
            for _ in range(600):
                if path.exists():
                    break
                time.sleep(0.05)
            command = [sys.executable, "-P", "-m", "ltm_sklearn", "watch", str(path), "--every", "0.1"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as watching:
                seen = [watching.stdout.readline() for _ in range(3)]
                watching.send_signal(signal.SIGINT)
                _, errors = watching.communicate(timeout=60)
        finally:
            streaming.kill()
    rows = [int(line.split()[1].replace(",", "")) for line in seen]
    assert rows[0] < rows[1] < rows[2]
    assert (watching.returncode, errors) == (0, "")
