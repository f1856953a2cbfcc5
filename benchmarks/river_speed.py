"""Microseconds of a round beyond those of the experts, beside River's own ensembles.

A round is ``predict_one`` and ``learn_one`` of one row. The experts are dummies that answer at once, so that the rest
is the ensemble's own work. Each repetition times the bare experts, the peer and ours one after the other; the figures
are medians. A second table has what a row costs a model of scikit-learn, through the adapters.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from river import base, compat, datasets, ensemble
from sklearn.linear_model import SGDClassifier

from ltm_sklearn.river import FromSklearnClassifier, LongTermMemoryClassifier, LongTermMemoryRegressor

from .report import Report

N_FEATURES, SEED = 5, 0


class SaysNumber(base.Regressor):
    """A regressor that always predicts the same number."""

    def __init__(self, value: float = 0.0) -> None:
        self.value = value

    def learn_one(self, x: Any, y: Any) -> None:
        pass

    def predict_one(self, x: Any) -> float:
        return self.value


class SaysChances(base.Classifier):
    """A classifier that always predicts the same probabilities."""

    def __init__(self, chance: float = 0.5) -> None:
        self.chance = chance

    def learn_one(self, x: Any, y: Any) -> None:
        pass

    def predict_proba_one(self, x: Any) -> dict[bool, float]:
        return {True: self.chance, False: 1.0 - self.chance}


def bare(experts: list[Any], rows: list[Any], ask: str) -> float:
    """Return the microseconds a round of querying and training each expert once."""
    asks, learns = [getattr(expert, ask) for expert in experts], [expert.learn_one for expert in experts]
    start = time.perf_counter()
    for x, y in rows:
        for ask_one in asks:
            ask_one(x)
        for learn_one in learns:
            learn_one(x, y)
    return (time.perf_counter() - start) / len(rows) * 1e6


def ensembled(model: Any, rows: list[Any]) -> float:
    """Return the microseconds a round of an ensemble."""
    start = time.perf_counter()
    for x, y in rows:
        model.predict_one(x)
        model.learn_one(x, y)
    return (time.perf_counter() - start) / len(rows) * 1e6


def compare(
    experts: list[Any], ask: str, makers: dict[str, Callable[[list[Any]], Any]], targets: list[Any], repeats: int
) -> tuple[float, dict[str, float]]:
    """Return the median cost of the bare experts, and of each ensemble beyond it."""
    rng = np.random.default_rng(SEED)
    rows = [({f"x{at}": float(value) for at, value in enumerate(rng.random(N_FEATURES))}, y) for y in targets]
    costs: dict[str, list[float]] = {name: [] for name in makers}
    alone = []
    for _ in range(repeats):
        alone.append(bare(experts, rows, ask))
        for name, make in makers.items():
            costs[name].append(ensembled(make(experts), rows) - alone[-1])
    return float(np.median(alone)), {name: float(np.median(each)) for name, each in costs.items()}


def border(report: Report, n_rows: int, repeats: int) -> None:
    """Write the cost of a row through the adapters of scikit-learn models."""
    rows = list(datasets.Phishing().take(n_rows))
    sgd = SGDClassifier(loss="log_loss", random_state=0)
    models = {"`river.compat`": lambda: compat.convert_sklearn_to_river(sgd, classes=[False, True])}
    for size in (1, 10, 100):
        name = f"`FromSklearnClassifier`, batch_size={size}"
        models[name] = lambda size=size: FromSklearnClassifier(sgd, classes=[False, True], batch_size=size)
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    for _ in range(repeats):
        for name, make in models.items():
            model = make()
            start = time.perf_counter()
            for x, y in rows:
                model.learn_one(x, y)
            between = time.perf_counter()
            for x, _ in rows:
                model.predict_proba_one(x)
            costs[name].append((between - start, time.perf_counter() - between))
    table = [
        [name, *(f"{1e6 * cost / len(rows):.0f}" for cost in np.median(each, axis=0))] for name, each in costs.items()
    ]
    notes = [
        f"Microseconds a row of Phishing (9 features) with `SGDClassifier`, medians of {repeats} repetitions of "
        f"{len(rows)} rows.",
    ]
    report.table("river_border", ["", "`learn_one`", "`predict_proba_one`"], table, notes, ("river",))


def _named(experts: list[Any]) -> list[tuple[str, Any]]:
    return [(f"expert{at}", expert) for at, expert in enumerate(experts)]


def rounds(report: Report, n_rounds: int, repeats: int) -> None:
    """Write the cost of a round beyond the experts."""
    rng = np.random.default_rng(SEED)
    kinds: list[tuple[str, Any, str, str, dict[str, Any], list[Any]]] = [
        (
            "regression",
            SaysNumber,
            "predict_one",
            "EWARegressor",
            {
                "EWARegressor": ensemble.EWARegressor,
                "ours": lambda experts: LongTermMemoryRegressor(_named(experts), memory=None),
                "ours, with memory": lambda experts: LongTermMemoryRegressor(_named(experts)),
            },
            rng.random(n_rounds).tolist(),
        ),
        (
            "classification",
            SaysChances,
            "predict_proba_one",
            "VotingClassifier",
            {
                "VotingClassifier": ensemble.VotingClassifier,
                "ours": lambda experts: LongTermMemoryClassifier(_named(experts), memory=None),
                "ours, with memory": lambda experts: LongTermMemoryClassifier(_named(experts)),
            },
            (rng.random(n_rounds) < 0.5).tolist(),
        ),
    ]
    table = []
    for kind, expert, ask, peer, makers, targets in kinds:
        for n_experts in (5, 20):
            experts = [expert(value) for value in rng.random(n_experts).tolist()]
            alone, costs = compare(experts, ask, makers, targets, repeats)
            ratio = costs["ours"] / costs[peer]
            line = [kind, n_experts, f"{alone:.2f}", peer, *(f"{cost:.2f}" for cost in costs.values()), f"{ratio:.2f}"]
            table.append(line)
            print(line, flush=True)
    header = ["", "experts", "bare experts", "peer", "peer's overhead", "ours", "ours, with memory", "ours / peer"]
    notes = [
        f"Microseconds a round (`predict_one` and `learn_one` of one row with {N_FEATURES} features), medians of "
        f"{repeats} repetitions of {n_rounds} rounds, seed {SEED}; overhead is what comes on top of asking and "
        "training each expert once. With memory there are at least twice as many learners, and snapshots, to ask and "
        "train, and copies of them are made and compared: that is work too, but it is not in the bare experts.",
    ]
    report.table("river_speed", header, table, notes, ("river",))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--rounds", type=int, default=5000, help="a repetition (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=15, help="(default: %(default)s; a third of it for adapters)")


def run(report: Report, options: argparse.Namespace) -> None:
    """Write both tables."""
    rounds(report, options.rounds, options.repeats)
    border(report, min(options.rounds, 1000), max(options.repeats // 3, 1))
