"""Regret of the untuned default bandit against rivals at their best setting in hindsight.

Each rival runs over a grid of settings, and those that take the range of the losses get it; the default has no
settings. The whole grid runs on the first three seeds, its five best cells on all of them, and the
one with the lowest mean regret over all seeds is the rival's. The default's constants were chosen on other draws of
similar worlds.
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from ltm_sklearn.bandits import LongTermMemoryBandit, SparseLongTermMemory

from .bandit_rivals import DEFAULT, KINDS, PAPER, RIVALS, grids
from .bandit_worlds import World, add_worlds, regret, worlds_of
from .dots import dots
from .report import Report, add_seeds, seeds_in_words, seeds_of, standard_error

Regrets = dict[str, np.ndarray]  #: of each algorithm, by seed


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds and worlds."""
    add_seeds(parser, 20, 200)
    add_worlds(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of regrets and its picture."""
    seeds = seeds_of(options)
    table: dict[World, Regrets] = {}
    settings: dict[World, dict[str, int]] = {}
    with Parallel(n_jobs=options.jobs) as parallel:
        for world in worlds_of(options):
            started = time.perf_counter()
            first = parallel(delayed(by_cell)(world, seed, None) for seed in seeds[:3])
            chosen = best_cells(first, 5)
            rest = parallel(delayed(by_cell)(world, seed, chosen) for seed in seeds[3:])
            known = [{name: {cell: of[name][cell] for cell in chosen[name]} for name in chosen} for of in first] + rest
            best = {name: cells[0] for name, cells in best_cells(known, 1).items()}
            table[world] = {name: np.array([of[name][cell] for of in known]) for name, cell in best.items()}
            settings[world] = best
            line = {name: round(float(values.mean())) for name, values in table[world].items()}
            print(f"{world.name}: {line} ({time.perf_counter() - started:.0f} s)", flush=True)
    save(report, table, settings, seeds)
    report.picture("bandits", picture(table))


def by_cell(world: World, seed: int, chosen: dict[str, list[int]] | None) -> dict[str, dict[int, float]]:
    """Return the regret of every algorithm by cell of its grid, on one seed; ``chosen`` limits the cells."""
    losses, good = world.losses(seed)
    problem = {"n_segments": world.n_segments, "n_distinct": world.n_distinct, "sparsity": world.sparsity}
    paper = SparseLongTermMemory(horizon=world.n_rounds, **problem, random_state=seed)
    default = LongTermMemoryBandit(random_state=seed)
    result = {DEFAULT: {0: regret(default, losses, good)}, PAPER: {0: regret(paper, losses, good)}}
    for name, cells in grids(world, (float(losses.min()), float(losses.max()))).items():
        which = range(len(cells)) if chosen is None else chosen[name]
        result[name] = {cell: regret(KINDS[name](**cells[cell], random_state=seed), losses, good) for cell in which}
    return result


def best_cells(results: list[dict[str, dict[int, float]]], most: int) -> dict[str, list[int]]:
    """Return the cells with the lowest mean regret of each algorithm, the best first."""
    means = {
        name: {cell: np.mean([result[name][cell] for result in results]) for cell in results[0][name]}
        for name in results[0]
    }
    return {name: sorted(of_cell, key=of_cell.__getitem__)[:most] for name, of_cell in means.items()}


def save(report: Report, table: dict[World, Regrets], settings: dict[World, dict[str, int]], seeds: range) -> None:
    """Write the table of regrets."""
    names = [DEFAULT, *RIVALS, "Algorithm 3", PAPER]
    rows = []
    few_above, many_above, above = [], [], []
    for world, values in table.items():
        means = {name: float(values[name].mean()) for name in names}
        error = standard_error(values[DEFAULT])
        best = min(RIVALS, key=means.__getitem__)
        over_exp3s, over_best = means[DEFAULT] / means["Exp3.S"], means[DEFAULT] / means[best]
        figures = [f"{means[DEFAULT]:.0f} ± {error:.0f}", *(f"{means[name]:.0f}" for name in names[1:])]
        rows.append([world.name, *figures, f"{over_exp3s:.2f}", f"{over_best:.2f}", best])
        few_above += [world.name] if world.is_recurring and over_exp3s >= 1.0 else []
        many_above += [world.name] if not world.is_recurring and over_best > 1.5 else []
        above += [f"{world.name} ({over_best:.1f})"] if over_best > 1.5 else []
    notes = [
        f"Mean regret over {seeds_in_words(seeds)}, of the default with its standard error. All others but the "
        "paper's constants are at their best cell in hindsight; Exp3, its variants and the UCBs are given the range of "
        "the losses. The last three columns: the default over Exp3.S, over the best of the six rivals, and which that "
        "is.",
        f"Few good arms among many (n ≤ K/4), and not below Exp3.S: {'; '.join(few_above) or 'none'}. Many, and above "
        f"1.5 times the best rival: {'; '.join(many_above) or 'none'}. All worlds in which it is above 1.5 times the "
        f"best rival: {'; '.join(above) or 'none'}.",
        "Best cells: " + "; ".join(f"{world.name}: {_cells(world, best)}" for world, best in settings.items()) + ".",
    ]
    header = ["world", *names, "over Exp3.S", "over best rival", "best rival"]
    report.table("bandits", header, rows, notes)


def _cells(world: World, best: dict[str, int]) -> str:
    of_all = grids(world, (-1.0, 1.0))  # the range is not shown
    hidden = {"loss_range", "horizon", "constants"}
    named = {name: {key: v for key, v in of_all[name][best[name]].items() if key not in hidden} for name in KINDS}
    return ", ".join(f"{name} {tuple(cell.values())}" for name, cell in named.items())


#: Of the marks.
STYLES = {
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


def picture(table: dict[World, Regrets]) -> Figure:
    """Draw the regret of each algorithm divided by that of the best rival, one row for each world."""
    best = np.array([min(values[name].mean() for name in RIVALS) for values in table.values()])
    labels = {name: name if name in (DEFAULT, PAPER) else f"{name} (best cell)" for name in STYLES}
    means = {name: np.array([values[name].mean() for values in table.values()]) for name in STYLES}
    ratios = {label: (means[name] / best).tolist() for name, label in labels.items()}
    styles = {label: STYLES[name] for name, label in labels.items()}
    return dots(ratios, styles, [world.name for world in table])
