"""Best sequences among few experts: a hard problem, solved by upper and lower bounds.

Upper bounds are the losses of groups of experts: of all groups, if there are not too many, otherwise of groups found by
adding and swapping experts. The lower bound is a Lagrangian relaxation. Let ``x[t, k]`` be 1 if row t follows expert k.
It may be 1 only for experts of the group: ``x[t, k] <= z[k]`` with ``Σ_k z[k] = n``. With a price ``p[t, k] >= 0`` for
violating each of these constraints,

    the least loss of a sequence on losses + p,  minus the sum of the n largest  Σ_t p[t, k]

is a lower bound for any prices, for all n and all numbers of switches at once. Subgradient steps raise it. It also
gives the lower bound if an expert must be in the group, or must not be. Groups whose bound exceeds the loss of the best
known group are excluded; often so few groups remain that all of them can be examined.
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

#: Cells (rows x experts x numbers of switches) that are computed for each number of distinct experts, half of them for
#: each of the two bounds. They take some seconds, with the compiled kernel and without it.
MOST_CELLS, MOST_CELLS_WITHOUT_KERNEL = 4e9, 4e8

#: Groups that are examined in one call.
GROUPS_PER_CALL = 2_000

#: Subgradient steps for one pair of numbers of switches and experts.
MOST_STEPS = 1_000

#: Steps between two attempts to examine all remaining groups.
EXAMINE_EVERY = 20

#: Steps without a better bound after which the step length is halved.
PATIENCE = 8

#: Relative difference below which two bounds are equal.
ROUNDING = 1e-10

Groups = NDArray[np.intp]


class SequenceSearch:
    """Search for the best sequences, with bounds on their total losses of shape (max_distinct, max_switches + 1).

    Parameters
    ----------
    losses : ndarray of shape (n_rows, n_experts)
        Finite losses.
    max_switches, max_distinct : int
        Largest numbers; ``max_distinct`` is at most the number of experts.
    switches : list of int
        Numbers of switches to search; bounds for those between them follow.
    distinct : list of int
        Numbers of distinct experts to search.
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
        #: total losses of the best sequences among all experts
        self.of_all = best_path(losses, max_switches)[0]
        self.lower = np.tile(self.of_all, (max_distinct, 1))
        seeds = [self._most_followed(at) for at in sorted({*switches, *range(min(max_distinct, max_switches + 1))})]
        for n in range(1, max_distinct + 1):
            self._examine(np.stack([seed[:n] for seed in seeds]))
            if n == 1 or (n in distinct and self._fits(math.comb(self._n_experts, n), n)):
                self._examine_all(combinations(range(self._n_experts), n), n)
                self.lower[n - 1] = self.upper[n - 1]
            else:
                for at in switches:
                    self._improve(n, at)
        self._cells_left += work / 2.0
        self._prices = np.zeros(losses.shape)
        open_cells = [(n, at) for n in distinct for at in switches if not self.exact[n - 1, at]]
        for left, (n, at) in zip(range(len(open_cells), 0, -1), open_cells, strict=True):
            self._raise_lower_bound(n, at, self._cells_left / left)
        # fewer switches, or fewer experts, cannot have a smaller loss
        self.upper = np.minimum.accumulate(np.minimum.accumulate(self.upper, axis=0), axis=1)
        self.lower = np.maximum.accumulate(self.lower[::-1, ::-1], axis=0)
        self.lower = np.maximum.accumulate(self.lower, axis=1)[::-1, ::-1]
        self.lower = np.where(self.exact, self.upper, self.lower)

    @property
    def exact(self) -> NDArray[np.bool_]:
        """Whether the lower and upper bounds are equal."""
        return self.upper - self.lower <= ROUNDING * np.abs(self.upper)

    def _most_followed(self, switches: int) -> Groups:
        """Return all experts, ordered by the number of rows in which the best sequence of all follows them."""
        path = best_path(self._losses, switches)[1]
        return np.argsort(-np.bincount(path, minlength=self._n_experts), kind="stable")

    # Upper bounds

    def _fits(self, n_groups: int, n: int) -> bool:
        return self._cells(n_groups, n) <= self._cells_left

    def _cells(self, n_groups: int, n: int) -> float:
        return float(n_groups) * self._n_rows * n * (self._max_switches + 5)  # + 5 for the overhead of a short loop

    def _examine(self, groups: Groups) -> None:
        """Examine groups of shape (n_groups, n)."""
        n = groups.shape[1]
        self._cells_left -= self._cells(len(groups), n)
        totals = least_among(self._losses, np.ascontiguousarray(groups), self._max_switches)
        best = totals.argmin(axis=0)
        least = totals.min(axis=0)
        better = least < self.upper[n - 1]
        self.upper[n - 1, better] = least[better]
        self.groups[n - 1][better] = groups[best[better]]

    def _examine_all(self, groups: Iterable[tuple[int, ...]], n: int) -> None:
        remaining = iter(groups)
        while some := list(islice(remaining, GROUPS_PER_CALL)):
            self._examine(np.array(some, dtype=np.intp).reshape(-1, n))

    def _improve(self, n: int, switches: int) -> None:
        """Add an expert to the best smaller group, then swap experts as long as the loss decreases."""
        smaller = self.groups[n - 2][switches]
        others = np.setdiff1d(np.arange(self._n_experts), smaller)
        added = others if self._fits(len(others), n) else others[:1]  # a larger group is never worse
        self._examine(np.column_stack([np.tile(smaller, (len(added), 1)), added]))
        n_swaps = n * (self._n_experts - n)
        while self._fits(n_swaps, n):
            before, group = self.upper[n - 1, switches], self.groups[n - 1][switches].copy()
            others = np.setdiff1d(np.arange(self._n_experts), group)
            swapped = np.tile(group, (n, len(others), 1))
            for at in range(n):
                swapped[at, :, at] = others
            self._examine(swapped.reshape(-1, n))
            if not self.upper[n - 1, switches] < before:
                break

    # Lower bounds

    def _raise_lower_bound(self, n: int, switches: int, cells: float) -> None:
        """Raise one lower bound by subgradient steps until it equals the upper bound or ``cells`` are used up."""
        prices = self._prices  # those of the last search are a better start than zeros
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
            due = step % EXAMINE_EVERY == 0 or step == n_steps
            if due and self._examine_rest(n, switches, best, best_paid):
                return
            if self.exact[n - 1, switches]:
                return
            chosen = np.zeros(self._n_experts)
            chosen[order[:n]] = 1.0
            slope = np.where(prices > 0.0, -chosen, 0.0)
            slope[rows, path] = 1.0 - chosen[path]
            steepness = float(np.einsum("tk,tk->", slope, slope))
            if steepness == 0.0:
                return  # a local optimum: the bound cannot be raised
            prices = np.maximum(prices + length * (self.upper[n - 1, switches] - bound) / steepness * slope, 0.0)

    def _examine_rest(self, n: int, switches: int, bound: float, paid: Floats) -> bool:
        """Examine all groups that may be better than the best known one; return False if there are too many."""
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
        self._examine_all((fixed + rest for rest in combinations(possible.tolist(), n - len(fixed))), n)
        self.lower[n - 1, switches] = self.upper[n - 1, switches]
        return True
