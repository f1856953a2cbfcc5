"""Workers of Dask are killed at random instants of a run: the run goes on, and all experts come back.

``python tests/slow/dask_kills.py --kills 50``
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
import warnings

import dask
import numpy as np
from distributed import Client, LocalCluster
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.distributed import DaskWorkers
from ltm_sklearn.ensemble import ExpertWarning


def pool():
    return [
        ("bayes", GaussianNB()),
        ("sgd", SGDClassifier(loss="log_loss", random_state=0)),
        ("tree", DecisionTreeClassifier(max_depth=5, random_state=0)),
    ]


def run(client: Client, n_kills: int, seed: int) -> int:
    """How many things went wrong."""
    rng = np.random.default_rng(seed)
    ensemble = LongTermMemoryClassifier(DaskWorkers(client, checkpoint_every=3).experts(pool()), random_state=0)
    kills, n_rounds, asleep, right, slowest, wrong = 0, 0, 0, [], 0.0, 0
    while kills < n_kills or n_rounds < 20:
        if n_rounds % 10 == 9 and kills < n_kills and len(client.nthreads()) == 2:
            pids = list(client.run(os.getpid).values())
            victim = int(rng.choice(pids))
            threading.Timer(rng.uniform(0.0, 0.3), os.kill, (victim, signal.SIGKILL)).start()
            kills += 1
        X = rng.normal(size=(50, 4))
        y = (X[:, 0] > 0.0) ^ (n_rounds // 40 % 2 == 1)
        began = time.monotonic()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ExpertWarning)
            for attempt in (1, 2, 3):  # all of a lost worker may have been all that there were
                try:
                    if n_rounds:
                        right.append(float((ensemble.predict(X) == y).mean()))
                    ensemble.partial_fit(X, y, classes=[False, True])
                    break
                except ValueError as error:
                    if attempt == 3:
                        print(f"round {n_rounds}: {error}")
                        wrong += 1
        asleep += len(caught)
        slowest = max(slowest, time.monotonic() - began)
        if not np.isfinite(ensemble.weights_).all():
            print(f"round {n_rounds}: weights {ensemble.weights_}")
            wrong += 1
        n_rounds += 1
    for _ in range(5):  # to come to rest
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExpertWarning)
            ensemble.partial_fit(X, y)
    asleep_still = np.isnan(ensemble.transform(X)).all(axis=0)
    names = [name for name, sleeps in zip(ensemble.get_feature_names_out(), asleep_still, strict=True) if sleeps]
    if [name for name in names if "@restarted" not in name]:  # a young one may have just begun afresh
        print(f"have not come back: {names}")
        wrong += 1
    print(
        f"{kills} kills in {n_rounds} rounds: {asleep} warnings, slowest round {slowest:.1f} s, "
        f"{np.mean(right):.3f} right, {len(ensemble.experts_)} experts at the end"
    )
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})  # else Dask gives up those killed twice
    settings = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "silence_logs": 60}
    with LocalCluster(**settings) as cluster, Client(cluster) as client:
        wrong = run(client, arguments.kills, arguments.seed)
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
