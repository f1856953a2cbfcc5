"""Half-hourly demand of Victoria: ordinary forecasters, issued at noon for the whole next day."""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture

from .demand_pool import forecasts_of_demand
from .forecast_tables import OWN, add_rows
from .real_files import DEMAND, path_of
from .report import Report


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the number of rows."""
    add_rows(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the errors of the mixtures, the plain mean and the models."""
    table = pd.read_csv(path_of(options.data, DEMAND), parse_dates=["Time"], nrows=options.rows)
    X, y = forecasts_of_demand(table)
    errors = {name: float(np.abs(X[name] - y).mean()) for name in X}
    squares = {name: float(np.sqrt(((X[name] - y) ** 2).mean())) for name in X}
    mean = X.mean(axis=1)
    rows = []
    mine = {
        "ExpertMixture()": {},
        "with bias=True": {"bias": True},
        "with group, pooled=True": {"group": "slot", "pooled": True},
        "with both": {"group": "slot", "pooled": True, "bias": True},
    }
    slots = X.assign(slot=np.arange(len(X)) % 48)
    for name, more in mine.items():
        of_loss = []
        for loss in ("absolute_error", "squared_error"):
            mixture = ExpertMixture(loss=loss, block=48, lag=24, **more).fit(slots if "group" in more else X, y)
            of_loss.append(mixture.mixture_loss_ if loss == "absolute_error" else np.sqrt(mixture.mixture_loss_))
        rows.append([name, *of_loss])
    rows.append(["plain mean", float(np.abs(mean - y).mean()), float(np.sqrt(((mean - y) ** 2).mean()))])
    for name, algorithm in OWN.items():
        parameters = {"block": 48, "lag": 24}
        absolute = ExpertMixture(algorithm, "absolute_error", **parameters).fit(X, y).mixture_loss_
        squared = ExpertMixture(algorithm, "squared_error", **parameters).fit(X, y).mixture_loss_
        rows.append([f"{name} of ours alone", absolute, np.sqrt(squared)])
    rows += [[name, errors[name], squares[name]] for name in sorted(X, key=errors.__getitem__)]
    notes = [
        f"Half-hourly demand in MW, {len(y):,} half-hours.",
        "At noon all 48 half-hours of the next day are forecast; nothing later than that noon is known to any model or "
        "to the mixture (block=48, lag=24). Models are trained anew every 28 days. Mixtures are made for the loss that "
        "they are measured in.",
    ]
    shown = [[name, f"{absolute:.2f}", f"{squared:.2f}"] for name, absolute, squared in rows]
    report.table("forecasting_demand", ["", "MAE", "RMSE"], shown, notes, ("pandas",))
