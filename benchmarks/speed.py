"""Microseconds a round of every expert algorithm, NumPy and compiled, with River's EWARegressor beside them.

    python benchmarks/speed.py

The best of thirty repetitions in three sweeps, on one core. Losses are those of a stream whose good expert changes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from report import provenance, save_table

from ltm_sklearn import experts
from ltm_sklearn.experts import _base
from ltm_sklearn.experts import _long_term_memory as memory

KS = (10, 100, 1000)

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


def stream(n_rounds: int, n_experts: int) -> np.ndarray:
    rng = np.random.default_rng(0)
    means = np.full((n_rounds, n_experts), 0.7)
    means[np.arange(n_rounds), (np.arange(n_rounds) // 500) % 3] = 0.3
    return (rng.random(means.shape) < means).astype(float)


def microseconds(work: Callable[[], object], n_rounds: int, repeats: int = 10) -> float:
    """Best time a round."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best / n_rounds * 1e6


def run_time(make: Callable, n_experts: int, n_rounds: int) -> float:
    losses = stream(n_rounds, n_experts)
    return microseconds(lambda: make().run(losses), n_rounds)


def numpy_time(make: Callable, n_experts: int) -> float:
    kernel, _base.kernel = _base.kernel, None
    try:
        return run_time(make, n_experts, 100)
    finally:
        _base.kernel = kernel


def portable_time(n_experts: int, n_rounds: int) -> float:
    """The default's rounds without AVX2, as a portable wheel runs them where there is none."""
    losses = stream(n_rounds, n_experts)
    algorithm = experts.LongTermMemory()
    algorithm.weights(n_experts)
    constants = memory.RATES, algorithm._tracker_rates, *memory.KERNEL_CONSTANTS
    rounds = _base.kernel.MemoryRounds(algorithm.state_, *constants, avx2=False)
    return microseconds(lambda: rounds.run(losses), n_rounds)


def update_time(n_experts: int) -> float:
    """A single ``update`` call."""
    losses = stream(5_000, n_experts)
    algorithm = experts.LongTermMemory()
    algorithm.run(losses[:10])

    def loop() -> None:
        for row in losses:
            algorithm.update(row)

    return microseconds(loop, len(losses))


def late_time(n_experts: int, n_rounds: int) -> float:
    """A round after two million: the cost does not grow with t."""
    losses = stream(n_rounds, n_experts)
    algorithm = experts.LongTermMemory()
    while algorithm.n_rounds_ < 2_000_000:
        algorithm.run(losses)
    return microseconds(lambda: algorithm.run(losses), n_rounds)


def river_time(n_experts: int) -> float | None:
    """River's EWARegressor over constant models that cost next to nothing."""
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

    return microseconds(loop, n_rounds, repeats=3)


def jobs() -> dict[tuple[str, int], Callable[[], float | None]]:
    """What to measure, by row and column of the table; columns 0-2 compiled, 3-5 Python, each for the three K."""
    tasks: dict[tuple[str, int], Callable[[], float | None]] = {}
    for column, k in enumerate(KS):
        for name in COMPILED:
            tasks[name, column] = lambda name=name, k=k: run_time(ALGORITHMS[name], k, 200_000 // k)
        tasks["LongTermMemory without AVX2", column] = lambda k=k: portable_time(k, 200_000 // k)
        tasks["LongTermMemory.update, one call", column] = lambda k=k: update_time(k)
        for name, make in ALGORITHMS.items():
            tasks[name, column + 3] = lambda make=make, k=k: numpy_time(make, k)
        tasks["River EWARegressor.learn_one", column + 3] = lambda k=k: river_time(k)
    tasks["LongTermMemory after two million rounds", 0] = lambda: late_time(10, 20_000)
    return tasks


def main() -> None:
    tasks = jobs()
    best: dict[tuple[str, int], float] = {}
    for _ in range(3):  # sweeps far apart in time, as other work on the machine comes and goes
        for key, measure in tasks.items():
            value = measure()
            if value is not None:
                best[key] = min(best.get(key, np.inf), value)
    special = [
        "LongTermMemory without AVX2",
        "LongTermMemory after two million rounds",
        "LongTermMemory.update, one call",
    ]
    names = ["LongTermMemory", *special, *list(ALGORITHMS)[1:], "River EWARegressor.learn_one"]
    rows = [[name, *(f"{best[name, c]:.3g}" if (name, c) in best else "–" for c in range(6))] for name in names]
    header = ["µs a round", *(f"compiled, K={k}" for k in KS), *(f"Python, K={k}" for k in KS)]
    avx2 = "with" if _base.kernel is not None and _base.kernel.has_avx2() else "without"
    state = sum(v.nbytes for v in _started(1000).state_.values() if isinstance(v, np.ndarray))
    notes = [
        "Best of thirty repetitions in three sweeps, on one core. Python columns: NumPy for ours, plain Python for "
        "River, whose models here are constants that cost nothing.",
        f"The default's state at K = 1000: {state / 1000:.0f} bytes an expert. Kernel {avx2} AVX2.",
        provenance("river"),
    ]
    print(save_table("speed", header, rows, notes))


def _started(n_experts: int) -> experts.LongTermMemory:
    algorithm = experts.LongTermMemory()
    algorithm.weights(n_experts)
    return algorithm


if __name__ == "__main__":
    main()
