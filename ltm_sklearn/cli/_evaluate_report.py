"""FailureReport of ``ltm-sklearn evaluate``: verdict, tables, pictures, and the page."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from ..display import (
    PALETTE,
    RecurrenceDisplay,
    WeightStackDisplay,
    edges,
    height_of_rows,
    label_rows,
    label_time,
    number,
    plain,
    short_names,
    to_draw,
)
from ..evaluation import Difference, PrequentialDisplay
from ..recording import RunRecord
from ._evaluate_run import WITH, WITHOUT, EvaluationRun, expert_rows, leader_shares
from ._report import Card, Picture, ReportTable, TableRow, default_style, draw_picture

#: Headers of the columns of the scores, and the formats of their numbers.
COLUMNS = {
    "accuracy": ("accuracy", "{:.4f}"),
    "kappa": ("kappa", "{:.3f}"),
    "log_loss": ("log loss", "{:.4f}"),
    "mae": ("mean absolute error", "{:,.5g}"),
    "rmse": ("root mean squared error", "{:,.5g}"),
    "after_change": ("after a change", "{:,.5g}"),
    "after_return": ("after a return", "{:,.5g}"),
}
EXPERT_KINDS = {
    "live": "trained always",
    "restarted": "restarted learner",
    "snapshot": "snapshot, not trained",
    "stack": "stacker: corrects the other experts",
}
MOST_SNAPSHOTS = 25  #: snapshots that are drawn: those with the largest mean weights

# The verdict ------------------------------------------------------------------------------------------------------


def verdict(run: EvaluationRun) -> str:
    """Answer in a sentence whether memory helps on this stream."""
    difference = run.differences[WITHOUT]
    if math.isnan(difference.low):
        return "The stream is too short to tell whether memory helps."
    if not difference.is_significant:
        return f"Memory makes no significant difference on this stream: {_gain(run, difference)}."
    return f"Memory {'helps' if difference.mean > 0.0 else 'hurts'} on this stream: {_gain(run, difference)}."


def remarks(run: EvaluationRun) -> list[str]:
    """Return what limits the verdict: better baselines and experts, and how often concepts changed."""
    notes = []
    baseline, expert = run.best_baseline, run.best_expert
    pool_score = _score(run, WITH)
    if run.differences[baseline].mean < 0.0:
        notes.append(
            f"Warning: the baseline {baseline!r}, which uses no feature, is better than the pool with memory "
            f"({_score(run, baseline)} against {pool_score}). {_advice(baseline)}"
        )
    elif (row_by_row := _better_row_by_row(run)) is not None:
        notes.append(
            f"Warning: neighbouring targets are alike. Repeating the previous target would reach {row_by_row} if each "
            f"target were known before the next row; the pool with memory reaches {pool_score} in batches of "
            f"{run.batch}."
        )
    against = run.differences[expert]
    if math.isnan(against.low):
        notes.append(f"The best single expert, {expert}, reaches {_score(run, expert)}; the pool {pool_score}.")
    elif against.is_significant:
        better = "better" if against.mean > 0.0 else "worse"
        notes.append(f"The pool with memory is {better} than the best single expert, {expert}: {_gain(run, against)}.")
    else:
        notes.append(
            f"The pool with memory does not differ significantly from the best single expert, {expert}: "
            f"{_gain(run, against)}."
        )
    if run.result.segments:
        n_changes, n_returns = run.result.n_changes, run.result.n_returns
        notes.append(
            f"The concept changes {n_changes} times; in {n_returns} of the changes an earlier concept returns."
        )
    return notes


def _advice(baseline: str) -> str:
    if baseline == "last target":
        return (
            "Past targets predict better than the features: adding lagged targets as columns of the file may help all "
            "models."
        )
    return "No model has learned anything useful from the features yet."


def _better_row_by_row(run: EvaluationRun) -> str | None:
    """Return the score of repeating the target of the previous row; None if it is not better than the pool."""
    y, is_class = run.file.y, run.file.is_class
    score = float(np.mean(y[1:] == y[:-1]) if is_class else np.mean(np.abs(np.diff(y))))
    if score > run.score(WITH) if is_class else score < run.score(WITH):
        return f"{score:.1%}" if is_class else number(score)
    return None


def _gain(run: EvaluationRun, difference: Difference) -> str:
    """Format a difference with its interval."""
    values = difference.mean, difference.low, difference.high
    if run.file.is_class:
        mean, low, high = (f"{100.0 * value:+.1f}" for value in values)
        return f"{mean} points of accuracy [{low}, {high}]"
    mean, low, high = map(_signed, values)
    return f"mean absolute error reduced by {mean} [{low}, {high}]"


def _signed(value: float) -> str:
    return ("+" if value >= 0.0 else "") + number(value)


def _score(run: EvaluationRun, name: str) -> str:
    return f"{run.score(name):.1%}" if run.file.is_class else number(run.score(name))


# Tables -----------------------------------------------------------------------------------------------------------


def score_lines(run: EvaluationRun) -> list[list[str]]:
    """Return the cells of the table of scores: a header, and a line for each model."""
    first = next(iter(run.result.scores.values()))
    columns = [name for name in COLUMNS if name in first]
    unit = "points" if run.file.is_class else "error saved"
    head = ["model", *(COLUMNS[name][0] for name in columns), f"gain ({unit})", "95 % interval", "seconds"]
    formats = {name: COLUMNS[name][1] for name in columns}
    if run.file.is_class:  # the scores after changes are accuracies
        formats |= {name: COLUMNS["accuracy"][1] for name in columns if name.startswith("after_")}
    lines = [head]
    for name, scores in run.result.scores.items():
        cells = ["" if math.isnan(scores[column]) else formats[column].format(scores[column]) for column in columns]
        difference = run.differences.get(name)
        if difference is None or math.isnan(difference.mean):
            cells += ["", ""]
        else:
            mean, low, high = (f"{100 * x:+.2f}" if run.file.is_class else _signed(x) for x in difference[:3])
            cells += [mean, "" if math.isnan(difference.low) else f"{low} to {high}"]
        lines.append([name, *cells, f"{scores['predict_seconds'] + scores['learn_seconds']:.1f}"])
    return lines


def as_markdown(run: EvaluationRun) -> str:
    """Return verdict and scores as Markdown."""
    head, *lines = score_lines(run)
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *lines]
    table = "\n".join("| " + " | ".join(row) + " |" for row in rows)
    return "\n\n".join([verdict(run), *remarks(run), table]) + "\n"


def as_text(run: EvaluationRun) -> str:
    """Return verdict and scores for a terminal."""
    lines = score_lines(run)
    lines[0] = ["", *lines[0][1:-3], "gain", "95 % interval", "seconds"]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    aligned = []
    for name, *cells in lines:
        padded = [cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True)]
        aligned.append("  ".join([name.ljust(widths[0]), *padded]))
    return "\n".join([*aligned, "", verdict(run), *remarks(run)])


def page_values(run: EvaluationRun) -> dict[str, Any]:
    """Return the variables of the template ``evaluate.html.jinja``."""
    failures = sorted(run.failures.items(), key=lambda pair: -pair[1])[:5]
    return {
        "verdict": verdict(run),
        "remarks": remarks(run),
        "cards": _cards(run),
        "scores": _scores_table(run),
        "n_stretches": len(run.differences[WITHOUT].stretches),
        "failures": failures,
        "experts": _experts_table(run),
        "columns": _columns_table(run),
    }


def _cards(run: EvaluationRun) -> list[Card]:
    measure = "accuracy" if run.file.is_class else "mean absolute error"
    names = {
        "With memory": WITH,
        "Without memory": WITHOUT,
        f"Best expert: {run.best_expert}": run.best_expert,
        f"Better baseline: {run.best_baseline}": run.best_baseline,
    }
    return [Card(title, _score(run, name), measure) for title, name in names.items()]


def _scores_table(run: EvaluationRun) -> ReportTable:
    head, *lines = score_lines(run)
    classes = {WITH: "mixture"} | dict.fromkeys(run.baselines, "mean")
    caption = (
        f"{run.result.n_rows:,} rows, in batches of {run.batch}. Gain: how much better the pool with memory is than "
        "the model of the line. Seconds: time to predict and to learn."
    )
    if run.result.segments:
        caption += f" After a change, after a return: scores of the {run.result.window} rows that follow it."
    return ReportTable(
        "Scores of the models", caption, head, [TableRow(line, classes.get(line[0], "")) for line in lines]
    )


def _experts_table(run: EvaluationRun) -> ReportTable:
    rows = []
    for name, kind, born, weight, loss, led in expert_rows(run):
        shown = "" if np.isnan(loss) else f"{loss:.4f}"
        rows.append(TableRow([name, EXPERT_KINDS.get(kind, kind), f"{born:,}", f"{weight:.1%}", shown, f"{led:.0%}"]))
    head = ["expert", "kind", "since or as of row", "mean weight", "mean loss", "led"]
    meaning = "share of mistakes" if run.file.is_class else "error, scaled to between 0 and 1"
    caption = (
        f"Experts of the pool with memory, the largest mean weight first. Mean weight and mean loss ({meaning}) are "
        "since the expert joined. Led: share of all rows in which it had the largest weight."
    )
    return ReportTable("Experts at the end", caption, head, rows, {1: "words"})


def _columns_table(run: EvaluationRun) -> ReportTable:
    rows = [
        TableRow([column.name, column.kind, column.description, str(len(column.features))])
        for column in run.file.columns
    ]
    head = ["column", "kind", "how it was used", "features"]
    return ReportTable(
        "Columns of the file", f"{len(run.file.names)} features in all.", head, rows, {1: "words", 2: "words"}
    )


# Pictures ---------------------------------------------------------------------------------------------------------

#: Titles and captions of the pictures by name of the file.
CAPTIONS = {
    "over_time": (
        "Score over time",
        "{measure} of each stretch of the stream, for the pool with and without memory, the best single expert, and "
        "the better of the two baselines, which use no feature.",
    ),
    "difference": (
        "Gain from memory",
        "Above: the gain of the pool with memory over other models, added up over the rows. The line rises where the "
        "pool with memory is better. Below: the gain over the pool without memory in each of the stretches from which "
        "the interval is computed, with their mean and the interval.",
    ),
    "leaders": (
        "Leading expert over time",
        "A row for each expert that ever had the largest weight, in the order of their first lead. forest@1200 is a "
        "snapshot: the forest after 1,200 rows, not trained since. An expert with several bars returned to the lead. "
        "Experts called @restarted begin anew after each snapshot; @stack is the stacker. At the right: the share of "
        "all rows, and the number of separate leads.",
    ),
    "weights": (
        "Weights over time",
        "The weights of the experts, stacked. The thicker a band, the larger the weight of its expert.",
    ),
    "memory": (
        "Weights of the snapshots",
        "A row for each snapshot, the oldest at the top, from its creation to its removal. The darker, the larger its "
        "weight. A snapshot that is dark again long after its creation was found again by the memory.",
    ),
}


def draw_pictures(run: EvaluationRun) -> list[Picture]:
    """Draw the pictures in the order of the page."""
    draw: dict[str, tuple[Callable[[Any], Any], float]] = {
        "over_time": (lambda ax: _over_time(ax, run), 4.2),
        "difference": (lambda ax: _difference(ax, run), 5.4),
    }
    for name, display in (
        ("leaders", RecurrenceDisplay(run.run_record)),
        ("weights", WeightStackDisplay(run.run_record)),
    ):
        draw[name] = (display.plot, display._size()[1])
    snapshots = _snapshots(run.run_record)
    if snapshots:
        draw["memory"] = (lambda ax: _memory(ax, run.run_record, snapshots), height_of_rows(len(snapshots) + 3))
    with default_style():
        return [_picture(name, run, plot, height) for name, (plot, height) in draw.items()]


def _picture(name: str, run: EvaluationRun, plot: Callable[[Any], Any], height: float) -> Picture:
    title, caption = CAPTIONS[name]
    measure = "Accuracy" if run.file.is_class else "Mean absolute error"

    def with_times(ax: Any) -> None:
        plot(ax)
        if run.file.times is not None:
            for each in ax.figure.axes:
                if each.get_xlabel().startswith("row"):
                    _label_times(each, run.file.times)

    return draw_picture(
        name, with_times, (9.0, height), title, caption.format(measure=measure), _alternative_text(name, run)
    )


def _label_times(ax: Any, times: NDArray[Any]) -> None:
    """Label an axis of rows with the times of the rows."""
    rows = ax.get_xticks()
    low, high = ax.get_xlim()
    shown = [row for row in rows if low <= row <= high]
    at = [times[min(max(int(row), 1), len(times)) - 1] for row in shown]
    if times.dtype.kind == "M":
        days = (times[-1] - times[0]) / np.timedelta64(1, "D")
        unit = "D" if days > 3 else "m"
        labels = [str(each.astype(f"datetime64[{unit}]")).replace("T", "\n") for each in at]
    else:
        labels = [f"{each:g}" for each in at]
    ax.set_xticks(shown, labels, fontsize="small")
    ax.set_xlabel(ax.get_xlabel().replace("row", "time of the row", 1))


def _over_time(ax: Any, run: EvaluationRun) -> None:
    result = run.result
    names = list(result.scores)
    chosen = list(dict.fromkeys([WITH, WITHOUT, run.best_expert, run.best_baseline]))
    values = result.curve_values[:, [names.index(name) for name in chosen]]
    display = PrequentialDisplay(result.curve_rows, values, chosen, result.measure, result.segments).plot(ax=ax)
    for line, colour in zip(display.lines_, ("black", *PALETTE[1:]), strict=False):
        line.set(color=colour, lw=1.8 if colour == "black" else 1.2)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize="small")
    plain(ax)


def _difference(ax: Any, run: EvaluationRun) -> None:
    result = run.result
    below = ax.figure.add_subplot(2, 1, 2)
    ax.set_subplotspec(ax.figure.add_gridspec(2, 1, height_ratios=(3, 2))[0])
    below.set_subplotspec(ax.get_subplotspec().get_gridspec()[1])
    names = list(result.scores)
    sign = 1.0 if run.file.is_class else -1.0
    chosen = {WITHOUT: "black", run.best_expert: PALETTE[1]}
    if run.differences[run.best_baseline].mean < 0.0:  # a baseline that is far behind would compress the other lines
        chosen[run.best_baseline] = PALETTE[3]
    for name, colour in chosen.items():
        both = [names.index(WITH), names.index(name)]
        values, counts = result.curve_values[:, both], result.curve_counts[:, both].min(axis=1)
        gained = np.where(counts > 0.0, sign * (values[:, 0] - values[:, 1]) * counts, 0.0)
        rows, total = np.append(0, result.curve_rows), np.append(0.0, np.nancumsum(gained))
        ax.plot(rows, total, color=colour, lw=2.0 if name == WITHOUT else 1.2, label=f"against {name}")
    ax.axhline(0.0, color="0.5", lw=0.8)
    unit = "correct predictions gained" if run.file.is_class else "absolute error saved"
    ax.set(xlim=(0, result.n_rows), ylabel=unit, xlabel="row")
    ax.legend(loc="best", fontsize="small", framealpha=0.85)
    difference = run.differences[WITHOUT]
    scale = 100.0 if run.file.is_class else 1.0
    ends = difference.ends + (result.n_rows - difference.ends[-1])  # rows before the first prediction
    starts = np.append(0.0, ends[:-1])
    colours = [PALETTE[3] if value > 0.0 else PALETTE[1] for value in difference.stretches]
    below.bar(
        starts, scale * difference.stretches, ends - starts, align="edge", color=colours, edgecolor="white", lw=0.8
    )
    below.axhspan(scale * difference.low, scale * difference.high, color="0.5", alpha=0.25, lw=0, zorder=0)
    below.axhline(scale * difference.mean, color="black", lw=1.2)
    below.axhline(0.0, color="0.5", lw=0.8)
    unit = "points of accuracy" if run.file.is_class else "absolute error saved"
    below.set(xlim=(0, result.n_rows), ylabel=unit, xlabel="row")
    for axes in (ax, below):
        plain(axes)


def _snapshots(run_record: RunRecord) -> list[int]:
    """Return the positions of the snapshots to draw, the oldest first."""
    mean = np.average(run_record.weights, axis=0, weights=run_record.counts)
    snapshots = [at for at, name in enumerate(run_record.names) if name.rpartition("@")[2].isdecimal()]
    kept = sorted(snapshots, key=lambda at: -mean[at])[:MOST_SNAPSHOTS]
    return sorted(kept, key=lambda at: int(run_record.names[at].rpartition("@")[2]))


def _memory(ax: Any, run_record: RunRecord, snapshots: list[int]) -> None:
    run_record = to_draw(run_record)
    present = (run_record.weights > 0.0) | ~np.isnan(run_record.losses)
    shown = np.where(present, run_record.weights, np.nan)[:, snapshots].T
    colours = import_extra("matplotlib.colors", "pictures", "plot")
    mesh = ax.pcolormesh(
        edges(run_record),
        np.arange(len(snapshots) + 1) - 0.5,
        shown,
        cmap="Blues",
        norm=colours.PowerNorm(0.5, -0.05, 1.0),
    )
    names = short_names(run_record.names)
    label_rows(ax, [names[at] for at in snapshots])
    label_time(ax, run_record)
    bar = ax.figure.colorbar(mesh, ax=ax, pad=0.01, aspect=30, ticks=[0.0, 0.1, 0.3, 0.6, 1.0])
    bar.ax.set_ylim(0.0, 1.0)
    bar.set_label("weight")


def _alternative_text(name: str, run: EvaluationRun) -> str:
    """Describe a picture in numbers, for readers who do not see it."""
    scores = ", ".join(f"{each} {run.score(each):.4g}" for each in (WITH, WITHOUT, run.best_expert, run.best_baseline))
    if name == "over_time":
        return f"Lines over time. Over all rows: {scores}."
    if name == "difference":
        difference = run.differences[WITHOUT]
        return f"Lines of the cumulative difference, and bars of the stretches. Mean difference {difference.mean:.4g}."
    led = sorted(leader_shares(run.run_record).items(), key=lambda pair: -pair[1])[:3]
    who = ", ".join(f"{expert} {part:.0%}" for expert, part in led)
    kind = {"leaders": "Bars over time for each expert that led", "weights": "Stacked areas of the weights over time"}
    return f"{kind.get(name, 'A row over time for each snapshot, darker with its weight')}. Led longest: {who}."
