"""Streams of losses for bandits, in which a few arms are good in turn."""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np


@dataclass(frozen=True)
class World:
    """A stream of losses with S segments over n distinct good arms of K."""

    kind: str
    n_rounds: int
    n_arms: int
    n_segments: int
    n_distinct: int
    sparsity: int = 1
    gap: float = 0.0

    @property
    def name(self) -> str:
        parts = [self.kind, f"T={self.n_rounds:,}", f"K={self.n_arms}", f"S={self.n_segments}", f"n={self.n_distinct}"]
        parts += [f"ρ={self.sparsity}"] * (self.kind == "sparse" and self.sparsity > 1)
        parts += [f"gap={self.gap}"] * (self.kind == "noisy")
        return " ".join(parts)

    @property
    def is_recurring(self) -> bool:
        """Whether the good arms are few among many: n << K."""
        return self.n_distinct * 4 <= self.n_arms

    def losses(self, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the losses, and the good arm of each round."""
        rng = np.random.default_rng([seed, self.n_rounds, self.n_arms, self.n_segments, self.n_distinct, self.sparsity])
        rounds, shape = np.arange(self.n_rounds), (self.n_rounds, self.n_arms)
        good, cuts = self._good(rng)
        if self.kind == "sparse":  # the good arm brings 1 in nine of ten rounds, others nothing or, ρ - 1 of them, .45
            losses = np.zeros(shape)
            for start, stop in pairwise(cuts):
                others = rng.permutation(np.delete(np.arange(self.n_arms), good[start]))[: self.sparsity - 1]
                losses[start:stop, others] = -(rng.random((stop - start, len(others))) < 0.45).astype(float)
            losses[rounds, good] = -(rng.random(self.n_rounds) < 0.9).astype(float)
        elif self.kind == "noisy":
            means = np.full(shape, 0.5 + self.gap / 2)
            means[rounds, good] = 0.5 - self.gap / 2
            losses = (rng.random(shape) < means).astype(float)
        elif self.kind == "spread":  # numbers around means that differ from arm to arm
            means = np.tile(rng.uniform(0.4, 0.8, self.n_arms), (self.n_rounds, 1))
            means[rounds, good] = 0.2
            losses = means + rng.uniform(-0.2, 0.2, shape)
        elif self.kind == "emerging":  # one arm is always fair; now and then another is better, and nothing tells
            losses = np.zeros(shape)
            losses[:, good[0]] = -0.5
            better = good != good[0]
            losses[rounds[better], good[better]] = -1.0
        elif self.kind == "rare":  # now and then a reward of 1, five times as often from the good arm
            means = np.full(shape, 0.01)
            means[rounds, good] = 0.05
            losses = -(rng.random(shape) < means).astype(float)
        elif self.kind == "better":  # fair until halfway; then another arm is better, and nothing else changes
            losses = 0.6 + 0.1 * rng.standard_normal(shape).clip(-3, 3)
            losses[:, 0] -= 0.2
            losses[self.n_rounds // 2 :, 1] -= 0.4
            good = (rounds >= self.n_rounds // 2).astype(int)
        elif self.kind == "ladder":
            means = np.linspace(0.1, 0.9, self.n_arms)
            losses, good = (rng.random(shape) < means).astype(float), np.zeros(self.n_rounds, dtype=int)
        else:  # means that wander, smoothly in turns or at random
            if self.kind == "smooth":
                turns = 5 * rounds[:, np.newaxis] / self.n_rounds + np.arange(self.n_arms) / self.n_arms
                means = 0.5 + 0.3 * np.sin(2 * np.pi * turns)
            else:
                means = 0.5 + np.cumsum(0.002 * rng.standard_normal(shape), axis=0)
                means = 0.1 + np.abs((means - 0.1) % 1.6 - 0.8)  # reflected into [0.1, 0.9]
            losses, good = (rng.random(shape) < means).astype(float), means.argmin(axis=1)
        return losses, good

    def _good(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        pool = rng.permutation(self.n_arms)[: self.n_distinct]
        order = [rng.choice(pool)]
        while len(order) < self.n_segments:
            order.append(rng.choice(pool[pool != order[-1]]))
        cuts = np.linspace(0, self.n_rounds, self.n_segments + 1).astype(int)
        return np.repeat(order, np.diff(cuts)), cuts


WORLDS = [
    World("sparse", 30_000, 30, 30, 2),
    World("sparse", 100_000, 20, 100, 2),
    World("sparse", 100_000, 50, 300, 3),
    World("sparse", 100_000, 200, 100, 2),
    World("sparse", 100_000, 50, 100, 3, sparsity=2),
    World("sparse", 100_000, 50, 100, 3, sparsity=5),
    World("sparse", 100_000, 20, 3162, 2),  # S = T^0.7
    World("sparse", 100_000, 50, 1, 1),
    World("noisy", 100_000, 20, 40, 2, gap=0.4),
    World("noisy", 100_000, 20, 20, 2, gap=0.2),
    World("noisy", 2_000, 10, 4, 2, gap=0.4),
    World("noisy", 100_000, 20, 1, 1, gap=0.2),
    World("spread", 100_000, 20, 50, 3),
    World("emerging", 100_000, 20, 50, 3),
    World("sparse", 100_000, 20, 100, 20),
    World("noisy", 100_000, 10, 50, 10, gap=0.4),
    World("smooth", 50_000, 8, 40, 8),
    World("walk", 50_000, 10, 40, 10),
    World("rare", 100_000, 20, 30, 3),
    World("better", 50_000, 10, 2, 2),
    World("ladder", 50_000, 10, 1, 1),
]


def add_worlds(parser: argparse.ArgumentParser) -> None:
    """Add options that make the benchmark shorter."""
    parser.add_argument("--worlds", type=int, help="only the first so many")
    parser.add_argument("--rounds", type=int, help="of each world, in place of its own")


def worlds_of(options: argparse.Namespace) -> list[World]:
    """Return the worlds that the options ask for."""
    return [replace(world, n_rounds=options.rounds or world.n_rounds) for world in WORLDS[: options.worlds]]


def regret(bandit: Any, losses: np.ndarray, good: np.ndarray) -> float:
    """Return the regret of a bandit against the good arm of each round."""
    rounds = np.arange(len(losses))
    return float(losses[rounds, bandit.run(losses)[0]].sum() - losses[rounds, good].sum())
