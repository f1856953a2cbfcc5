"""Displays of the experts' weights: stacked over time, and as box plots."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats
from ._expert_styles import OTHERS, ExpertStyles, others_label
from ._layout import add_legend, draw_stack, height_of_rows, hide_frame, label_rows, n_rows_that_fit
from ._run_display import RunDisplay
from ._time_axis import label_time_axis, record_edges, rows_per_record, thinned_for_drawing

#: Weights that are missing from the sum of one, because the record dropped the lightest experts, count from here.
ROUNDING = 1e-6


class WeightStackDisplay(RunDisplay):
    """The experts' weights over time, stacked, with the largest mean weight at the bottom.

    The nine experts with the largest mean weights have colours and names; the others are one grey layer.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    layers_ : list of matplotlib PolyCollection
        The layers from the bottom up.
    """

    def _draw(self, ax: Any) -> None:
        run_record, styles = thinned_for_drawing(self.run_record), ExpertStyles(self.run_record)
        layers, labels, colours = styles.layers(run_record.weights)
        missing = np.maximum(1.0 - layers.sum(axis=0), 0.0)  # weights of experts that the record dropped
        if styles.others:
            layers[-1] += missing
        elif missing.max() > ROUNDING:
            layers, labels, colours = np.vstack([layers, missing]), [*labels, "others"], [*colours, OTHERS]
        self.layers_ = draw_stack(ax, record_edges(run_record), layers, labels, colours)
        ax.set(ylim=(0.0, 1.0), ylabel="weight", title="Weights over time")
        label_time_axis(ax, run_record)
        hide_frame(ax)
        add_legend(ax, self.layers_[::-1])


class WeightBoxDisplay(RunDisplay):
    """Box plots of the experts' weights: quartiles, whiskers from the 5 % to the 95 % quantile, the mean as a dot.

    Each box covers the records in which its expert took part. The largest mean weight is at the top.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    boxes_ : list of matplotlib Patch
        The boxes from the top down.
    """

    @property
    def figsize(self) -> tuple[float, float]:
        return 7.0, height_of_rows(len(self.run_record.names))

    def _draw(self, ax: Any) -> None:
        run_record, styles = self.run_record, ExpertStyles(self.run_record)
        present = (run_record.weights > 0.0) | ~np.isnan(run_record.losses)
        n_shown = n_rows_that_fit(ax, len(styles.order))
        shown, rest = styles.order[:n_shown], styles.order[n_shown:]
        groups = [[expert] for expert in shown] + ([rest] if rest else [])
        labels = [styles.labels[expert] for expert in shown] + ([others_label(len(rest))] if rest else [])
        statistics = np.array([_box_statistics(run_record.weights[:, group][present[:, group]]) for group in groups])
        low, first, median, third, high, mean = statistics.T
        rows = np.arange(len(groups))
        colours = [styles.colour(group[0]) if len(group) == 1 else OTHERS for group in groups]
        # not ax.bxp, whose parameters differ between versions of matplotlib
        ax.hlines(rows, low, high, color="0.35", lw=1.0, zorder=2)
        bars = ax.barh(rows, third - first, left=first, height=0.62, color=colours, edgecolor="0.35", lw=0.6, zorder=3)
        ax.vlines(median, rows - 0.31, rows + 0.31, color="black", lw=1.6, zorder=4)
        ax.plot(mean, rows, "o", ms=3.5, mfc="white", mec="black", mew=0.8, zorder=5)
        self.boxes_ = list(bars)
        label_rows(ax, labels)
        n_rows = rows_per_record(run_record)
        ax.set(xlabel="weight" if n_rows == 1 else f"weight (means of {n_rows} rows)", title="Distribution of weights")
        ax.set_xlim(0.0, max(1.05 * np.nanmax([*high, *mean, 1e-9]), 0.0))
        ax.grid(axis="x", color="0.9")
        ax.set_axisbelow(True)


def _box_statistics(weights: Floats) -> list[float]:
    """Return the quantiles 5, 25, 50, 75 and 95 %, and the mean; NaN for an expert that never took part."""
    if not len(weights):
        return [np.nan] * 6
    return [*np.percentile(weights, [5, 25, 50, 75, 95]).tolist(), float(weights.mean())]
