"""Seconds of the best sequence with few switches, beside the usual algorithm, which is quadratic in the rows.

The quadratic way takes the best expert of every segment that may be the last one; it is run on fewer rows, in NumPy.
"""

from __future__ import annotations

import argparse
from functools import partial

import numpy as np

from ltm_sklearn.evaluation import oracles

from .clock import best_seconds
from .report import Report

N_EXPERTS, MAX_SWITCHES = 100, 20
QUADRATIC_ROWS = 10_000  #: more take the quadratic way too long


def quadratic(losses: np.ndarray, max_switches: int) -> np.ndarray:
    """Return the mean losses with at most 0, 1, ... switches; the last segment may begin in any row."""
    n_rows = len(losses)
    sums = np.vstack([np.zeros(losses.shape[1]), losses.cumsum(axis=0)])
    least = np.full((n_rows + 1, max_switches + 1), np.inf)
    least[0] = 0.0
    for end in range(1, n_rows + 1):
        of_segment = (sums[end] - sums[:end]).min(axis=1)
        least[end, 0] = of_segment[0]
        least[end, 1:] = (least[:end, :-1] + of_segment[:, np.newaxis]).min(axis=0)
        np.minimum(least[end, 1:], least[end, 0], out=least[end, 1:])
    return np.minimum.accumulate(least[-1]) / n_rows


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the numbers of rows."""
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 3_000, 10_000, 100_000])


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of seconds."""
    rng = np.random.default_rng(0)
    rows = []
    for n_rows in options.rows:
        losses = rng.random((n_rows, N_EXPERTS))
        losses[np.arange(n_rows), np.arange(n_rows) // (n_rows // 20) % 5] -= 0.1
        ours, found = best_seconds(partial(oracles.best_sequence, losses, MAX_SWITCHES), 3)
        theirs = ""
        if n_rows <= QUADRATIC_ROWS:
            taken, expected = best_seconds(partial(quadratic, losses, MAX_SWITCHES), 1)
            np.testing.assert_allclose(found.losses, expected)
            theirs = f"{taken:.2f}"
        rows.append([n_rows, f"{ours:.4f}", theirs])
        print(rows[-1], flush=True)
    header = ["rows", "seconds", "seconds of the quadratic way"]
    notes = [
        f"{N_EXPERTS} experts, at most {MAX_SWITCHES} switches, seed 0, with the path; best of three runs, the "
        "quadratic way (NumPy, without a path) once, with the same losses to rounding.",
    ]
    report.table("oracles", header, rows, notes)
