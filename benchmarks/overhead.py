"""Time of the ensemble's own work, beside the time inside its experts.

Ten SGD classifiers, test then train. The clock of the experts runs inside their ``partial_fit`` and ``predict_proba``,
whoever calls them; all else is the ensemble's own work: checks, combining, losses, weights, copies.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from sklearn.linear_model import SGDClassifier

from ltm_sklearn import LongTermMemoryClassifier

from .report import Report

N_EXPERTS, N_FEATURES = 10, 20

inside = {"seconds": 0.0}


class TimedSGD(SGDClassifier):
    """An SGD classifier that measures its own time."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        start = time.perf_counter()
        try:
            return super().partial_fit(X, y, classes, sample_weight)
        finally:
            inside["seconds"] += time.perf_counter() - start

    def predict_proba(self, X):
        start = time.perf_counter()
        try:
            return super().predict_proba(X)
        finally:
            inside["seconds"] += time.perf_counter() - start


def timed(batch_size: int, n_batches: int, memory: str | None) -> tuple[float, float]:
    """Return the seconds inside the experts, and those of the ensemble's own work."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_batches * batch_size, N_FEATURES))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    experts = [
        (f"sgd{at}", TimedSGD(loss="log_loss", alpha=10.0 ** -(at / 2 + 1), random_state=at)) for at in range(N_EXPERTS)
    ]
    model = LongTermMemoryClassifier(experts, memory=memory)
    model.partial_fit(X[:batch_size], y[:batch_size], classes=[0, 1])
    inside["seconds"] = 0.0
    start = time.perf_counter()
    for at in range(batch_size, len(X), batch_size):
        rows = slice(at, at + batch_size)
        model.predict(X[rows])
        model.partial_fit(X[rows], y[rows])
    whole = time.perf_counter() - start
    return inside["seconds"], whole - inside["seconds"]


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--sizes", type=int, nargs="+", default=[1, 10, 100, 1000], help="rows a batch")
    parser.add_argument("--batches", type=int, default=200)
    parser.add_argument("--repeats", type=int, default=5)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of times."""
    rows = []
    for batch_size in options.sizes:
        for memory in ("auto", None):
            runs = [timed(batch_size, options.batches, memory) for _ in range(options.repeats)]
            shares = [own / experts for experts, own in runs]
            experts, own = runs[int(np.argsort(shares)[options.repeats // 2])]
            per_round = 1e3 / (options.batches - 1)
            rows.append(
                [
                    batch_size,
                    "snapshots" if memory else "none",
                    f"{experts * per_round:.2f}",
                    f"{own * per_round:.2f}",
                    f"{np.median(shares):.1%}",
                    f"{min(shares):.1%} to {max(shares):.1%}",
                ]
            )
            print(rows[-1], flush=True)
    header = [
        "rows a batch",
        "memory",
        "ms inside the experts",
        "ms of own work",
        "own work / experts",
        f"range of {options.repeats} runs",
    ]
    notes = [
        f"{N_EXPERTS} SGD experts, {N_FEATURES} features, {options.batches} batches, seed 0, predict then "
        "partial_fit; the run with the median ratio. One predict and one partial_fit a round.",
    ]
    report.table("overhead", header, rows, notes)
