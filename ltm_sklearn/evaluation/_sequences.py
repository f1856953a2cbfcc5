"""Best sequences of experts with few switches, by dynamic programming.

A cell ``least[k, s]`` is the least total loss of a sequence with at most s switches that ends with expert k. In the
next row, a sequence stays with k or switches to k from the best of all sequences with one switch less:

    least[k, s] <- min(least[k, s], min_j least[j, s - 1]) + loss[k]

The functions here define the results. Where the compiled kernel is installed, it computes the same numbers faster.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._optional import import_kernel
from .._typing import Floats

kernel = import_kernel("_switching", __package__)


def advance(losses: Floats, least: Floats) -> None:
    """Add rows (n_rows, n_experts) to the cells ``least`` (n_experts, max_switches + 1), in place."""
    if kernel is not None:
        kernel.advance(np.ascontiguousarray(losses), least)
        return
    for row in losses:
        np.minimum(least[:, 1:], least[:, :-1].min(axis=0), out=least[:, 1:])
        least += row[:, np.newaxis]


def best_path(losses: Floats, max_switches: int) -> tuple[Floats, NDArray[np.intp]]:
    """Return the total losses of the best sequences with at most 0, 1, ... switches, and the path of the last one.

    In a tie it is a path with the fewest switches.
    """
    n_rows, n_experts = losses.shape
    least = np.zeros((n_experts, max_switches + 1))
    # The best expert of each level after each row, and the row since which its sequence has followed it. This is enough
    # to trace the path back, segment by segment.
    lead, since = np.zeros((2, n_rows, max_switches + 1), dtype=np.intc)
    if kernel is not None:
        kernel.trace_paths(np.ascontiguousarray(losses), least, lead, since)
    else:
        _trace(losses, least, lead, since)
    totals = least.min(axis=0)
    level = int((totals == totals[-1]).argmax())
    path = np.empty(n_rows, dtype=np.intp)
    end = n_rows
    while end > 0:
        first = since[end - 1, level]
        path[first:end] = lead[end - 1, level]
        end, level = first, level - 1
    return totals, path


def _trace(losses: Floats, least: Floats, lead: NDArray[np.intc], since: NDArray[np.intc]) -> None:
    start = np.zeros(least.shape, dtype=np.intc)
    levels = np.arange(least.shape[1])
    for at, row in enumerate(losses):
        enter = np.broadcast_to(least[:, :-1].min(axis=0), least[:, 1:].shape)
        moved = enter < least[:, 1:]
        least[:, 1:][moved] = enter[moved]
        start[:, 1:][moved] = at
        least += row[:, np.newaxis]
        lead[at] = least.argmin(axis=0)
        since[at] = start[lead[at], levels]


def least_among(losses: Floats, groups: NDArray[np.intp], max_switches: int) -> Floats:
    """Return the least total losses within groups of experts (n_groups, size), shape (n_groups, max_switches + 1)."""
    if kernel is not None:
        return np.asarray(kernel.among(np.ascontiguousarray(losses.T), groups, max_switches))
    least = np.zeros((*groups.shape, max_switches + 1))
    for row in losses:
        np.minimum(least[:, :, 1:], least[:, :, :-1].min(axis=1, keepdims=True), out=least[:, :, 1:])
        least += row[groups][:, :, np.newaxis]
    return np.asarray(least.min(axis=1))
