"""Display of the experts' contributions to the prediction of a regressor."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..recording import RunRecord
from ._expert_styles import ExpertStyles
from ._layout import add_legend, draw_stack, hide_frame
from ._run_display import RunDisplay
from ._time_axis import label_time_axis, record_edges, thinned_for_drawing


class ContributionDisplay(RunDisplay):
    """Contributions of the experts to the prediction, weight × forecast, stacked; the prediction is a line.

    The weights are normalized over the experts that were awake. The contributions add up to the prediction of a row if
    it is the experts' average (``combine="average"``), and approximately so for means over several rows.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run of a regressor.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    layers_ : list of matplotlib PolyCollection
        The layers from the bottom up.
    line_ : matplotlib Line2D
        The prediction.
    """

    def __init__(self, run_record: RunRecord) -> None:
        super().__init__(with_numbers(run_record, "contributions"))

    def _draw(self, ax: Any) -> None:
        run_record, styles = thinned_for_drawing(self.run_record), ExpertStyles(self.run_record)
        assert run_record.forecasts is not None
        assert run_record.predictions is not None
        awake = ~np.isnan(run_record.forecasts)
        weights = run_record.weights * awake
        total = weights.sum(axis=1, keepdims=True)
        shares = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0.0)
        layers, labels, colours = styles.layers(shares * np.where(awake, run_record.forecasts, 0.0))
        edges = record_edges(run_record)
        self.layers_ = draw_stack(ax, edges, layers, labels, colours)
        steps = np.append(run_record.predictions, run_record.predictions[-1])
        (self.line_,) = ax.plot(edges, steps, color="black", lw=0.9, drawstyle="steps-post", label="prediction")
        ax.set(ylabel="weight × forecast", title="Contributions to the prediction")
        if -layers.min() > 0.01 * np.abs(layers).max():  # smaller negative parts are invisible
            ax.axhline(0.0, color="black", lw=0.6)
        else:
            ax.set_ylim(0.0, None)
        label_time_axis(ax, run_record)
        hide_frame(ax)
        add_legend(ax, [self.line_, *self.layers_[::-1]])


def with_numbers(run_record: RunRecord, drawn: str) -> RunRecord:
    """Return the record, or raise an error if it has no numeric targets, predictions and forecasts."""
    if run_record.forecasts is None or run_record.targets is None or run_record.predictions is None:
        raise ValueError(
            f"this run_record has no numeric targets, predictions and forecasts, so no {drawn} can be drawn. Pass the "
            "record of a regressor, not of a classifier"
        )
    return run_record
