"""What each part of the default is worth: regret without it, over regret with it.

The regimes are the switching ones of regret.py, on other seeds, and two whose gap changes half-way.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from unittest.mock import patch

import numpy as np

from ltm_sklearn.experts import LongTermMemory
from ltm_sklearn.experts import _long_term_memory as memory

from .regimes import REGIMES, Regime, add_regimes, regimes_of
from .report import Report, add_seeds, said, seeds_of


def with_start(change: Callable[[dict], dict]):
    """Change the state before the first round."""
    original = LongTermMemory._initial_state

    def initial_state(self, prior, rate=None, horizon=None):
        return self._with_weights(change(original(self, prior, rate, horizon)))

    return patch.object(LongTermMemory, "_initial_state", initial_state)


def with_tracker_prior(weights: Callable[[np.ndarray], np.ndarray]):
    """Change the prior over the trackers' cells, (rates, trackers), keeping its sum."""

    def change(state: dict) -> dict:
        prior = state["tracker_prior"] * weights(state["tracker_prior"])
        prior *= state["tracker_prior"].sum() / prior.sum()
        return {**state, "tracker_prior": prior, "tracker_potential": prior}

    return with_start(change)


def halves(mixtures: float, sharpened: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda prior: np.repeat([mixtures, sharpened], prior.shape[1] // 2)


def rates_used(*used: int) -> Callable[[np.ndarray], np.ndarray]:
    """Bundles by place, for mixtures and sharpened ones alike."""

    def weights(prior: np.ndarray) -> np.ndarray:
        bundle = np.arange(prior.shape[1]) % (prior.shape[1] // 2)
        return np.isin(bundle, used).astype(float)

    return weights


def constants(**changes: float):
    """Change constants of the module, and what the kernel is told of them."""
    sharing = changes.get("TRACKER_SHARING", memory.TRACKER_SHARING)
    told = tuple(sharing if value is memory.TRACKER_SHARING else value for value in memory.KERNEL_CONSTANTS)
    return patch.multiple(memory, KERNEL_CONSTANTS=told, **changes)


VARIANTS = {
    "as it is": lambda: constants(),
    "no trackers (Algorithm 2, tight)": lambda: patch.object(LongTermMemory, "_tracker_rates", np.array([])),
    "mixtures only, no sharpened ones": lambda: with_tracker_prior(halves(1.0, 0.0)),
    "sharpened ones only": lambda: with_tracker_prior(halves(0.0, 1.0)),
    "trackers do not share their potential": lambda: constants(TRACKER_SHARING=0.0),
    "half of the prior on the models": lambda: constants(MODELS_SHARE=0.5),
    "trackers' rates four apart": lambda: with_tracker_prior(rates_used(0, 1, 3, 5, 7, 9)),
    "trackers' rates up to 8 only": lambda: with_tracker_prior(rates_used(*range(7))),
}


def add_options(parser: argparse.ArgumentParser) -> None:
    """Seeds and regimes."""
    add_seeds(parser, 3, 100)
    add_regimes(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """The table."""
    seeds = seeds_of(options)
    changing = [Regime(20, 40, 3, 0.1, later_gap=0.8), Regime(20, 40, 3, 0.8, later_gap=0.15)]
    regimes = regimes_of([*(regime for regime in REGIMES if regime.kind == "switching"), *changing], options)
    means: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for regime in regimes:
        streams = [regime.losses(seed) for seed in seeds]
        for name, variant in VARIANTS.items():
            with variant():
                regrets = [(LongTermMemory().run(losses) * losses).sum() - best for losses, best in streams]
            means[name].append(float(np.mean(regrets)))
    default = np.array(means["as it is"])
    rows = []
    for name, figures in means.items():
        ratios = np.array(figures) / default
        worst = regimes[int(ratios.argmax())].name
        rows.append([name, f"{np.exp(np.log(ratios).mean()):.2f}", f"{ratios.max():.2f}", worst])
    notes = [
        f"Regret over that of the default as it is, {len(regimes)} switching regimes, mean over {said(seeds)}, which "
        "no other table reports."
    ]
    report.table("ablation", ["variant", "geometric mean", "worst", "where"], rows, notes)
