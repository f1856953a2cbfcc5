"""Eight models and four kinds of rows that take turns: what asking one model a round costs against asking all.

python benchmarks/bandit_models.py [--seeds 5] [--first-seed 100] [--jobs 2]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from report import provenance, save_table
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier

Part = tuple[np.ndarray, np.ndarray]


def world(seed: int) -> tuple[list[tuple[str, Any]], list[int], list[Part]]:
    """A good and a poor model for each of four kinds of rows; the kinds in the order of their visits, and the rows."""
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
    visits = rng.permuted(np.tile(kinds, (8, 1)), axis=1).ravel().tolist()
    return models, visits, [rows(kind, 250) for kind in visits]


def asked(seed: int, **feedback: Any) -> float:
    """Share of right answers of an ensemble."""
    models, _, parts = world(seed)
    X, y = np.concatenate([X for X, _ in parts]), np.concatenate([y for _, y in parts])
    ensemble = LongTermMemoryClassifier(models, random_state=seed, **feedback)
    ensemble.partial_fit(X[:1], y[:1], classes=[False, True])
    right = []
    for at in range(1, len(X)):
        right.append(ensemble.issue(X[[at]], ids=[at])[0] == y[at])
        ensemble.learn([at], y[[at]])
    return float(np.mean(right))


def alone(seed: int) -> float:
    """Of the model that is best on the whole."""
    models, _, parts = world(seed)
    return max(float(np.mean([model.score(*part) for part in parts])) for _, model in models)


def in_force(seed: int) -> float:
    """Of the good model of the kind that is there."""
    models, visits, parts = world(seed)
    return float(np.mean([models[2 * kind][1].score(*part) for kind, part in zip(visits, parts, strict=True)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    ways: dict[str, tuple[int, Callable[[int], float]]] = {
        "one a row": (1, partial(asked, feedback="bandit")),
        "two a row": (2, partial(asked, feedback="bandit", query=2)),
        "four a row": (4, partial(asked, feedback="bandit", query=4)),
        "all, as a bandit": (8, partial(asked, feedback="bandit", query=8)),
        "all, full information": (8, partial(asked, loss="zero_one", memory=None)),
        "best model alone": (1, alone),
        "the good model in force": (1, in_force),
    }
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    rows = []
    for name, (calls, way) in ways.items():
        right = Parallel(n_jobs=options.jobs)(delayed(way)(seed) for seed in seeds)
        rows.append([name, calls, f"{np.mean(right):.3f} ± {np.std(right, ddof=1) / np.sqrt(len(seeds)):.3f}"])
    notes = [
        "Eight frozen models, a logistic regression and a stump for each of four kinds of rows; 32 visits of 250 rows; "
        f"5 % of the labels are wrong. Right answers, mean over seeds {seeds[0]} to {seeds[-1]}, with standard error.",
        provenance(),
    ]
    print(save_table("bandits_models", ["asked", "calls a row", "right"], rows, notes))


if __name__ == "__main__":
    main()
