"""Report of ``ltm-sklearn evaluate``: verdict, tables, pictures, and the page."""

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
from ..evaluation import Difference, PrequentialDisplay, format_table
from ..recording import RunRecord
from ._evaluate_run import WITH, WITHOUT, EvaluationRun, experts_frame
from ._report import Card, Picture, ReportTable, TableRow, default_style, draw_picture, leaders

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
#: Names of the pictures in the order of the page.
PICTURES = ("over_time", "difference", "leaders", "weights", "memory")

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
    baseline, expert, result = run.best_baseline, run.best_expert, run.result
    pool_score = _format_score(run, run.score(WITH))
    notes = []
    y = run.file.y
    row_by_row = float(np.mean(y[1:] == y[:-1]) if run.file.is_class else np.mean(np.abs(np.diff(y))))
    if run.differences[baseline].mean < 0.0:
        notes.append(
            f"Warning: the baseline {baseline!r}, which uses no feature, is better than the pool with memory "
            f"({_format_score(run, run.score(baseline))} against {pool_score}). "
        )
        notes[0] += (
            "Past targets predict better than the features: adding lagged targets as columns of the file may help all "
            "models."
            if baseline == "last target"
            else "No model has learned anything useful from the features yet."
        )
    elif row_by_row > run.score(WITH) if run.file.is_class else row_by_row < run.score(WITH):
        notes.append(
            "Warning: neighbouring targets are alike. Repeating the previous target would reach "
            f"{_format_score(run, row_by_row)} if each target were known before the next row; the pool with memory "
            f"reaches {pool_score} in batches of {run.batch}."
        )
    against = run.differences[expert]
    if math.isnan(against.low):
        reached = _format_score(run, run.score(expert))
        notes.append(f"The best single expert, {expert}, reaches {reached}; the pool {pool_score}.")
    else:
        better = "is better than" if against.mean > 0.0 else "is worse than"
        relation = better if against.is_significant else "does not differ significantly from"
        notes.append(f"The pool with memory {relation} the best single expert, {expert}: {_gain(run, against)}.")
    if result.segments:
        notes.append(
            f"The concept changes {result.n_changes} times; in {result.n_returns} of the changes an earlier concept "
            "returns."
        )
    return notes


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


def _format_score(run: EvaluationRun, score: float) -> str:
    return f"{score:.1%}" if run.file.is_class else number(score)


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
    return "\n".join([format_table(lines, "<"), "", verdict(run), *remarks(run)])


def page_values(run: EvaluationRun) -> dict[str, Any]:
    """Return the variables of the template ``evaluate.html.jinja``."""
    titles = {
        "With memory": WITH,
        "Without memory": WITHOUT,
        f"Best expert: {run.best_expert}": run.best_expert,
        f"Better baseline: {run.best_baseline}": run.best_baseline,
    }
    measure = "accuracy" if run.file.is_class else "mean absolute error"
    head, *lines = score_lines(run)
    classes = {WITH: "mixture"} | dict.fromkeys(run.baselines, "mean")
    experts = [
        TableRow(
            [
                each.expert,
                EXPERT_KINDS.get(each.kind, each.kind),
                f"{each.row:,}",
                f"{each.mean_weight:.1%}",
                "" if math.isnan(each.mean_loss) else f"{each.mean_loss:.4f}",
                f"{each.led:.0%}",
            ]
        )
        for each in experts_frame(run).itertuples()
    ]
    columns = [TableRow([name, kind, how, str(len(features))]) for name, kind, how, features in run.file.columns]
    return {
        "run": run,
        "measure": measure,
        "verdict": verdict(run),
        "remarks": remarks(run),
        "cards": [Card(title, _format_score(run, run.score(name)), measure) for title, name in titles.items()],
        "scores": ReportTable(head, [TableRow(line, classes.get(line[0], "")) for line in lines]),
        "n_stretches": len(run.differences[WITHOUT].stretches),
        "failures": sorted(run.failures.items(), key=lambda pair: -pair[1])[:5],
        "experts": ReportTable(
            ["expert", "kind", "since or as of row", "mean weight", "mean loss", "led"], experts, {1: "words"}
        ),
        "columns": ReportTable(["column", "kind", "how it was used", "features"], columns, {1: "words", 2: "words"}),
    }


# Pictures ---------------------------------------------------------------------------------------------------------


def draw_pictures(run: EvaluationRun) -> dict[str, Picture]:
    """Draw the pictures by name, in the order of the page."""
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
    texts = _alternative_texts(run)

    def picture(name: str) -> Picture:
        plot, height = draw[name]

        def with_times(ax: Any) -> None:
            plot(ax)
            for each in ax.figure.axes:
                if run.file.times is not None and each.get_xlabel().startswith("row"):
                    _label_times(each, run.file.times)

        return draw_picture(with_times, height, texts[name])

    with default_style():
        return {name: picture(name) for name in draw}


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


def _alternative_texts(run: EvaluationRun) -> dict[str, str]:
    """Describe each picture in numbers, for readers who do not see it."""
    scores = ", ".join(f"{each} {run.score(each):.4g}" for each in (WITH, WITHOUT, run.best_expert, run.best_baseline))
    led = "Led longest: " + ", ".join(f"{name} {share:.0%}" for name, share in leaders(run.run_record)[:3])
    mean = run.differences[WITHOUT].mean
    return {
        "over_time": f"Lines over time. Over all rows: {scores}.",
        "difference": f"Lines of the cumulative difference, and bars of the stretches. Mean difference {mean:.4g}.",
        "leaders": f"Bars over time for each expert that led. {led}.",
        "weights": f"Stacked areas of the weights over time. {led}.",
        "memory": f"A row over time for each snapshot, darker with its weight. {led}.",
    }
