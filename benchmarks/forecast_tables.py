"""Real tables of forecasts, and parts that all benchmarks of mixtures share."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import product

import pandas as pd

from ltm_sklearn import ExpertMixture
from ltm_sklearn.experts import BOA, ExpertAlgorithm, FixedShare, LongTermMemory, MLPoly, Squint

from .real_files import LOAD, PRICES, path_of

FIXED_SHARES = [FixedShare(rate, share) for rate, share in product([0.03, 0.12, 0.5, 2.0, 8.0], [1e-3, 1e-2, 1e-1])]
OWN: dict[str, ExpertAlgorithm] = {
    "BOA": BOA(),
    "ML-Poly": MLPoly(),
    "Squint": Squint(),
    "LongTermMemory": LongTermMemory(),
}


def add_rows(parser: argparse.ArgumentParser) -> None:
    """Add an option that makes the benchmark shorter."""
    parser.add_argument("--rows", type=int, help="only the first so many of each table")


def prices(market: str, options: argparse.Namespace) -> tuple[pd.DataFrame, pd.Series]:
    """Return the forecasts of eight models, and the prices."""
    path = path_of(options.data, PRICES[market])
    table = pd.read_csv(path, parse_dates=["datetime"], nrows=options.rows).set_index("datetime")
    y = table.pop("Real_price")
    return table[[name for name in table if not name.endswith("Ensemble")]], y


def load(options: argparse.Namespace) -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    """Return the forecasts of 65 experts, the load, and the grid operator's own forecast."""
    path = path_of(options.data, LOAD)
    table = pd.read_csv(path, parse_dates=["Date"], nrows=options.rows).set_index("Date")
    y = table.pop("y_Load").astype(float)
    return table, y, table.pop("rte_dayahead")


def best_of(X: pd.DataFrame, y: pd.Series, candidates: Iterable[ExpertAlgorithm], **parameters: object) -> float:
    """Return the least loss of several algorithms in hindsight."""
    return min(ExpertMixture(algorithm, **parameters).fit(X, y).mixture_loss_ for algorithm in candidates)
