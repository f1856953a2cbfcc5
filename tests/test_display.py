"""Pictures of runs: what is drawn is what was, and can be told apart."""

import itertools
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from sklearn.preprocessing import StandardScaler

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots
from ltm_sklearn.display import (
    AverageLossDisplay,
    ContributionDisplay,
    CumulativeLossDisplay,
    MemoryCurveDisplay,
    RecurrenceDisplay,
    ResidualDisplay,
    RunRecord,
    WeightBoxDisplay,
    WeightStackDisplay,
)
from ltm_sklearn.display._look import OTHERS, PALETTE, Look, short_names
from ltm_sklearn.ensemble import IncrementalPipeline
from ltm_sklearn.evaluation import prequential

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from matplotlib import colors, dates, pyplot  # noqa: E402
from support.named_models import named  # noqa: E402

pytestmark = pytest.mark.fast_cases(3)

OF_TRACES = [
    WeightStackDisplay,
    WeightBoxDisplay,
    CumulativeLossDisplay,
    AverageLossDisplay,
    ContributionDisplay,
    ResidualDisplay,
    RecurrenceDisplay,
]
DISPLAYS = pytest.mark.parametrize("display", OF_TRACES)


@pytest.fixture(autouse=True)
def no_pictures_left():
    yield
    pyplot.close("all")


def run_record(n_experts=4, n_records=30, dated=False, counts=1, leaders=None, numbers=True, seed=0):
    """Experts that forecast noise around a wave; the leader has most of the weight."""
    rng = np.random.default_rng(seed)
    targets = 10.0 + np.sin(np.arange(n_records))
    forecasts = targets[:, np.newaxis] + rng.normal(size=(n_records, n_experts))
    weights = rng.random((n_records, n_experts)) * 0.1
    if leaders is not None:
        weights[np.arange(n_records), leaders] += 1.0
    weights /= weights.sum(axis=1, keepdims=True)
    predictions = (weights * forecasts).sum(axis=1)
    counts = np.full(n_records, counts)
    times = np.datetime64("2024-01-01") + np.arange(n_records) if dated else None
    losses, loss = (forecasts - targets[:, np.newaxis]) ** 2, (predictions - targets) ** 2
    said = (forecasts, targets, predictions) if numbers else (None, None, None)
    uniform = (forecasts.mean(axis=1) - targets) ** 2
    names = [f"expert {at}" for at in range(n_experts)]
    return RunRecord(names, counts.cumsum(), counts, times, weights, losses, loss, *said, "squared_error", uniform)


def changed(run, **fields):
    return RunRecord(**{**run.__dict__, **fields})


def heights(layer):
    """Of a layer of a stack, in the middle of each record."""
    (path,) = layer.get_paths()
    x, y = path.vertices.T
    middles = (np.unique(x)[:-1] + np.unique(x)[1:]) / 2
    found = []
    for middle in middles:
        crossings = [y[at] for at in range(len(x) - 1) if (x[at] - middle) * (x[at + 1] - middle) < 0]
        found.append(max(crossings) - min(crossings))
    return np.array(found)


def labels_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def rows_of(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


# All of them ------------------------------------------------------------------------------------------------------


@DISPLAYS
@pytest.mark.parametrize(("n_experts", "n_records"), [(5, 40), (65, 30), (1, 1), (1, 5), (3, 20_001)])
@pytest.mark.parametrize("dated", [False, True])
def test_any_run_can_be_drawn_into_a_new_figure_or_into_given_axes(display, n_experts, n_records, dated):
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
def test_experts_that_always_slept_and_long_names_do_no_harm(display):
    run = run_record()
    losses, forecasts = run.losses.copy(), run.forecasts.copy()
    losses[:, 1] = forecasts[:, 1] = np.nan
    run = changed(run, losses=losses, forecasts=forecasts, names=["a", "b", "c" * 60, "d"])
    display(run).plot().figure_.canvas.draw()


@pytest.mark.parametrize("display", [each for each in OF_TRACES if each not in (WeightBoxDisplay, AverageLossDisplay)])
def test_dates_are_written_as_dates_and_rows_as_rows(display):
    dated, plain = display(run_record(dated=True)).plot(), display(run_record()).plot()
    bottom = dated.regret_ax_ if display is CumulativeLossDisplay else dated.ax_
    assert isinstance(bottom.xaxis.get_major_formatter(), dates.ConciseDateFormatter)
    assert dates.num2date(bottom.get_xlim()[1]).date().isoformat() == "2024-01-30"
    bottom = plain.regret_ax_ if display is CumulativeLossDisplay else plain.ax_
    assert bottom.get_xlabel() == "row"
    assert bottom.get_xlim() == (0.0, 30.0)


def test_an_expert_has_the_same_colour_in_all_pictures():
    run = run_record(leaders=np.repeat([2, 0, 2, 1, 3], 6))
    look = Look(run)
    assert look.colour(2) == PALETTE[0]
    stack = WeightStackDisplay(run).plot()
    stacked = {layer.get_label(): colors.to_hex(layer.get_facecolor()[0]) for layer in stack.layers_}
    contributed = ContributionDisplay(run).plot()
    assert stacked == {layer.get_label(): colors.to_hex(layer.get_facecolor()[0]) for layer in contributed.layers_}
    lines = CumulativeLossDisplay(run).plot().lines_
    boxes, bars, leads = WeightBoxDisplay(run).plot(), AverageLossDisplay(run).plot(), RecurrenceDisplay(run).plot()
    boxed = dict(zip(rows_of(boxes.ax_), [colors.to_hex(box.get_facecolor()) for box in boxes.boxes_], strict=True))
    barred = dict(zip(rows_of(bars.ax_), [colors.to_hex(bar.get_facecolor()) for bar in bars.bars_], strict=True))
    led = dict(zip(rows_of(leads.ax_), [colors.to_hex(bar.get_facecolor()[0]) for bar in leads.bars_], strict=True))
    assert set(stacked) == set(run.names)
    assert len(set(stacked.values())) == 4
    for name in run.names:
        assert stacked[name] == boxed[name] == barred[name] == led[name] == lines[name].get_color().lower()


def test_of_many_experts_nine_are_named_and_the_others_are_grey():
    run = run_record(65, leaders=np.arange(30) % 3)
    drawn = WeightStackDisplay(run).plot()
    assert labels_of(drawn.ax_)[0] == "56 others"
    assert len(drawn.layers_) == 10
    assert {*labels_of(drawn.ax_)[-3:]} == {"expert 0", "expert 1", "expert 2"}
    assert colors.same_color(drawn.layers_[-1].get_facecolor()[0], OTHERS)
    assert labels_of(CumulativeLossDisplay(run).plot().ax_)[-1].startswith("56 others")


@pytest.mark.parametrize("display", [WeightBoxDisplay, AverageLossDisplay])
def test_rows_of_many_experts_do_not_overlap(display):
    for ax in (None, pyplot.subplots(2, 2)[1][0, 0]):
        drawn = display(run_record(65)).plot(ax=ax)
        drawn.figure_.canvas.draw()
        boxes = [text.get_window_extent() for text in drawn.ax_.get_yticklabels()]
        assert all(above.y0 >= below.y1 for above, below in itertools.pairwise(boxes))
        assert rows_of(drawn.ax_)[-1] == f"{66 - len(boxes)} others"


def test_long_names_are_shortened_and_stay_different():
    long = [f"{'x' * 40}{at}{'y' * 40}" for at in range(3)]
    names = short_names(["short", "LongTermMemoryClassifier-with-snapshots@1500", *long])
    assert names[0] == "short"
    assert names[1].startswith("LongTerm")
    assert names[1].endswith("@1500")
    assert len({*names}) == 5
    assert max(map(len, names)) <= 26


# Each of them -----------------------------------------------------------------------------------------------------


def test_weights_are_stacked_to_one():
    run = run_record()
    layers = WeightStackDisplay(run).plot().layers_
    drawn = {layer.get_label(): heights(layer) for layer in layers}
    for at, name in enumerate(run.names):
        np.testing.assert_allclose(drawn[name], run.weights[:, at])
    np.testing.assert_allclose(sum(drawn.values()), 1.0)
    assert layers[0].get_label() == run.names[run.weights.mean(axis=0).argmax()]


def test_weights_of_experts_that_the_records_forgot_are_others():
    run = run_record()
    drawn = WeightStackDisplay(changed(run, weights=0.9 * run.weights)).plot()
    assert drawn.layers_[-1].get_label() == "others"
    np.testing.assert_allclose(heights(drawn.layers_[-1]), 0.1)


def test_long_runs_are_averaged_for_drawing_and_say_so():
    drawn = WeightStackDisplay(run_record(2, 20_000)).plot()
    assert drawn.ax_.get_xlabel() == "row (means of 80 rows)"
    np.testing.assert_allclose(sum(heights(layer) for layer in drawn.layers_), 1.0)
    assert len(heights(drawn.layers_[0])) == 250
    assert "means of 24 rows" in WeightBoxDisplay(run_record(counts=24)).plot().ax_.get_xlabel()


def test_boxes_hold_the_middle_half_of_the_weights_while_the_expert_was_there():
    run = run_record(3)
    weights, losses = run.weights.copy(), run.losses.copy()
    weights[:20, 2], losses[:20, 2] = 0.0, np.nan
    drawn = WeightBoxDisplay(changed(run, weights=weights, losses=losses)).plot()
    box = drawn.boxes_[rows_of(drawn.ax_).index("expert 2")]
    first, third = np.percentile(weights[20:, 2], [25, 75])
    assert box.get_x() == pytest.approx(first)
    assert box.get_x() + box.get_width() == pytest.approx(third)


def test_cumulative_losses_and_regret_are_those_of_the_rows():
    run = run_record(counts=10)
    oracle = run.losses.min(axis=1)
    drawn = CumulativeLossDisplay(run, {"best of each record": oracle}).plot()
    np.testing.assert_allclose(drawn.lines_["mixture"].get_ydata()[1:], 10 * run.loss.cumsum())
    np.testing.assert_allclose(drawn.lines_["expert 1"].get_ydata()[-1], 10 * run.losses[:, 1].sum())
    totals = run.losses.sum(axis=0)
    best = f"best expert ({run.names[totals.argmin()]})"
    assert list(drawn.regret_lines_) == [best, "plain mean", "best of each record"]
    ends = [line.get_ydata()[-1] for line in drawn.regret_lines_.values()]
    expected = run.loss.sum() - np.array([totals.min(), run.uniform.sum(), oracle.sum()])
    np.testing.assert_allclose(ends, 10 * expected)
    assert drawn.ax_.get_ylabel() == "sum of squared errors"
    with pytest.raises(ValueError, match="oracle 'short' must have one loss a record"):
        CumulativeLossDisplay(run, {"short": oracle[1:]})


def test_an_expert_that_sleeps_is_charged_what_the_mixture_lost():
    run = run_record()
    losses = run.losses.copy()
    losses[:10, 0] = np.nan
    line = CumulativeLossDisplay(changed(run, losses=losses)).plot().lines_["expert 0"].get_ydata()
    assert line[-1] == pytest.approx(run.loss[:10].sum() + losses[10:, 0].sum())


def test_an_expert_that_was_there_for_a_moment_is_not_the_best_one():
    run = run_record()
    losses = run.losses.copy()
    losses[:, 0], losses[-3:, 0] = np.nan, 0.0
    names = list(CumulativeLossDisplay(changed(run, losses=losses)).plot().regret_lines_)
    assert names[0] == f"best expert (expert {1 + losses[:, 1:].sum(axis=0).argmin()})"


def test_average_losses_are_sorted_and_the_mixture_is_marked():
    run = run_record()
    losses = run.losses.copy()
    losses[:15, 3] = np.nan
    drawn = AverageLossDisplay(changed(run, losses=losses)).plot()
    means = np.nanmean(losses, axis=0)
    np.testing.assert_allclose([bar.get_width() for bar in drawn.bars_], np.sort(means))
    names = [f"{run.names[at]} (awake 50%)" if at == 3 else run.names[at] for at in np.argsort(means)]
    assert rows_of(drawn.ax_) == names
    assert labels_of(drawn.ax_) == [f"mixture: {run.loss.mean():#.4g}", f"plain mean: {run.uniform.mean():#.4g}"]


def test_contributions_add_up_to_the_prediction():
    run = run_record()
    forecasts = run.forecasts.copy()
    forecasts[5, 0] = np.nan  # the others share its weight
    awake = ~np.isnan(forecasts)
    predictions = (run.weights * awake * run.forecasts).sum(axis=1) / (run.weights * awake).sum(axis=1)
    drawn = ContributionDisplay(changed(run, forecasts=forecasts, predictions=predictions)).plot()
    np.testing.assert_allclose(sum(heights(layer) for layer in drawn.layers_), predictions)
    np.testing.assert_allclose(drawn.line_.get_ydata()[:-1], predictions)


def test_negative_contributions_hang_below_zero():
    run = run_record()
    drawn = ContributionDisplay(changed(run, forecasts=-run.forecasts, predictions=-run.predictions)).plot()
    assert drawn.ax_.get_ylim()[0] < -8.0
    assert max(layer.get_paths()[0].vertices[:, 1].max() for layer in drawn.layers_) == 0.0


def test_residuals_say_when_they_are_means_and_far_ones_are_marked():
    run = run_record(n_records=400)
    drawn = ResidualDisplay(run).plot()
    np.testing.assert_allclose(drawn.residuals_, run.targets - run.predictions)
    assert drawn.ax_.get_ylabel() == "residual (target − prediction)"
    assert sum(bar.get_width() for bar in drawn.spread_ax_.patches) == 400
    assert ResidualDisplay(run_record(counts=24)).plot().ax_.get_ylabel() == "mean residual of 24 rows"
    targets = run.targets.copy()
    targets[7] += 1e6
    drawn = ResidualDisplay(changed(run, targets=targets)).plot()
    assert drawn.ax_.get_ylim()[1] < 100.0
    assert "1 further out" in labels_of(drawn.ax_)


def test_returning_leaders_fill_their_rows_again():
    run = run_record(leaders=np.repeat([2, 0, 2, 1, 2, 0], 5))
    drawn = RecurrenceDisplay(run).plot()
    assert drawn.leaders_ == rows_of(drawn.ax_) == ["expert 2", "expert 0", "expert 1"]
    spans = [[tuple(np.round(path.get_extents().intervalx, 9)) for path in bar.get_paths()] for bar in drawn.bars_]
    assert spans == [[(0, 5), (10, 15), (20, 25)], [(5, 10), (25, 30)], [(15, 20)]]
    assert [text.get_text() for text in drawn.ax_.texts][1:] == ["50%, 3×", "33%, 2×", "17%, 1×"]


def test_memory_curve_has_a_line_for_each_number_of_experts():
    losses = np.array([[5.0, 5.0, 5.0], [np.nan, 4.0, 3.0], [np.nan, np.nan, 2.0]])
    drawn = MemoryCurveDisplay([0, 1, 2], [1, 2, 3], losses, {"mixture": 3.5}, "mean loss").plot()
    assert labels_of(drawn.ax_) == ["1 expert", "2 experts", "3 experts", "mixture: 3.5"]
    np.testing.assert_array_equal([line.get_ydata() for line in drawn.lines_], losses)
    assert drawn.mark_lines_[0].get_ydata()[0] == 3.5
    wide = MemoryCurveDisplay([0, 10, 1000], range(1, 31), np.ones((30, 3))).plot(ax=pyplot.subplots()[1])
    assert wide.ax_.get_xscale() == "symlog"
    assert len(labels_of(wide.ax_)) == 9
    with pytest.raises(ValueError, match=r"losses must have shape \(2, 3\)"):
        MemoryCurveDisplay([0, 1, 2], [1, 2], losses)


# From estimators --------------------------------------------------------------------------------------------------


def rows(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 0.1 * rng.normal(size=n)


def regressor(**parameters):
    experts = [("sgd", SGDRegressor(random_state=0)), ("slow", SGDRegressor(eta0=1e-4, random_state=0))]
    return LongTermMemoryRegressor(experts, **parameters)


def learned(model, batch=5, n=60):
    X, y = rows(n)
    for at in range(0, n, batch):
        model.partial_fit(X[at : at + batch], y[at : at + batch])
    return model


def test_trace_of_a_regressor_has_what_was_said_and_what_came():
    model, twin = regressor(memory=None, record=100), regressor(memory=None)
    X, y = rows()
    said = []
    for at in range(0, 60, 5):
        batch = slice(at, at + 5)
        if at:
            said.append(twin.predict(X[batch]).mean())
        for each in (model, twin):
            each.partial_fit(X[batch], y[batch])
    run = model.run_record()
    assert run.names == ["sgd", "slow"]
    assert run.ends.tolist() == list(range(10, 61, 5))
    assert set(run.counts.tolist()) == {5}
    np.testing.assert_allclose(run.targets, y[5:].reshape(-1, 5).mean(axis=1))
    np.testing.assert_allclose(run.predictions, said)
    np.testing.assert_allclose((run.weights * run.forecasts).sum(axis=1), run.predictions)
    assert (run.uniform >= 0.0).all()
    assert run.loss_name == "squared_error"
    assert model.history_[-1].row == 60
    ContributionDisplay.from_estimator(model)
    ResidualDisplay.from_estimator(model)


@pytest.mark.parametrize("record", [1, 3, 8])
def test_thinned_records_are_means_of_all_rows(record):
    full, thin = learned(regressor(record=1000)).run_record(), learned(regressor(record=record)).run_record()
    assert thin.counts.sum() == full.counts.sum()
    assert thin.ends[-1] == 60
    for field in ("targets", "predictions", "loss", "uniform"):
        whole = np.average(getattr(full, field), weights=full.counts)
        assert np.average(getattr(thin, field), weights=thin.counts) == pytest.approx(whole)
    np.testing.assert_allclose(thin.thinned(1).targets, full.thinned(1).targets)


def test_thinning_knows_sleepers_and_times():
    run = run_record(2, 5, dated=True)
    losses = np.array([[1.0, np.nan], [3.0, np.nan], [5.0, np.nan], [7.0, 2.0], [9.0, 4.0]])
    run = changed(run, losses=losses, counts=np.array([1, 3, 1, 1, 2])).thinned(3)
    np.testing.assert_allclose(run.losses, [[2.5, np.nan], [6.0, 2.0], [9.0, 4.0]])
    assert run.counts.tolist() == [4, 2, 2]
    assert run.times.astype(str).tolist() == ["2024-01-02", "2024-01-04", "2024-01-05"]


def test_plain_mean_of_a_record_is_that_of_the_experts():
    model = regressor(memory=None, record=100, loss="absolute_error")
    X, y = rows(10)
    model.partial_fit(X[:5], y[:5])
    mean = np.mean([expert.predict(X[5:]) for expert in model.estimators_], axis=0)
    model.partial_fit(X[5:], y[5:])
    assert model.run_record().uniform[-1] == pytest.approx(np.abs(mean - y[5:]).mean())


def test_snapshots_come_and_go_in_a_trace():
    rng = np.random.default_rng(0)
    experts = [("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))]
    memory = Snapshots(every=50, max_size=3, merge=None)
    model = LongTermMemoryClassifier(experts, memory=memory, record=1000, random_state=0)
    for at in range(60):
        X = rng.normal(size=(10, 2))
        model.partial_fit(X, (X[:, at // 20 % 2] > 0).astype(int), classes=[0, 1])
    run = model.run_record()
    assert len(run.names) > len(model.experts_)
    np.testing.assert_allclose(run.weights.sum(axis=1), 1.0)
    assert (run.weights[np.isnan(run.losses)] < 1.0).all()
    assert run.loss_name == "zero_one"
    assert CumulativeLossDisplay.from_estimator(model).ax_.get_ylabel() == "mistakes"
    assert AverageLossDisplay.from_estimator(model).ax_.get_xlabel() == "share of mistakes"
    for display in (WeightStackDisplay, WeightBoxDisplay, RecurrenceDisplay):
        display.from_estimator(model).figure_.canvas.draw()
    for display in (ContributionDisplay, ResidualDisplay):
        with pytest.raises(ValueError, match=r"of numbers, and this run_record has no targets.*classifier"):
            display.from_estimator(model)


def test_estimators_for_river_can_be_drawn():
    pytest.importorskip("river")
    from river import linear_model, preprocessing

    from ltm_sklearn import river

    models = [preprocessing.StandardScaler() | linear_model.LinearRegression(), linear_model.PARegressor()]
    model = preprocessing.StandardScaler() | river.LongTermMemoryRegressor(named(models), record=20)
    X, y = rows()
    for x, target in zip(X.tolist(), y.tolist(), strict=True):
        model.learn_one({"a": x[0], "b": x[1]}, target)
    run = RecurrenceDisplay.from_estimator(model).run_record
    assert run.ends[-1] == 60
    assert run.names[:2] == ["LinearRegression", "PARegressor"]


def test_pipelines_are_drawn_by_their_last_step():
    pipeline = IncrementalPipeline([("scale", StandardScaler()), ("ltm", regressor(record=10))])
    assert WeightStackDisplay.from_estimator(learned(pipeline)).run_record.ends[-1] == 60


@DISPLAYS
def test_estimators_without_a_record_are_told_what_to_do(display):
    with pytest.raises(NotFittedError, match="LongTermMemoryRegressor has not been fitted"):
        display.from_estimator(regressor(record=5))
    with pytest.raises(ValueError, match="keeps no history to draw: give it record="):
        display.from_estimator(learned(regressor()))
    with pytest.raises(ValueError, match="nothing is recorded yet"):
        display.from_estimator(regressor(record=5).partial_fit(*rows(5)))
    with pytest.raises(TypeError, match="a DummyRegressor keeps no history"):
        display.from_estimator(DummyRegressor())


def test_what_an_estimator_should_draw_is_handed_on():
    class Several:
        def run_record(self, series=None):
            return changed(run_record(), names=[f"{series} {at}" for at in range(4)])

    ax = pyplot.subplots()[1]
    drawn = WeightStackDisplay.from_estimator(Several(), series="north", ax=ax)
    assert drawn.ax_ is ax
    assert drawn.run_record.names[0] == "north 0"


def test_results_of_prequential_runs_carry_traces():
    def run(**models):
        return prequential(models, rows(), batch_size=5)

    result = run(a=regressor(record=10), b=regressor(record=10), c=regressor(), d=SGDRegressor())
    assert list(result.run_records) == ["a", "b"]
    assert WeightStackDisplay.from_result(result, model="b").run_record is result.run_records["b"]
    with pytest.raises(ValueError, match=r"give model=, one of \['a', 'b'\]"):
        WeightStackDisplay.from_result(result)
    with pytest.raises(ValueError, match=r"model='c' has not recorded; those that have are \['a', 'b'\]"):
        WeightStackDisplay.from_result(result, model="c")
    with pytest.raises(ValueError, match="give one record="):
        WeightStackDisplay.from_result(run(d=SGDRegressor()))
    only = run(a=regressor(record=10), d=SGDRegressor())
    ax = pyplot.subplots()[1]
    assert ResidualDisplay.from_result(only, ax=ax).ax_ is ax


def test_a_trace_says_what_is_wrong_with_it():
    run = run_record()
    assert repr(run) == "<RunRecord: 4 experts, 30 rows in 30 records, squared loss>"
    with pytest.raises(ValueError, match=r"weights of a run_record must have shape \(30, 4\); it has \(30, 3\)"):
        changed(run, weights=run.weights[:, 1:])
    with pytest.raises(ValueError, match=r"loss of a run_record must have shape \(30,\)"):
        changed(run, loss=run.loss[1:])
    with pytest.raises(ValueError, match="needs records and experts"):
        changed(run, names=[])


def test_matplotlib_is_only_imported_to_draw(tmp_path):
    code = (
        "import sys, ltm_sklearn, ltm_sklearn.display, ltm_sklearn.evaluation; assert 'matplotlib' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)


def test_odd_names_are_names():
    made = run_record(n_experts=4)
    odd = replace(made, names=["$\\frac{$", "a$b_{$", "mixture", "plain mean"])
    for display in (WeightStackDisplay, WeightBoxDisplay, AverageLossDisplay, RecurrenceDisplay, ContributionDisplay):
        display(odd).plot().figure_.canvas.draw()
    lines = CumulativeLossDisplay(odd).plot().lines_
    assert {"mixture", "plain mean", "mixture (expert)", "plain mean (expert)"} <= {*lines}
