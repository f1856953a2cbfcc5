"""Report of ``ltm-sklearn mixture``: tables, pictures, and the page."""

from __future__ import annotations

import math
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
from ..recording import RunRecord
from ._mixture_run import MixtureRun
from ._report import Card, Picture, ReportTable, TableRow, aligned_numbers, default_style, draw_picture, leaders

MOST_ROWS = 200  #: of the tables of series and of rows without a target

MEMORY_CURVE_HEIGHT = 4.5  #: in inches
SWITCHES = 10  #: of the best sequence with which the mixture is compared
CURVE = (50, 3)  #: switches, and distinct experts, of the memory curve
MOST_LOSSES = 1_500_000  #: of a larger table of losses the memory curve would take long
#: Names of the pictures in the order of the page.
PICTURES = (
    "cumulative_loss",
    "weights",
    "leaders",
    "average_loss",
    "memory_curve",
    "weight_boxes",
    "contributions",
    "residuals",
)


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
    rows = {row.kind: row for row in reversed(run.summary.rows) if not math.isnan(row.loss)}  # the best expert stays
    mixture, mean, best = rows["mixture"], rows["mean"], rows["expert"]
    gains = ((mean.gain, "their plain mean"), (best.gain, f"the best of them, {best.name}"))
    learned = run.file.known.copy()
    n_waiting = run.mixture.n_samples_seen_ - run.summary.n_rows  # of blocks that are not complete
    if n_waiting and run.file.series is None:
        learned[np.flatnonzero(learned)[-n_waiting:]] = False
    measure = mean_called(run.summary.loss_name)
    last = run.run_record.weights[-1]
    root = f" (its root: {number(math.sqrt(mixture.loss))})" if run.summary.loss_name == "squared_error" else ""
    of_series = "" if run.file.series is None else f", series {run.drawn_series}"
    return {
        "run": run,
        "target": target,
        "period": period(run, learned),
        "measure": measure,
        "loss": number(mixture.loss),
        "comparisons": [f"{_relative(gain)} {other}" for gain, other in gains if not math.isnan(gain)],
        "cards": [
            Card("Mixture", number(mixture.loss), measure + root),
            Card("Plain mean of all", number(mean.loss), _comparison(mean.gain)),
            Card(f"Best expert: {best.name}", number(best.loss), _comparison(best.gain)),
            Card(f"Largest weight at the end{of_series}", f"{last.max():.0%}", run.run_record.names[last.argmax()]),
        ],
        "losses": _losses_table(run),
        "n_waiting": n_waiting,
        "most_rows": MOST_ROWS,
        "n_series": 0 if by_series is None else len(by_series),
        "series": None if by_series is None else _series_table(by_series.head(MOST_ROWS)),
        "n_future": int((~run.file.known).sum()),
        "future": _future_table(run),
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
    return ReportTable([*header, "gain", "mean weight"], rows)


def _series_table(by_series: Any) -> ReportTable:
    rows = []
    for label, n_rows, own, mean, on_mean, best, of_best, on_best in by_series.itertuples(index=False):
        numbers = [number(own), number(mean), f"{on_mean:+.1%}", best, number(of_best), f"{on_best:+.1%}"]
        rows.append(TableRow([str(label), f"{n_rows:,}", *numbers]))
    header = ["series", "rows", "mixture", "plain mean", "gain on it", "best expert", "its loss", "gain on it"]
    return ReportTable(header, rows, {5: "words"})


def _future_table(run: MixtureRun) -> ReportTable:
    """Return the first forecasts of rows without a target."""
    file = run.file
    first = np.flatnonzero(~file.known)[:MOST_ROWS]
    columns = {
        "row" if file.time is None else str(run.mixture.time): first if file.time is None else file.time.iloc[first]
    }
    if file.series is not None:
        columns = {str(run.mixture.series): file.series[first]} | columns
    n_labels = len(columns)
    columns |= {"mixture": aligned_numbers(run.forecasts[first]), "plain mean": aligned_numbers(run.means[first])}
    rows = [TableRow([str(cell) for cell in cells]) for cells in zip(*columns.values(), strict=True)]
    return ReportTable([*columns], rows, {n_labels - 1: "when"})


# Pictures ---------------------------------------------------------------------------------------------------------


def draw_pictures(run_record: RunRecord) -> dict[str, Picture]:
    """Draw the pictures by name, in the order of the page.

    Parameters
    ----------
    run_record : RunRecord
        The history of the mixture, with a record for each row.
    """
    displays = {
        "cumulative_loss": CumulativeLossDisplay(run_record, _best_sequence(run_record)),
        "weights": WeightStackDisplay(run_record),
        "leaders": RecurrenceDisplay(run_record),
        "average_loss": AverageLossDisplay(run_record),
        "weight_boxes": WeightBoxDisplay(run_record),
        "contributions": ContributionDisplay(run_record),
        "residuals": ResidualDisplay(run_record),
    }
    draw = {name: (display.plot, display._size()[1]) for name, display in displays.items()}
    memory_curve = _memory_curve(run_record)
    if memory_curve is not None:
        draw["memory_curve"] = (memory_curve, MEMORY_CURVE_HEIGHT)
    texts = _alternative_texts(run_record)
    with default_style():
        return {name: draw_picture(*draw[name], texts[name]) for name in PICTURES if name in draw}


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


def _alternative_texts(run_record: RunRecord) -> dict[str, str]:
    """Describe each picture in numbers, for readers who do not see it."""
    assert run_record.targets is not None
    assert run_record.predictions is not None
    assert run_record.uniform is not None
    weights = np.average(run_record.weights, axis=0, weights=run_record.counts)
    top = [f"{run_record.names[at]} {weights[at]:.0%}" for at in np.argsort(-weights, kind="stable")[:3]]
    largest = f"Largest mean weights: {', '.join(top)}."
    led = ", ".join(f"{name} {share:.0%}" for name, share in leaders(run_record)[:3])
    mixture = float(np.average(run_record.loss, weights=run_record.counts))
    mean = float(np.average(run_record.uniform, weights=run_record.counts))
    loss = f"Mean loss of the mixture {mixture:.5g}"
    losses = f"{loss}, of the plain mean {mean:.5g}"
    residuals = run_record.targets - run_record.predictions
    spread = f"Mean {residuals.mean():.3g}, standard deviation {residuals.std():.3g}"
    return {
        "cumulative_loss": f"Lines of cumulative losses over time, and of regret. {losses}.",
        "weights": f"Stacked areas of the weights over time. {largest}",
        "leaders": f"Bars over time for each expert that led. Led longest: {led}.",
        "average_loss": f"Bars of mean losses. {losses}.",
        "memory_curve": f"Lines of the least loss of a sequence over its switches. {loss}.",
        "weight_boxes": f"Boxes of the weights. {largest}",
        "contributions": f"Stacked areas of weight × forecast over time. {largest}",
        "residuals": f"Dots of target minus forecast over time. {spread}.",
    }
