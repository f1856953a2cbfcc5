"""Ablation of the default bandit: regret without some of its three trackers."""

from __future__ import annotations

import argparse

import numpy as np
from joblib import Parallel, delayed

from ltm_sklearn.bandits import LongTermMemoryBandit

from .bandit_worlds import World, add_worlds, regret, worlds_of
from .report import Report, add_seeds, seeds_in_words, seeds_of

#: Of the filter, Share-θ and the bounds.
TRUSTS = {
    "all three": (0.8, 0.1, 0.1),
    "no bounds": (0.9, 0.1, 0.0),
    "no Share-θ": (0.9, 0.0, 0.1),
    "no filter": (0.0, 0.5, 0.5),
    "filter alone": (1.0, 0.0, 0.0),
    "Share-θ alone": (0.0, 1.0, 0.0),
    "bounds alone": (0.0, 0.0, 1.0),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds and worlds."""
    add_seeds(parser, 20, 200)
    add_worlds(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of regrets."""
    seeds, rows = seeds_of(options), []
    for world in worlds_of(options):
        means = np.mean(Parallel(n_jobs=options.jobs)(delayed(of_seed)(world, seed) for seed in seeds), axis=0)
        rows.append([world.name, *(f"{mean:.0f}" for mean in means)])
    report.table("bandits_parts", ["world", *TRUSTS], rows, [f"Mean regret over {seeds_in_words(seeds)}."])


def of_seed(world: World, seed: int) -> list[float]:
    """Return the regret with each distribution over the trackers, on one seed."""
    losses, good = world.losses(seed)
    found = []
    for trust in TRUSTS.values():
        bandit = LongTermMemoryBandit(random_state=seed)
        bandit._trust = np.array(trust)
        found.append(regret(bandit, losses, good))
    return found
