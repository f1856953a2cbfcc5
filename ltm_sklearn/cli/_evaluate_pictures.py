"""The pictures of a report on a stream, with words that tell how to read them."""

from __future__ import annotations

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
    plain,
    short_names,
    to_draw,
)
from ..evaluation import PrequentialDisplay
from ..recording import RunRecord
from ._evaluate_run import WITH, WITHOUT, Run, leads
from ._picture import Picture, drawn, plain_style

MOST_SNAPSHOTS = 25  #: that are drawn: the weightiest

#: Titles, and how to read them.
WORDS = {
    "over_time": (
        "Over time",
        "{measure} of each stretch of the stream, for the pool with and without memory, the best of its experts alone, "
        "and the better of the two baselines that look at no feature.",
    ),
    "difference": (
        "What memory gained",
        "Above, the difference added up from the first row to the last: a line that rises says that the pool with "
        "memory is gaining on that model, a flat one that they are equal. Below, the difference to the pool without "
        "memory in each of the stretches that the interval comes from, and their mean with the interval.",
    ),
    "leaders": (
        "Who led when",
        "A row for each expert that ever had the largest weight, in the order in which they first had it. A name as "
        "forest@1200 is a snapshot: the forest as it was after 1,200 rows, never trained since. A row that fills again "
        "is an expert that came back. @restarted learners begin afresh after each snapshot; @stack learns to correct "
        "what the others say. At the right: the share of the time, and in how many stints.",
    ),
    "weights": (
        "Whom it trusted",
        "The experts' weights, upon one another: the thicker a band, the more its expert counted.",
    ),
    "memory": (
        "What was remembered",
        "A row for each snapshot, the oldest at the top, from the moment it was taken until it was given up. The "
        "darker, the more weight it had: dark again, long after it was taken, is memory at work.",
    ),
}


def draw_pictures(run: Run) -> list[Picture]:
    """Draw them, in the order of the page."""
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
    with plain_style():
        return [_picture(name, run, plot, height) for name, (plot, height) in draw.items()]


def _picture(name: str, run: Run, plot: Callable[[Any], Any], height: float) -> Picture:
    title, caption = WORDS[name]
    measure = "Accuracy" if run.file.is_class else "Mean absolute error"

    def with_times(ax: Any) -> None:
        plot(ax)
        if run.file.times is not None:
            for each in ax.figure.axes:
                if each.get_xlabel().startswith("row"):
                    _label_times(each, run.file.times)

    return drawn(name, with_times, (9.0, height), (title, caption.format(measure=measure)), _alt(name, run))


def _label_times(ax: Any, times: NDArray[Any]) -> None:
    """Rows are where they are, and are called by their times."""
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


def _over_time(ax: Any, run: Run) -> None:
    result = run.result
    names = list(result.scores)
    chosen = list(dict.fromkeys([WITH, WITHOUT, run.best_expert, run.best_baseline]))
    values = result.curve_values[:, [names.index(name) for name in chosen]]
    display = PrequentialDisplay(result.curve_rows, values, chosen, result.measure, result.segments).plot(ax=ax)
    for line, colour in zip(display.lines_, ("black", *PALETTE[1:]), strict=False):
        line.set(color=colour, lw=1.8 if colour == "black" else 1.2)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=4, frameon=False, fontsize="small")
    plain(ax)


def _difference(ax: Any, run: Run) -> None:
    result = run.result
    below = ax.figure.add_subplot(2, 1, 2)
    ax.set_subplotspec(ax.figure.add_gridspec(2, 1, height_ratios=(3, 2))[0])
    below.set_subplotspec(ax.get_subplotspec().get_gridspec()[1])
    names = list(result.scores)
    sign = 1.0 if run.file.is_class else -1.0
    chosen = {WITHOUT: "black", run.best_expert: PALETTE[1]}
    if run.differences[run.best_baseline].mean < 0.0:  # one that is far behind would take all the room
        chosen[run.best_baseline] = PALETTE[3]
    for name, colour in chosen.items():
        both = [names.index(WITH), names.index(name)]
        values, counts = result.curve_values[:, both], result.curve_counts[:, both].min(axis=1)
        gained = np.where(counts > 0.0, sign * (values[:, 0] - values[:, 1]) * counts, 0.0)
        rows, total = np.append(0, result.curve_rows), np.append(0.0, np.nancumsum(gained))
        ax.plot(rows, total, color=colour, lw=2.0 if name == WITHOUT else 1.2, label=f"against {name}")
    ax.axhline(0.0, color="0.5", lw=0.8)
    what = "right answers gained" if run.file.is_class else "absolute error saved"
    ax.set(xlim=(0, result.n_rows), ylabel=what, xlabel="row")
    ax.legend(loc="best", fontsize="small", framealpha=0.85)
    found = run.differences[WITHOUT]
    scale = 100.0 if run.file.is_class else 1.0
    ends = found.ends + (result.n_rows - found.ends[-1])  # rows before anybody had an answer
    starts = np.append(0.0, ends[:-1])
    colours = [PALETTE[3] if value > 0.0 else PALETTE[1] for value in found.stretches]
    below.bar(starts, scale * found.stretches, ends - starts, align="edge", color=colours, edgecolor="white", lw=0.8)
    below.axhspan(scale * found.low, scale * found.high, color="0.5", alpha=0.25, lw=0, zorder=0)
    below.axhline(scale * found.mean, color="black", lw=1.2)
    below.axhline(0.0, color="0.5", lw=0.8)
    unit = "points of accuracy" if run.file.is_class else "absolute error saved"
    below.set(xlim=(0, result.n_rows), ylabel=unit, xlabel="row")
    for axes in (ax, below):
        plain(axes)


def _snapshots(run_record: RunRecord) -> list[int]:
    """Those that are drawn, the oldest first."""
    mean = np.average(run_record.weights, axis=0, weights=run_record.counts)
    found = [at for at, name in enumerate(run_record.names) if name.rpartition("@")[2].isdecimal()]
    kept = sorted(found, key=lambda at: -mean[at])[:MOST_SNAPSHOTS]
    return sorted(kept, key=lambda at: int(run_record.names[at].rpartition("@")[2]))


def _memory(ax: Any, run_record: RunRecord, snapshots: list[int]) -> None:
    run_record = to_draw(run_record)
    there = (run_record.weights > 0.0) | ~np.isnan(run_record.losses)
    shown = np.where(there, run_record.weights, np.nan)[:, snapshots].T
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


def _alt(name: str, run: Run) -> str:
    """What the picture says, in numbers."""
    scores = ", ".join(f"{each} {run.score(each):.4g}" for each in (WITH, WITHOUT, run.best_expert, run.best_baseline))
    if name == "over_time":
        return f"Lines over time. In all: {scores}."
    if name == "difference":
        found = run.differences[WITHOUT]
        return f"Lines of the difference added up, and bars of stretches. Mean difference {found.mean:.4g}."
    led = sorted(leads(run.run_record).items(), key=lambda pair: -pair[1])[:3]
    who = ", ".join(f"{expert} {part:.0%}" for expert, part in led)
    kind = {"leaders": "Bars over time for each expert that led", "weights": "Stacked areas of the weights over time"}
    return f"{kind.get(name, 'A row over time for each snapshot, darker with its weight')}. Led longest: {who}."
