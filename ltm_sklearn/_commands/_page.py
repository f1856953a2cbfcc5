"""The page of a report: one file that needs nothing else, on screens of all widths and in print."""

from __future__ import annotations

import math
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.resources import files
from typing import Any

import numpy as np

from .._version import __version__
from ..display._look import mean_called
from ..ensemble._summary import MixtureSummary, SummaryRow
from ._folder import GENERATOR
from ._mixture_run import Run
from ._pictures import Picture

MOST_ROWS = 200  #: of the tables of the series and of what is to come
COVERED = (
    "However the targets come, the weights follow experts with a proven bound: the loss of what was issued, taken round by "
    "round in its linear part, exceeds that of any sequence of few experts that take turns by an amount that grows far more "
    "slowly than the number of rounds, and a return to an expert that was good before costs less than a first visit."
)
NOT_COVERED = (
    "It does not say that the mixture is better than the best expert, or than the plain mean, in a given stretch; it knows "
    "nothing of errors that all experts share; and it is weaker, the fewer the rounds (large blocks, many groups or series) "
    "and the later the targets (lag)."
)


def page(
    run: Run,
    title: str,
    target: str,
    pictures: Sequence[Picture],
    facts: Mapping[str, str],
    by_series: Any,
    names: Iterable[str],
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
    names : iterable of str
        Files that lie beside the page.
    """
    of_series = "" if by_series is None else f" of series {_said(run.drawn)}, which has {len(run.trace.ends):,} rows"
    note = f"<p class='soft'>{_said(run.summary.note)}</p>" if run.summary.note else ""
    parts = [
        f"<header><h1>{_said(title)}</h1>{_lead(run)}{_cards(run)}</header><main>",
        f"<h2>In numbers</h2>{_summary_table(run)}{note}",
        "" if by_series is None else f"<h2>By series</h2>{_series_table(by_series, run.summary.loss_name)}",
        _to_come(run, target),
        f"<p class='soft'>The pictures are{of_series}.</p>" if by_series is not None else "",
        *(_figure(picture) for picture in pictures),
        f"<h2>What is guaranteed, and what is not</h2><p>{_said(COVERED)}</p><p>{_said(NOT_COVERED)}</p>",
        f"<h2>What was run</h2>{_facts_table(facts)}",
        f"<h2>Files beside this page</h2><ul>{''.join(_file(name) for name in names)}</ul></main>",
        f"<footer>Made by ltm_sklearn {__version__}.</footer>",
    ]
    style = files(__package__).joinpath("page.css").read_text(encoding="utf-8")
    return (
        f"<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n{GENERATOR} {__version__}\">\n"
        # nothing is fetched from anywhere
        "<meta http-equiv='Content-Security-Policy' content=\"default-src 'none'; img-src data:; style-src 'unsafe-inline'\">\n"
        "<meta name='viewport' content='width=device-width, initial-scale=1'>\n<link rel='icon' href='data:,'>\n"
        f"<title>{_said(title)}</title>\n<style>\n{style}</style>\n</head>\n<body>\n"
        + "\n".join(part for part in parts if part)
        + "\n</body>\n</html>\n"
    )


# Words ------------------------------------------------------------------------------------------------------------


def _said(words: Any) -> str:
    return escape(str(words))


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:,.0f}" if abs(value) >= 10_000.0 else f"{value:.4g}"


def _gained(gain: float) -> str:
    """How the mixture compares."""
    if math.isnan(gain):
        return ""
    return "as much" if abs(gain) < 0.0005 else f"{abs(gain):.1%} {'less' if gain > 0.0 else 'more'}"


def _rows_of(run: Run, kind: str) -> list[SummaryRow]:
    return [row for row in run.summary.rows if row.kind == kind and not math.isnan(row.loss)]


def period(run: Run) -> tuple[str, str] | None:
    """First and last time of the file, as it says them."""
    if run.file.time is None:
        return None
    ends = [run.file.time.iloc[0], run.file.time.iloc[-1]]
    if run.file.series is not None and run.file.shown is not None:
        ends = [run.file.time.iloc[int(run.file.shown.argmin())], run.file.time.iloc[int(run.file.shown.argmax())]]
    return str(ends[0]), str(ends[1])


def _lead(run: Run) -> str:
    (mixture,), (mean,), experts = _rows_of(run, "mixture"), _rows_of(run, "mean"), _rows_of(run, "expert")
    best = experts[0]
    n_experts = len(run.file.experts)
    times = period(run)
    when = "" if times is None else f" from {_said(times[0])} to {_said(times[1])}"
    compared = [f"{_gained(mean.gain)} than their plain mean", f"{_gained(best.gain)} than the best of them, {_said(best.name)}"]
    compared = [each.replace("as much than", "as much as") for each in compared if not each.startswith(" ")]
    return (
        f"<p class='lead'>In {run.summary.n_rows:,} rows{when}, the mixture of {n_experts} forecasts had a "
        f"{_said(mean_called(run.summary.loss_name))} of <strong>{_number(mixture.loss)}</strong>"
        f"{': ' + ' and '.join(compared) if compared else ''}.</p>"
    )


def _cards(run: Run) -> str:
    (mixture,), (mean,), experts = _rows_of(run, "mixture"), _rows_of(run, "mean"), _rows_of(run, "expert")
    last = run.trace.weights[-1]
    cards = [
        ("Mixture", _number(mixture.loss), mean_called(run.summary.loss_name)),
        ("Plain mean of all", _number(mean.loss), _against(mean.gain)),
        (f"Best expert: {experts[0].name}", _number(experts[0].loss), _against(experts[0].gain)),
        ("Largest weight at the end", f"{last.max():.0%}", run.trace.names[int(last.argmax())]),
    ]
    inner = "".join(f"<div><dt>{_said(a)}</dt><dd>{_said(b)}</dd><dd>{_said(c)}</dd></div>" for a, b, c in cards)
    return f"<dl class='cards'>{inner}</dl>"


def _against(gain: float) -> str:
    words = _gained(gain)
    return f"the mixture lost {words}" if words else ""


# Tables -----------------------------------------------------------------------------------------------------------


def _table(label: str, head: Sequence[str], rows: Iterable[tuple[str, Sequence[str]]], caption: str, words: int = 1) -> str:
    """Rows of a class and cells, of which the first is the row's header; ``words`` columns are no numbers."""
    cells = "".join(f"<th scope='col'>{_said(name)}</th>" for name in head)
    body = []
    for kind, (first, *others) in rows:
        inner = "".join(
            f"<td{' class=words' if at < words else ''}>{_said(cell)}</td>" for at, cell in enumerate(others, start=1)
        )
        body.append(f"<tr{f' class={kind}' if kind else ''}><th scope='row'>{_said(first)}</th>{inner}</tr>")
    return (
        f"<div class='scroll tall' tabindex='0' role='region' aria-label='{_said(label)}'><table class='names'>"
        f"<caption>{_said(caption)}</caption><thead><tr>{cells}</tr></thead><tbody>{''.join(body)}</tbody></table></div>"
    )


def _summary_table(run: Run) -> str:
    summary: MixtureSummary = run.summary
    squared, slept = summary.loss_name == "squared", any(row.awake < 1.0 for row in summary.rows)
    weights = dict(zip(map(str, run.file.experts), run.weights[run.file.known].mean(axis=0).tolist(), strict=True))
    head = ["", mean_called(summary.loss_name), *(["root of it"] if squared else []), *(["awake"] if slept else [])]
    rows = []
    for row in summary.rows:
        cells = [row.name, _number(row.loss), *([_number(math.sqrt(row.loss))] if squared else [])]
        cells += [f"{row.awake:.0%}"] if slept else []
        cells.append("" if row.kind == "mixture" or math.isnan(row.gain) else f"{row.gain:+.1%}")
        cells.append(f"{weights[row.name]:.1%}" if row.kind == "expert" and row.name in weights else "")
        rows.append((row.kind, cells))
    caption = "Gain: how much less the mixture lost than this one, in the rows in which it had a forecast. Mean weight: over all rows."
    return _table("What the mixture and the experts lost", [*head, "gain", "mean weight"], rows, caption)


def _series_table(by_series: Any, loss_name: str) -> str:
    rows = []
    for label, n_rows, own, mean, on_mean, best, of_best, on_best in by_series.head(MOST_ROWS).itertuples(index=False):
        numbers = [_number(own), _number(mean), f"{on_mean:+.1%}", best, _number(of_best), f"{on_best:+.1%}"]
        rows.append(("", [str(label), f"{n_rows:,}", *numbers]))
    head = ["series", "rows", "mixture", "plain mean", "gain on it", "best expert", "its loss", "gain on it"]
    caption = f"{mean_called(loss_name).capitalize()} of each series, those with the most rows first."
    if len(by_series) > MOST_ROWS:
        caption += f" The first {MOST_ROWS} of {len(by_series)}; all are in series.csv."
    return _table("What was lost in each series", head, rows, caption)


def _to_come(run: Run, target: str) -> str:
    """Forecasts of rows whose targets have not come yet."""
    file = run.file
    rows = np.flatnonzero(~file.known)
    if not len(rows):
        return ""
    head = [] if file.series is None else [str(run.mixture.series)]
    head += ["row" if file.time is None else str(run.mixture.time), "mixture", "plain mean"]
    lines = []
    for row in rows[:MOST_ROWS].tolist():
        cells = [] if file.series is None else [str(file.series[row])]
        cells.append(str(row) if file.time is None else str(file.time.iloc[row]))
        lines.append(("", [*cells, _number(run.forecasts[row]), _number(run.means[row])]))
    more = f" The first {MOST_ROWS} of {len(rows)}; all are in forecasts.csv." if len(rows) > MOST_ROWS else ""
    caption = f"Rows without {target} yet, forecast with the weights at the end.{more}"
    return f"<h2>What is to come</h2>{_table('Forecasts of what is to come', head, lines, caption)}"


def _facts_table(facts: Mapping[str, str]) -> str:
    rows = "".join(
        f"<tr><th scope='row'>{_said(name)}</th><td>{f'<code>{_said(fact)}</code>' if name == 'Command' else _said(fact)}</td></tr>"
        for name, fact in facts.items()
    )
    return f"<div class='scroll'><table class='facts'><tbody>{rows}</tbody></table></div>"


# Pictures and files -----------------------------------------------------------------------------------------------


def _figure(picture: Picture) -> str:
    source = f"data:image/png;base64,{b64encode(picture.png).decode('ascii')}"
    return (
        f"<h2>{_said(picture.title)}</h2><figure><div class='scroll' tabindex='0' role='region' "
        f"aria-label='{_said(picture.title)}'><img alt='{_said(picture.alt)}' width='{picture.width}' height='{picture.height}' "
        f"src='{source}'></div><figcaption>{_said(picture.caption)}</figcaption></figure>"
    )


def _file(name: str) -> str:
    return f"<li><a href='{_said(name)}'>{_said(name)}</a></li>"
