"""Axes: whose they are, how time runs on them, and where the legend has room."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import import_extra
from .._typing import Floats
from ..recording import RunRecord

MOST_RECORDS = 1000  #: that are drawn as they are
FEWER_RECORDS = 250  #: that longer runs are averaged to: of more, noise is all that one would see
ROW_HEIGHT = 0.22  #: inches of a row of text and a bar
LEGEND_ROW = 0.16  #: inches of an entry of a legend, at the least
MOST_ROWS = 30  #: experts that have a row of their own


def axes_of(ax: Any, size: tuple[float, float]) -> Any:
    """The caller's axes, or those of a new figure."""
    pyplot = import_extra("matplotlib.pyplot", "pictures", "plot")
    return pyplot.subplots(figsize=size, layout="constrained")[1] if ax is None else ax


def split(ax: Any, parts: tuple[float, float], below: bool) -> Any:
    """Give the second part of the axes' room to new axes, below or beside them, with the same time or scale.

    By the grid that the axes are in, if there is one, so that layouts know of both.
    """
    shared = {"sharex" if below else "sharey": ax}
    spec = ax.get_subplotspec()
    if spec is not None:
        shape, ratios, space = ((2, 1), "height_ratios", "hspace") if below else ((1, 2), "width_ratios", "wspace")
        grid = spec.subgridspec(*shape, **{ratios: parts, space: 0.05})
        ax.set_subplotspec(grid[0])
        return ax.figure.add_subplot(grid[1], **shared)
    left, bottom, width, height = ax.get_position().bounds
    part = 0.94 * parts[1] / sum(parts)  # the rest of it is between them
    whole = 1.0 - parts[1] / sum(parts)
    if below:
        ax.set_position((left, bottom + (1.0 - whole) * height, width, whole * height))
        return ax.figure.add_axes((left, bottom, width, part * height), **shared)
    ax.set_position((left, bottom, whole * width, height))
    return ax.figure.add_axes((left + (1.0 - part) * width, bottom, part * width, height), **shared)


def rows_that_fit(ax: Any, wanted: int) -> int:
    """How many experts can have a row of their own."""
    most = max(int(ax.get_window_extent().height / ax.figure.dpi / ROW_HEIGHT * 1.3), 3)
    return wanted if wanted <= min(most, MOST_ROWS) else min(most, MOST_ROWS) - 1  # one row is the others'


def height_of_rows(wanted: int) -> float:
    """Of a new figure with so many rows, in inches."""
    return max(2.4, 1.2 + ROW_HEIGHT * min(wanted, MOST_ROWS))


def label_rows(ax: Any, labels: list[str]) -> None:
    """Names beside rows, the first at the top."""
    ax.set_yticks(range(len(labels)), labels, fontsize="small" if len(labels) <= 15 else "x-small")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def plain(ax: Any) -> None:
    """No more frame than is needed."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def powers_of_ten(ax: Any, axis: str) -> None:
    """Large numbers with their power of ten at the end of the axis, as in print."""
    ax.ticklabel_format(axis=axis, style="sci", scilimits=(-3, 5), useMathText=True)


def number(value: float) -> str:
    """A number to read: four digits, or as many as it has before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:#.4g}"


# Time -------------------------------------------------------------------------------------------------------------


def moments(run_record: RunRecord) -> Floats:
    """Where the records' ends are on the axis of time; they never go back, as clocks may in autumn."""
    if run_record.times is None:
        return np.asarray(run_record.ends, dtype=np.float64)
    times = run_record.times
    if _is_dates(run_record):
        times = import_extra("matplotlib.dates", "pictures", "plot").date2num(times)
    return np.maximum.accumulate(np.asarray(times, dtype=np.float64))


def edges(run_record: RunRecord) -> Floats:
    """Where records begin and end, (R + 1,): each begins where the one before it ends."""
    ends = moments(run_record)
    if run_record.times is None:
        start = ends[0] - run_record.counts[0]
    else:  # as long before as the others take, a row
        pace = (ends[-1] - ends[0]) / max(np.sum(run_record.counts[1:]), 1) or 1.0
        start = ends[0] - pace * run_record.counts[0]
    return np.concatenate([[start], ends])


def label_time(ax: Any, run_record: RunRecord, means: bool = True) -> None:
    """Dates, times or rows below the axes; and over how many rows means were taken, if what is drawn are means."""
    if _is_dates(run_record):
        dates = import_extra("matplotlib.dates", "pictures", "plot")
        locator = dates.AutoDateLocator(minticks=3, maxticks=8)
        ax.xaxis_date()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    else:
        ax.ticklabel_format(axis="x", style="plain", useOffset=False)
        if run_record.times is None:
            ax.xaxis.get_major_locator().set_params(integer=True)
    what = "" if _is_dates(run_record) else "row" if run_record.times is None else "time"
    rows = rows_of_means(run_record)
    note = f"means of {rows} rows" if means and rows > 1 else ""
    ax.set_xlabel(f"{what} ({note})" if what and note else what or note)
    limits = edges(run_record)
    ax.set_xlim(limits[0], limits[-1])


def rows_of_means(run_record: RunRecord) -> int:
    """Rows that a record covers, typically; 1: its numbers are no means."""
    return int(np.median(run_record.counts)) if np.max(run_record.counts) > 1 else 1


def _is_dates(run_record: RunRecord) -> bool:
    return run_record.times is not None and np.asarray(run_record.times).dtype.kind == "M"


def to_draw(run_record: RunRecord) -> RunRecord:
    """The records to draw, few enough to be seen."""
    return run_record.thinned(FEWER_RECORDS) if len(run_record.ends) > MOST_RECORDS else run_record


# Drawing ----------------------------------------------------------------------------------------------------------


def draw_stack(ax: Any, at: Floats, layers: Floats, labels: list[str], colours: list[str]) -> list[Any]:
    """Layers (n_layers, R) upon one another between edges (R + 1,); those below zero hang down from it."""
    tops, bottoms = np.zeros(layers.shape[1]), np.zeros(layers.shape[1])
    drawn = []
    for layer, label, colour in zip(layers, labels, colours, strict=True):
        up, down = np.maximum(layer, 0.0), np.minimum(layer, 0.0)
        low, high = np.where(down < 0.0, bottoms + down, tops), np.where(down < 0.0, bottoms, tops + up)
        look = {"color": colour, "lw": 0.2, "step": "post", "label": label}  # the line closes hair cracks
        drawn.append(ax.fill_between(at, np.append(low, low[-1]), np.append(high, high[-1]), **look))
        tops, bottoms = tops + up, bottoms + down
    return drawn


def write_beside(ax: Any, words: list[str], head: str) -> None:
    """A column of small print at the right of the rows, with a head."""
    look = {"xytext": (4, 0), "textcoords": "offset points", "annotation_clip": False, "fontsize": "x-small"}
    ax.annotate(head, (1.0, 1.0), xycoords="axes fraction", va="bottom", color="0.4", **look)
    for row, word in enumerate(words):
        ax.annotate(word, (1.0, row), xycoords=("axes fraction", "data"), va="center", color="0.25", **look)


def legend(ax: Any, handles: list[Any], title: str | None = None) -> None:
    """Beside the axes where the figure makes room for it and they are tall enough, otherwise in them."""
    height = ax.get_window_extent().height / ax.figure.dpi
    place: dict[str, Any]
    if ax.figure.get_layout_engine() is not None and LEGEND_ROW * (len(handles) + (title is not None)) < height:
        place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False, "fontsize": "small"}
    else:
        place = {"loc": "best", "fontsize": "x-small", "ncols": 1 + len(handles) // 6, "framealpha": 0.85}
    words = {"title": title, "title_fontsize": "small", "alignment": "left"}
    ax.legend(handles=handles, borderaxespad=0.3, handlelength=1.4, **words, **place)
