"""Ablation of the default algorithm: regret without each of its parts, divided by regret with it.

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
from .report import Report, add_seeds, seeds_in_words, seeds_of


def with_start(change: Callable[[dict], dict]):
    """Return a patch that changes the state of LongTermMemory before the first round."""
    original = LongTermMemory._initial_state

    def initial_state(self, prior, rate=None, horizon=None):
        return self._with_weights(change(original(self, prior, rate, horizon)))

    return patch.object(LongTermMemory, "_initial_state", initial_state)


def with_tracker_prior(weights: Callable[[np.ndarray], np.ndarray]):
    """Return a patch that changes the prior over the trackers, an array (rates, trackers), and keeps its sum."""

    def change(state: dict) -> dict:
        prior = state["tracker_prior"] * weights(state["tracker_prior"])
        prior *= state["tracker_prior"].sum() / prior.sum()
        return {**state, "tracker_prior": prior, "tracker_potential": prior}

    return with_start(change)


def halves(mixtures: float, sharpened: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda prior: np.repeat([mixtures, sharpened], prior.shape[1] // 2)


def rates_used(*used: int) -> Callable[[np.ndarray], np.ndarray]:
    """Return weights that keep the trackers with these learning rates, given by position."""

    def weights(prior: np.ndarray) -> np.ndarray:
        bundle = np.arange(prior.shape[1]) % (prior.shape[1] // 2)
        return np.isin(bundle, used).astype(float)

    return weights


def constants(**changes: float):
    """Return a patch that changes constants of the module and of the kernel."""
    sharing = changes.get("TRACKER_SHARING", memory.TRACKER_SHARING)
    values = tuple(sharing if value is memory.TRACKER_SHARING else value for value in memory.KERNEL_CONSTANTS)
    return patch.multiple(memory, KERNEL_CONSTANTS=values, **changes)


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
    """Add the options of seeds and regimes."""
    add_seeds(parser, 3, 100)
    add_regimes(parser)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of ratios of regrets."""
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
        f"Regret over that of the default as it is, {len(regimes)} switching regimes, mean over "
        f"{seeds_in_words(seeds)}, which no other table reports."
    ]
    report.table("ablation", ["variant", "geometric mean", "worst", "where"], rows, notes)
