"""Display of the leading expert over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recording import RunRecord
from ._expert_styles import ExpertStyles, others_label
from ._layout import annotate_rows, height_of_rows, label_rows, n_rows_that_fit
from ._run_display import RunDisplay
from ._time_axis import label_time_axis, record_edges, thinned_for_drawing


class RecurrenceDisplay(RunDisplay):
    """The leading expert over time: a row for each expert that ever has the largest weight, in order of first lead.

    A new leader appears below the earlier ones; an expert that leads again fills its row again. A note at the end of
    each row has the share of rows in which the expert leads, and the number of its periods.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    leaders_ : list of str
        The experts that ever lead, in order of first lead.
    bars_ : list of matplotlib collections
        The bars of each row, from the top down.
    """

    @property
    def figsize(self) -> tuple[float, float]:
        return 9.0, height_of_rows(len(_by_first_lead(leaders_of(thinned_for_drawing(self.run_record)))) + 2)

    def _draw(self, ax: Any) -> None:
        run_record, styles = thinned_for_drawing(self.run_record), ExpertStyles(self.run_record)
        edges, leaders = record_edges(run_record), leaders_of(run_record)
        all_leaders = rows = _by_first_lead(leaders)
        self.leaders_ = [run_record.names[expert] for expert in all_leaders]
        n_shown = n_rows_that_fit(ax, len(rows))
        if n_shown < len(rows):  # rows for those that lead longest
            n_led = np.array([run_record.counts[leaders == expert].sum() for expert in rows])
            longest = {rows[each] for each in np.argsort(-n_led, kind="stable")[:n_shown]}
            rows = [expert for expert in rows if expert in longest]
        groups = [leaders == expert for expert in rows]
        labels = [styles.labels[expert] for expert in rows]
        colours = [styles.colour(expert, otherwise="0.55") for expert in rows]
        rest = [expert for expert in all_leaders if expert not in rows]
        if rest:
            groups.append(np.isin(leaders, rest))
            labels.append(others_label(len(rest)))
            colours.append("0.8")
        self.bars_, notes = [], []
        for row, (group, colour) in enumerate(zip(groups, colours, strict=True)):
            starts, ends = _periods(group)
            spans = list(zip(edges[starts], edges[ends] - edges[starts], strict=True))
            ax.axhline(row, color="0.9", lw=0.8, zorder=1)
            self.bars_.append(ax.broken_barh(spans, (row - 0.38, 0.76), color=colour, lw=0.3, zorder=2))
            share = run_record.counts[group].sum() / run_record.counts.sum()
            notes.append(f"{share:.0%}, {len(starts)}×" if share >= 0.005 else f"< 1%, {len(starts)}×")
        annotate_rows(ax, notes, "rows, periods")
        label_rows(ax, labels)
        label_time_axis(ax, run_record)
        ax.set_title("Leading expert (largest weight) over time")


def leaders_of(run_record: RunRecord) -> NDArray[np.intp]:
    """Return the expert with the largest weight in each record; -1 where all weights are zero."""
    leaders = run_record.weights.argmax(axis=1)
    return np.where(run_record.weights.max(axis=1) > 0.0, leaders, -1)


def _by_first_lead(leaders: NDArray[np.intp]) -> list[int]:
    """Return the experts that ever lead, in order of first lead."""
    return [expert for expert in dict.fromkeys(leaders.tolist()) if expert >= 0]


def _periods(mask: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the starts and ends of the runs of True."""
    padded = np.concatenate([[0], mask.astype(np.int8), [0]])
    return np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
