"""Displays of a run from its log, and the live display."""

import os
import time

import numpy as np
import pytest
from support.logged_runs import logged_run

from ltm_sklearn import display
from ltm_sklearn.cli import main
from ltm_sklearn.display import LiveDisplay, RunningLossDisplay
from ltm_sklearn.display._live import ago, headlines
from ltm_sklearn.recording import read_log

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_windows():
    pyplot.switch_backend("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A fitted model and its log."""
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    return logged_run(path), path


@pytest.mark.parametrize(
    "name", sorted(name for name in display.__all__ if name.endswith("Display") and name not in ("LiveDisplay",))
)
def test_every_picture_can_be_drawn_from_a_log(name, run):
    model, path = run
    kind = getattr(display, name)
    if name == "MemoryCurveDisplay":
        with pytest.raises(ValueError, match="only means of 10 rows"):
            kind.from_log(path)
        return
    drawn = kind.from_log(path)
    np.testing.assert_array_equal(drawn.run_record.weights, kind.from_estimator(model).run_record.weights)
    figure, ax = pyplot.subplots()
    assert kind.from_log(path, ax=ax).figure_ is figure


def test_running_losses_are_means_of_the_records_before(run):
    model, _ = run
    drawn = RunningLossDisplay.from_estimator(model)
    loss, counts = drawn.run_record.loss, drawn.run_record.counts
    window = len(loss) // 20
    expected = [
        np.average(loss[max(at - window, 0) : at], weights=counts[max(at - window, 0) : at])
        for at in range(1, len(loss) + 1)
    ]
    np.testing.assert_allclose(drawn.lines_["mixture"].get_ydata(), expected)
    assert {*drawn.lines_} == {"mixture", "plain mean", "best expert"}


def test_the_live_view_is_drawn_again_into_the_same_figure(run, tmp_path):
    _, path = run
    live = LiveDisplay.from_log(path)
    figure, n_axes = live.figure_, len(live.figure_.axes)
    assert live.plot().figure_ is figure
    assert len(figure.axes) == n_axes
    assert [type(each).__name__ for each in live.displays_] == [
        "RunningLossDisplay",
        "WeightStackDisplay",
        "RecurrenceDisplay",
    ]
    shown = figure.get_suptitle().splitlines()  # how long ago the last round was depends on when it was drawn
    assert [line.partition("last round")[0] for line in shown] == [
        line.partition("last round")[0] for line in headlines(live.log_, time.time())
    ]
    words = headlines(live.log_, live.log_.moments[-1] + 3.0)
    assert words[0].startswith("LongTermMemoryRegressor in run.jsonl: row 1,200 (120 rounds)")
    assert words[0].endswith("last round 3 s ago")


def test_the_live_view_is_written_as_picture_or_page_until_it_is_interrupted(run, tmp_path, monkeypatch):
    _, path = run
    live, naps = LiveDisplay(path), []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("ltm_sklearn.display._live.time.sleep", nap)
    live.watch(refresh=2.0, out=tmp_path / "page.html")
    assert len(naps) == 2
    page = (tmp_path / "page.html").read_text()
    assert '<meta http-equiv="refresh" content="2">' in page
    assert 'src="data:image/png;base64,' in page
    assert "http://" not in page.replace("http-equiv", "")
    assert "https://" not in page
    live.save(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="neither a page nor a picture"):
        live.save(tmp_path / "page.doc")
    assert sorted(os.listdir(tmp_path)) == ["page.html", "page.png"]


def test_the_live_view_can_be_written_without_drawing_it_first(run, tmp_path):
    LiveDisplay(run[1]).save(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")


def test_the_page_is_drawn_from_the_log_that_was_read_even_if_the_file_is_gone_by_then(run, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    path.write_bytes(run[1].read_bytes())

    def read_and_lose(name):
        log = read_log(name)
        path.unlink()
        return log

    monkeypatch.setattr("ltm_sklearn.display._live.read_log", read_and_lose)
    assert main(["watch", str(path), "--once", "--out", str(tmp_path / "page.html")]) == 0
    assert os.listdir(tmp_path) == ["page.html"]


def test_without_a_window_there_must_be_a_file(run):
    with pytest.raises(ValueError, match="no window to show it in: give out="):
        LiveDisplay(run[1]).watch()


def test_a_window_is_kept_up_to_date(run, monkeypatch):
    shown = []

    def pause(seconds):
        shown.append(pyplot.gcf().get_suptitle())
        raise KeyboardInterrupt

    monkeypatch.setattr(pyplot, "get_backend", lambda: "qtagg")
    monkeypatch.setattr(pyplot, "pause", pause)
    LiveDisplay(run[1]).watch()
    assert "row 1,200" in shown[0]


def test_how_long_ago():
    assert [ago(seconds) for seconds in (-1.0, 3.4, 300.0, 10_000.0, 300_000.0)] == [
        "0 s ago",
        "3 s ago",
        "5 min ago",
        "3 h ago",
        "3 days ago",
    ]
