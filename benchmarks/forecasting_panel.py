"""Seconds and bytes of a mixture with many series."""

from __future__ import annotations

import argparse
import pickle
import resource
import time

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture

from .report import Report


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--series", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1000)
    parser.add_argument("--experts", type=int, default=10)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of seconds."""
    n_series, n_rounds, n_experts = options.series, options.rounds, options.experts
    rng = np.random.default_rng(0)
    y = rng.normal(size=n_series * n_rounds)
    X = pd.DataFrame({f"model {at}": y + rng.normal(size=len(y)) for at in range(n_experts)})
    X["id"] = np.repeat(np.arange(n_series), n_rounds)
    rows = []
    for n_jobs in (1, 2):
        mixture = ExpertMixture(series="id", n_jobs=n_jobs)
        start = time.perf_counter()
        mixture.fit(X, y)
        rows.append([f"fit, n_jobs={n_jobs}", f"{time.perf_counter() - start:.1f}"])
    last = np.arange(1, n_series + 1) * n_rounds - 1
    for name, work in {
        "partial_fit, one row of each series": lambda: mixture.partial_fit(X.iloc[last], y[last]),
        "predict, one row of each series": lambda: mixture.predict(X.iloc[last]),
    }.items():
        start = time.perf_counter()
        work()
        rows.append([name, f"{time.perf_counter() - start:.2f}"])
    state = len(pickle.dumps(mixture))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    half = ExpertMixture(series="id").fit(X[: len(X) // 2], y[: len(y) // 2])
    fewer = ExpertMixture(series="id").fit(X[X.index % 2 == 0], y[::2])  # as many series, half the rounds
    notes = [
        f"{n_series:,} series, {n_rounds:,} rounds, {n_experts} experts, seed 0.",
        f"State: {state / 1e6:.0f} MB pickled, {state / n_series / n_experts:.0f} bytes a series and expert; with half "
        f"the series {len(pickle.dumps(half)) / 1e6:.0f} MB, with half the rounds "
        f"{len(pickle.dumps(fewer)) / 1e6:.0f} MB. Peak of the process {peak:.1f} GB, of which the table takes "
        f"{X.memory_usage().sum() / 1e9:.1f}.",
    ]
    report.table("forecasting_panel", ["", "seconds"], rows, notes, ("pandas", "joblib"))
