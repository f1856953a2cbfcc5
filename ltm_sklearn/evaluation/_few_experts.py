"""Best sequences among few experts: which few is a hard problem, so bounds close in on the answer from both sides.

From above: groups of experts, the best of which is found by going through all of them, if they are not too many, or
else by adding and swapping. From below: ``x[t, k]``, whether row t follows expert k, may be 1 only for experts of the
group, ``x[t, k] <= z[k]`` with ``Σ_k z[k] = n``. With a price ``p[t, k] >= 0`` for breaking each of these rules,

    the best sequence on losses + p,  less the sum of the n largest  Σ_t p[t, k]

is a lower bound for any prices, and for all n and all numbers of switches at once. Subgradient steps raise it. It also
tells how much it would be if an expert had to be in the group, or out of it; what is then above the best group known
leaves so few groups, often, that all of them can be looked at.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import combinations, islice

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from . import _sequences
from ._sequences import best_path, least_among

#: Cells, of rows, experts and numbers of switches, that are gone through for each number of distinct experts, half of
#: them for each of the two bounds; some seconds' worth with the kernel, and without it.
MOST_CELLS, MOST_CELLS_WITHOUT_KERNEL = 4e9, 4e8

#: Groups that are looked at in one go.
TOGETHER = 2_000

#: Subgradient steps for one cell of the table.
MOST_STEPS = 1_000

#: Steps after which all groups that are left are looked at, if they are few enough.
LOOK_EVERY = 20

#: Steps without a better bound after which they become half as long.
PATIENCE = 8

#: Bounds that differ by less than this part are one number.
ROUNDING = 1e-10

Groups = NDArray[np.intp]


class Search:
    """Bounds (max_distinct, max_switches + 1) on the sums of losses of the best sequences.

    Parameters
    ----------
    losses : ndarray of shape (n_rows, n_experts)
        Finite.
    max_switches, max_distinct : int
        ``max_distinct`` is at most the number of experts.
    switches : list of int
        Numbers of switches that are searched; bounds for those between them follow.
    distinct : list of int
        Numbers of experts that are searched.
    """

    def __init__(
        self, losses: Floats, max_switches: int, max_distinct: int, switches: list[int], distinct: list[int]
    ) -> None:
        self._losses, self._max_switches = losses, max_switches
        self._n_rows, self._n_experts = losses.shape
        work = (MOST_CELLS_WITHOUT_KERNEL if _sequences.kernel is None else MOST_CELLS) * len(distinct)
        self._cells_left = work / 2.0
        shape = (max_distinct, max_switches + 1)
        self.upper = np.full(shape, np.inf)
        self.groups: list[Groups] = [np.zeros((max_switches + 1, n), dtype=np.intp) for n in range(1, max_distinct + 1)]
        #: what the best sequences among all experts lose
        self.of_all = best_path(losses, max_switches)[0]
        self.lower = np.tile(self.of_all, (max_distinct, 1))
        seeds = [self._most_followed(at) for at in sorted({*switches, *range(min(max_distinct, max_switches + 1))})]
        for n in range(1, max_distinct + 1):
            self._try(np.stack([seed[:n] for seed in seeds]))
            if n == 1 or (n in distinct and self._fits(math.comb(self._n_experts, n), n)):
                self._try_all(combinations(range(self._n_experts), n), n)
                self.lower[n - 1] = self.upper[n - 1]
            else:
                for at in switches:
                    self._improve(n, at)
        self._cells_left += work / 2.0
        self._prices = np.zeros(losses.shape)
        open_cells = [(n, at) for n in distinct for at in switches if not self.exact[n - 1, at]]
        for left, (n, at) in zip(range(len(open_cells), 0, -1), open_cells, strict=True):
            self._close(n, at, self._cells_left / left)
        # fewer switches, or fewer experts, cannot do better
        self.upper = np.minimum.accumulate(np.minimum.accumulate(self.upper, axis=0), axis=1)
        self.lower = np.maximum.accumulate(self.lower[::-1, ::-1], axis=0)
        self.lower = np.maximum.accumulate(self.lower, axis=1)[::-1, ::-1]
        self.lower = np.where(self.exact, self.upper, self.lower)

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Which of the bounds have met."""
        return self.upper - self.lower <= ROUNDING * np.abs(self.upper)

    def _most_followed(self, switches: int) -> Groups:
        """All experts, those first that the best sequence among all of them follows."""
        path = best_path(self._losses, switches)[1]
        return np.argsort(-np.bincount(path, minlength=self._n_experts), kind="stable")

    # From above

    def _fits(self, n_groups: int, n: int) -> bool:
        return self._cells(n_groups, n) <= self._cells_left

    def _cells(self, n_groups: int, n: int) -> float:
        return float(n_groups) * self._n_rows * n * (self._max_switches + 5)  # a short loop takes its time, too

    def _try(self, groups: Groups) -> None:
        """Look at groups (n_groups, n)."""
        n = groups.shape[1]
        self._cells_left -= self._cells(len(groups), n)
        totals = least_among(self._losses, np.ascontiguousarray(groups), self._max_switches)
        best = totals.argmin(axis=0)
        least = totals.min(axis=0)
        better = least < self.upper[n - 1]
        self.upper[n - 1, better] = least[better]
        self.groups[n - 1][better] = groups[best[better]]

    def _try_all(self, groups: Iterable[tuple[int, ...]], n: int) -> None:
        remaining = iter(groups)
        while some := list(islice(remaining, TOGETHER)):
            self._try(np.array(some, dtype=np.intp).reshape(-1, n))

    def _improve(self, n: int, switches: int) -> None:
        """Add an expert to the best smaller group, then swap as long as that helps."""
        smaller = self.groups[n - 2][switches]
        others = np.setdiff1d(np.arange(self._n_experts), smaller)
        added = others if self._fits(len(others), n) else others[:1]  # a larger group is never worse
        self._try(np.column_stack([np.tile(smaller, (len(added), 1)), added]))
        n_swaps = n * (self._n_experts - n)
        while self._fits(n_swaps, n):
            before, group = self.upper[n - 1, switches], self.groups[n - 1][switches].copy()
            others = np.setdiff1d(np.arange(self._n_experts), group)
            swapped = np.tile(group, (n, len(others), 1))
            for at in range(n):
                swapped[at, :, at] = others
            self._try(swapped.reshape(-1, n))
            if not self.upper[n - 1, switches] < before:
                break

    # From below

    def _close(self, n: int, switches: int, cells: float) -> None:
        """Raise the lower bound of one cell, until it meets the upper one or the work is done."""
        prices = self._prices  # those of the cell before are a better start than none
        rows = np.arange(self._n_rows)
        length, unimproved, best = 1.0, 0, -np.inf
        n_steps = int(min(MOST_STEPS, cells / (2 * self._losses.size * (switches + 5))))
        for step in range(1, n_steps + 1):
            self._cells_left -= self._losses.size * (switches + 5)
            totals, path = best_path(self._losses + prices, switches)
            paid = prices.sum(axis=0)
            order = np.argsort(-paid, kind="stable")
            largest = np.cumsum(paid[order])
            bounds = totals - largest[: len(self.lower), np.newaxis]
            np.maximum(self.lower[:, : switches + 1], bounds, out=self.lower[:, : switches + 1])
            bound = float(bounds[n - 1, -1])
            unimproved += 1
            if bound > best:
                best, best_paid, unimproved = bound, paid, 0
                self._prices = prices
            if unimproved == PATIENCE:
                length, unimproved = length / 2.0, 0
            due = step % LOOK_EVERY == 0 or step == n_steps
            if due and self._look_at_rest(n, switches, best, best_paid):
                return
            if self.exact[n - 1, switches]:
                return
            chosen = np.zeros(self._n_experts)
            chosen[order[:n]] = 1.0
            slope = np.where(prices > 0.0, -chosen, 0.0)
            slope[rows, path] = 1.0 - chosen[path]
            steepness = float(np.einsum("tk,tk->", slope, slope))
            if steepness == 0.0:
                return  # no better prices are near
            prices = np.maximum(prices + length * (self.upper[n - 1, switches] - bound) / steepness * slope, 0.0)

    def _look_at_rest(self, n: int, switches: int, bound: float, paid: Floats) -> bool:
        """Look at all groups that may yet be better than the best one known; whether they are few enough for that."""
        upper = self.upper[n - 1, switches]
        upper = upper + ROUNDING * abs(upper)
        order = np.argsort(-paid, kind="stable")
        last_in, first_out = paid[order[n - 1]], paid[order[n]]
        inside = np.isin(np.arange(self._n_experts), order[:n])
        needed = inside & (bound + paid - first_out > upper)
        possible = np.flatnonzero(~needed & (inside | (bound + last_in - paid <= upper)))
        fixed = tuple(np.flatnonzero(needed).tolist())
        n_groups = math.comb(len(possible), n - len(fixed))
        if not self._fits(n_groups, n):
            return False
        self._try_all((fixed + rest for rest in combinations(possible.tolist(), n - len(fixed))), n)
        self.lower[n - 1, switches] = self.upper[n - 1, switches]
        return True
