"""How much of the time goes to the ensemble itself, beside the time inside its experts.

Ten SGD classifiers, test then train. The clock of the experts runs inside their ``partial_fit`` and ``predict_proba``,
whoever calls them; all else is the ensemble's own work: checks, combining, losses, weights, copies.

    python benchmarks/overhead.py
"""

from __future__ import annotations

import time

import numpy as np
from report import provenance, save_table
from sklearn.linear_model import SGDClassifier

from ltm_sklearn import LongTermMemoryClassifier

N_EXPERTS, N_FEATURES, N_BATCHES, REPEATS = 10, 20, 200, 5

inside = {"seconds": 0.0}


class TimedSGD(SGDClassifier):
    """An SGD classifier with a clock."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        start = time.perf_counter()
        try:
            return super().partial_fit(X, y, classes, sample_weight)
        finally:
            inside["seconds"] += time.perf_counter() - start

    def predict_proba(self, X):
        start = time.perf_counter()
        try:
            return super().predict_proba(X)
        finally:
            inside["seconds"] += time.perf_counter() - start


def run(batch_size: int, memory: str | None) -> tuple[float, float]:
    """Seconds inside the experts, and of the ensemble's own work."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_BATCHES * batch_size, N_FEATURES))
    y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
    experts = [
        (f"sgd{at}", TimedSGD(loss="log_loss", alpha=10.0 ** -(at / 2 + 1), random_state=at)) for at in range(N_EXPERTS)
    ]
    model = LongTermMemoryClassifier(experts, memory=memory)
    model.partial_fit(X[:batch_size], y[:batch_size], classes=[0, 1])
    inside["seconds"] = 0.0
    start = time.perf_counter()
    for at in range(batch_size, len(X), batch_size):
        rows = slice(at, at + batch_size)
        model.predict(X[rows])
        model.partial_fit(X[rows], y[rows])
    whole = time.perf_counter() - start
    return inside["seconds"], whole - inside["seconds"]


def main() -> None:
    rows = []
    for batch_size in (1, 10, 100, 1000):
        for memory in ("auto", None):
            runs = [run(batch_size, memory) for _ in range(REPEATS)]
            shares = [own / experts for experts, own in runs]
            experts, own = runs[int(np.argsort(shares)[REPEATS // 2])]
            per_round = 1e3 / (N_BATCHES - 1)
            rows.append(
                [
                    batch_size,
                    "snapshots" if memory else "none",
                    f"{experts * per_round:.2f}",
                    f"{own * per_round:.2f}",
                    f"{np.median(shares):.1%}",
                    f"{min(shares):.1%} to {max(shares):.1%}",
                ]
            )
            print(rows[-1], flush=True)
    header = [
        "rows a batch",
        "memory",
        "ms inside the experts",
        "ms of own work",
        "own work / experts",
        "range of 5 runs",
    ]
    notes = [
        f"{N_EXPERTS} SGD experts, {N_FEATURES} features, {N_BATCHES} batches, predict then partial_fit; the run with "
        "the median ratio. One predict and one partial_fit a round.",
        provenance(),
    ]
    print(save_table("overhead", header, rows, notes))


if __name__ == "__main__":
    main()
