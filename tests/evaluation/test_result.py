"""Results of prequential runs: frames, printed tables, curves, plots."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB
from support.echo_models import EchoRiver, noisy_labels, pairs_of

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.evaluation import PrequentialDisplay, prequential
from ltm_sklearn.evaluation._curve import MOST_POINTS, LossCurve
from ltm_sklearn.streams import RecurringConcepts, stagger


@pytest.fixture(scope="module")
def result():
    ltm = LongTermMemoryClassifier([("bayes", GaussianNB())], random_state=0)
    models = {"ltm": ltm, "bayes": GaussianNB(), "echo": EchoRiver("size")}
    stream = stagger(order="random", length=100, n_segments=8, noise=0.1, seed=0)
    return prequential(models, stream, batch_size=10)


@pytest.fixture
def pyplot():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib import pyplot

    yield pyplot
    pyplot.close("all")


def test_frame_has_a_row_for_each_model(result):
    frame = result.frame()
    assert list(frame.index) == ["ltm", "bayes", "echo"]
    assert frame.loc["ltm", "accuracy"] == result.scores["ltm"]["accuracy"]
    assert frame.loc["ltm", "accuracy"] > frame.loc["bayes", "accuracy"]
    assert 0.0 < frame.loc["ltm", "c_f1"] <= 1.0
    assert frame["rows"].tolist() == [790, 790, 800]
    assert (frame[["predict_seconds", "learn_seconds"]] > 0.0).all(axis=None)


def test_curve_has_a_column_for_each_model(result):
    curve = result.curve()
    assert list(curve.columns) == ["ltm", "bayes", "echo"]
    np.testing.assert_array_equal(curve.index, np.arange(50, 801, 50))
    assert curve["echo"].mean() == pytest.approx(result.scores["echo"]["accuracy"])


def test_curve_doubles_its_blocks_when_there_are_too_many():
    losses = np.random.default_rng(0).random((7 * MOST_POINTS, 2))
    losses[5] = np.nan
    curve = LossCurve(2, 2)
    for part in np.array_split(losses, 13):
        curve.add(part)
    rows, values = curve.points()
    np.testing.assert_array_equal(rows, 8 * np.arange(1, 876))
    np.testing.assert_allclose(values, np.nanmean(losses.reshape(-1, 8, 2), axis=1))


def test_printed_result_is_an_aligned_table(result):
    lines = repr(result).splitlines()
    assert lines[0].startswith("800 rows; 7 changes of concept")
    assert lines[1].split()[:3] == ["rows", "accuracy", "kappa"]
    assert [line.split()[0] for line in lines[2:]] == ["ltm", "bayes", "echo"]
    assert len({len(line) for line in lines[1:]}) == 1
    assert lines[3].split()[-3] == "-"  # naive Bayes has no leader


def test_plot_has_a_line_for_each_model_and_a_colour_for_each_concept(result, pyplot):
    display = result.plot()
    assert isinstance(display, PrequentialDisplay)
    assert display.figure_ is display.ax_.figure
    assert [line.get_label() for line in display.lines_] == ["ltm", "bayes", "echo"]
    colours = {}
    for segment, band in zip(result.segments, display.ax_.patches, strict=True):
        colours.setdefault(segment.concept, set()).add(band.get_facecolor())
    assert all(len(each) == 1 for each in colours.values())
    assert len(set.union(*colours.values())) == len(colours) == 3
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels[:3] == ["ltm", "bayes", "echo"]
    assert sorted(labels[3:]) == ["concept 0", "concept 1", "concept 2"]
    figure, ax = pyplot.subplots()
    assert PrequentialDisplay.from_result(result, ax=ax).figure_ is figure


def test_plot_of_a_single_block_has_a_marker(pyplot):
    (line,) = prequential(EchoRiver(), pairs_of(*noisy_labels(10))).plot().lines_
    assert line.get_marker() == "o"


def test_plot_gives_a_dozen_models_different_lines(pyplot):
    stream = stagger(length=500, n_segments=20, seed=0)
    models = {f"model {at}": EchoRiver("size") for at in range(12)}
    display = prequential(models, stream, batch_size=100, window=10).plot()
    assert len({(line.get_color(), line.get_linestyle()) for line in display.lines_}) == 12
    assert len(display.lines_[0].get_xdata()) <= 50


def test_plot_names_the_concepts(pyplot):
    def concept(rng, n_rows):
        return rng.random((n_rows, 1)), np.zeros(n_rows, dtype=int)

    stream = RecurringConcepts({"day": concept, "night": concept}, length=50, n_segments=3, seed=0)
    display = prequential({"echo": EchoRiver("x0")}, stream, classes=[0]).plot()
    labels = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert labels == ["echo", "concept day", "concept night"]
