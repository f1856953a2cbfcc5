"""``ltm-sklearn demo``: the default algorithm and its rivals on a stream of losses whose regimes recur."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..experts import (
    BOA,
    BestOfBothWorlds,
    ExpertAlgorithm,
    FixedShare,
    Hedge,
    LongTermMemory,
    MixingPastPosteriors,
    MLPoly,
    Squint,
)
from ._report import UsageError

N_EXPERTS, SEGMENT, N_SEGMENTS = 10, 500, 24
GAP = 0.4  #: difference of the mean losses of the best expert and the others
BEST_EXPERTS = (2, 7, 4)  #: the best expert of each regime


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of this command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "demo",
        help="compare the default algorithm with others on recurring regimes: a table and a picture, in seconds",
        description="Run the default algorithm and its rivals over a stream of losses whose regimes recur. The "
        "command prints the regret of each algorithm, and draws how the weights of the default return to the experts "
        "of earlier regimes.",
    )
    parser.add_argument(
        "--out", metavar="FILE", type=Path, default=Path("demo.png"), help="file of the picture (default: %(default)s)"
    )
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="seed of the stream (default: %(default)s)")
    return parser


def run(options: Any) -> None:
    """Run the command."""
    if options.seed < 0:
        raise UsageError(f"--seed {options.seed}: it must be 0 or more")
    figure = import_extra("matplotlib.figure", "pictures", "plot").Figure(figsize=(10, 7), layout="constrained")
    formats = figure.canvas.get_supported_filetypes()
    if options.out.is_dir() or options.out.suffix.lower().removeprefix(".") not in formats:
        raise ValueError(f"{options.out} is not a picture: its name must end in .{', .'.join(sorted(formats))}")
    if not options.out.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {options.out.parent} for {options.out.name}")
    losses, best = recurring_losses(options.seed)
    weights, regrets = _compare(losses, best)
    _draw(figure, weights, best, regrets)
    figure.savefig(options.out, dpi=130)
    print(f"\npicture: {options.out}")


def recurring_losses(seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Return Bernoulli losses of the experts in three recurring regimes, and the best expert of each round."""
    rng = np.random.default_rng(seed)
    order = list(BEST_EXPERTS)
    while len(order) < N_SEGMENTS:
        order.append(rng.choice([expert for expert in BEST_EXPERTS if expert != order[-1]]))
    best = np.repeat(order, SEGMENT)
    means = np.full((len(best), N_EXPERTS), (1 + GAP) / 2)
    means[np.arange(len(best)), best] = (1 - GAP) / 2
    return (rng.random(means.shape) < means).astype(np.float64), best


def rivals(n_rounds: int) -> dict[str, ExpertAlgorithm]:
    """Return the default algorithm, and others with default or textbook parameters."""
    switching_rate = (N_SEGMENTS - 1) / (n_rounds - 1)
    return {
        "LongTermMemory (default)": LongTermMemory(),
        "Algorithm 2, tight constants": BestOfBothWorlds(constants="tight"),
        "Algorithm 2, paper's constants": BestOfBothWorlds(constants="paper"),
        "Mixing Past Posteriors, true rate": MixingPastPosteriors(1.0, switching_rate),
        "Fixed Share, true rate": FixedShare(1.0, switching_rate),
        "Squint": Squint(),
        "BOA": BOA(),
        "ML-Poly": MLPoly(),
        "Hedge": Hedge(),
    }


def _compare(losses: Floats, best: NDArray[np.int64]) -> tuple[Floats, dict[str, Floats]]:
    """Run and print all algorithms; return the weights of the default, and the cumulative regret of each."""
    n_rounds, n_regimes = len(losses), len(BEST_EXPERTS)
    print(
        f"{n_rounds} rounds, {N_EXPERTS} experts. Every {SEGMENT} rounds the regime changes; {n_regimes} regimes recur."
        f"\nRegret against the best expert of the current regime: in total, in the first {SEGMENT} rounds of a new "
        f"regime,\nand in the {SEGMENT} rounds of a regime that returns (means).\n"
    )
    print(f"{'':34}{'regret':>8}{'new regime':>12}{'return':>10}{'seconds':>9}")
    is_new = np.isin(np.arange(n_rounds) // SEGMENT, range(n_regimes))
    weights, regrets = {}, {}
    for name, algorithm in rivals(n_rounds).items():
        start = time.perf_counter()
        weights[name] = algorithm.run(losses)
        seconds = time.perf_counter() - start
        regret = (weights[name] * losses).sum(axis=1) - losses[np.arange(n_rounds), best]
        new = regret[is_new].sum() / n_regimes
        returns = regret[~is_new].sum() / (N_SEGMENTS - n_regimes)
        print(f"{name:34}{regret.sum():8.0f}{new:12.1f}{returns:10.1f}{seconds:9.2f}", flush=True)
        regrets[name] = regret.cumsum()
    return weights["LongTermMemory (default)"], regrets


def _draw(figure: Any, weights: Floats, best: NDArray[np.int64], regrets: dict[str, Floats]) -> None:
    """Draw the weights of the default over time, and the cumulative regret of all algorithms."""
    colormaps = import_extra("matplotlib", "pictures", "plot").colormaps
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    rounds = np.arange(len(best))
    colours = {expert: f"C{at}" for at, expert in enumerate(BEST_EXPERTS)}
    shown = [weights[:, expert] for expert in BEST_EXPERTS]
    top.stackplot(
        rounds,
        *shown,
        1.0 - np.sum(shown, axis=0),
        colors=[*colours.values(), "0.85"],
        labels=[*(f"expert {expert}" for expert in BEST_EXPERTS), "all others"],
        rasterized=True,
    )
    changes = np.flatnonzero(np.diff(best, prepend=-1))
    for start, end in zip(changes, [*changes[1:], len(best)], strict=True):
        top.plot([start, end], [1.04, 1.04], color=colours[best[start]], lw=6, solid_capstyle="butt")
    top.set(ylabel="weight", ylim=(0, 1.08), title="LongTermMemory: weights (bar above: the best expert)")
    top.legend(loc="lower right", ncols=4, fontsize="small", framealpha=0.9)
    for at, (name, regret) in enumerate(sorted(regrets.items(), key=lambda item: -item[1][-1])):
        is_default = name.startswith("LongTermMemory")
        colour = "k" if is_default else colormaps["tab10"](at)
        bottom.plot(rounds, regret, color=colour, lw=2.5 if is_default else 1.2, label=name)
    bottom.set(xlabel="round", ylabel="cumulative regret", xlim=(0, len(best)), yscale="log", ylim=(2, None))
    bottom.set_title("Regret against the best expert of the current regime")
    bottom.legend(loc="lower right", fontsize="small", ncols=2)
