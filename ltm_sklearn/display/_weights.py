"""Pictures of the experts' weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats
from ._axes import (
    draw_stack,
    edges,
    height_of_rows,
    label_rows,
    label_time,
    legend,
    plain,
    rows_of_means,
    rows_that_fit,
    to_draw,
)
from ._base import TraceDisplay
from ._look import OTHERS, ROUNDING, Look, others_called


class WeightStackDisplay(TraceDisplay):
    """The experts' weights over time, upon one another: the weightiest at the bottom.

    The nine weightiest have colours and names; the others are grey together.

    Parameters
    ----------
    run_record : RunRecord
        What the run was.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    layers_ : list of matplotlib PolyCollection
        From the bottom up.
    """

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = to_draw(self.run_record)
        layers, labels, colours = look.layers(run_record.weights)
        missing = np.maximum(1.0 - layers.sum(axis=0), 0.0)  # of experts that are not in the records
        if look.others:
            layers[-1] += missing
        elif missing.max() > ROUNDING:
            layers, labels, colours = np.vstack([layers, missing]), [*labels, "others"], [*colours, OTHERS]
        self.layers_ = draw_stack(ax, edges(run_record), layers, labels, colours)
        ax.set(ylim=(0.0, 1.0), ylabel="weight", title="Weights over time")
        label_time(ax, run_record)
        plain(ax)
        legend(ax, self.layers_[::-1])


class WeightBoxDisplay(TraceDisplay):
    """Boxes of each expert's weights: the middle half in the box, nine tenths between the whiskers, the mean a dot.

    Only times count at which the expert was there. The weightiest are at the top.

    Parameters
    ----------
    run_record : RunRecord
        What the run was.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    boxes_ : list of matplotlib Patch
        From the top down.
    """

    def _size(self) -> tuple[float, float]:
        return 7.0, height_of_rows(len(self.run_record.names))

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = self.run_record
        there = (run_record.weights > 0.0) | ~np.isnan(run_record.losses)
        n_shown = rows_that_fit(ax, len(look.order))
        shown, rest = look.order[:n_shown], look.order[n_shown:]
        groups = [[expert] for expert in shown] + ([rest] if rest else [])
        labels = [look.names[expert] for expert in shown] + ([others_called(len(rest))] if rest else [])
        marks = np.array([_marks(run_record.weights[:, group][there[:, group]]) for group in groups])
        low, first, middle, third, high, mean = marks.T
        at = np.arange(len(groups))
        colours = [look.colour(group[0]) if len(group) == 1 else OTHERS for group in groups]
        # drawn piece by piece, as the arguments of matplotlib's own boxes differ between its versions
        ax.hlines(at, low, high, color="0.35", lw=1.0, zorder=2)
        bars = ax.barh(at, third - first, left=first, height=0.62, color=colours, edgecolor="0.35", lw=0.6, zorder=3)
        ax.vlines(middle, at - 0.31, at + 0.31, color="black", lw=1.6, zorder=4)
        ax.plot(mean, at, "o", ms=3.5, mfc="white", mec="black", mew=0.8, zorder=5)
        self.boxes_ = list(bars)
        label_rows(ax, labels)
        rows = rows_of_means(run_record)
        ax.set(xlabel="weight" if rows == 1 else f"weight (means of {rows} rows)", title="How weights were spread")
        ax.set_xlim(0.0, max(1.05 * np.nanmax([*high, *mean, 1e-9]), 0.0))
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)


def _marks(weights: Floats) -> list[float]:
    """Quantiles 5, 25, 50, 75 and 95 %, and the mean; NaN for an expert that never took part."""
    if not len(weights):
        return [np.nan] * 6
    return [*np.percentile(weights, [5, 25, 50, 75, 95]).tolist(), float(weights.mean())]
