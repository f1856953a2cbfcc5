"""Accuracy of an ensemble that queries one of eight models in each round, against one that queries all."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier

from .report import Report, add_seeds, seeds_in_words, seeds_of, standard_error

Part = tuple[np.ndarray, np.ndarray]


def world(seed: int, n_visits: int, n_rows: int) -> tuple[list[tuple[str, Any]], list[int], list[Part]]:
    """Return a good and a poor model for each of four kinds of rows, the order of the kinds, and the rows."""
    rng = np.random.default_rng(seed)
    rules = rng.normal(size=(4, 5))

    def rows(kind: int, n_rows: int) -> Part:
        X = rng.normal(size=(n_rows, 5))
        return X, (X @ rules[kind] > 0) ^ (rng.random(n_rows) < 0.05)

    models, kinds = [], range(4)
    for kind in kinds:
        X, y = rows(kind, 300)
        models.append((f"good{kind}", FrozenEstimator(LogisticRegression().fit(X, y))))
        models.append((f"poor{kind}", FrozenEstimator(DecisionTreeClassifier(max_depth=1).fit(X, y))))
    visits = rng.permuted(np.tile(kinds, (n_visits, 1)), axis=1).ravel().tolist()
    return models, visits, [rows(kind, n_rows) for kind in visits]


def accuracy_of_ensemble(seed: int, n_visits: int, n_rows: int, **feedback: Any) -> float:
    """Return the accuracy of an ensemble."""
    models, _, parts = world(seed, n_visits, n_rows)
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    ensemble = LongTermMemoryClassifier(models, random_state=seed, **feedback)
    ensemble.partial_fit(X[:1], y[:1], classes=[False, True])
    right = []
    for at in range(1, len(X)):
        right.append(ensemble.issue(X[[at]], ids=[at])[0] == y[at])
        ensemble.learn([at], y[[at]])
    return float(np.mean(right))


def accuracy_of_best_model(seed: int, n_visits: int, n_rows: int) -> float:
    """Return the accuracy of the single model that is best over all rows."""
    models, _, parts = world(seed, n_visits, n_rows)
    return max(float(np.mean([model.score(*part) for part in parts])) for _, model in models)


def accuracy_of_oracle(seed: int, n_visits: int, n_rows: int) -> float:
    """Return the accuracy of an oracle that uses the good model of the current kind of rows."""
    models, visits, parts = world(seed, n_visits, n_rows)
    return float(np.mean([models[2 * kind][1].score(*part) for kind, part in zip(visits, parts, strict=True)]))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds and rows."""
    add_seeds(parser, 5, 100)
    parser.add_argument("--visits", type=int, default=8, help="of each kind (default: %(default)s)")
    parser.add_argument("--rows", type=int, default=250, help="a visit (default: %(default)s)")


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of accuracies."""
    ways: dict[str, tuple[int, Callable[[int, int, int], float]]] = {
        "one a row": (1, partial(accuracy_of_ensemble, feedback="bandit")),
        "two a row": (2, partial(accuracy_of_ensemble, feedback="bandit", n_queries=2)),
        "four a row": (4, partial(accuracy_of_ensemble, feedback="bandit", n_queries=4)),
        "all, as a bandit": (8, partial(accuracy_of_ensemble, feedback="bandit", n_queries=8)),
        "all, full information": (8, partial(accuracy_of_ensemble, loss="zero_one", memory=None)),
        "best model alone": (1, accuracy_of_best_model),
        "the good model of the regime": (1, accuracy_of_oracle),
    }
    seeds, size = seeds_of(options), (options.visits, options.rows)
    rows = []
    for name, (calls, way) in ways.items():
        right = Parallel(n_jobs=options.jobs)(delayed(way)(seed, *size) for seed in seeds)
        rows.append([name, calls, f"{np.mean(right):.3f} ± {standard_error(right):.3f}"])
    notes = [
        "Eight frozen models, a logistic regression and a stump for each of four kinds of rows; "
        f"{4 * options.visits} visits of {options.rows} rows; "
        f"5 % of the labels are wrong. Right answers, mean over {seeds_in_words(seeds)}, with standard error.",
    ]
    report.table("bandits_models", ["queried", "calls a row", "right"], rows, notes)
