"""Bandit algorithms that the default is compared with, and the grids of their settings."""

from __future__ import annotations

from itertools import product
from typing import Any

from ltm_sklearn.bandits import (
    DiscountedUCB,
    Exp3,
    Exp3IX,
    Exp3S,
    SlidingWindowUCB,
    SparseHybrid,
    SparseLongTermMemory,
)

from .bandit_worlds import World

DEFAULT, PAPER = "LongTermMemoryBandit", "Algorithm 3, paper"
RATES = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0)
EXPLORATIONS = (0.001, 0.003, 0.01, 0.03, 0.1)
BOUNDS = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0)


def grids(world: World, known: tuple[float, float]) -> dict[str, list[dict[str, Any]]]:
    """Return the settings of each rival in a world, whose losses lie in the range ``known``."""
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
