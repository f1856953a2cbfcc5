"""Time axis of the displays: where records begin and end, dates or rows as labels, long runs averaged for drawing."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import import_extra
from .._typing import Floats
from ..recording import RunRecord

MAX_DRAWN = 1000  #: records that are drawn one by one
N_AVERAGED = 250  #: records that longer runs are averaged to; more would only add noise


def thinned_for_drawing(run_record: RunRecord) -> RunRecord:
    """Return the record itself or, if it is too long to be drawn, neighbouring records averaged."""
    return run_record.thinned(N_AVERAGED) if len(run_record.ends) > MAX_DRAWN else run_record


def record_times(run_record: RunRecord) -> Floats:
    """Return the position of each record's end on the time axis, shape (R,), never decreasing."""
    if run_record.times is None:
        return np.asarray(run_record.ends, dtype=np.float64)
    times = run_record.times
    if _has_dates(run_record):
        times = import_extra("matplotlib.dates", "pictures", "plot").date2num(times)
    return np.maximum.accumulate(np.asarray(times, dtype=np.float64))  # clocks go back in autumn


def record_edges(run_record: RunRecord) -> Floats:
    """Return where records begin and end on the time axis, shape (R + 1,): each begins where the previous one ends."""
    ends = record_times(run_record)
    if run_record.times is None:
        start = ends[0] - run_record.counts[0]
    else:  # the first record takes as much time per row as the others
        per_row = (ends[-1] - ends[0]) / max(np.sum(run_record.counts[1:]), 1) or 1.0
        start = ends[0] - per_row * run_record.counts[0]
    return np.concatenate([[start], ends])


def rows_per_record(run_record: RunRecord) -> int:
    """Return the median number of rows of a record; 1 if each record is a single row."""
    return int(np.median(run_record.counts)) if np.max(run_record.counts) > 1 else 1


def label_time_axis(ax: Any, run_record: RunRecord, means: bool = True) -> None:
    """Label the x axis with dates, times or rows; with ``means``, also with the number of rows that are averaged."""
    dated = _has_dates(run_record)
    if dated:
        dates = import_extra("matplotlib.dates", "pictures", "plot")
        locator = dates.AutoDateLocator(minticks=3, maxticks=8)
        ax.xaxis_date()
        ax.xaxis.set_major_locator(locator)
        ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    else:
        ax.ticklabel_format(axis="x", style="plain", useOffset=False)
        if run_record.times is None:
            ax.xaxis.get_major_locator().set_params(integer=True)
    unit = "" if dated else "row" if run_record.times is None else "time"
    n_rows = rows_per_record(run_record)
    note = f"means of {n_rows} rows" if means and n_rows > 1 else ""
    ax.set_xlabel(f"{unit} ({note})" if unit and note else unit or note)
    edges = record_edges(run_record)
    ax.set_xlim(edges[0], edges[-1])


def _has_dates(run_record: RunRecord) -> bool:
    return run_record.times is not None and np.asarray(run_record.times).dtype.kind == "M"
