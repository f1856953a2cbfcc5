"""Members of the aggregator behind `ExpertMixture` alone, and arbiters of different paces."""

from __future__ import annotations

import argparse

import numpy as np

from ltm_sklearn.aggregation import Aggregator, ForecastMember
from ltm_sklearn.experts import LongTermMemory, MLPoly, PatientMemory, SteadyMemory
from ltm_sklearn.forecasting._forecast_table import ForecastTable
from ltm_sklearn.forecasting._panel import Panel
from ltm_sklearn.forecasting._series_state import SeriesState
from ltm_sklearn.losses import LOSSES, OutputLosses

from .forecast_tables import add_rows, load, prices
from .real_files import PRICES
from .report import Report, add_seeds, seeds_in_words, seeds_of

#: Rows, rows a segment, forecasters that are good in turns, and by how much.
KINDS = {
    "three take turns": (4000, 200, 3, 1.0),
    "one is good": (4000, 4000, 1, 1.0),
    "three take turns, hardly better": (4000, 200, 3, 0.3),
    "three take turns, short": (400, 50, 3, 1.0),
    "all are equal": (4000, 4000, 1, 0.0),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds and rows."""
    add_seeds(parser, 5, 10)
    add_rows(parser)


def synthetic(kind: str, seed: int, most: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Draw ten forecasters with a common error and errors of their own, of which one may be good for a while."""
    rng = np.random.default_rng(seed)
    n_rows, segment, n_good, gap = KINDS[kind]
    y = 0.3 * rng.normal(size=n_rows).cumsum()
    good = rng.integers(n_good, size=n_rows // segment).repeat(segment)
    scale = np.where(np.arange(10) == good[:, np.newaxis], 0.5, 0.5 + gap)
    X = y[:, np.newaxis] + 0.3 * rng.normal(size=(n_rows, 1)) + scale * rng.normal(size=(n_rows, 10))
    return X[:most], y[:most]


def mean_loss(aggregator: Aggregator, X: np.ndarray, y: np.ndarray, loss: str, block: int) -> float:
    """Return the mean loss of an aggregator's mixture, in blocks."""
    options = {"shared": False, "block": block, "lag": 0, "pooled": False, "bias": False}
    prior = np.full(X.shape[1], 1.0 / X.shape[1])
    panel = Panel(None, True, OutputLosses([LOSSES[loss]]), prior, 1, **options)
    state = panel.states[0, 0, 0] = SeriesState(aggregator, lags=False)
    zeros = np.zeros(len(y), dtype=np.int64)
    panel.learn(
        ForecastTable(X[:, :, np.newaxis], y[:, np.newaxis], None, None, zeros, zeros, None), with_weights=False
    )
    return float(state.loss_sums[0, -2] / state.loss_sums[1, -2])


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of losses."""
    seeds = seeds_of(options)
    table, load_of, _ = load(options)
    streams = {"load": [(table.to_numpy(), load_of.to_numpy())]}
    for market in PRICES:
        X, y = prices(market, options)
        streams |= {f"{market}, {how}": [(X.to_numpy(), y.to_numpy())] for how in ("days", "hours")}
    streams |= {kind: [synthetic(kind, seed, options.rows) for seed in seeds] for kind in KINDS}
    arbiters = {"patient": PatientMemory, "steady (default)": SteadyMemory, "LongTermMemory": LongTermMemory}
    rows = []
    for name, draws in streams.items():
        loss = "absolute_error" if name.endswith(("days", "hours")) else "squared_error"
        block = 24 if name.endswith("days") else 1
        found = []
        for X, y in draws:
            prior = np.full(X.shape[1], 1.0 / X.shape[1])
            losses = [
                mean_loss(Aggregator(LongTermMemory(), False, prior), X, y, loss, block),
                mean_loss(Aggregator(MLPoly(), True, prior), X, y, loss, block),
                float(LOSSES[loss](y, X.mean(axis=1)).mean()),
            ]
            for arbiter in arbiters.values():
                aggregator = Aggregator(None, True, prior)
                aggregator.arbiter = ForecastMember(arbiter(), linear=True)
                aggregator.arbiter.algorithm.weights(3)
                losses.append(mean_loss(aggregator, X, y, loss, block))
            found.append(losses)
        means = np.mean(found, axis=0)
        means = np.sqrt(means) if loss == "squared_error" else means
        rows.append([name, *(f"{value:.4g}" for value in means)])
        print(rows[-1], flush=True)
    notes = [
        "Root of the mean squared error, or mean absolute error of prices. Drawn streams: "
        f"means over {seeds_in_words(seeds)}; the pace of the arbiter was chosen on seed 5 of "
        "each and on the real ones.",
    ]
    header = ["", "follow", "blend", "mean", *(f"arbiter: {name}" for name in arbiters)]
    report.table("forecasting_voices", header, rows, notes, ("pandas",))
