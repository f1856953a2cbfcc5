"""Regret of the untuned default bandit against rivals at their best setting in hindsight; its parts; its speed.

    python benchmarks/bandits.py regret [--seeds 20] [--first-seed 200] [--jobs 2]
    python benchmarks/bandits.py parts [--seeds 20] [--first-seed 200] [--jobs 2]
    python benchmarks/bandits.py speed

Each rival runs over a grid of settings, and those that can be are told the range of the losses; the default has nothing
to set and is told nothing. The whole grid runs on the first three seeds, its five best cells on all of them, and the
one with the lowest mean regret over all seeds is the rival's. The default's constants were chosen on other draws of
similar worlds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from report import RESULTS, provenance, save_table

from ltm_sklearn.bandits import (
    DiscountedUCB,
    Exp3,
    Exp3IX,
    Exp3S,
    LongTermMemoryBandit,
    SlidingWindowUCB,
    SparseHybrid,
    SparseLongTermMemory,
)


@dataclass(frozen=True)
class World:
    """S segments over n distinct good arms of K; losses that depend on the kind."""

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
        """A table of losses, and the good arm of each round."""
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

Regrets = dict[str, np.ndarray]  #: of each algorithm, by seed

DEFAULT, PAPER = "LongTermMemoryBandit", "Algorithm 3, paper"
RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
EXPLORATIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
BOUNDS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def grids(world: World, known: tuple[float, float]) -> dict[str, list[dict[str, Any]]]:
    """All settings of all rivals."""
    horizon = {"horizon": world.n_rounds}
    in_range = {"loss_range": known}

    def cells(given: dict[str, Any], **grid: tuple[Any, ...]) -> list[dict[str, Any]]:
        return [given | dict(zip(grid, cell, strict=True)) for cell in product(*grid.values())]

    discounts, windows = (0.9, 0.97, 0.99, 0.997, 0.999, 0.9997, 1.0), (30, 100, 300, 1_000, 3_000, 30_000)
    return {
        "Exp3.S": cells(in_range, rate=RATES, exploration=EXPLORATIONS, switching=(1e-6, 1e-5, 1e-4, 1e-3, 0.01, 0.03)),
        "Exp3": cells(in_range, rate=RATES, exploration=EXPLORATIONS),
        "Exp3-IX": cells(in_range, rate=(0.001, *RATES[:-2]), exploration=(0.001, 0.01, 0.1)),
        "sliding-window UCB": cells(in_range, window=windows, exploration=BOUNDS),
        "discounted UCB": cells(in_range, discount=discounts, exploration=BOUNDS),
        "sparse hybrid": cells(horizon, rate=(0.01, 0.03, 0.1, 0.3, 1.0), barrier=(0.0, 0.3, 3.0, 25.0)),
        "Algorithm 3": cells(
            {"constants": "free", **horizon}, rate=(0.01, 0.03, 0.1), barrier=(1.0, 30.0), floor=(0.001, 0.01, 0.1)
        ),
    }


KINDS = {
    "Exp3.S": Exp3S,
    "Exp3": Exp3,
    "Exp3-IX": Exp3IX,
    "sliding-window UCB": SlidingWindowUCB,
    "discounted UCB": DiscountedUCB,
    "sparse hybrid": SparseHybrid,
    "Algorithm 3": SparseLongTermMemory,
}
RIVALS = [name for name in KINDS if name != "Algorithm 3"]


def run(world: World, seed: int, chosen: dict[str, list[int]] | None) -> dict[str, dict[int, float]]:
    """Regret of every algorithm by cell, on one seed; of all cells, or of those that were chosen."""
    losses, good = world.losses(seed)
    rounds = np.arange(world.n_rounds)
    reached = losses[rounds, good].sum()

    def regret(bandit: Any) -> float:
        return float(losses[rounds, bandit.run(losses)[0]].sum() - reached)

    problem = {"n_segments": world.n_segments, "n_distinct": world.n_distinct, "sparsity": world.sparsity}
    paper = SparseLongTermMemory(horizon=world.n_rounds, **problem, random_state=seed)
    result = {DEFAULT: {0: regret(LongTermMemoryBandit(random_state=seed))}, PAPER: {0: regret(paper)}}
    for name, cells in grids(world, (float(losses.min()), float(losses.max()))).items():
        which = range(len(cells)) if chosen is None else chosen[name]
        result[name] = {cell: regret(KINDS[name](**cells[cell], random_state=seed)) for cell in which}
    return result


def best_cells(results: list[dict[str, dict[int, float]]], most: int) -> dict[str, list[int]]:
    """Of each algorithm, the cells of the lowest mean regret."""
    means = {
        name: {cell: np.mean([result[name][cell] for result in results]) for cell in results[0][name]}
        for name in results[0]
    }
    return {name: sorted(of_cell, key=of_cell.__getitem__)[:most] for name, of_cell in means.items()}


def regrets(options: argparse.Namespace) -> None:
    """The table of regrets, and its picture."""
    seeds = range(options.first_seed, options.first_seed + options.seeds)
    table, settings = {}, {}
    with Parallel(n_jobs=options.jobs) as parallel:
        for world in WORLDS:
            started = time.perf_counter()
            first = parallel(delayed(run)(world, seed, None) for seed in seeds[:3])
            chosen = best_cells(first, 5)
            rest = parallel(delayed(run)(world, seed, chosen) for seed in seeds[3:])
            known = [{name: {cell: of[name][cell] for cell in chosen[name]} for name in chosen} for of in first] + rest
            best = {name: cells[0] for name, cells in best_cells(known, 1).items()}
            table[world] = {name: np.array([of[name][cell] for of in known]) for name, cell in best.items()}
            settings[world] = best
            line = {name: round(float(values.mean())) for name, values in table[world].items()}
            print(f"{world.name}: {line} ({time.perf_counter() - started:.0f} s)", flush=True)
    save_regrets(table, settings, seeds)
    plot(table)


def save_regrets(
    table: dict[World, dict[str, np.ndarray]], settings: dict[World, dict[str, int]], seeds: range
) -> None:
    names = [DEFAULT, *RIVALS, "Algorithm 3", PAPER]
    rows = []
    few_above, many_above, above = [], [], []
    for world, values in table.items():
        means = {name: float(values[name].mean()) for name in names}
        error = values[DEFAULT].std(ddof=1) / np.sqrt(len(seeds))
        best = min(RIVALS, key=means.__getitem__)
        over_exp3s, over_best = means[DEFAULT] / means["Exp3.S"], means[DEFAULT] / means[best]
        figures = [f"{means[DEFAULT]:.0f} ± {error:.0f}", *(f"{means[name]:.0f}" for name in names[1:])]
        rows.append([world.name, *figures, f"{over_exp3s:.2f}", f"{over_best:.2f}", best])
        few_above += [world.name] if world.is_recurring and over_exp3s >= 1.0 else []
        many_above += [world.name] if not world.is_recurring and over_best > 1.5 else []
        above += [f"{world.name} ({over_best:.1f})"] if over_best > 1.5 else []
    notes = [
        f"Mean regret over seeds {seeds[0]} to {seeds[-1]}, of the default with its standard error. All others but the "
        "paper's constants are at their best cell in hindsight; Exp3 and its kin and the UCBs are told the range of "
        "the losses. The last three columns: the default over Exp3.S, over the best of the six rivals, and which that "
        "is.",
        f"Few good arms among many (n ≤ K/4), and not below Exp3.S: {'; '.join(few_above) or 'none'}. Many, and above "
        f"1.5 times the best rival: {'; '.join(many_above) or 'none'}. All worlds in which it is above 1.5 times the "
        f"best rival: {'; '.join(above) or 'none'}.",
        "Best cells: " + "; ".join(f"{world.name}: {_cells(world, best)}" for world, best in settings.items()) + ".",
        provenance(),
    ]
    header = ["world", *names, "over Exp3.S", "over best rival", "best rival"]
    print(save_table("bandits", header, rows, notes))


def _cells(world: World, best: dict[str, int]) -> str:
    of_all = grids(world, (-1.0, 1.0))  # the range is not shown
    hidden = {"loss_range", "horizon", "constants"}
    named = {name: {key: v for key, v in of_all[name][best[name]].items() if key not in hidden} for name in KINDS}
    return ", ".join(f"{name} {tuple(cell.values())}" for name, cell in named.items())


def plot(table: dict[World, Regrets]) -> None:
    """Each algorithm's regret over that of the best rival, a row a world."""
    import matplotlib.pyplot as plt

    styles = {
        DEFAULT: {"color": "C3", "marker": "D", "s": 60, "zorder": 3},
        "Exp3.S": {"color": "C0", "marker": "o"},
        "Exp3": {"color": "C0", "marker": "o", "facecolors": "none"},
        "Exp3-IX": {"color": "C2", "marker": "s", "facecolors": "none"},
        "sliding-window UCB": {"color": "C1", "marker": "v"},
        "discounted UCB": {"color": "C1", "marker": "^"},
        "sparse hybrid": {"color": "C4", "marker": "+"},
        "Algorithm 3": {"color": "C4", "marker": "x"},
        PAPER: {"color": "0.5", "marker": "x"},
    }
    figure, axes = plt.subplots(figsize=(9, 7.5), layout="constrained")
    places = np.arange(len(table))[::-1]
    best = np.array([min(values[name].mean() for name in RIVALS) for values in table.values()])
    for name, style in styles.items():
        tuned = "" if name in (DEFAULT, PAPER) else " (best cell)"
        means = np.array([values[name].mean() for values in table.values()])
        axes.scatter(means / best, places, label=name + tuned, **style)
    axes.axvline(1, color="0.7", lw=1, zorder=0)
    axes.set(xscale="log", xlabel="regret / regret of the best hindsight-tuned rival")
    axes.set_yticks(places, [world.name for world in table])
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    figure.savefig(RESULTS / "bandits.png", dpi=150)


def parts(options: argparse.Namespace) -> None:
    """What each of the default's three trackers is good for: regret without some of them."""

    trusts = {
        "all three": (0.8, 0.1, 0.1),
        "no bounds": (0.9, 0.1, 0.0),
        "no Share-θ": (0.9, 0.0, 0.1),
        "no filter": (0.0, 0.5, 0.5),
        "filter alone": (1.0, 0.0, 0.0),
        "Share-θ alone": (0.0, 1.0, 0.0),
        "bounds alone": (0.0, 0.0, 1.0),
    }

    def bandit(trust: tuple[float, ...], seed: int) -> LongTermMemoryBandit:
        made = LongTermMemoryBandit(random_state=seed)
        made._trust = np.array(trust)
        return made

    seeds = range(options.first_seed, options.first_seed + options.seeds)

    def of_seed(world: World, seed: int) -> list[float]:
        losses, good = world.losses(seed)
        rounds = np.arange(world.n_rounds)
        arms = [bandit(trust, seed).run(losses)[0] for trust in trusts.values()]
        return [float(losses[rounds, played].sum() - losses[rounds, good].sum()) for played in arms]

    rows = []
    for world in WORLDS:
        means = np.mean(Parallel(n_jobs=options.jobs)(delayed(of_seed)(world, seed) for seed in seeds), axis=0)
        rows.append([world.name, *(f"{mean:.0f}" for mean in means)])
    notes = [f"Mean regret over seeds {seeds[0]} to {seeds[-1]}.", provenance()]
    print(save_table("bandits_parts", ["world", *trusts], rows, notes))


def speed(options: argparse.Namespace) -> None:
    """Seconds of a run of 100,000 rounds."""
    n_rounds = 100_000

    def bandits() -> Iterator[tuple[str, Any]]:
        yield DEFAULT, LongTermMemoryBandit(random_state=0)
        yield "Algorithm 3, paper", SparseLongTermMemory(horizon=n_rounds, n_segments=100, random_state=0)
        free = {"constants": "free", "rate": 0.03, "barrier": 30.0, "floor": 0.01}
        yield "Algorithm 3, free", SparseLongTermMemory(horizon=n_rounds, **free, random_state=0)
        for name in RIVALS:
            given = {"horizon": n_rounds} if name == "sparse hybrid" else {}
            yield name, KINDS[name](**given, random_state=0)

    rows = []
    sizes = (10, 50, 200)
    tables = {n_arms: World("sparse", n_rounds, n_arms, 100, 2).losses(0)[0] for n_arms in sizes}
    for name, _ in bandits():
        row = [name]
        for n_arms in sizes:
            seconds = []
            for _ in range(5):
                bandit = dict(bandits())[name]
                started = time.perf_counter()
                bandit.run(tables[n_arms])
                seconds.append(time.perf_counter() - started)
            row.append(f"{min(seconds):.3f}")
        rows.append(row)
    notes = [f"Seconds for {n_rounds:,} rounds, one seed, one core; best of five.", provenance()]
    print(save_table("bandits_speed", ["bandit", *(f"K={n_arms}" for n_arms in sizes)], rows, notes))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(required=True)
    for name, function in {"regret": regrets, "parts": parts}.items():
        command = commands.add_parser(name)
        command.add_argument("--seeds", type=int, default=20)
        command.add_argument("--first-seed", type=int, default=200)
        command.add_argument("--jobs", type=int, default=2)
        command.set_defaults(run=function)
    commands.add_parser("speed").set_defaults(run=speed)
    options = parser.parse_args()
    options.run(options)


if __name__ == "__main__":
    main()
