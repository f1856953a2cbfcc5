"""Pictures of what was said, for regressors: what each expert gave to it, and how far it was off."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..recording import RunRecord
from ._axes import draw_stack, edges, label_time, legend, moments, plain, rows_of_means, split, to_draw
from ._base import TraceDisplay
from ._look import PALETTE, Look

MOST_DOTS = 20_000  #: residuals that are drawn one by one
WINDOWS = 25  #: of a run, for the residuals' running median
FAR = 0.5  #: residuals beyond the range of 99 % of them by this part of it are marked at the edge


class ContributionDisplay(TraceDisplay):
    """What each expert contributes to the prediction, weight × forecast, upon one another; the prediction is a line.

    Weights are those of the experts that were awake, which make up one. The contributions add up to the prediction of a
    row if it is the experts' average (``combine="average"``); products of means over several rows do so nearly.

    Parameters
    ----------
    run_record : RunRecord
        What the run was; of a regressor.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    layers_ : list of matplotlib PolyCollection
        From the bottom up.
    line_ : matplotlib Line2D
        The prediction.
    """

    def __init__(self, run_record: RunRecord) -> None:
        super().__init__(_with_numbers(run_record, "contributions"))

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = to_draw(self.run_record)
        assert run_record.forecasts is not None
        assert run_record.predictions is not None
        awake = ~np.isnan(run_record.forecasts)
        weights = run_record.weights * awake
        total = weights.sum(axis=1, keepdims=True)
        shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
        layers, labels, colours = look.layers(shares * np.where(awake, run_record.forecasts, 0.0))
        at = edges(run_record)
        self.layers_ = draw_stack(ax, at, layers, labels, colours)
        steps = np.append(run_record.predictions, run_record.predictions[-1])
        (self.line_,) = ax.plot(at, steps, color="black", lw=0.9, drawstyle="steps-post", label="prediction")
        ax.set(ylabel="weight × forecast", title="Contributions to the prediction")
        if -layers.min() > 0.01 * np.abs(layers).max():  # less could not be seen
            ax.axhline(0.0, color="black", lw=0.6)
        else:
            ax.set_ylim(0.0, None)
        label_time(ax, run_record)
        plain(ax)
        legend(ax, [self.line_, *self.layers_[::-1]])


class ResidualDisplay(TraceDisplay):
    """Residuals, target - prediction: over time, with their running median, and how they are spread.

    Parameters
    ----------
    run_record : RunRecord
        What the run was; of a regressor.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of time.
    spread_ax_ : matplotlib Axes
        Of the distribution.
    figure_ : matplotlib Figure
    residuals_ : ndarray of shape (R,)
        What is drawn; means where records cover several rows.
    """

    def __init__(self, run_record: RunRecord) -> None:
        super().__init__(_with_numbers(run_record, "residuals"))

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = self.run_record
        assert run_record.targets is not None
        assert run_record.predictions is not None
        residuals = self.residuals_ = run_record.targets - run_record.predictions
        at = moments(run_record)
        step = -(-len(at) // MOST_DOTS)  # not averaged, which would make them smaller
        few = len(at) <= 2000
        dots = {"ms": 3.5 if few else 2.2, "mew": 0, "alpha": 0.6 if few else 0.3, "rasterized": not few}
        near = self._mark_far(ax, at, residuals)
        ax.plot(at[near][::step], residuals[near][::step], "o", color=PALETTE[0], clip_on=not few, **dots)
        ax.axhline(0.0, color="black", lw=0.8)
        window = len(at) // WINDOWS
        if window >= 3:
            middle, median = _running_median(at, residuals, window)
            ax.plot(middle, median, color=PALETTE[1], lw=1.8, label=f"running median of {window}")
        if ax.get_legend_handles_labels()[0]:
            ax.legend(loc="upper left", fontsize="small", framealpha=0.85)
        label_time(ax, run_record)
        rows = rows_of_means(run_record)
        what = "residual (target − prediction)" if rows == 1 else f"mean residual of {rows} rows"
        ax.set(ylabel=what, title="Residuals")
        plain(ax)
        self._draw_spread(ax, residuals[np.isfinite(residuals)], "rows" if rows == 1 else f"means of {rows} rows")

    def _mark_far(self, ax: Any, at: Floats, residuals: Floats) -> NDArray[np.bool_]:
        """A few far ones do not stretch the axis: they are marked at its edge. Returns which are no such."""
        known = residuals[np.isfinite(residuals)]
        if not len(known):
            return np.isfinite(residuals)
        low, high = np.percentile(known, [0.5, 99.5])
        room = FAR * (high - low)
        low, high = min(low, 0.0) - room, max(high, 0.0) + room
        above, below = residuals > high, residuals < low
        near = np.isfinite(residuals) & ~above & ~below
        number = int((above | below).sum())
        if not number or not room:
            return np.isfinite(residuals)
        ax.set_ylim(low, high)
        edge = {"color": "black", "ms": 4, "mew": 0, "clip_on": False, "ls": "none"}
        ax.plot(at[above], np.full(above.sum(), high), marker="^", **edge, label=f"{number} further out")
        ax.plot(at[below], np.full(below.sum(), low), marker="v", **edge)
        return near

    def _draw_spread(self, ax: Any, residuals: Floats, what: str) -> None:
        """How they are spread, on the same scale, beside them."""
        beside = self.spread_ax_ = split(ax, (4, 1), below=False)
        if len(residuals):
            inside = residuals[(residuals >= ax.get_ylim()[0]) & (residuals <= ax.get_ylim()[1])]
            beside.hist(inside, bins=_bins(inside), orientation="horizontal", color=PALETTE[0], alpha=0.75)
            words = f"mean {residuals.mean():.3g}\nsd {residuals.std():.3g}"
            place = {"transform": beside.transAxes, "ha": "right", "va": "top", "zorder": 3}
            beside.text(0.98, 0.98, words, fontsize="small", backgroundcolor="white", **place)
        beside.axhline(0.0, color="black", lw=0.8)
        beside.tick_params(axis="y", labelleft=False)
        beside.tick_params(axis="x", labelsize="small")
        beside.set_xlabel(what)
        plain(beside)


def _with_numbers(run_record: RunRecord, what: str) -> RunRecord:
    if run_record.forecasts is None or run_record.targets is None or run_record.predictions is None:
        raise ValueError(
            f"there are no {what} to draw: they are of numbers, and this run_record has no targets, predictions and "
            "forecasts, as that of a classifier"
        )
    return run_record


def _running_median(at: Floats, values: Floats, window: int) -> tuple[Floats, Floats]:
    starts = range(0, len(at) - window + 1, max(window // 4, 1))
    middle = np.array([at[start + window // 2] for start in starts])
    return middle, np.array([np.median(values[start : start + window]) for start in starts])


def _bins(values: Floats) -> int:
    """So many that a few far ones do not leave a single bar to the rest."""
    low, high = np.percentile(values, [25, 75])
    width = 2.0 * (high - low) / len(values) ** (1 / 3)
    return int(np.clip((values.max() - values.min()) / width, 5, 120)) if width > 0.0 else 10
