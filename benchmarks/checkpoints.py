"""Processor time of checkpoints as a share of the run, and of a run with checkpoints over one without."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier, streams
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.persistence import Checkpoint

from .report import Report

POOLS: dict[str, Any] = {
    "default": None,
    "two models": [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))],
}
MINUTE = 60.0


class Timed(Checkpoint):
    """A checkpoint that measures its own processor time."""

    seconds, n_files, n_bytes = 0.0, 0, 0

    def _write(self, model: Any) -> None:
        """Write the checkpoint, and add its processor time to the sum."""
        start = process_time()
        super()._write(model)
        self.seconds += process_time() - start
        self.n_files += 1
        self.n_bytes = self.path.stat().st_size if self.path is not None else 0


def one_run(pool: Any, stream: Any, batch: int, checkpoint: Checkpoint | None) -> float:
    """Return the processor seconds of a run."""
    model = LongTermMemoryClassifier(pool, random_state=0)
    start = process_time()
    prequential(model, stream, batch_size=batch, checkpoint=checkpoint)
    return process_time() - start


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--batch", type=int, default=50)
    parser.add_argument("--every", type=int, nargs="+", default=[10_000], help="rows, besides the default")
    parser.add_argument("--repeats", type=int, default=3)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of times."""
    stream = streams.sea(order="random", length=500, n_segments=-(-options.rows // 500), noise=0.1, seed=0)
    one_run(POOLS["two models"], stream, options.batch, None)  # imports
    rows = []
    for name, pool in POOLS.items():
        taken: dict[Any, list[float]] = {every: [] for every in ("without", *options.every, None)}
        last: dict[Any, Timed] = {}
        shares: dict[Any, list[float]] = {every: [] for every in taken}
        for _ in range(options.repeats):
            for every, seconds in taken.items():
                with tempfile.TemporaryDirectory() as folder:
                    last[every] = checkpoint = Timed(Path(folder, "run"), every=None if every == "without" else every)
                    seconds.append(one_run(pool, stream, options.batch, None if every == "without" else checkpoint))
                shares[every].append(checkpoint.seconds / seconds[-1])
        for every in (*options.every, None):
            ratios = [there / here for there, here in zip(taken[every], taken["without"], strict=True)]
            did = last[every]
            a_file = did.seconds / did.n_files
            rows.append(
                [
                    name,
                    "default" if every is None else f"{every:,} rows",
                    f"{median(taken['without']):.2f}",
                    did.n_files,
                    f"{100.0 * median(shares[every]):.1f} %",
                    f"{100.0 * (median(ratios) - 1.0):+.1f} %",
                    f"{1000.0 * a_file:.0f}",
                    f"{did.n_bytes / 1e6:.2f}",
                    f"{100.0 * a_file / MINUTE:.2f} %",
                ]
            )
    notes = [
        f"SEA, {options.rows:,} rows in batches of {options.batch}, seed 0, by `prequential`; medians of "
        f"{options.repeats} turns of all settings. *Share*: of the run's processor time, what went into checkpoints. "
        "*More time*: of the run with checkpoints over that without, which on a busy machine is mostly noise. By "
        "default a file is written each minute, and one at the start and at the end: shorter runs have these two "
        "alone. *One a minute*: the milliseconds of a file as a share of a minute.",
    ]
    header = [
        "pool",
        "every",
        "seconds without",
        "files",
        "share",
        "more time",
        "ms a file",
        "MB a file",
        "one a minute",
    ]
    report.table("checkpoints", header, rows, notes, ("skops",))
