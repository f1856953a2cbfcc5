"""A cost that is linear in a few sizes, fitted to measured points and checked on others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import nnls


@dataclass
class Point:
    """A measured point: its sizes, and the costs measured there."""

    sizes: dict[str, float]
    measured: dict[str, float]
    held_out: bool = False  #: of the fits

    def of(self, name: str) -> float:
        """Return a size or a measured value by name."""
        return self.sizes[name] if name in self.sizes else self.measured[name]


@dataclass(frozen=True)
class Cost:
    """A cost that is linear in several sizes."""

    each: dict[str, float]
    error: float  #: median of the relative errors on points that were left out
    worst: float  #: the largest of them
    n_held_out: int

    def at(self, sizes: dict[str, float]) -> float:
        """Return the cost at these sizes."""
        return sum(cost * sizes[name] for name, cost in self.each.items())

    def __str__(self) -> str:
        parts = " + ".join(f"{cost:.3g} · {name}" for name, cost in self.each.items())
        return f"{parts}; on {self.n_held_out} points left out it errs by {self.error:.0%} (largest {self.worst:.0%})"


def fitted(points: list[Point], sizes: tuple[str, ...], what: str) -> Cost:
    """Fit nonnegative costs that minimize the relative errors over all points but each third."""
    for at, point in enumerate(points):
        point.held_out = at % 3 == 2
    known = [point for point in points if not point.held_out]
    table = np.array([[point.of(size) / point.of(what) for size in sizes] for point in known])
    scale = np.maximum(table.max(axis=0), np.finfo(float).tiny)
    each, _ = nnls(table / scale, np.ones(len(known)))
    costs = dict(zip(sizes, (each / scale).tolist(), strict=True))
    off = [abs(Cost(costs, 0, 0, 0).at(point.sizes) / point.of(what) - 1.0) for point in points if point.held_out]
    return Cost(costs, float(np.median(off or [np.nan])), max(off, default=np.nan), len(off))
