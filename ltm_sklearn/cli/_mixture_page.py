"""The page of a report on a mixture."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..display import mean_called, number
from ..forecasting import MixtureSummary, SummaryRow
from ._mixture_run import Run
from ._page import column, end, figure, said, shown_cards, table, whole
from ._picture import Picture

MOST_ROWS = 200  #: of the tables of the series and of what is to come
COVERED = (
    "Where each round is learned before the next is issued, and the losses of the experts lie equally far apart in all "
    "rounds: what was issued loses more than any sequence of few experts that take turns, whatever the targets are, "
    "only by an amount that grows far more slowly than the number of rounds."
)
NOT_COVERED = (
    "The same in so many words where that distance changes: then it holds round by round, in units of the distance of "
    "late. Anything with a lag. That the mixture is better than the best expert, or than the plain mean, in a given "
    "stretch. Anything about errors that all experts share."
)


def page(
    run: Run,
    title: str,
    target: str,
    pictures: Sequence[Picture],
    facts: Mapping[str, str],
    by_series: Any,
    tables: Mapping[str, str],
) -> str:
    """The HTML.

    Parameters
    ----------
    run : Run
    title : str
    target : str
        What the targets are called.
    pictures : sequence of Picture
    facts : dict
        What was run, by name.
    by_series : frame or None
    tables : dict
        Files that lie beside the page, and what they hold; the pictures lie there, too.
    """
    of_series = (
        "" if by_series is None else f" of series {said(run.drawn)}, which has {len(run.run_record.ends):,} rows"
    )
    parts = [
        f"<h2>In numbers</h2>{_summary_table(run)}{_notes(run)}",
        "" if by_series is None else f"<h2>By series</h2>{_series_table(by_series, run.summary.loss_name)}",
        _to_come(run, target),
        f"<p class='soft'>The pictures below are{of_series}.</p>" if by_series is not None else "",
        "<p class='soft narrow'>On a narrow screen, wide pictures and tables scroll sideways.</p>",
        *(figure(picture) for picture in pictures),
        f"<h2>What is guaranteed, and what is not</h2><p><strong>Guaranteed.</strong> {said(COVERED)}</p>",
        f"<p><strong>Not guaranteed.</strong> {said(NOT_COVERED)}</p>",
        end(facts, tables, pictures),
    ]
    return whole(title, _lead(run) + _cards(run), parts)


# Words ------------------------------------------------------------------------------------------------------------


def _gained(gain: float) -> str:
    """How the mixture compares."""
    return "as much as" if abs(gain) < 0.0005 else f"{abs(gain):.1%} {'less' if gain > 0.0 else 'more'} than"


def _rows_of(run: Run, kind: str) -> list[SummaryRow]:
    return [row for row in run.summary.rows if row.kind == kind and not math.isnan(row.loss)]


def period(run: Run, rows: NDArray[np.bool_]) -> tuple[str, str] | None:
    """First and last time of some rows, as the file says them; None if it has no times."""
    if run.file.time is None or run.file.shown is None:
        return None
    at = np.flatnonzero(rows)
    shown = run.file.shown[at]
    return str(run.file.time.iloc[at[shown.argmin()]]), str(run.file.time.iloc[at[shown.argmax()]])


def _lead(run: Run) -> str:
    (mixture,), (mean,), experts = _rows_of(run, "mixture"), _rows_of(run, "mean"), _rows_of(run, "expert")
    best = experts[0]
    n_experts = len(run.file.experts)
    learned = run.file.known.copy()
    waiting = int(run.mixture._panel.n_waiting.sum())
    if waiting and run.file.series is None:
        learned[np.flatnonzero(learned)[-waiting:]] = False
    times = period(run, learned)
    whole = [f"<span class='whole'>{said(each)}</span>" for each in times or ()]
    when = f" from {whole[0]} to {whole[1]}" if whole else ""
    pairs = ((mean.gain, "their plain mean"), (best.gain, f"the best of them, {said(best.name)}"))
    compared = [f"{_gained(gain)} {whom}" for gain, whom in pairs if not math.isnan(gain)]
    return (
        f"<p class='lead'>In {run.summary.n_rows:,} rows{when}, the mixture of {n_experts} forecasts had a "
        f"{said(mean_called(run.summary.loss_name))} of <strong>{number(mixture.loss)}</strong>"
        f"{': ' + ' and '.join(compared) if compared else ''}.</p>"
    )


def _cards(run: Run) -> str:
    (mixture,), (mean,), experts = _rows_of(run, "mixture"), _rows_of(run, "mean"), _rows_of(run, "expert")
    last = run.run_record.weights[-1]
    root = f" (its root: {number(math.sqrt(mixture.loss))})" if run.summary.loss_name == "squared_error" else ""
    of_series = "" if run.file.series is None else f", series {run.drawn}"
    cards = [
        ("Mixture", number(mixture.loss), mean_called(run.summary.loss_name) + root),
        ("Plain mean of all", number(mean.loss), _against(mean.gain)),
        (f"Best expert: {experts[0].name}", number(experts[0].loss), _against(experts[0].gain)),
        (f"Largest weight at the end{of_series}", f"{last.max():.0%}", run.run_record.names[int(last.argmax())]),
    ]
    return shown_cards(cards)


def _against(gain: float) -> str:
    return "" if math.isnan(gain) else f"the mixture lost {_gained(gain).removesuffix(' than').removesuffix(' as')}"


# Tables -----------------------------------------------------------------------------------------------------------


def _summary_table(run: Run) -> str:
    summary: MixtureSummary = run.summary
    squared, slept = summary.loss_name == "squared_error", any(row.awake < 1.0 for row in summary.rows)
    weights = dict(zip(map(str, run.file.experts), run.weights[run.file.known].mean(axis=0).tolist(), strict=True))
    head = ["forecast", mean_called(summary.loss_name)] + ["root of it"] * squared + ["awake"] * slept
    in_order = sorted(summary.rows, key=lambda row: row.kind == "expert")  # of whom there may be many
    losses = column(row.loss for row in in_order)
    roots = column(math.sqrt(row.loss) for row in in_order) if squared else losses
    rows = []
    for row, loss, root in zip(in_order, losses, roots, strict=True):
        cells = [row.name, loss, *([root] if squared else [])]
        cells += [f"{row.awake:.0%}"] if slept else []
        cells.append("" if row.kind == "mixture" or math.isnan(row.gain) else f"{row.gain:+.1%}")
        cells.append(f"{weights[row.name]:.1%}" if row.kind == "expert" and row.name in weights else "")
        rows.append((row.kind, cells))
    caption = "Gain: how much less the mixture lost than this one, in the rows in which it had a forecast."
    if run.mixture.bias:
        caption += " The rest of the weights is on two experts above and below the plain mean (--bias)."
    return table("What the mixture and the experts lost", [*head, "gain", "mean weight"], rows, caption)


def _notes(run: Run) -> str:
    waiting = int(run.mixture._panel.n_waiting.sum())
    notes = [run.summary.note]
    if waiting:
        missing = f"The last {waiting:,} rows are of blocks that are not complete"
        notes.append(f"{missing}: the pictures show them, the table does not.")
    return "".join(f"<p class='soft'>{said(note)}</p>" for note in notes if note)


def _series_table(by_series: Any, loss_name: str) -> str:
    rows = []
    for label, n_rows, own, mean, on_mean, best, of_best, on_best in by_series.head(MOST_ROWS).itertuples(index=False):
        numbers = [number(own), number(mean), f"{on_mean:+.1%}", best, number(of_best), f"{on_best:+.1%}"]
        rows.append(("", [str(label), f"{n_rows:,}", *numbers]))
    head = ["series", "rows", "mixture", "plain mean", "gain on it", "best expert", "its loss", "gain on it"]
    caption = f"{mean_called(loss_name).capitalize()} of each series, those with the most rows first."
    if len(by_series) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(by_series)}; all are in series.csv."
    return table("What was lost in each series", head, rows, caption, {5: "words"})


def _to_come(run: Run, target: str) -> str:
    """Forecasts of rows whose targets have not come yet."""
    file = run.file
    rows = np.flatnonzero(~file.known)
    if not len(rows):
        return ""
    head = [] if file.series is None else [str(run.mixture.series)]
    head += ["row" if file.time is None else str(run.mixture.time), "mixture", "plain mean"]
    lines = []
    first = rows[:MOST_ROWS]
    both = zip(column(run.forecasts[first]), column(run.means[first]), strict=True)
    for row, numbers in zip(first.tolist(), both, strict=True):
        cells = [] if file.series is None else [str(file.series[row])]
        cells.append(str(row) if file.time is None else str(file.time.iloc[row]))
        lines.append(("", [*cells, *numbers]))
    more = f" The first {MOST_ROWS} of {len(rows)}; all are in forecasts.csv." if len(rows) > MOST_ROWS else ""
    caption = f"Rows without {target} yet, forecast with the weights at the end.{more}"
    return "<h2>What is to come</h2>" + table(
        "Forecasts of what is to come", head, lines, caption, {len(head) - 3: "when"}
    )
