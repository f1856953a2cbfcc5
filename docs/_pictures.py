"""Pictures of the guide, drawn by the library each time the site is built."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.display import RecurrenceDisplay
from ltm_sklearn.evaluation import PrequentialResult, prequential
from ltm_sklearn.experts import FixedShare, Hedge, LongTermMemory
from ltm_sklearn.streams import stagger

N_EXPERTS, SEGMENT, REGIMES = 30, 300, (0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2)
COLOURS = ("#332288", "#CC6677", "#DDCC77")  #: of the three experts that are good in some regime
SWITCHING = ("Fixed Share", "LongTermMemory")  #: algorithms that follow changes
STYLES = {"Hedge": ("0.55", "--"), "Fixed Share": ("#117733", "-."), "LongTermMemory": ("black", "-")}


@cache
def recurring_losses(seed: int) -> tuple[NDArray[np.float64], NDArray[np.int_]]:
    """Return losses and the good expert of each round, which is wrong with probability 0.3, the others with 0.6."""
    rng = np.random.default_rng(seed)
    good = np.repeat(REGIMES, SEGMENT)
    means = np.full((len(good), N_EXPERTS), 0.6)
    means[np.arange(len(good)), good] = 0.3
    return (rng.random(means.shape) < means).astype(float), good


@cache
def weights_of_algorithms(seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """Return the weights of three algorithms on the same losses; Fixed Share gets the true rate of switches."""
    losses, good = recurring_losses(seed)
    algorithms = {
        "Hedge": Hedge(),
        "Fixed Share": FixedShare(1.0, len(REGIMES) / len(good)),
        "LongTermMemory": LongTermMemory(),
    }
    return {name: algorithm.run(losses) for name, algorithm in algorithms.items()}


def regrets(seed: int = 0) -> dict[str, NDArray[np.float64]]:
    """Return the regret of each algorithm in each round against the good expert."""
    losses, good = recurring_losses(seed)
    best = losses[np.arange(len(good)), good]
    return {name: (weights * losses).sum(axis=1) - best for name, weights in weights_of_algorithms(seed).items()}


def mark_regimes(ax: Axes) -> None:
    """Draw a bar above the axes in the colour of the good expert."""
    for at, regime in enumerate(REGIMES):
        ax.axvspan(at * SEGMENT, (at + 1) * SEGMENT, 1.02, 1.07, color=COLOURS[regime], clip_on=False, lw=0)


def draw_weights(ax: Axes, weights: NDArray[np.float64]) -> None:
    """Stack the weights of the three good experts, and those of the others in grey."""
    labels = ["expert A", "expert B", "expert C", "the other 27"]
    layers = [*weights[:, :3].T, weights[:, 3:].sum(axis=1)]
    ax.stackplot(np.arange(len(weights)), *layers, colors=[*COLOURS, "0.85"], labels=labels, rasterized=True)
    ax.set(ylabel="weight", xlim=(0, len(weights)), ylim=(0, 1))
    mark_regimes(ax)


def draw_regret(ax: Axes, names: Sequence[str]) -> None:
    """Draw the cumulative regret of some algorithms."""
    for name in names:
        regret = regrets()[name]
        colour, line = STYLES[name]
        ax.plot(regret.cumsum(), color=colour, ls=line, lw=2, label=name)
    ax.set(xlabel="round", ylabel="cumulative regret", xlim=(0, len(regret)), ylim=(0, None))
    ax.legend(loc="upper left")


def front() -> Figure:
    """Draw the picture of the README: weights and regret with memory."""
    figure = Figure(figsize=(9, 5.2), layout="constrained")
    top, bottom = figure.subplots(2, 1, sharex=True)
    draw_weights(top, weights_of_algorithms()["LongTermMemory"])
    top.set_title("Weights of LongTermMemory (bar: the good expert)", pad=18)
    top.legend(loc="lower right", ncols=4, fontsize="small", framealpha=0.9)
    draw_regret(bottom, SWITCHING)
    bottom.set_title("Regret against the good expert")
    return figure


def losses() -> Figure:
    """Draw the losses of the stream of the guide."""
    table, _ = recurring_losses(0)
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    ax = figure.subplots()
    window = np.full(100, 0.01)
    for at in range(N_EXPERTS):
        known = at < 3
        mean = np.convolve(table[:, at], window, mode="valid")
        label = f"expert {'ABC'[at]}" if known else "the other 27" if at == 3 else None
        ax.plot(np.arange(99, len(table)), mean, color=COLOURS[at] if known else "0.85", zorder=known + 1, label=label)
    ax.set(xlabel="round", ylabel="share of mistakes,\nlast 100 rounds", xlim=(0, len(table)), ylim=(0.1, 0.9))
    mark_regimes(ax)
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.25), ncols=4, fontsize="small", frameon=False)
    return figure


def regret() -> Figure:
    """Draw the regret of all three algorithms."""
    figure = Figure(figsize=(9, 2.8), layout="constrained")
    ax = figure.subplots()
    draw_regret(ax, list(STYLES))
    mark_regimes(ax)
    return figure


def weights() -> Figure:
    """Draw the weights of three algorithms on the same losses."""
    figure = Figure(figsize=(9, 6.6), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    for ax, (name, table) in zip(axes, weights_of_algorithms().items(), strict=True):
        draw_weights(ax, table)
        ax.set_title(name, pad=16)
    axes[-1].set_xlabel("round")
    axes[-1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.3), ncols=4, fontsize="small", frameon=False)
    return figure


def returns() -> Figure:
    """Draw the regret in each segment of a regime, averaged over 20 seeds and three regimes."""
    figure = Figure(figsize=(9, 3.2), layout="constrained")
    ax = figure.subplots()
    runs = [regrets(seed) for seed in range(20)]
    means = {name: np.mean([run[name] for run in runs], axis=0) for name in SWITCHING}
    visits = {name: regret.reshape(-1, 3 * SEGMENT).sum(axis=1) / 3 for name, regret in means.items()}
    for at, (name, costs) in enumerate(visits.items()):
        places = np.arange(len(costs)) + 0.32 * (at - 0.5)
        bars = ax.bar(places, costs, width=0.3, color=STYLES[name][0], label=name)
        ax.bar_label(bars, fmt="%.0f", padding=2, fontsize="small")
    ax.set_xticks(range(len(costs)), ["first segment", "second", "third", "fourth"])
    ax.set(ylabel="regret of a segment", ylim=(0, 1.3 * max(costs.max() for costs in visits.values())))
    ax.legend(loc="upper left", ncols=2, fontsize="small")
    return figure


@cache
def returning_concepts() -> PrequentialResult:
    """Evaluate naive Bayes with and without snapshots on three recurring concepts."""
    stream = stagger(order="cyclic", length=500, n_segments=9, noise=0.1, seed=0)
    models = {
        "with memory": LongTermMemoryClassifier([("bayes", GaussianNB())], record=1000),
        "without": LongTermMemoryClassifier([("bayes", GaussianNB())], memory=None),
    }
    return prequential(models, stream, batch_size=10, window=100)


def concepts() -> Figure:
    """Draw the accuracy over time with and without snapshots."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    returning_concepts().plot(ax=figure.subplots())
    return figure


def snapshots() -> Figure:
    """Draw the leading snapshot over time: it leads again when its concept returns."""
    figure = Figure(figsize=(9, 4), layout="constrained")
    RecurrenceDisplay.from_result(returning_concepts(), model="with memory", ax=figure.subplots())
    return figure


PICTURES: dict[str, Callable[[], Figure]] = {
    picture.__name__: picture for picture in (front, losses, weights, regret, returns, concepts, snapshots)
}


def draw_all(folder: Path) -> None:
    """Save every picture as PNG."""
    folder.mkdir(exist_ok=True)
    with mpl.rc_context({"axes.spines.top": False, "axes.spines.right": False}):
        for name, picture in PICTURES.items():
            picture().savefig(folder / f"{name}.png", dpi=150)
