"""Microseconds a round of every expert algorithm, in NumPy and compiled, beside River's EWARegressor.

The best of thirty repetitions in three sweeps, on one core. Losses are those of a stream whose good expert changes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

import numpy as np

from ltm_sklearn import experts
from ltm_sklearn.experts import _compiled
from ltm_sklearn.experts import _long_term_memory as memory

from .clock import best_seconds
from .report import Report

ALGORITHMS = {
    "LongTermMemory": experts.LongTermMemory,
    "ShareTheta": lambda: experts.ShareTheta(1.0, 0.01, 0.001),
    "FixedShare": lambda: experts.FixedShare(1.0, 0.01),
    "MixingPastPosteriors": lambda: experts.MixingPastPosteriors(1.0, 0.01),
    "MixingPastPosteriors(past='decaying')": lambda: experts.MixingPastPosteriors(1.0, 0.01, "decaying"),
    "MixingPastPosteriors(doubling=True)": lambda: experts.MixingPastPosteriors(doubling=True),
    "Hedge": experts.Hedge,
    "Hedge(variant=1)": lambda: experts.Hedge(variant=1),
    "Hedge(variant=2)": lambda: experts.Hedge(variant=2),
    "Prod": experts.Prod,
    "AdaptMLProd": experts.AdaptMLProd,
    "AdaNormalHedge": experts.AdaNormalHedge,
    "AdaNormalHedgeTV": experts.AdaNormalHedgeTV,
    "Squint": experts.Squint,
    "BOA": experts.BOA,
    "MLPoly": experts.MLPoly,
    "ConfidenceRated": experts.ConfidenceRated,
    "SimpleReduction": experts.SimpleReduction,
    "BestOfBothWorlds(constants='paper')": experts.BestOfBothWorlds,
    "BestOfBothWorlds(constants='tight')": lambda: experts.BestOfBothWorlds(constants="tight"),
}
COMPILED = ("LongTermMemory", "ShareTheta", "FixedShare", "MixingPastPosteriors")
PORTABLE = "LongTermMemory without AVX2"
ONE_CALL = "LongTermMemory.update, one call"
RIVER = "River EWARegressor.learn_one"


def stream(n_rounds: int, n_experts: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    means = np.full((n_rounds, n_experts), 0.7)
    means[np.arange(n_rounds), (np.arange(n_rounds) // 500) % 3] = 0.3
    return (rng.random(means.shape) < means).astype(float)


def microseconds(work: Callable[[], object], n_rounds: int, repeats: int) -> float:
    """Return the best time of a round."""
    return best_seconds(work, repeats)[0] / n_rounds * 1e6


def run_time(make: Callable, n_experts: int, n_rounds: int, repeats: int) -> float:
    losses = stream(n_rounds, n_experts)
    return microseconds(lambda: make().run(losses), n_rounds, repeats)


def numpy_time(make: Callable, n_experts: int, repeats: int) -> float:
    kernel, _compiled.kernel = _compiled.kernel, None
    try:
        return run_time(make, n_experts, 100, repeats)
    finally:
        _compiled.kernel = kernel


def portable_time(n_experts: int, n_rounds: int, repeats: int) -> float:
    """Return the time of the default's rounds without AVX2, as on processors that lack it."""
    losses = stream(n_rounds, n_experts)
    algorithm = experts.LongTermMemory()
    algorithm.weights(n_experts)
    constants = memory.RATES, algorithm._tracker_rates, *memory.KERNEL_CONSTANTS
    rounds = _compiled.kernel.MemoryRounds(algorithm.state_, *constants, avx2=False)
    return microseconds(lambda: rounds.run(losses), n_rounds, repeats)


def update_time(n_experts: int, repeats: int) -> float:
    """Return the time of a single ``update`` call."""
    losses = stream(5_000, n_experts)
    algorithm = experts.LongTermMemory()
    algorithm.run(losses[:10])

    def loop() -> None:
        for row in losses:
            algorithm.update(row)

    return microseconds(loop, len(losses), repeats)


def late_time(n_experts: int, n_rounds: int, late: int, repeats: int) -> float:
    """Return the time of a round after many others, which shows that the cost does not grow with t."""
    losses = stream(n_rounds, n_experts)
    algorithm = experts.LongTermMemory()
    while algorithm.n_rounds_ < late:
        algorithm.run(losses)
    return microseconds(lambda: algorithm.run(losses), n_rounds, repeats)


def river_time(n_experts: int, repeats: int) -> float | None:
    """Return the time of River's EWARegressor over constant models; None without River."""
    try:
        from river import base, ensemble
    except ImportError:
        return None

    class Constant(base.Regressor):
        def __init__(self, value: float = 0.0) -> None:
            self.value = value

        def learn_one(self, x, y) -> None: ...

        def predict_one(self, x) -> float:
            return self.value

    n_rounds = max(200_000 // n_experts // 10, 20)
    targets = np.random.default_rng(0).random(n_rounds)
    model = ensemble.EWARegressor([Constant(value) for value in np.linspace(0, 1, n_experts)], learning_rate=0.01)

    def loop() -> None:
        for y in targets:
            model.learn_one({}, y)

    return microseconds(loop, n_rounds, min(repeats, 3))


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of sizes."""
    parser.add_argument("--experts", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--late", type=int, default=2_000_000, help="rounds before a late one (default: %(default)s)")
    parser.add_argument("--repeats", type=int, default=10, help="a sweep (default: %(default)s)")
    parser.add_argument("--sweeps", type=int, default=3, help="(default: %(default)s)")


def tasks(options: argparse.Namespace) -> dict[tuple[str, str, int], Callable[[], float | None]]:
    """Return functions that measure, by row, kind of column (compiled or Python) and number of experts."""
    made: dict[tuple[str, str, int], Callable[[], float | None]] = {}
    repeats = options.repeats
    for k in options.experts:
        for name in COMPILED:
            made[name, "compiled", k] = partial(run_time, ALGORITHMS[name], k, 200_000 // k, repeats)
        made[PORTABLE, "compiled", k] = partial(portable_time, k, 200_000 // k, repeats)
        made[ONE_CALL, "compiled", k] = partial(update_time, k, repeats)
        for name, make in ALGORITHMS.items():
            made[name, "Python", k] = partial(numpy_time, make, k, repeats)
        made[RIVER, "Python", k] = partial(river_time, k, repeats)
    k = options.experts[0]
    made[late_name(options), "compiled", k] = partial(late_time, k, 20_000, options.late, repeats)
    return made


def late_name(options: argparse.Namespace) -> str:
    """Return the name of the row of late rounds."""
    return f"LongTermMemory after {options.late:,} rounds"


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of times."""
    best: dict[tuple[str, str, int], float] = {}
    for _ in range(options.sweeps):  # far apart in time, as other work on the machine comes and goes
        for key, measure in tasks(options).items():
            value = measure()
            if value is not None:
                best[key] = min(best.get(key, np.inf), value)
    names = ["LongTermMemory", PORTABLE, late_name(options), ONE_CALL, *list(ALGORITHMS)[1:], RIVER]
    columns = [(kind, k) for kind in ("compiled", "Python") for k in options.experts]
    rows = [[name, *(f"{best[name, *at]:.3g}" if (name, *at) in best else "–" for at in columns)] for name in names]
    header = ["µs a round", *(f"{kind}, K={k}" for kind, k in columns)]
    avx2 = "with" if _compiled.kernel is not None and _compiled.kernel.has_avx2() else "without"
    state = sum(v.nbytes for v in _started(1000).state_.values() if isinstance(v, np.ndarray))
    notes = [
        f"Best of {options.repeats * options.sweeps} repetitions in {options.sweeps} sweeps, on one core, seed 0. "
        "Python columns: NumPy for ours, plain Python for River, whose models here are constants that cost nothing.",
        f"The default's state at K = 1000: {state / 1000:.0f} bytes an expert. Kernel {avx2} AVX2.",
    ]
    report.table("speed", header, rows, notes, ("river",))


def _started(n_experts: int) -> experts.LongTermMemory:
    algorithm = experts.LongTermMemory()
    algorithm.weights(n_experts)
    return algorithm
