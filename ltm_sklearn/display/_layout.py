"""Layout of the displays: axes and their parts, rows of experts, stacked layers, legends, numbers as text."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import import_extra
from .._typing import Floats

ROW_HEIGHT = 0.22  #: inches of a row with a label and a bar
MIN_LEGEND_ROW = 0.16  #: inches of a legend entry, at the least
MAX_ROWS = 30  #: experts with a row of their own


def axes_or_new(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the given axes or, if they are None, the axes of a new figure."""
    pyplot = import_extra("matplotlib.pyplot", "pictures", "plot")
    return pyplot.subplots(figsize=figsize, layout="constrained")[1] if ax is None else ax


def split_axes(ax: Any, ratios: tuple[float, float], below: bool) -> Any:
    """Return new axes that take the second part of the room of ``ax``, below it or beside it, with a shared axis."""
    shared = {"sharex" if below else "sharey": ax}
    spec = ax.get_subplotspec()
    if spec is not None:  # through the grid, so that the figure's layout engine places both
        shape, sizes, space = ((2, 1), "height_ratios", "hspace") if below else ((1, 2), "width_ratios", "wspace")
        grid = spec.subgridspec(*shape, **{sizes: ratios, space: 0.05})
        ax.set_subplotspec(grid[0])
        return ax.figure.add_subplot(grid[1], **shared)
    left, bottom, width, height = ax.get_position().bounds
    second = 0.94 * ratios[1] / sum(ratios)  # the remaining 6 % separate the two
    first = 1.0 - ratios[1] / sum(ratios)
    if below:
        ax.set_position((left, bottom + (1.0 - first) * height, width, first * height))
        return ax.figure.add_axes((left, bottom, width, second * height), **shared)
    ax.set_position((left, bottom, first * width, height))
    return ax.figure.add_axes((left + (1.0 - second) * width, bottom, second * width, height), **shared)


def hide_frame(ax: Any) -> None:
    """Hide the top and right spines."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def powers_of_ten(ax: Any, axis: str) -> None:
    """Write large and small tick labels with a common power of ten at the end of the axis."""
    ax.ticklabel_format(axis=axis, style="sci", scilimits=(-3, 5), useMathText=True)


def four_digits(value: float) -> str:
    """Format a number with four significant digits, or with all digits of its integer part."""
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:#.4g}"


def n_rows_that_fit(ax: Any, n_experts: int) -> int:
    """Return how many experts get a row of their own; the remaining ones share one more row."""
    most = min(max(int(ax.get_window_extent().height / ax.figure.dpi / ROW_HEIGHT * 1.3), 3), MAX_ROWS)
    return n_experts if n_experts <= most else most - 1


def height_of_rows(n_rows: int) -> float:
    """Return the height in inches of a new figure with this number of rows."""
    return max(2.4, 1.2 + ROW_HEIGHT * min(n_rows, MAX_ROWS))


def label_rows(ax: Any, labels: list[str]) -> None:
    """Write a label beside each row, the first row at the top."""
    ax.set_yticks(range(len(labels)), labels, fontsize="small" if len(labels) <= 15 else "x-small")
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def annotate_rows(ax: Any, notes: list[str], header: str) -> None:
    """Write a column of notes with a header at the right of the rows."""
    style = {"xytext": (4, 0), "textcoords": "offset points", "annotation_clip": False, "fontsize": "x-small"}
    ax.annotate(header, (1.0, 1.0), xycoords="axes fraction", va="bottom", color="0.4", **style)
    for row, note in enumerate(notes):
        ax.annotate(note, (1.0, row), xycoords=("axes fraction", "data"), va="center", color="0.25", **style)


def draw_stack(ax: Any, edges: Floats, layers: Floats, labels: list[str], colours: list[str]) -> list[Any]:
    """Stack layers of shape (n_layers, R) between edges (R + 1,): positive parts upwards, negative parts downwards."""
    tops, bottoms = np.zeros(layers.shape[1]), np.zeros(layers.shape[1])
    drawn = []
    for layer, label, colour in zip(layers, labels, colours, strict=True):
        up, down = np.maximum(layer, 0.0), np.minimum(layer, 0.0)
        low, high = np.where(down < 0.0, bottoms + down, tops), np.where(down < 0.0, bottoms, tops + up)
        style = {"color": colour, "lw": 0.2, "step": "post", "label": label}  # the thin line closes rendering gaps
        drawn.append(ax.fill_between(edges, np.append(low, low[-1]), np.append(high, high[-1]), **style))
        tops, bottoms = tops + up, bottoms + down
    return drawn


def add_legend(ax: Any, handles: list[Any], title: str | None = None) -> None:
    """Place the legend beside the axes if the layout makes room for it and it fits their height, otherwise inside."""
    height = ax.get_window_extent().height / ax.figure.dpi
    place: dict[str, Any]
    if ax.figure.get_layout_engine() is not None and MIN_LEGEND_ROW * (len(handles) + (title is not None)) < height:
        place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False, "fontsize": "small"}
    else:
        place = {"loc": "best", "fontsize": "x-small", "ncols": 1 + len(handles) // 6, "framealpha": 0.85}
    heading = {"title": title, "title_fontsize": "small", "alignment": "left"}
    ax.legend(handles=handles, borderaxespad=0.3, handlelength=1.4, **heading, **place)
