"""The picture of who leads when."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..recording import RunRecord
from ._axes import edges, height_of_rows, label_rows, label_time, rows_that_fit, to_draw, write_beside
from ._base import TraceDisplay
from ._look import Look, others_called


class RecurrenceDisplay(TraceDisplay):
    """Which expert leads when: a row for each that ever does, in the order in which they first do.

    New leaders appear below the others; one that returns fills its row again. Behind each row stands how much of the
    time it led, and in how many stretches.

    Parameters
    ----------
    run_record : RunRecord
        What the run was. An expert leads while its weight is the largest.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    leaders_ : list of str
        The experts that ever lead, from the top down.
    bars_ : list of matplotlib collections
        Of the rows, from the top down.
    """

    def _size(self) -> tuple[float, float]:
        return 9.0, height_of_rows(len(_firsts(leaders_of(to_draw(self.run_record)))) + 2)

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = to_draw(self.run_record)
        at, leaders = edges(run_record), leaders_of(run_record)
        rows = _firsts(leaders)
        n_shown = rows_that_fit(ax, len(rows))
        if n_shown < len(rows):  # those that lead longest have rows
            led = np.array([run_record.counts[leaders == expert].sum() for expert in rows])
            longest = {rows[each] for each in np.argsort(-led, kind="stable")[:n_shown]}
            rows = [expert for expert in rows if expert in longest]
        groups = [leaders == expert for expert in rows]
        labels = [look.names[expert] for expert in rows]
        rest = [expert for expert in _firsts(leaders) if expert not in rows]
        colours = [look.colour(expert) if expert in look.named else "0.55" for expert in rows]
        if rest:
            groups.append(np.isin(leaders, rest))
            labels.append(others_called(len(rest)))
            colours.append("0.8")
        self.leaders_ = [run_record.names[expert] for expert in _firsts(leaders)]
        self.bars_, words = [], []
        for row, (group, colour) in enumerate(zip(groups, colours, strict=True)):
            starts, ends = _stretches(group)
            spans = list(zip(at[starts], at[ends] - at[starts], strict=True))
            ax.axhline(row, color="0.9", lw=0.8, zorder=1)
            self.bars_.append(ax.broken_barh(spans, (row - 0.38, 0.76), color=colour, lw=0.3, zorder=2))
            part = run_record.counts[group].sum() / run_record.counts.sum()
            words.append(f"{part:.0%}, {len(starts)}×" if part >= 0.005 else f"< 1%, {len(starts)}×")
        write_beside(ax, words, "led, stints")
        label_rows(ax, labels)
        label_time(ax, run_record)
        ax.set_title("Who leads when")


def leaders_of(run_record: RunRecord) -> NDArray[np.intp]:
    """The weightiest expert of each record; -1 where none has any weight."""
    leaders = run_record.weights.argmax(axis=1)
    return np.where(run_record.weights.max(axis=1) > 0.0, leaders, -1)


def _firsts(leaders: NDArray[np.intp]) -> list[int]:
    """Those that lead, in the order in which they first do."""
    return [expert for expert in dict.fromkeys(leaders.tolist()) if expert >= 0]


def _stretches(on: NDArray[np.bool_]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where it begins to be so, and where it ends."""
    padded = np.concatenate([[0], on.astype(np.int8), [0]])
    return np.flatnonzero(np.diff(padded) == 1), np.flatnonzero(np.diff(padded) == -1)
