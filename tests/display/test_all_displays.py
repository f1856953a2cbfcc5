"""Properties that all displays of a run share: axes, time axis, colours, labels, constructors."""

import itertools
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from matplotlib import colors, dates, pyplot
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDRegressor
from sklearn.preprocessing import StandardScaler
from support.run_records import changed, fitted, regressor, rows, run_record

from ltm_sklearn.display import (
    AverageLossDisplay,
    ContributionDisplay,
    CumulativeLossDisplay,
    RecurrenceDisplay,
    ResidualDisplay,
    RunningLossDisplay,
    WeightBoxDisplay,
    WeightStackDisplay,
)
from ltm_sklearn.display._expert_styles import OTHERS, PALETTE, ExpertStyles, short_names
from ltm_sklearn.ensemble import IncrementalPipeline
from ltm_sklearn.evaluation import prequential

pytestmark = pytest.mark.fast_cases(3)

OVER_TIME = [
    WeightStackDisplay,
    CumulativeLossDisplay,
    RunningLossDisplay,
    ContributionDisplay,
    ResidualDisplay,
    RecurrenceDisplay,
]
DISPLAYS = pytest.mark.parametrize("display", [*OVER_TIME, WeightBoxDisplay, AverageLossDisplay])


def legend_labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


# Axes and labels --------------------------------------------------------------------------------------------------


@DISPLAYS
@pytest.mark.parametrize(("n_experts", "n_records"), [(5, 40), (65, 30), (1, 1), (1, 5), (3, 20_001)])
@pytest.mark.parametrize("dated", [False, True])
def test_any_run_is_drawn_into_new_or_given_axes(display, n_experts, n_records, dated):
    run = run_record(n_experts, n_records, dated=dated)
    drawn = display(run)
    assert drawn.plot() is drawn
    assert drawn.figure_ is drawn.ax_.figure
    drawn.figure_.canvas.draw()
    figure, (ax, neighbour) = pyplot.subplots(1, 2)
    assert display(run).plot(ax=ax).ax_ is ax
    figure.canvas.draw()
    assert not neighbour.has_data()
    free = pyplot.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    assert display(run).plot(ax=free).figure_ is free.figure
    free.figure.canvas.draw()


@DISPLAYS
def test_an_expert_that_never_takes_part_and_odd_names(display):
    run = run_record(5)
    losses, forecasts = run.losses.copy(), run.forecasts.copy()
    losses[:, 1] = forecasts[:, 1] = np.nan
    names = ["$\\frac{$", "a$b_{$", "c" * 60, "mixture", "plain mean"]
    display(changed(run, losses=losses, forecasts=forecasts, names=names)).plot().figure_.canvas.draw()


def test_experts_named_like_other_lines_are_marked():
    lines = CumulativeLossDisplay(changed(run_record(2), names=["mixture", "plain mean"])).plot().lines_
    assert {*lines} == {"mixture", "plain mean", "mixture (expert)", "plain mean (expert)"}


@pytest.mark.parametrize("display", OVER_TIME)
def test_the_time_axis_has_dates_or_rows(display):
    for dated in (True, False):
        drawn = display(run_record(dated=dated)).plot()
        ax = drawn.regret_ax_ if display is CumulativeLossDisplay else drawn.ax_
        if dated:
            assert isinstance(ax.xaxis.get_major_formatter(), dates.ConciseDateFormatter)
            assert dates.num2date(ax.get_xlim()[1]).date().isoformat() == "2024-01-30"
        else:
            assert ax.get_xlabel() == "row"
            assert ax.get_xlim() == (0.0, 30.0)


def test_an_expert_has_the_same_colour_in_all_displays():
    run = run_record(leaders=np.repeat([2, 0, 2, 1, 3], 6))
    assert ExpertStyles(run).colour(2) == PALETTE[0]

    def colours(labels, artists):
        return {
            label: colors.to_hex(np.atleast_2d(artist.get_facecolor())[0])
            for label, artist in zip(labels, artists, strict=True)
        }

    layers = WeightStackDisplay(run).plot().layers_
    stacked = colours([layer.get_label() for layer in layers], layers)
    assert {*stacked} == {*run.names}
    assert len({*stacked.values()}) == 4
    layers = ContributionDisplay(run).plot().layers_
    assert colours([layer.get_label() for layer in layers], layers) == stacked
    boxes, bars, leads = WeightBoxDisplay(run).plot(), AverageLossDisplay(run).plot(), RecurrenceDisplay(run).plot()
    assert colours(row_labels(boxes.ax_), boxes.boxes_) == stacked
    assert colours(row_labels(bars.ax_), bars.bars_) == stacked
    assert colours(row_labels(leads.ax_), leads.bars_) == stacked
    lines = CumulativeLossDisplay(run).plot().lines_
    assert {name: lines[name].get_color().lower() for name in run.names} == stacked


def test_nine_of_many_experts_have_colours_and_names():
    run = run_record(65, leaders=np.arange(30) % 3)
    drawn = WeightStackDisplay(run).plot()
    assert legend_labels(drawn.ax_)[0] == "56 others"
    assert len(drawn.layers_) == 10
    assert {*legend_labels(drawn.ax_)[-3:]} == {"expert 0", "expert 1", "expert 2"}
    assert colors.same_color(drawn.layers_[-1].get_facecolor()[0], OTHERS)
    assert legend_labels(CumulativeLossDisplay(run).plot().ax_)[-1].startswith("56 others")


@pytest.mark.parametrize("display", [WeightBoxDisplay, AverageLossDisplay])
def test_rows_of_many_experts_do_not_overlap(display):
    for ax in (None, pyplot.subplots(2, 2)[1][0, 0]):
        drawn = display(run_record(65)).plot(ax=ax)
        drawn.figure_.canvas.draw()
        boxes = [text.get_window_extent() for text in drawn.ax_.get_yticklabels()]
        assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))
        assert row_labels(drawn.ax_)[-1] == f"{66 - len(boxes)} others"


def test_long_names_are_shortened_and_stay_distinct():
    long = [f"{'x' * 40}{at}{'y' * 40}" for at in range(3)]
    names = short_names(["short", "LongTermMemoryClassifier-with-snapshots@1500", *long])
    assert names[0] == "short"
    assert names[1].startswith("LongTerm")
    assert names[1].endswith("@1500")
    assert len({*names}) == 5
    assert max(map(len, names)) <= 26


def test_long_runs_are_averaged_and_the_axis_says_so():
    drawn = WeightStackDisplay(run_record(2, 20_000)).plot()
    assert drawn.ax_.get_xlabel() == "row (means of 80 rows)"
    assert "means of 24 rows" in WeightBoxDisplay(run_record(counts=24)).plot().ax_.get_xlabel()


def test_matplotlib_is_imported_only_to_draw(tmp_path):
    code = (
        "import sys, ltm_sklearn, ltm_sklearn.display, ltm_sklearn.evaluation; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


# Constructors -----------------------------------------------------------------------------------------------------


def test_from_estimator_takes_pipelines_and_river_models():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("ltm", regressor(record=10))])
    assert WeightStackDisplay.from_estimator(fitted(pipeline)).run_record.ends[-1] == 60
    pytest.importorskip("river")
    from river import linear_model, preprocessing

    from ltm_sklearn import river

    scaled = preprocessing.StandardScaler() | linear_model.LinearRegression()
    models = [("linear", scaled), ("pa", linear_model.PARegressor())]
    model = preprocessing.StandardScaler() | river.LongTermMemoryRegressor(models, record=20)
    X, y = rows()
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one({"a": x[0], "b": x[1]}, target)
    run = RecurrenceDisplay.from_estimator(model).run_record
    assert run.ends[-1] == 60
    assert run.names[:2] == ["linear", "pa"]


@DISPLAYS
def test_from_estimator_without_a_record_says_what_to_do(display):
    with pytest.raises(NotFittedError, match="LongTermMemoryRegressor has not been fitted"):
        display.from_estimator(regressor(record=5))
    with pytest.raises(ValueError, match="record="):
        display.from_estimator(fitted(regressor()))
    with pytest.raises(ValueError, match="recorded"):
        display.from_estimator(regressor(record=5).partial_fit(*rows(5)))
    for other in (DummyRegressor(), np.zeros(3)):
        with pytest.raises(TypeError, match="records no run that could be drawn"):
            display.from_estimator(other)


def test_from_estimator_draws_the_given_series():
    def several(series):
        return changed(run_record(), names=[f"{series} {at}" for at in range(4)])

    ax = pyplot.subplots()[1]
    drawn = WeightStackDisplay.from_estimator(SimpleNamespace(run_record=several), series="north", ax=ax)
    assert drawn.ax_ is ax
    assert drawn.run_record.names[0] == "north 0"


def test_from_result_draws_the_given_model():
    def run(**models):
        return prequential(models, rows(), batch_size=5)

    result = run(a=regressor(record=10), b=regressor(record=10), c=regressor(), d=SGDRegressor())
    assert list(result.run_records) == ["a", "b"]
    assert WeightStackDisplay.from_result(result, model="b").run_record is result.run_records["b"]
    with pytest.raises(ValueError, match=r"pass model=, one of \['a', 'b'\]"):
        WeightStackDisplay.from_result(result)
    with pytest.raises(ValueError, match=r"model='c' has no recorded run; those with one are \['a', 'b'\]"):
        WeightStackDisplay.from_result(result, model="c")
    with pytest.raises(ValueError, match="pass record= to a model"):
        WeightStackDisplay.from_result(run(d=SGDRegressor()))
    only = run(a=regressor(record=10), d=SGDRegressor())
    ax = pyplot.subplots()[1]
    assert ResidualDisplay.from_result(only, ax=ax).ax_ is ax
