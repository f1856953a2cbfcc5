"""Tables of many learners on many streams: accuracy, accuracy after a return, seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .labelled_streams import FIRST_ROWS, after_returns, returns
from .report import Report

Scores = dict[str, Any]  #: accuracy, after_return and cpu_seconds of a run, or the error that ended it
Runs = dict[tuple[str, str], list[Scores]]  #: of each stream and learner, one a seed

#: What a table shows, and how its name ends.
FIELDS = {
    "accuracy": ("Accuracy", ""),
    "after_return": (f"Accuracy in the first {FIRST_ROWS} rows after a concept returned", "_returns"),
    "cpu_seconds": ("Seconds of the processor, for predicting, scoring and learning the whole stream", "_seconds"),
}


def scores(right: np.ndarray, concept: np.ndarray, cpu_seconds: float, batch_size: int = 1) -> Scores:
    """Return the scores of one run; ``right`` is the accuracy in each batch."""
    after = after_returns(right, returns(concept), batch_size)
    return {
        "accuracy": float(right.mean()),
        "after_return": float(np.mean(after)) if after else np.nan,
        "cpu_seconds": cpu_seconds,
    }


def save(
    report: Report,
    name: str,
    streams: Sequence[str],
    everyone: Sequence[str],
    runs: Runs,
    notes: Sequence[str],
    packages: Sequence[str],
) -> None:
    """Write three tables with a line for each learner and a column for each stream."""
    errors = [
        f"{who} on {stream}: {run['error']}" for (stream, who), each in runs.items() for run in each if "error" in run
    ]
    for field, (title, ending) in FIELDS.items():
        rows = [[who, *(shown(runs.get((stream, who), ()), field) for stream in streams)] for who in everyone]
        report.table(f"{name}{ending}", ["", *streams], rows, [f"{title}. {notes[0]}", *notes[1:], *errors], packages)


def shown(runs: Sequence[Scores], field: str) -> str:
    """Format the mean over seeds; a dash if there is none."""
    if not runs or any("error" in each for each in runs):
        return "-"
    mean = np.mean([each[field] for each in runs])
    if np.isnan(mean):
        return "-"
    return f"{mean:.{0 if mean >= 10 else 1}f}" if field == "cpu_seconds" else f"{mean:.4f}"
