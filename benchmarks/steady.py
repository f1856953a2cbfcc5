"""Regret of the algorithms without settings where one expert is best throughout."""

from __future__ import annotations

import argparse

import numpy as np

from ltm_sklearn.experts import (
    BOA,
    AdaNormalHedge,
    AdaptMLProd,
    FixedShare,
    Hedge,
    LongTermMemory,
    MLPoly,
    Prod,
    Squint,
)

from .regimes import REGIMES, Regime, add_regimes, regimes_of
from .report import Report, add_seeds, seeds_in_words, seeds_of

ALGORITHMS = (Hedge, AdaNormalHedge, AdaptMLProd, Prod, MLPoly, LongTermMemory, BOA, Squint, FixedShare)


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds and regimes."""
    add_seeds(parser, 5, 0)
    add_regimes(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of regrets."""
    seeds = seeds_of(options)
    steady = regimes_of([regime for regime in REGIMES if regime.kind == "no switches"], options)
    regrets = {algorithm: [mean_regret(algorithm, regime, seeds) for regime in steady] for algorithm in ALGORITHMS}
    rows = [
        [f"`{algorithm.__name__}`", *(f"{regret:.1f}" for regret in of_regimes)]
        for algorithm, of_regimes in sorted(regrets.items(), key=lambda item: item[1][0])
    ]
    notes = [f"Regret, mean over {seeds_in_words(seeds)}; {steady[0].rounds:,} rounds, everything as it comes."]
    report.table("steady", ["", *(regime.name for regime in steady)], rows, notes)


def mean_regret(algorithm: type, regime: Regime, seeds: list[int]) -> float:
    """Return the mean regret over the seeds."""
    regrets = []
    for seed in seeds:
        losses, comparator = regime.losses(seed)
        regrets.append((algorithm().run(losses) * losses).sum() - comparator)
    return float(np.mean(regrets))
