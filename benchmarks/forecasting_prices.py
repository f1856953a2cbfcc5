"""Day-ahead prices of two markets with eight models' forecasts, issued a day at a time, hour by hour, or with lags."""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np

from ltm_sklearn import ExpertMixture
from ltm_sklearn.evaluation import oracles

from .forecast_peers import NOTE, of_sktime, shown
from .forecast_tables import FIXED_SHARES, OWN, add_rows, best_of, prices
from .real_files import PRICES
from .report import Report

#: What opera (R) reports of its own BOA and ML-Poly, as they come: MAE a day at a time, MAE hour by hour.
OPERA = {
    "NP": {"BOA": (1.615, 1.564), "ML-Poly": (1.617, 1.564)},
    "PJM": {"BOA": (2.846, 2.733), "ML-Poly": (2.880, 2.725)},
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the number of rows."""
    add_rows(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the mean absolute errors."""
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    columns = []
    for market in PRICES:
        X, y = prices(market, options)
        n_rows = len(y)
        errors = np.abs(X.to_numpy() - y.to_numpy()[:, np.newaxis])
        for how, block in (("a day at a time", 24), ("hour by hour", 1)):
            columns.append(f"{market}, {how}")
            parameters = {"loss": "absolute_error", "block": block}
            mine = {"ExpertMixture()": {}, "with bias=True": {"bias": True}}
            mine["with group='hour', pooled=True"] = {"group": "hour", "pooled": True}
            mine["with both"] = {"group": "hour", "pooled": True, "bias": True}
            for name, more in mine.items():
                add(name, ExpertMixture(**parameters, **more).fit(X, y).mixture_loss_)
            add("plain mean", float(np.abs(X.mean(axis=1) - y).mean()))
            add("best expert", float(errors.mean(axis=0).min()))
            for name, figures in OPERA[market].items():
                add(f"{name} of opera, as reported", figures[0 if block == 24 else 1])
            for name, figure in of_sktime(X, y, "absolute_error", block).items():
                add(name, figure)
            for name, algorithm in OWN.items():
                add(f"{name} of ours alone", ExpertMixture(algorithm, **parameters).fit(X, y).mixture_loss_)
            add("Fixed Share of ours, best of 15 in hindsight", best_of(X, y, FIXED_SHARES, **parameters))
            add("oracle: best convex combination", oracles.best_convex(X, y, "absolute_error").loss)
            add("oracle: best sequence, 100 switches", oracles.best_sequence(errors, 100).loss)
            print(columns[-1], {name: round(values[-1], 4) for name, values in rows.items()}, flush=True)
    notes = [
        f"Mean absolute error, {n_rows:,} hours.",
        "A day at a time: 24 forecasts are issued with the same weights at midnight, and learned together. Hour by "
        "hour: each price is known before the next hour is issued, which in these markets it is not.",
        "The defaults of the aggregator were chosen with these streams in view, among others; see docs/theory.md.",
        NOTE,
    ]
    table = [[name, *(shown(value, 4) for value in values)] for name, values in rows.items()]
    report.table("forecasting_prices", ["", *columns], table, notes, ("pandas", "sktime"))
    lags(report, options)


def lags(report: Report, options: argparse.Namespace) -> None:
    """Write the mean absolute errors with late targets, row by row."""
    table = []
    for market, lag in product(PRICES, (0, 6, 24, 48)):
        X, y = prices(market, options)
        own = {
            name: ExpertMixture(algorithm, loss="absolute_error", lag=lag).fit(X, y).mixture_loss_
            for name, algorithm in OWN.items()
        }
        aggregator = ExpertMixture(loss="absolute_error", lag=lag).fit(X, y).mixture_loss_
        plain = float(np.abs(X.mean(axis=1) - y).mean())
        table.append([market, lag, f"{aggregator:.4f}", f"{plain:.4f}", *(f"{value:.4f}" for value in own.values())])
    notes = [
        "Mean absolute error; each row is issued with weights that know nothing of the `lag` hours before it.",
    ]
    header = ["market", "lag", "ExpertMixture()", "plain mean", *OWN]
    report.table("forecasting_lags", header, table, notes, ("pandas",))
