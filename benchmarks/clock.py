"""Time of the fastest of several repetitions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def best_seconds(work: Callable[[], Result], repeats: int) -> tuple[float, Result]:
    """Return the shortest time of several, because other work on the machine only adds to it, and the last result."""
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        best = min(best, time.perf_counter() - start)
    return best, result
