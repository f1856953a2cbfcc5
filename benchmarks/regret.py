"""Regret of the untuned default against rivals at their best setting in hindsight.

Each rival runs over a grid of learning rate x switching rate (x memory rate), and for each seed its best cell is taken:
no one could have chosen better. The default has no setting. Its grids were chosen on other seeds and another
generator, but a look at seeds 0 to 4 is what led to its tracker rate 16; so there is a second table, regret_fresh, on
seeds 10 to 14, looked at only after: `--first-seed 10 --rivals-only --name regret_fresh`.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from ltm_sklearn.experts import (
    BestOfBothWorlds,
    FixedShare,
    LongTermMemory,
    MixingPastPosteriors,
    ShareTheta,
)

from .dots import dots
from .regimes import REGIMES, Regime, add_regimes, regimes_of
from .report import Report, add_seeds, seeds_in_words, seeds_of

RATES = 2.0 ** np.array([-6, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5])
SWITCHING = (1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1)
MEMORY = (1e-4, 1e-3, 1e-2, 1e-1)
GRIDS = {
    "Fixed Share": (FixedShare, (RATES, SWITCHING)),
    "Mixing Past Posteriors": (MixingPastPosteriors, (RATES, SWITCHING)),
    "Share-θ": (ShareTheta, (RATES, SWITCHING, MEMORY)),
}


def textbook_fixed_share(regime: Regime) -> FixedShare:
    """Return Fixed Share with α = (S-1)/(T-1), and the rate that balances its bound for it."""
    segments = regime.segments + (regime.later_segments or 0)
    share = (segments - 1) / (regime.rounds - 1)
    entropy = 0.0 if share == 0 else -share * np.log(share) - (1 - share) * np.log1p(-share)
    cost = segments * np.log(regime.experts) + (regime.rounds - 1) * entropy
    return FixedShare(np.sqrt(8 * cost / regime.rounds), share)


def regrets(regime: Regime, seed: int, rivals_only: bool) -> dict[str, float]:
    """Return the regret of every algorithm on one seed."""
    losses, comparator = regime.losses(seed)

    def regret(algorithm) -> float:
        return float((algorithm.run(losses) * losses).sum() - comparator)

    result = {
        "LongTermMemory": regret(LongTermMemory()),
        "textbook Fixed Share": regret(textbook_fixed_share(regime)),
    }
    if not rivals_only:  # Algorithm 2 as it is runs on NumPy and takes most of the time
        for constants in ("paper", "tight"):
            algorithm = BestOfBothWorlds(constants=constants, horizon=regime.rounds)
            result[f"Alg. 2, {constants}"] = regret(algorithm)
    for name, (algorithm, grid) in GRIDS.items():
        result[name] = min(regret(algorithm(*cell)) for cell in product(*grid))
    result["best rival"] = min(result[name] for name in GRIDS)
    return result


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of seeds, regimes, and parts to leave out."""
    add_seeds(parser, 5)
    add_regimes(parser)
    parser.add_argument("--rivals-only", action="store_true", help="leave out Algorithm 2, which is slow, and the plot")
    parser.add_argument("--name", default="regret", help="name of the table (default: %(default)s)")


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of regrets and its picture."""
    seeds, regimes = seeds_of(options), regimes_of(REGIMES, options)
    tasks = [(regime, seed) for regime in regimes for seed in seeds]
    results = Parallel(n_jobs=options.jobs, verbose=5)(delayed(regrets)(*task, options.rivals_only) for task in tasks)
    means = {
        regime: {
            name: np.mean([r[name] for (task, _), r in zip(tasks, results, strict=True) if task == regime])
            for name in results[0]
        }
        for regime in regimes
    }
    switching = [regime for regime in regimes if regime.kind == "switching"]
    names = ["LongTermMemory", "Alg. 2, paper", "Alg. 2, tight", "textbook Fixed Share", *GRIDS]
    names = [name for name in names if name in results[0]]
    rows = []
    for regime in regimes:
        figures = (f"{means[regime][name]:.0f}" for name in names)
        rows.append([regime.name, *figures, f"{ratio(means[regime]):.2f}"])
    geometric = np.exp(np.mean([np.log(ratio(means[regime])) for regime in switching]))
    beaten = [
        regime.name for regime in switching if means[regime]["textbook Fixed Share"] < means[regime]["LongTermMemory"]
    ]
    notes = [
        f"Mean regret over {seeds_in_words(seeds)}. Fixed Share, Mixing Past Posteriors and Share-θ are at the "
        f"best cell, for each seed, of {len(RATES)} learning rates x {len(SWITCHING)} switching rates "
        f"(x {len(MEMORY)} memory rates). Ratio: the default over the best of these.",
        f"Geometric mean of the ratio over the {len(switching)} switching regimes: {geometric:.2f}. "
        f"Switching regimes where textbook Fixed Share beats the default: {', '.join(beaten) or 'none'}.",
    ]
    report.table(options.name, ["regime", *names, "ratio"], rows, notes)
    if not options.rivals_only:
        report.picture(options.name, picture(means))


def ratio(means: dict[str, float]) -> float:
    return means["LongTermMemory"] / means["best rival"]


#: Of the marks; rivals are at their best cell in hindsight.
STYLES = {
    "LongTermMemory": {"color": "C3", "marker": "D", "s": 60, "zorder": 3},
    "Share-θ": {"color": "C0", "marker": "o"},
    "Mixing Past Posteriors": {"color": "C2", "marker": "s"},
    "Fixed Share": {"color": "C1", "marker": "^"},
    "textbook Fixed Share": {"color": "C1", "marker": "^", "facecolors": "none"},
    "Alg. 2, tight": {"color": "C4", "marker": "x"},
    "Alg. 2, paper": {"color": "0.5", "marker": "x"},
}


def picture(means: dict[Regime, dict[str, float]]) -> Figure:
    """Draw the regret of each algorithm divided by that of the best rival, one row for each regime."""
    labels = {name: f"{name} (best cell in hindsight)" if name in GRIDS else name for name in STYLES}
    ratios = {label: [of[name] / of["best rival"] for of in means.values()] for name, label in labels.items()}
    styles = {label: STYLES[name] for name, label in labels.items()}
    return dots(ratios, styles, [regime.name for regime in means])
