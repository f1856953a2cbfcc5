"""Combining forecasts: real tables of experts' forecasts, a pool built here, and the speed of panels.

    python benchmarks/forecasting.py prices|load|demand|voices|panel|all [--data FOLDER]

`prices`: hourly day-ahead prices with eight models' forecasts, issued a day at a time, or hour by hour. `load`: daily
French load with 65 experts. `demand`: half-hourly demand of Victoria, forecasters trained here. `voices`: the council
taken apart. `panel`: many series.
"""

from __future__ import annotations

import argparse
import pickle
import resource
import time
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from demand_pool import forecasts_of_demand
from report import provenance, save_table

from ltm_sklearn import ExpertMixture
from ltm_sklearn._council import Council, Voice
from ltm_sklearn._panel import Panel, Table
from ltm_sklearn.evaluation import oracles
from ltm_sklearn.experts import BOA, ExpertAlgorithm, FixedShare, LongTermMemory, MLPoly, Squint
from ltm_sklearn.experts._long_term_memory import PatientMemory, SteadyMemory
from ltm_sklearn.losses import LOSSES
from ltm_sklearn.losses._numbers import OutputLosses

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"

#: What opera (R) reports of its own BOA and ML-Poly, as they come: MAE a day at a time, MAE hour by hour.
OPERA = {
    "NP": {"BOA": (1.615, 1.564), "ML-Poly": (1.617, 1.564)},
    "PJM": {"BOA": (2.846, 2.733), "ML-Poly": (2.880, 2.725)},
}
#: RMSE on the French load, the same.
OPERA_LOAD = {"ML-Poly": 1056.9, "Fixed Share, calibrated": 1063.4, "EWA": 1067.1, "BOA": 1157.5}

FIXED_SHARES = [FixedShare(rate, share) for rate, share in product([0.03, 0.12, 0.5, 2.0, 8.0], [1e-3, 1e-2, 1e-1])]
OWN: dict[str, ExpertAlgorithm] = {
    "BOA": BOA(),
    "ML-Poly": MLPoly(),
    "Squint": Squint(),
    "LongTermMemory": LongTermMemory(),
}


def prices(market: str) -> tuple[pd.DataFrame, pd.Series]:
    """Forecasts of eight models, and prices."""
    table = pd.read_csv(DATA / f"experts_epf_{market}.csv.gz", parse_dates=["datetime"]).set_index("datetime")
    y = table.pop("Real_price")
    return table[[name for name in table if not name.endswith("Ensemble")]], y


def best_of(X: pd.DataFrame, y: pd.Series, candidates: Iterable[ExpertAlgorithm], **parameters: object) -> float:
    """The least loss of several algorithms, in hindsight."""
    return min(ExpertMixture(algorithm, **parameters).fit(X, y).mixture_loss_ for algorithm in candidates)


def run_prices() -> None:
    """Mean absolute errors."""
    rows: dict[str, list[float]] = {}

    def add(name: str, value: float) -> None:
        rows.setdefault(name, []).append(value)

    columns = []
    for market in OPERA:
        X, y = prices(market)
        errors = np.abs(X.to_numpy() - y.to_numpy()[:, np.newaxis])
        for how, block in (("a day at a time", 24), ("hour by hour", 1)):
            columns.append(f"{market}, {how}")
            parameters = {"loss": "absolute", "block": block}
            mine = {"ExpertMixture()": {}, "with bias=True": {"bias": True}}
            mine["with group='hour', pooled=True"] = {"group": "hour", "pooled": True}
            mine["with both"] = {"group": "hour", "pooled": True, "bias": True}
            for name, more in mine.items():
                add(name, ExpertMixture(**parameters, **more).fit(X, y).mixture_loss_)
            add("plain mean", float(np.abs(X.mean(axis=1) - y).mean()))
            add("best expert", float(errors.mean(axis=0).min()))
            for name, figures in OPERA[market].items():
                add(f"{name} of opera, as reported", figures[0 if block == 24 else 1])
            for name, algorithm in OWN.items():
                add(f"{name} of ours alone", ExpertMixture(algorithm, **parameters).fit(X, y).mixture_loss_)
            add("Fixed Share of ours, best of 15 in hindsight", best_of(X, y, FIXED_SHARES, **parameters))
            add("oracle: best convex combination", oracles.best_convex(X, y, "absolute").loss)
            add("oracle: best sequence, 100 switches", oracles.best_sequence(errors, 100).loss)
            print(columns[-1], {name: round(values[-1], 4) for name, values in rows.items()}, flush=True)
    notes = [
        "Mean absolute error, 17,472 hours; `python benchmarks/forecasting.py prices`.",
        "A day at a time: 24 forecasts are issued with the same weights at midnight, and learned together. Hour by "
        "hour: each price is known before the next hour is issued, which in these markets it is not.",
        "The defaults of the council were chosen with these streams in view, among others; see docs/theory.md.",
        provenance("pandas"),
    ]
    table = [[name, *(f"{value:.4f}" for value in values)] for name, values in rows.items()]
    print(save_table("forecasting_prices", ["", *columns], table, notes))
    run_lags()


def run_lags() -> None:
    """Targets that come later, row by row: with late rounds judged by what was issued."""
    table = []
    for market, lag in product(OPERA, (0, 6, 24, 48)):
        X, y = prices(market)
        own = {
            name: ExpertMixture(algorithm, loss="absolute", lag=lag).fit(X, y).mixture_loss_
            for name, algorithm in OWN.items()
        }
        council = ExpertMixture(loss="absolute", lag=lag).fit(X, y).mixture_loss_
        plain = float(np.abs(X.mean(axis=1) - y).mean())
        table.append([market, lag, f"{council:.4f}", f"{plain:.4f}", *(f"{value:.4f}" for value in own.values())])
    notes = [
        "Mean absolute error; each row is issued with weights that know nothing of the `lag` hours before it.",
        provenance("pandas"),
    ]
    print(save_table("forecasting_lags", ["market", "lag", "ExpertMixture()", "plain mean", *OWN], table, notes))


def run_load() -> None:
    """Root mean squared errors on the French load."""
    table = pd.read_csv(DATA / "opera_regional_experts.csv.gz", parse_dates=["Date"]).set_index("Date")
    y = table.pop("y_Load").astype(float)
    operator = table.pop("rte_dayahead")
    losses = (table.to_numpy() - y.to_numpy()[:, np.newaxis]) ** 2
    found: dict[str, float] = {
        "ExpertMixture()": ExpertMixture().fit(table, y).mixture_loss_,
        "with bias=True": ExpertMixture(bias=True).fit(table, y).mixture_loss_,
        "plain mean": float(((table.mean(axis=1) - y) ** 2).mean()),
        "best expert": float(losses.mean(axis=0).min()),
        "the grid operator's own": float(((operator - y) ** 2).mean()),
        **{f"{name} of opera, as reported": figure**2 for name, figure in OPERA_LOAD.items()},
        **{f"{name} of ours alone": ExpertMixture(own).fit(table, y).mixture_loss_ for name, own in OWN.items()},
        "Fixed Share of ours, best of 15 in hindsight": best_of(table, y, FIXED_SHARES),
        "oracle: best convex combination": oracles.best_convex(table, y).loss,
        "oracle: best linear combination": oracles.best_linear(table, y).loss,
        "oracle: best sequence, 5 switches": oracles.best_sequence(losses, 5).loss,
        "oracle: best sequence, 10 switches": oracles.best_sequence(losses, 10).loss,
    }
    rows = [[name, f"{np.sqrt(loss):.1f}"] for name, loss in found.items()]
    notes = [
        "Root mean squared error in MW, 398 days at 20:00, 65 experts; `python benchmarks/forecasting.py load`.",
        "The defaults of the council were chosen with this stream in view, among others; see docs/theory.md.",
        provenance("pandas"),
    ]
    print(save_table("forecasting_load", ["", "RMSE"], rows, notes))


def run_demand() -> None:
    """A pool of ordinary forecasters, trained on the way, issued at noon for the whole of the next day."""
    table = pd.read_csv(DATA / "ts_vic_electricity.csv.gz", parse_dates=["Time"])
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
        for loss in ("absolute", "squared"):
            mixture = ExpertMixture(loss=loss, block=48, lag=24, **more).fit(slots if "group" in more else X, y)
            of_loss.append(mixture.mixture_loss_ if loss == "absolute" else np.sqrt(mixture.mixture_loss_))
        rows.append([name, *of_loss])
    rows.append(["plain mean", float(np.abs(mean - y).mean()), float(np.sqrt(((mean - y) ** 2).mean()))])
    for name, algorithm in OWN.items():
        parameters = {"block": 48, "lag": 24}
        absolute = ExpertMixture(algorithm, "absolute", **parameters).fit(X, y).mixture_loss_
        squared = ExpertMixture(algorithm, "squared", **parameters).fit(X, y).mixture_loss_
        rows.append([f"{name} of ours alone", absolute, np.sqrt(squared)])
    rows += [[name, errors[name], squares[name]] for name in sorted(X, key=errors.__getitem__)]
    notes = [
        f"Half-hourly demand in MW, {len(y):,} half-hours; `python benchmarks/forecasting.py demand`.",
        "At noon all 48 half-hours of the next day are forecast; nothing later than that noon is known to any model or "
        "to the mixture (block=48, lag=24). Models are trained anew every 28 days. Mixtures are made for the loss that "
        "they are measured in.",
        provenance("pandas"),
    ]
    shown = [[name, f"{absolute:.2f}", f"{squared:.2f}"] for name, absolute, squared in rows]
    print(save_table("forecasting_demand", ["", "MAE", "RMSE"], shown, notes))


def synthetic(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Ten forecasters with a common error and errors of their own, of which one may be good for a while."""
    rng = np.random.default_rng(seed)
    n_rows, segment, n_good, gap = {
        "three take turns": (4000, 200, 3, 1.0),
        "one is good": (4000, 4000, 1, 1.0),
        "three take turns, hardly better": (4000, 200, 3, 0.3),
        "three take turns, short": (400, 50, 3, 1.0),
        "all are equal": (4000, 4000, 1, 0.0),
    }[kind]
    y = 0.3 * rng.normal(size=n_rows).cumsum()
    good = rng.integers(n_good, size=n_rows // segment).repeat(segment)
    scale = np.where(np.arange(10) == good[:, np.newaxis], 0.5, 0.5 + gap)
    return y[:, np.newaxis] + 0.3 * rng.normal(size=(n_rows, 1)) + scale * rng.normal(size=(n_rows, 10)), y


def mean_loss(council: Council, X: np.ndarray, y: np.ndarray, loss: str, block: int) -> float:
    """Of a council's mixture, in blocks."""
    council_of = lambda prior: council  # noqa: E731 - there is just one cell
    options = {"shared": False, "block": block, "lag": 0, "pooled": False, "bias": False}
    panel = Panel(council_of, OutputLosses([LOSSES[loss]]), np.full(X.shape[1], 1.0 / X.shape[1]), 1, **options)
    zeros = np.zeros(len(y), dtype=np.int64)
    panel.learn(Table(X[:, :, np.newaxis], y[:, np.newaxis], None, None, zeros, zeros, None), with_weights=False)
    (cell,) = panel.cells.values()
    return float(cell.tally[0, -2] / cell.tally[1, -2])


def run_voices(seeds: range = range(10, 15)) -> None:
    """The council's voices alone, and its mixture with chairs of different paces."""
    table = pd.read_csv(DATA / "opera_regional_experts.csv.gz")
    streams = {"load": [(table.iloc[:, 3:].to_numpy(), table["y_Load"].to_numpy(float))]}
    for market in OPERA:
        X, y = prices(market)
        streams |= {f"{market}, {how}": [(X.to_numpy(), y.to_numpy())] for how in ("days", "hours")}
    kinds = ["three take turns", "one is good", "three take turns, hardly better", "three take turns, short"]
    kinds.append("all are equal")
    streams |= {kind: [synthetic(kind, seed) for seed in seeds] for kind in kinds}
    chairs = {"patient": PatientMemory, "steady (default)": SteadyMemory, "LongTermMemory": LongTermMemory}
    rows = []
    for name, draws in streams.items():
        loss = "absolute" if name.endswith(("days", "hours")) else "squared"
        block = 24 if name.endswith("days") else 1
        found = []
        for X, y in draws:
            prior = np.full(X.shape[1], 1.0 / X.shape[1])
            losses = [
                mean_loss(Council(LongTermMemory(), False, prior), X, y, loss, block),
                mean_loss(Council(MLPoly(), True, prior), X, y, loss, block),
                float(LOSSES[loss](y, X.mean(axis=1)).mean()),
            ]
            for chair in chairs.values():
                council = Council(None, True, prior)
                council.chair = Voice(chair(), linear=True)
                council.chair.algorithm.weights(3)
                losses.append(mean_loss(council, X, y, loss, block))
            found.append(losses)
        means = np.mean(found, axis=0)
        means = np.sqrt(means) if loss == "squared" else means
        rows.append([name, *(f"{value:.4g}" for value in means)])
        print(rows[-1], flush=True)
    notes = [
        "Root of the mean squared error, or mean absolute error of prices; `python benchmarks/forecasting.py voices`. "
        f"Drawn streams: means over seeds {seeds[0]} to {seeds[-1]}; the pace of the chair was chosen on seed 5 of "
        "each and on the real ones.",
        provenance("pandas"),
    ]
    header = ["", "follow", "blend", "mean", *(f"chair: {name}" for name in chairs)]
    print(save_table("forecasting_voices", header, rows, notes))


def run_panel(n_series: int = 10_000, n_rounds: int = 1000, n_experts: int = 10) -> None:
    """Many series side by side."""
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
        f"{n_series:,} series, {n_rounds:,} rounds, {n_experts} experts; `python benchmarks/forecasting.py panel`.",
        f"State: {state / 1e6:.0f} MB pickled, {state / n_series / n_experts:.0f} bytes a series and expert; with half "
        f"the series {len(pickle.dumps(half)) / 1e6:.0f} MB, with half the rounds "
        f"{len(pickle.dumps(fewer)) / 1e6:.0f} MB. Peak of the process {peak:.1f} GB, of which the table takes "
        f"{X.memory_usage().sum() / 1e9:.1f}.",
        provenance("pandas", "joblib"),
    ]
    print(save_table("forecasting_panel", ["", "seconds"], rows, notes))


def main() -> None:
    """Run one part, or all."""
    parts: dict[str, Callable[[], None]] = {
        "prices": run_prices,
        "load": run_load,
        "demand": run_demand,
        "voices": run_voices,
        "panel": run_panel,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", choices=[*parts, "all"])
    parser.add_argument("--data", type=Path, default=DATA, help="where the tables are (default: %(default)s)")
    options = parser.parse_args()
    globals()["DATA"] = options.data
    for name in parts if options.part == "all" else [options.part]:
        parts[name]()


if __name__ == "__main__":
    main()
