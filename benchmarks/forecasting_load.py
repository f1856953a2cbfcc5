"""Daily French load: the forecasts of 65 experts combined."""

from __future__ import annotations

import argparse

import numpy as np

from ltm_sklearn import ExpertMixture
from ltm_sklearn.evaluation import oracles

from .forecast_peers import NOTE, of_sktime, shown
from .forecast_tables import FIXED_SHARES, OWN, add_rows, best_of, load
from .report import Report

#: Root mean squared errors that opera (R) reports.
OPERA = {"ML-Poly": 1056.9, "Fixed Share, calibrated": 1063.4, "EWA": 1067.1, "BOA": 1157.5}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the number of rows."""
    add_rows(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the root mean squared errors."""
    table, y, operator = load(options)
    losses = (table.to_numpy() - y.to_numpy()[:, np.newaxis]) ** 2
    found: dict[str, float] = {
        "ExpertMixture()": ExpertMixture().fit(table, y).mixture_loss_,
        "with bias=True": ExpertMixture(bias=True).fit(table, y).mixture_loss_,
        "plain mean": float(((table.mean(axis=1) - y) ** 2).mean()),
        "best expert": float(losses.mean(axis=0).min()),
        "the grid operator's own": float(((operator - y) ** 2).mean()),
        **{f"{name} of opera, as reported": figure**2 for name, figure in OPERA.items()},
        **of_sktime(table, y, "squared_error"),
        **{f"{name} of ours alone": ExpertMixture(own).fit(table, y).mixture_loss_ for name, own in OWN.items()},
        "Fixed Share of ours, best of 15 in hindsight": best_of(table, y, FIXED_SHARES),
        "oracle: best convex combination": oracles.best_convex(table, y).loss,
        "oracle: best linear combination": oracles.best_linear(table, y).loss,
        "oracle: best sequence, 5 switches": oracles.best_sequence(losses, 5).loss,
        "oracle: best sequence, 10 switches": oracles.best_sequence(losses, 10).loss,
    }
    rows = [[name, shown(float(np.sqrt(loss)), 1)] for name, loss in found.items()]
    notes = [
        f"Root mean squared error in MW, {len(y)} days at 20:00, 65 experts.",
        "The defaults of the aggregator were chosen with this stream in view, among others; see docs/theory.md.",
        NOTE,
    ]
    report.table("forecasting_load", ["", "RMSE"], rows, notes, ("pandas", "sktime"))
