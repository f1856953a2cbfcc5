"""Memory and time over a million rows: River's estimator with its memory on, scored on the way by `prequential`."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import linear_model, optim, preprocessing

from ltm_sklearn import streams
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.river import LongTermMemoryClassifier

from .report import Report


def resident() -> float:
    """Megabytes that this process holds now."""
    with open("/proc/self/status") as file:
        line = next(line for line in file if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024.0


def watched(stream: Any, n_rows: int, every: int, log: list[tuple[int, float, float]]) -> Iterator[Any]:
    """Rows of a stream; notes rows, megabytes and seconds on the way."""
    start = time.perf_counter()
    for at, pair in enumerate(stream):
        if at and at % every == 0:
            log.append((at, resident(), time.perf_counter() - start))
        if at == n_rows:
            return
        yield pair


def add_options(parser: argparse.ArgumentParser) -> None:
    """Rows."""
    parser.add_argument("--rows", type=int, default=1_000_000)


def run(report: Report, options: argparse.Namespace) -> None:
    """The table."""
    n_rows = options.rows
    stream = streams.sea([5.0, 10.0, 15.0], order="random", length=1000, noise=0.1, seed=0)
    model = LongTermMemoryClassifier(
        [preprocessing.StandardScaler() | linear_model.LogisticRegression(optim.SGD(rate)) for rate in (0.01, 0.1)]
    )
    log: list[tuple[int, float, float]] = []
    result = prequential(model, watched(stream, n_rows, n_rows // 10, log), probabilities=False)
    seconds = np.diff([0.0, *(taken for *_, taken in log)])
    rows = [
        [f"{at:,}", f"{megabytes:.1f}", f"{1e6 * taken / (n_rows // 10):.0f}"]
        for (at, megabytes, _), taken in zip(log, seconds, strict=True)
    ]
    scores = result.scores["LongTermMemoryClassifier"]
    notes = [
        f"Resident memory of the process after so many rows, and microseconds a row of the whole loop since the line "
        f"before. SEA 5/10/15, a change of concept every 1,000 rows, 10 % of labels flipped, seed 0; two scaled "
        f"logistic regressions of River as experts, memory on; accuracy {scores['accuracy']:.4f} of at most 0.9; "
        f"{len(model.experts_)} experts at the end.",
    ]
    report.table("endless", ["rows", "MB", "µs a row"], rows, notes, ("river",))
