"""Displays from a log, and the live display in windows, pictures and pages."""

import os
import time

import numpy as np
import pytest
from matplotlib import pyplot
from support.run_records import regressor, rows

from ltm_sklearn import display
from ltm_sklearn.cli import main
from ltm_sklearn.display import LiveDisplay
from ltm_sklearn.display._live_display import ago, status_lines
from ltm_sklearn.recording import read_log


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Return a fitted model and its log."""
    path = tmp_path_factory.mktemp("run") / "run.jsonl"
    return regressor(record=path, batch_size=10).fit(*rows(400)), path  # fit writes all records, partial_fit may lag


@pytest.mark.parametrize(
    "name", sorted(name for name in display.__all__ if name.endswith("Display") and name not in ("LiveDisplay",))
)
def test_every_display_can_be_drawn_from_a_log(name, run):
    model, path = run
    cls = getattr(display, name)
    if name == "MemoryCurveDisplay":
        with pytest.raises(ValueError, match="mean of up to 10 rows"):
            cls.from_log(path)
        return
    drawn = cls.from_log(path)
    np.testing.assert_array_equal(drawn.run_record.weights, model.run_record().weights)
    figure, ax = pyplot.subplots()
    assert cls.from_log(path, ax=ax).figure_ is figure


def test_the_live_display_redraws_the_same_figure(run):
    live = LiveDisplay.from_log(run[1])
    figure, n_axes = live.figure_, len(live.figure_.axes)
    assert live.plot().figure_ is figure
    assert len(figure.axes) == n_axes
    names = [type(each).__name__ for each in live.displays_]
    assert names == ["RunningLossDisplay", "WeightStackDisplay", "RecurrenceDisplay"]
    shown = figure.get_suptitle().splitlines()  # the age of the last round depends on the time of drawing
    assert [line.partition("last round")[0] for line in shown] == [
        line.partition("last round")[0] for line in status_lines(live.log_, time.time())
    ]
    first, second, third = status_lines(live.log_, live.log_.moments[-1] + 3.0)
    assert first.startswith("LongTermMemoryRegressor in run.jsonl: row 400 (40 rounds)")
    assert first.endswith("last round 3 s ago")
    assert second.startswith("recent mean squared error: ")
    assert " leads (" in third


def test_watch_replaces_a_page_until_an_interrupt(run, tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    live, naps = LiveDisplay(run[1]), []

    def nap(seconds):
        naps.append(seconds)
        if len(naps) == 2:
            raise KeyboardInterrupt

    monkeypatch.setattr("ltm_sklearn.display._live_display.time.sleep", nap)
    live.watch(refresh=2.0, out=tmp_path / "page.html")
    assert len(naps) == 2
    page = (tmp_path / "page.html").read_text()
    assert '<meta http-equiv="refresh" content="2">' in page
    assert 'src="data:image/png;base64,' in page
    assert "http://" not in page.replace("http-equiv", "")
    assert "https://" not in page
    assert os.listdir(tmp_path) == ["page.html"]


def test_save_draws_first_and_takes_the_kind_from_the_name(run, tmp_path):
    live = LiveDisplay(run[1])
    live.save(tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="neither a page nor a picture"):
        live.save(tmp_path / "page.doc")


def test_a_page_is_written_though_the_log_is_removed(run, tmp_path, monkeypatch):
    path = tmp_path / "run.jsonl"
    path.write_bytes(run[1].read_bytes())

    def read_and_remove(name):
        log = read_log(name)
        path.unlink()
        return log

    monkeypatch.setattr("ltm_sklearn.display._live_display.read_log", read_and_remove)
    assert main(["watch", str(path), "--once", "--out", str(tmp_path / "page.html")]) == 0
    assert os.listdir(tmp_path) == ["page.html"]


def test_watch_without_a_window_needs_a_file(run):
    with pytest.raises(ValueError, match=r"no window\. Pass out="):
        LiveDisplay(run[1]).watch()


def test_watch_redraws_a_window(run, monkeypatch):
    shown = []

    def pause(seconds):
        shown.append(pyplot.gcf().get_suptitle())
        raise KeyboardInterrupt

    monkeypatch.setattr(pyplot, "get_backend", lambda: "qtagg")
    monkeypatch.setattr(pyplot, "pause", pause)
    LiveDisplay(run[1]).watch()
    assert "row 400" in shown[0]


def test_ages_are_written_in_a_suitable_unit():
    ages = [ago(seconds) for seconds in (-1.0, 3.4, 300.0, 10_000.0, 300_000.0)]
    assert ages == ["0 s ago", "3 s ago", "5 min ago", "3 h ago", "3 days ago"]
