"""FailureReport of ``ltm-sklearn mixture``: tables, pictures, and the page."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..display import (
    AverageLossDisplay,
    ContributionDisplay,
    CumulativeLossDisplay,
    MemoryCurveDisplay,
    RecurrenceDisplay,
    ResidualDisplay,
    WeightBoxDisplay,
    WeightStackDisplay,
    best_sequences,
    mean_called,
    memory_curve_of,
    number,
)
from ..forecasting import SummaryRow
from ..recording import RunRecord
from ._mixture_run import MixtureRun
from ._report import Card, Picture, ReportTable, TableRow, aligned_numbers, default_style, draw_picture

MOST_ROWS = 200  #: of the tables of series and of rows without a target

MEMORY_CURVE_SIZE = (9.0, 4.5)
SWITCHES = 10  #: of the best sequence with which the mixture is compared
CURVE = (50, 3)  #: switches, and distinct experts, of the memory curve
MOST_LOSSES = 1_500_000  #: of a larger table of losses the memory curve would take long


def page_values(run: MixtureRun, by_series: Any, target: str) -> dict[str, Any]:
    """Return the variables of the template ``mixture.html.jinja``.

    Parameters
    ----------
    run : MixtureRun
    by_series : pandas frame or None
        The losses of each series.
    target : str
        Name of the target.
    """
    (mixture,), (mean,), (best, *_) = (_summary_rows(run, kind) for kind in ("mixture", "mean", "expert"))
    loss_name = run.summary.loss_name
    gains = ((mean.gain, "their plain mean"), (best.gain, f"the best of them, {best.name}"))
    learned = run.file.known.copy()
    if (n_waiting := _n_waiting(run)) and run.file.series is None:
        learned[np.flatnonzero(learned)[-n_waiting:]] = False
    return {
        "n_rows": run.summary.n_rows,
        "n_experts": len(run.file.experts),
        "period": period(run, learned),
        "measure": mean_called(loss_name),
        "loss": number(mixture.loss),
        "comparisons": [f"{_relative(gain)} {other}" for gain, other in gains if not math.isnan(gain)],
        "cards": _cards(run, mixture, mean, best),
        "losses": _losses_table(run),
        "notes": _notes(run),
        "series": None if by_series is None else _series_table(by_series, loss_name),
        "future": _future_table(run, target),
        "drawn_series": run.drawn_series,
        "n_drawn_rows": len(run.run_record.ends),
    }


def period(run: MixtureRun, rows: NDArray[np.bool_]) -> tuple[str, str] | None:
    """Return the first and the last time of the rows, as written in the file; None if it has no times."""
    if run.file.time is None or run.file.times is None:
        return None
    at = np.flatnonzero(rows)
    times = run.file.times[at]
    return str(run.file.time.iloc[at[times.argmin()]]), str(run.file.time.iloc[at[times.argmax()]])


def _relative(gain: float) -> str:
    """Say how much smaller the loss of the mixture is."""
    return "as much as" if abs(gain) < 0.0005 else f"{abs(gain):.1%} {'less' if gain > 0.0 else 'more'} than"


def _summary_rows(run: MixtureRun, kind: str) -> list[SummaryRow]:
    return [row for row in run.summary.rows if row.kind == kind and not math.isnan(row.loss)]


def _n_waiting(run: MixtureRun) -> int:
    """Return the number of rows at the end that belong to blocks that are not complete."""
    return int(run.mixture._panel.n_waiting.sum())


def _cards(run: MixtureRun, mixture: SummaryRow, mean: SummaryRow, best: SummaryRow) -> list[Card]:
    last = run.run_record.weights[-1]
    root = f" (its root: {number(math.sqrt(mixture.loss))})" if run.summary.loss_name == "squared_error" else ""
    of_series = "" if run.file.series is None else f", series {run.drawn_series}"
    return [
        Card("Mixture", number(mixture.loss), mean_called(run.summary.loss_name) + root),
        Card("Plain mean of all", number(mean.loss), _comparison(mean.gain)),
        Card(f"Best expert: {best.name}", number(best.loss), _comparison(best.gain)),
        Card(f"Largest weight at the end{of_series}", f"{last.max():.0%}", run.run_record.names[int(last.argmax())]),
    ]


def _comparison(gain: float) -> str:
    if math.isnan(gain):
        return ""
    if abs(gain) < 0.0005:
        return "the mixture's loss is the same"
    return f"the mixture's loss is {abs(gain):.1%} {'lower' if gain > 0.0 else 'higher'}"


# Tables -----------------------------------------------------------------------------------------------------------


def _losses_table(run: MixtureRun) -> ReportTable:
    summary = run.summary
    squared, slept = summary.loss_name == "squared_error", any(row.awake < 1.0 for row in summary.rows)
    weights = dict(zip(map(str, run.file.experts), run.weights[run.file.known].mean(axis=0).tolist(), strict=True))
    header = ["forecast", mean_called(summary.loss_name)] + ["root of it"] * squared + ["awake"] * slept
    in_order = sorted(summary.rows, key=lambda row: row.kind == "expert")  # experts last: there may be many
    losses = aligned_numbers(row.loss for row in in_order)
    roots = aligned_numbers(math.sqrt(row.loss) for row in in_order) if squared else losses
    rows = []
    for row, loss, root in zip(in_order, losses, roots, strict=True):
        cells = [row.name, loss, *([root] if squared else [])]
        cells += [f"{row.awake:.0%}"] if slept else []
        cells.append("" if row.kind == "mixture" or math.isnan(row.gain) else f"{row.gain:+.1%}")
        cells.append(f"{weights[row.name]:.1%}" if row.kind == "expert" and row.name in weights else "")
        rows.append(TableRow(cells, row.kind))
    caption = "Gain: how much lower the loss of the mixture is, over the rows in which the forecast of the line exists."
    if run.mixture.bias:
        caption += " The remaining weight is on two experts above and below the plain mean (--bias)."
    return ReportTable("Losses of the mixture and the experts", caption, [*header, "gain", "mean weight"], rows)


def _notes(run: MixtureRun) -> list[str]:
    notes = [run.summary.note] if run.summary.note else []
    if n_waiting := _n_waiting(run):
        notes.append(
            f"The last {n_waiting:,} rows belong to blocks that are not complete: the pictures show them, the table "
            "does not."
        )
    return notes


def _series_table(by_series: Any, loss_name: str) -> ReportTable:
    rows = []
    for label, n_rows, own, mean, on_mean, best, of_best, on_best in by_series.head(MOST_ROWS).itertuples(index=False):
        numbers = [number(own), number(mean), f"{on_mean:+.1%}", best, number(of_best), f"{on_best:+.1%}"]
        rows.append(TableRow([str(label), f"{n_rows:,}", *numbers]))
    header = ["series", "rows", "mixture", "plain mean", "gain on it", "best expert", "its loss", "gain on it"]
    caption = f"{mean_called(loss_name).capitalize()} of each series, those with the most rows first."
    if len(by_series) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(by_series)}; all are in series.csv."
    return ReportTable("Losses by series", caption, header, rows, {5: "words"})


def _future_table(run: MixtureRun, target: str) -> ReportTable | None:
    """Return the forecasts of rows without a target; None if all have one."""
    file = run.file
    future = np.flatnonzero(~file.known)
    if not len(future):
        return None
    header = [] if file.series is None else [str(run.mixture.series)]
    header += ["row" if file.time is None else str(run.mixture.time), "mixture", "plain mean"]
    first = future[:MOST_ROWS]
    columns = zip(aligned_numbers(run.forecasts[first]), aligned_numbers(run.means[first]), strict=True)
    rows = []
    for row, numbers in zip(first.tolist(), columns, strict=True):
        labels = [] if file.series is None else [str(file.series[row])]
        labels.append(str(row) if file.time is None else str(file.time.iloc[row]))
        rows.append(TableRow([*labels, *numbers]))
    caption = f"Rows in which {target} is not known yet, forecast with the weights at the end."
    if len(future) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(future)}; all are in forecasts.csv."
    return ReportTable("Forecasts of rows without a target", caption, header, rows, {len(header) - 3: "when"})


# Pictures ---------------------------------------------------------------------------------------------------------

#: Titles and captions of the pictures by name of the file.
CAPTIONS = {
    "cumulative_loss": (
        "Cumulative loss",
        "Above: losses added up over the rows. The flatter a line, the better the forecasts. Below: regret, the "
        "cumulative loss of the mixture minus that of the best expert in hindsight, of the plain mean, and of the best "
        "sequence of experts in hindsight. The mixture is ahead where a line is below zero, and gains where it falls.",
    ),
    "weights": (
        "Weights over time",
        "The weights with which forecasts were issued, stacked. The thicker a band, the larger the weight of its "
        "expert. A band that becomes thick again shows memory: the expert was found again.",
    ),
    "leaders": (
        "Leading expert over time",
        "A row for each expert that ever had the largest weight, in the order of their first lead. An expert with "
        "several bars returned to the lead. At the right: the share of all rows, and the number of separate leads.",
    ),
    "average_loss": (
        "Mean loss of the experts",
        "Mean loss of each expert, the best at the top, with the mixture (line) and the plain mean (dashed line). Rows "
        "in which an expert has no forecast do not count for it.",
    ),
    "memory_curve": (
        "What switching could have gained",
        "The least loss of any sequence of experts in hindsight, by the number of its switches and of its distinct "
        "experts. Where the lines coincide, a few experts that return are enough. The mixture has no hindsight.",
    ),
    "weight_boxes": (
        "Distribution of the weights",
        "The weights of each expert: the box holds the middle half, the whiskers nine tenths, the bar is the median "
        "and the dot the mean. A long box: an expert with a large weight at some times only.",
    ),
    "contributions": (
        "Contributions to the forecast",
        "Weight × forecast of each expert, stacked. They add up to the issued forecast (line).",
    ),
    "residuals": (
        "Residuals",
        "Target minus forecast, row by row, with the running median. A median away from zero shows an error that all "
        "experts share. Weights cannot correct it; the option --bias may.",
    ),
}


def draw_pictures(run_record: RunRecord) -> list[Picture]:
    """Draw the pictures in the order of the page.

    Parameters
    ----------
    run_record : RunRecord
        The history of the mixture, with a record for each row.
    """
    draw: dict[str, Callable[[Any], Any]] = {
        "cumulative_loss": CumulativeLossDisplay(run_record, _best_sequence(run_record)).plot,
        "weights": WeightStackDisplay(run_record).plot,
        "leaders": RecurrenceDisplay(run_record).plot,
        "average_loss": AverageLossDisplay(run_record).plot,
        "memory_curve": _memory_curve(run_record),
        "weight_boxes": WeightBoxDisplay(run_record).plot,
        "contributions": ContributionDisplay(run_record).plot,
        "residuals": ResidualDisplay(run_record).plot,
    }
    with default_style():
        return [
            draw_picture(name, plot, _size(plot), *CAPTIONS[name], _alternative_text(name, run_record))
            for name, plot in draw.items()
            if plot is not None
        ]


def _size(plot: Callable[[Any], Any]) -> tuple[float, float]:
    """Return the size of a picture in inches."""
    display = getattr(plot, "__self__", None)
    return MEMORY_CURVE_SIZE if display is None else (9.0, display._size()[1])


def _best_sequence(run_record: RunRecord) -> dict[str, Floats]:
    """Return the losses of the best sequence of experts in hindsight, if it exists."""
    if len(run_record.loss) <= SWITCHES:
        return {}
    try:
        return best_sequences(run_record, [SWITCHES])
    except ValueError:  # no such sequence of experts is awake in all rows
        return {}


def _memory_curve(run_record: RunRecord) -> Any:
    """Return the function that draws the memory curve; None if it would take long, or show nothing."""
    if run_record.losses.size > MOST_LOSSES or len(run_record.names) == 1 or len(run_record.loss) <= SWITCHES:
        return None
    try:
        curve, marks = memory_curve_of(run_record, *CURVE)
    except ValueError:
        return None
    loss_name = mean_called(run_record.loss_name)
    return lambda ax: MemoryCurveDisplay.from_curve(curve, marks=marks, loss_name=loss_name, ax=ax)


def _alternative_text(name: str, run_record: RunRecord) -> str:
    """Describe a picture in numbers, for readers who do not see it."""
    weights = np.average(run_record.weights, axis=0, weights=run_record.counts)
    top = [f"{run_record.names[at]} {weights[at]:.0%}" for at in np.argsort(-weights, kind="stable")[:3]]
    if name in ("weights", "weight_boxes", "contributions"):
        kind = {"weights": "Stacked areas of the weights over time", "weight_boxes": "Boxes of the weights"}
        shown = kind.get(name, "Stacked areas of weight × forecast over time")
        return f"{shown}. Largest mean weights: {', '.join(top)}."
    if name == "leaders":
        leaders = run_record.weights.argmax(axis=1)
        led = np.bincount(leaders, weights=run_record.counts, minlength=len(run_record.names)) / run_record.counts.sum()
        who = [f"{run_record.names[at]} {led[at]:.0%}" for at in np.argsort(-led, kind="stable")[:3] if led[at] > 0]
        return f"Bars over time for each expert that led. Led longest: {', '.join(who)}."
    mixture = float(np.average(run_record.loss, weights=run_record.counts))
    if name == "residuals":
        assert run_record.targets is not None
        assert run_record.predictions is not None
        residuals = run_record.targets - run_record.predictions
        spread = f"Mean {residuals.mean():.3g}, standard deviation {residuals.std():.3g}"
        return f"Dots of target minus forecast over time. {spread}."
    if name == "memory_curve":
        return f"Lines of the least loss of a sequence over its switches. Mean loss of the mixture {mixture:.5g}."
    assert run_record.uniform is not None
    uniform = float(np.average(run_record.uniform, weights=run_record.counts))
    shown = "Bars of mean losses" if name == "average_loss" else "Lines of cumulative losses over time, and of regret"
    return f"{shown}. Mean loss of the mixture {mixture:.5g}, of the plain mean {uniform:.5g}."
