"""Streams of losses in which a few experts are good in turn."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Regime:
    """A stream of losses with S segments over n distinct good experts, which are better than the others by a gap."""

    experts: int
    segments: int
    distinct: int
    gap: float
    rounds: int = 20_000
    rows: int = 1  #: a loss is the mean over so many Bernoulli rows
    random_lengths: bool = False
    later_segments: int | None = None  #: the second half has so many segments
    later_gap: float | None = None  #: and this gap
    kind: str = "switching"

    @property
    def name(self) -> str:
        name = f"K={self.experts} S={self.segments} n={self.distinct} gap={self.gap}"
        extras = [
            f"T={self.rounds}" if self.rounds != 20_000 else "",
            f"means of {self.rows}" if self.rows > 1 else "",
            "random lengths" if self.random_lengths else "",
            f"then S={self.later_segments}" if self.later_segments else "",
            f"then gap={self.later_gap}" if self.later_gap else "",
        ]
        name = " ".join([name, *filter(None, extras)])
        return name if self.kind == "switching" else f"{self.kind} K={self.experts} gap={self.gap}"

    def losses(self, seed: int) -> tuple[np.ndarray, float]:
        """Return the losses, and the loss of the sequence of good experts."""
        rng = np.random.default_rng([seed, self.experts, self.segments, int(100 * self.gap)])
        if self.kind == "two leaders alternate":
            losses = 0.5 + 0.5 * rng.random((self.rounds, self.experts))
            losses[:, 0] = np.arange(self.rounds) % 2
            losses[:, 1] = 1.0 - losses[:, 0]
            losses[0, 0] = 0.5
            return losses, losses.sum(axis=0).min()
        good = self._good(rng)
        gap = np.full(self.rounds, self.gap)
        gap[self.rounds // 2 :] = self.later_gap or self.gap
        means = np.tile((1 + gap[:, np.newaxis]) / 2, self.experts)
        means[np.arange(self.rounds), good] = (1 - gap) / 2
        losses = rng.binomial(self.rows, means) / self.rows
        return losses, losses[np.arange(self.rounds), good].sum()

    def _good(self, rng: np.random.Generator) -> np.ndarray:
        pool = rng.permutation(self.experts)[: self.distinct]
        if self.later_segments:
            halves = [(self.rounds // 2, self.segments), (self.rounds // 2, self.later_segments)]
        else:
            halves = [(self.rounds, self.segments)]
        parts = []
        for rounds, segments in halves:
            if self.random_lengths:
                cuts = np.sort(rng.choice(np.arange(1, rounds), segments - 1, replace=False))
            else:
                cuts = (np.arange(1, segments) * rounds) // segments
            lengths = np.diff([0, *cuts, rounds])
            parts.append(np.repeat(self._order(rng, pool, segments), lengths))
        return np.concatenate(parts)

    @staticmethod
    def _order(rng: np.random.Generator, pool: np.ndarray, segments: int) -> np.ndarray:
        """Return an order with each expert of the pool once, then at random, never the same twice in a row."""
        order = list(pool[:segments])
        while len(order) < segments:
            choice = rng.choice(pool)
            if len(pool) == 1 or choice != order[-1]:
                order.append(choice)
        return np.array(order)


REGIMES = [
    Regime(20, 40, 2, 0.4),
    Regime(100, 40, 3, 0.4),
    Regime(100, 200, 3, 0.4),
    Regime(20, 40, 2, 0.1),
    Regime(100, 10, 10, 0.4),
    Regime(20, 1000, 2, 0.4),
    Regime(50, 20, 20, 0.4),
    Regime(20, 100, 5, 0.2),
    Regime(20, 40, 3, 0.4, random_lengths=True),
    Regime(20, 10, 3, 0.4, rounds=2_000),
    Regime(20, 2000, 2, 0.8),
    Regime(20, 40, 3, 0.4, rows=10),
    Regime(20, 10, 3, 0.4, later_segments=250),
    Regime(20, 1, 1, 0.4, kind="no switches"),
    Regime(100, 1, 1, 0.1, kind="no switches"),
    Regime(10, 1, 1, 0.0, kind="two leaders alternate"),
]


def add_regimes(parser: argparse.ArgumentParser) -> None:
    """Add options that make the benchmark shorter."""
    parser.add_argument("--regimes", type=int, help="only the first so many")
    parser.add_argument("--rounds", type=int, help="of each regime, in place of its own")


def regimes_of(regimes: Sequence[Regime], options: argparse.Namespace) -> list[Regime]:
    """Return the regimes that the options ask for."""
    return [replace(regime, rounds=options.rounds or regime.rounds) for regime in regimes[: options.regimes]]
