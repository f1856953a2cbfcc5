"""Seconds that 100,000 rounds of each bandit take."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

from ltm_sklearn.bandits import LongTermMemoryBandit, SparseLongTermMemory

from .bandit_rivals import DEFAULT, KINDS, PAPER, RIVALS
from .bandit_worlds import World
from .clock import best_seconds
from .report import Report

SIZES, REPEATS = (10, 50, 200), 5


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the number of rounds."""
    parser.add_argument("--rounds", type=int, default=100_000)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of seconds."""
    tables = [World("sparse", options.rounds, n_arms, 100, 2).losses(0)[0] for n_arms in SIZES]
    rows = []
    for name, make in bandits(options.rounds).items():
        taken = (best_seconds(lambda make=make, losses=losses: make().run(losses), REPEATS)[0] for losses in tables)
        rows.append([name, *(f"{seconds:.3f}" for seconds in taken)])
    notes = [f"Seconds for {options.rounds:,} rounds, seed 0, one core; best of {REPEATS}."]
    report.table("bandits_speed", ["bandit", *(f"K={n_arms}" for n_arms in SIZES)], rows, notes)


def bandits(n_rounds: int) -> dict[str, Callable[[], Any]]:
    """Return functions that make each bandit with plain settings."""
    of_algorithm_3 = partial(SparseLongTermMemory, horizon=n_rounds, random_state=0)
    made: dict[str, Callable[[], Any]] = {
        DEFAULT: partial(LongTermMemoryBandit, random_state=0),
        PAPER: partial(of_algorithm_3, n_segments=100),
        "Algorithm 3, free": partial(of_algorithm_3, constants="free", rate=0.03, barrier=30.0, floor=0.01),
    }
    for name in RIVALS:
        given = {"horizon": n_rounds} if name == "sparse hybrid" else {}
        made[name] = partial(KINDS[name], **given, random_state=0)
    return made
