"""Display of the residuals of a regressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..recording import RunRecord
from ._contributions import with_numbers
from ._expert_styles import PALETTE
from ._layout import hide_frame, split_axes
from ._run_display import RunDisplay
from ._time_axis import label_time_axis, record_times, rows_per_record

MAX_DOTS = 20_000  #: residuals that are drawn one by one
N_WINDOWS = 25  #: windows of the running median in a run
OUTLIER_MARGIN = 0.5  #: residuals further outside the central 99 % than this part of their range are outliers


class ResidualDisplay(RunDisplay):
    """Residuals, target - prediction, over time with their running median; beside them, their distribution.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run of a regressor.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the residuals over time.
    distribution_ax_ : matplotlib Axes
        The axes of the histogram.
    figure_ : matplotlib Figure
    residuals_ : ndarray of shape (R,)
        The residuals; means where records cover several rows.
    """

    def __init__(self, run_record: RunRecord) -> None:
        super().__init__(with_numbers(run_record, "residuals"))

    def _draw(self, ax: Any) -> None:
        run_record = self.run_record
        assert run_record.targets is not None
        assert run_record.predictions is not None
        residuals = self.residuals_ = run_record.targets - run_record.predictions
        times = record_times(run_record)
        self._draw_dots(ax, times, residuals)
        ax.axhline(0.0, color="black", lw=0.8)
        window = len(times) // N_WINDOWS
        if window >= 3:
            middle, median = _running_median(times, residuals, window)
            ax.plot(middle, median, color=PALETTE[1], lw=1.8, label=f"running median of {window}")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="upper left", fontsize="small", framealpha=0.85)
        label_time_axis(ax, run_record)
        n_rows = rows_per_record(run_record)
        ylabel = "residual (target − prediction)" if n_rows == 1 else f"mean residual of {n_rows} rows"
        ax.set(ylabel=ylabel, title="Residuals")
        hide_frame(ax)
        self._draw_histogram(ax, residuals[np.isfinite(residuals)], n_rows)

    def _draw_dots(self, ax: Any, times: Floats, residuals: Floats) -> None:
        """Draw a dot per residual; outliers, which would stretch the axis, are marked at its edge."""
        inliers = self._mark_outliers(ax, times, residuals)
        step = -(-len(times) // MAX_DOTS)  # not averaged: means are smaller than single residuals
        few = len(times) <= 2000
        style = {"ms": 3.5 if few else 2.2, "mew": 0, "alpha": 0.6 if few else 0.3, "rasterized": not few}
        ax.plot(times[inliers][::step], residuals[inliers][::step], "o", color=PALETTE[0], clip_on=not few, **style)

    def _mark_outliers(self, ax: Any, times: Floats, residuals: Floats) -> NDArray[np.bool_]:
        """Mark outliers at the edge of the axis, and return which residuals are inliers."""
        finite = np.isfinite(residuals)
        if not finite.any():
            return finite
        low, high = np.percentile(residuals[finite], [0.5, 99.5])
        margin = OUTLIER_MARGIN * (high - low)
        low, high = min(low, 0.0) - margin, max(high, 0.0) + margin
        above, below = residuals > high, residuals < low
        n_outliers = int((above | below).sum())
        if not n_outliers or not margin:
            return finite
        ax.set_ylim(low, high)
        style = {"color": "black", "ms": 4, "mew": 0, "clip_on": False, "ls": "none"}
        label = f"{n_outliers} outlier{'s' * (n_outliers != 1)}"
        ax.plot(times[above], np.full(above.sum(), high), marker="^", **style, label=label)
        ax.plot(times[below], np.full(below.sum(), low), marker="v", **style)
        return finite & ~above & ~below

    def _draw_histogram(self, ax: Any, residuals: Floats, n_rows: int) -> None:
        """Draw the distribution of the residuals beside them, on the same scale."""
        beside = self.distribution_ax_ = split_axes(ax, (4, 1), below=False)
        if len(residuals):
            inside = residuals[(residuals >= ax.get_ylim()[0]) & (residuals <= ax.get_ylim()[1])]
            beside.hist(inside, bins=_n_bins(inside), orientation="horizontal", color=PALETTE[0], alpha=0.75)
            text = f"mean {residuals.mean():.3g}\nsd {residuals.std():.3g}"
            place = {"transform": beside.transAxes, "ha": "right", "va": "top", "zorder": 3}
            beside.text(0.98, 0.98, text, fontsize="small", backgroundcolor="white", **place)
        beside.axhline(0.0, color="black", lw=0.8)
        beside.tick_params(axis="y", labelleft=False)
        beside.tick_params(axis="x", labelsize="small")
        beside.set_xlabel("rows" if n_rows == 1 else f"means of {n_rows} rows")
        hide_frame(beside)


def _running_median(times: Floats, values: Floats, window: int) -> tuple[Floats, Floats]:
    """Return the middle times and the medians of overlapping windows."""
    starts = range(0, len(times) - window + 1, max(window // 4, 1))
    middle = np.array([times[start + window // 2] for start in starts])
    return middle, np.array([np.median(values[start : start + window]) for start in starts])


def _n_bins(values: Floats) -> int:
    """Return the number of bins by the rule of Freedman and Diaconis, between 5 and 120."""
    low, high = np.percentile(values, [25, 75])
    width = 2.0 * (high - low) / len(values) ** (1 / 3)
    return int(np.clip((values.max() - values.min()) / width, 5, 120)) if width > 0.0 else 10
