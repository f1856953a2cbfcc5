"""The demonstration: the default against its rivals on a stream whose regimes return."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

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

N_EXPERTS, SEGMENT, N_SEGMENTS = 10, 500, 24
GAP = 0.4  #: how much lower the good expert's mean loss is
REGIMES = (2, 7, 4)  #: the good expert of each regime


def recurring_losses(seed: int) -> tuple[Floats, NDArray[np.int64]]:
    """Bernoulli losses whose good expert changes every 500 rounds among three, and which it is, round by round."""
    rng = np.random.default_rng(seed)
    order = list(REGIMES)
    while len(order) < N_SEGMENTS:
        order.append(rng.choice([regime for regime in REGIMES if regime != order[-1]]))
    good = np.repeat(order, SEGMENT)
    means = np.full((len(good), N_EXPERTS), (1 + GAP) / 2)
    means[np.arange(len(good)), good] = (1 - GAP) / 2
    return (rng.random(means.shape) < means).astype(np.float64), good


def rivals(n_rounds: int) -> dict[str, ExpertAlgorithm]:
    """The default, and others as they come or with a textbook setting."""
    share = (N_SEGMENTS - 1) / (n_rounds - 1)
    return {
        "LongTermMemory (default)": LongTermMemory(),
        "Algorithm 2, tight constants": BestOfBothWorlds(constants="tight"),
        "Algorithm 2, paper's constants": BestOfBothWorlds(constants="paper"),
        "Mixing Past Posteriors, true pace": MixingPastPosteriors(1.0, share),
        "Fixed Share, true pace": FixedShare(1.0, share),
        "Squint": Squint(),
        "BOA": BOA(),
        "ML-Poly": MLPoly(),
        "Hedge": Hedge(),
    }


def run_demo(picture: Path, seed: int) -> None:
    """Print the table and write the picture."""
    losses, good = recurring_losses(seed)
    n_rounds = len(losses)
    print(
        f"{n_rounds} rounds, {N_EXPERTS} experts; every {SEGMENT} rounds another one is good, three in all, again and "
        f"again.\nRegret: loss beyond that of whoever is good now; in all, in a regime's first {SEGMENT} rounds, and "
        f"in {SEGMENT} rounds of one that returns.\n"
    )
    print(f"{'':34}{'regret':>8}{'first time':>12}{'a return':>10}{'seconds':>9}")
    first = np.isin(np.arange(n_rounds) // SEGMENT, range(len(REGIMES)))
    curves, weights = {}, None
    for name, algorithm in rivals(n_rounds).items():
        start = time.perf_counter()
        played = algorithm.run(losses)
        seconds = time.perf_counter() - start
        regret = (played * losses).sum(axis=1) - losses[np.arange(n_rounds), good]
        first_time = regret[first].sum() / len(REGIMES)
        returns = regret[~first].sum() / (N_SEGMENTS - len(REGIMES))
        print(
            f"{name:34}{regret.sum():8.0f}{first_time:12.1f}{returns:10.1f}{seconds:9.2f}",
            flush=True,
        )
        curves[name] = regret.cumsum()
        weights = played if weights is None else weights
    assert weights is not None
    draw(picture, weights, good, curves)
    print(f"\npicture: {picture}")


def draw(picture: Path, weights: Floats, good: NDArray[np.int64], curves: dict[str, Floats]) -> None:
    """The default's weights over time, and everyone's cumulative regret."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[2, 3])
    rounds = np.arange(len(good))
    colours = {expert: f"C{at}" for at, expert in enumerate(REGIMES)}
    shown = [weights[:, expert] for expert in REGIMES]
    rest = 1.0 - np.sum(shown, axis=0)
    top.stackplot(
        rounds,
        *shown,
        rest,
        colors=[*colours.values(), "0.85"],
        labels=[*(f"expert {expert}" for expert in REGIMES), "all others"],
        rasterized=True,
    )
    changes = np.flatnonzero(np.diff(good, prepend=-1))
    for start, end in zip(changes, [*changes[1:], len(good)], strict=True):
        top.plot([start, end], [1.04, 1.04], color=colours[good[start]], lw=6, solid_capstyle="butt")
    top.set(ylabel="weight", ylim=(0, 1.08), title="LongTermMemory: weights (bar above: who is good)")
    top.legend(loc="lower right", ncols=4, fontsize="small", framealpha=0.9)
    palette = mpl.colormaps["tab10"]
    for at, (name, curve) in enumerate(sorted(curves.items(), key=lambda item: -item[1][-1])):
        default = name.startswith("LongTermMemory")
        bottom.plot(rounds, curve, color="k" if default else palette(at), lw=2.5 if default else 1.2, label=name)
    bottom.set(xlabel="round", ylabel="cumulative regret", xlim=(0, len(good)), yscale="log", ylim=(2, None))
    bottom.set_title("Regret against who is good now")
    bottom.legend(loc="lower right", fontsize="small", ncols=2)
    figure.savefig(picture, dpi=130)
