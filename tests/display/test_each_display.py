"""Content of each display: the drawn numbers are those of the run record."""

import numpy as np
import pytest
from matplotlib import pyplot
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from support.run_records import changed, fitted, regressor, run_record

from ltm_sklearn import LongTermMemoryClassifier, Snapshots
from ltm_sklearn.display import (
    AverageLossDisplay,
    ContributionDisplay,
    CumulativeLossDisplay,
    MemoryCurveDisplay,
    RecurrenceDisplay,
    ResidualDisplay,
    RunningLossDisplay,
    WeightBoxDisplay,
    WeightStackDisplay,
)


def heights(layer):
    """Return the heights of a layer of a stack in the middle of each record."""
    (path,) = layer.get_paths()
    x, y = path.vertices.T
    middles = (np.unique(x)[:-1] + np.unique(x)[1:]) / 2
    found = []
    for middle in middles:
        crossings = [y[at] for at in range(len(x) - 1) if (x[at] - middle) * (x[at + 1] - middle) < 0]
        found.append(max(crossings) - min(crossings))
    return np.array(found)


def legend_labels(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def row_labels(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


# Weights ----------------------------------------------------------------------------------------------------------


def test_stacked_weights_add_up_to_one():
    run = run_record()
    layers = WeightStackDisplay(run).plot().layers_
    drawn = {layer.get_label(): heights(layer) for layer in layers}
    for at, name in enumerate(run.names):
        np.testing.assert_allclose(drawn[name], run.weights[:, at])
    np.testing.assert_allclose(sum(drawn.values()), 1.0)
    assert layers[0].get_label() == run.names[run.weights.mean(axis=0).argmax()]
    long = WeightStackDisplay(run_record(2, 20_000)).plot().layers_
    assert len(heights(long[0])) == 250
    np.testing.assert_allclose(sum(heights(layer) for layer in long), 1.0)


def test_weights_that_the_record_dropped_are_a_layer():
    run = run_record()
    drawn = WeightStackDisplay(changed(run, weights=0.9 * run.weights)).plot()
    assert drawn.layers_[-1].get_label() == "others"
    np.testing.assert_allclose(heights(drawn.layers_[-1]), 0.1)


def test_boxes_are_quartiles_over_the_records_with_the_expert():
    run = run_record(3)
    weights, losses = run.weights.copy(), run.losses.copy()
    weights[:20, 2], losses[:20, 2] = 0.0, np.nan
    drawn = WeightBoxDisplay(changed(run, weights=weights, losses=losses)).plot()
    box = drawn.boxes_[row_labels(drawn.ax_).index("expert 2")]
    first, third = np.percentile(weights[20:, 2], [25, 75])
    assert box.get_x() == pytest.approx(first)
    assert box.get_x() + box.get_width() == pytest.approx(third)


def test_an_expert_that_leads_again_fills_its_row_again():
    run = run_record(leaders=np.repeat([2, 0, 2, 1, 2, 0], 5))
    drawn = RecurrenceDisplay(run).plot()
    assert drawn.leaders_ == row_labels(drawn.ax_) == ["expert 2", "expert 0", "expert 1"]
    spans = [[tuple(np.round(path.get_extents().intervalx, 9)) for path in bar.get_paths()] for bar in drawn.bars_]
    assert spans == [[(0, 5), (10, 15), (20, 25)], [(5, 10), (25, 30)], [(15, 20)]]
    assert [text.get_text() for text in drawn.ax_.texts][1:] == ["50%, 3×", "33%, 2×", "17%, 1×"]


# Losses -----------------------------------------------------------------------------------------------------------


def test_cumulative_losses_and_regret_count_rows():
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
    with pytest.raises(ValueError, match=r"oracles\['short'\] has shape \(29,\)"):
        CumulativeLossDisplay(run, {"short": oracle[1:]})


def test_regret_against_the_best_sequence_with_switches():
    run = run_record(2)
    drawn = CumulativeLossDisplay(changed(run, losses=np.eye(2)[np.repeat([0, 1], 15)]), switches=[0, 1]).plot()
    lines = drawn.regret_lines_
    assert list(lines)[2:] == ["best sequence, 0 switches", "best sequence, 1 switch"]
    ends = [line.get_ydata()[-1] for line in list(lines.values())[2:]]
    np.testing.assert_allclose(ends, [run.loss.sum() - 15, run.loss.sum()])


def test_a_sleeping_expert_is_given_the_loss_of_the_mixture():
    run = run_record()
    losses = run.losses.copy()
    losses[:10, 0] = np.nan
    line = CumulativeLossDisplay(changed(run, losses=losses)).plot().lines_["expert 0"].get_ydata()
    assert line[-1] == pytest.approx(run.loss[:10].sum() + losses[10:, 0].sum())


def test_the_best_expert_was_awake_in_half_of_the_rows():
    run = run_record()
    losses = run.losses.copy()
    losses[:, 0], losses[-3:, 0] = np.nan, 0.0
    names = list(CumulativeLossDisplay(changed(run, losses=losses)).plot().regret_lines_)
    assert names[0] == f"best expert (expert {1 + losses[:, 1:].sum(axis=0).argmin()})"


def test_losses_beyond_the_range_of_floats_are_refused():
    run = run_record()
    with pytest.raises(ValueError, match="exceeds the range of floats"):
        CumulativeLossDisplay(changed(run, loss=np.full(30, 1e308))).plot()


def test_average_losses_are_sorted_and_the_mixture_is_marked():
    run = run_record()
    losses = run.losses.copy()
    losses[:15, 3] = np.nan
    drawn = AverageLossDisplay(changed(run, losses=losses)).plot()
    means = np.nanmean(losses, axis=0)
    np.testing.assert_allclose([bar.get_width() for bar in drawn.bars_], np.sort(means))
    names = [f"{run.names[at]} (awake 50%)" if at == 3 else run.names[at] for at in np.argsort(means)]
    assert row_labels(drawn.ax_) == names
    assert legend_labels(drawn.ax_) == [f"mixture: {run.loss.mean():#.4g}", f"plain mean: {run.uniform.mean():#.4g}"]


def test_recent_losses_are_running_means_over_rows():
    run = run_record(n_records=120)
    run = changed(run, counts=np.arange(1, 121), ends=np.arange(1, 121).cumsum())
    drawn = RunningLossDisplay(run).plot()
    starts = np.maximum(np.arange(1, 121) - 6, 0)  # a twentieth of the records
    expected = [np.average(run.loss[a : b + 1], weights=run.counts[a : b + 1]) for b, a in enumerate(starts)]
    np.testing.assert_allclose(drawn.lines_["mixture"].get_ydata(), expected)
    assert {*drawn.lines_} == {"mixture", "plain mean", "best expert"}


def test_the_memory_curve_has_a_line_per_number_of_experts():
    losses = np.array([[5.0, 5.0, 5.0], [np.nan, 4.0, 3.0], [np.nan, np.nan, 2.0]])
    drawn = MemoryCurveDisplay([0, 1, 2], [1, 2, 3], losses, {"mixture": 3.5}, "mean loss").plot()
    assert legend_labels(drawn.ax_) == ["1 expert", "2 experts", "3 experts", "mixture: 3.5"]
    np.testing.assert_array_equal([line.get_ydata() for line in drawn.lines_], losses)
    assert drawn.mark_lines_[0].get_ydata()[0] == 3.5
    wide = MemoryCurveDisplay([0, 10, 1000], range(1, 31), np.ones((30, 3))).plot(ax=pyplot.subplots()[1])
    assert wide.ax_.get_xscale() == "symlog"
    assert len(legend_labels(wide.ax_)) == 9
    with pytest.raises(ValueError, match=r"losses has shape \(3, 3\); .*shape \(2, 3\)"):
        MemoryCurveDisplay([0, 1, 2], [1, 2], losses)


def test_the_memory_curve_of_a_run_marks_the_mixture():
    model = fitted(regressor(record=1000, memory=None), batch=1)
    drawn = MemoryCurveDisplay.from_estimator(model, max_switches=4, max_distinct=1)
    assert legend_labels(drawn.ax_)[:2] == ["1 expert", "2 experts"]
    assert drawn.mark_lines_[0].get_ydata()[0] == model.run_record().loss.mean()
    assert drawn.switches.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ValueError, match="each record is the mean of up to 5 rows"):
        MemoryCurveDisplay.from_estimator(fitted(regressor(record=1000)))


# Forecasts --------------------------------------------------------------------------------------------------------


def test_contributions_add_up_to_the_prediction():
    run = run_record()
    forecasts = run.forecasts.copy()
    forecasts[5, 0] = np.nan  # asleep: its weight goes to the others
    awake = ~np.isnan(forecasts)
    predictions = (run.weights * awake * run.forecasts).sum(axis=1) / (run.weights * awake).sum(axis=1)
    drawn = ContributionDisplay(changed(run, forecasts=forecasts, predictions=predictions)).plot()
    np.testing.assert_allclose(sum(heights(layer) for layer in drawn.layers_), predictions)
    np.testing.assert_allclose(drawn.line_.get_ydata()[:-1], predictions)


def test_negative_contributions_are_stacked_below_zero():
    run = run_record()
    drawn = ContributionDisplay(changed(run, forecasts=-run.forecasts, predictions=-run.predictions)).plot()
    assert drawn.ax_.get_ylim()[0] < -8.0
    assert max(layer.get_paths()[0].vertices[:, 1].max() for layer in drawn.layers_) == 0.0


def test_residuals_of_means_are_labelled_and_outliers_marked():
    run = run_record(n_records=400)
    drawn = ResidualDisplay(run).plot()
    np.testing.assert_allclose(drawn.residuals_, run.targets - run.predictions)
    assert drawn.ax_.get_ylabel() == "residual (target − prediction)"
    assert sum(bar.get_width() for bar in drawn.distribution_ax_.patches) == 400
    assert ResidualDisplay(run_record(counts=24)).plot().ax_.get_ylabel() == "mean residual of 24 rows"
    targets = run.targets.copy()
    targets[7] += 1e6
    drawn = ResidualDisplay(changed(run, targets=targets)).plot()
    assert drawn.ax_.get_ylim()[1] < 100.0
    assert "1 outlier" in legend_labels(drawn.ax_)


def test_runs_of_classifiers_have_losses_but_no_residuals():
    rng = np.random.default_rng(0)
    experts = [("nb", GaussianNB()), ("sgd", SGDClassifier(random_state=0))]
    memory = Snapshots(every=50, max_size=3, merge=None)
    model = LongTermMemoryClassifier(experts, memory=memory, record=1000, random_state=0)
    for at in range(60):
        X = rng.normal(size=(10, 2))
        model.partial_fit(X, (X[:, at // 20 % 2] > 0).astype(int), classes=[0, 1])
    run = model.run_record()
    assert len(run.names) > len(model.experts_)  # snapshots that were replaced are in the record
    np.testing.assert_allclose(run.weights.sum(axis=1), 1.0)
    assert (run.weights[np.isnan(run.losses)] < 1.0).all()
    assert CumulativeLossDisplay.from_estimator(model).ax_.get_ylabel() == "mistakes"
    assert AverageLossDisplay.from_estimator(model).ax_.get_xlabel() == "share of mistakes"
    for display in (WeightStackDisplay, WeightBoxDisplay, RecurrenceDisplay):
        display.from_estimator(model).figure_.canvas.draw()
    for display in (ContributionDisplay, ResidualDisplay):
        with pytest.raises(ValueError, match="no numeric targets, predictions and forecasts"):
            display.from_estimator(model)
