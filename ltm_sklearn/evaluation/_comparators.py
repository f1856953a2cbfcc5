"""Losses of comparators in hindsight, computed online: best expert, best sequences, best expert of each concept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._sequences import advance


class Comparators:
    """Total losses of the models, and of the best combinations of some of them in hindsight.

    Parameters
    ----------
    n_models : int
    experts : list of int
        Indices of the models that the comparators follow.
    max_switches : int
    """

    def __init__(self, n_models: int, experts: list[int], max_switches: int) -> None:
        self._experts = experts
        self.losses = np.zeros(n_models)
        self.n_rows = 0
        #: Least total loss [k, s] of the sequences with at most s switches that end with expert k.
        self._least = np.zeros((len(experts), max_switches + 1))
        self._by_concept: dict[Any, Floats] = {}

    def add(self, losses: Floats, concept: NDArray[Any] | None) -> None:
        """Add rows of shape (n_rows, n_models); only rows in which all models have a prediction count."""
        is_complete = ~np.isnan(losses).any(axis=1)
        losses = losses[is_complete]
        self.n_rows += len(losses)
        self.losses += losses.sum(axis=0)
        of_experts = losses[:, self._experts]
        advance(of_experts, self._least)
        if concept is not None:
            for each, row in zip(concept[is_complete].tolist(), of_experts, strict=True):
                total = self._by_concept.get(each)
                if total is None:
                    self._by_concept[each] = row.copy()
                else:
                    total += row

    def totals(self) -> dict[str, float]:
        """Return the total loss of each comparator."""
        least = self._least.min(axis=0).tolist()
        totals = {"best_expert": float(self.losses[self._experts].min())}
        totals.update({f"switches_{switches}": loss for switches, loss in enumerate(least[1:], 1)})
        if self._by_concept:
            totals["concept_oracle"] = float(sum(total.min() for total in self._by_concept.values()))
        return totals
