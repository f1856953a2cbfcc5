"""What comparators would have lost that know the future, by online expert_stats."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._sequences import advance


class Comparators:
    """Losses of the models, and of the best that could have been made of some of them.

    Parameters
    ----------
    n_models : int
    experts : list of int
        The models of which the comparators are made.
    max_switches : int
    """

    def __init__(self, n_models: int, experts: list[int], max_switches: int) -> None:
        self._experts = experts
        self.losses = np.zeros(n_models)
        self.n_rows = 0
        #: The least that a sequence with at most so many switches has lost that has ended with this expert.
        self._least = np.zeros((len(experts), max_switches + 1))
        self._by_concept: dict[Any, Floats] = {}

    def add(self, losses: Floats, concept: NDArray[Any] | None) -> None:
        """Take in rows of shape (n_rows, n_models); only those count in which all models have an answer."""
        answered = ~np.isnan(losses).any(axis=1)
        losses = losses[answered]
        self.n_rows += len(losses)
        self.losses += losses.sum(axis=0)
        of_experts = losses[:, self._experts]
        advance(of_experts, self._least)
        if concept is not None:
            for each, row in zip(concept[answered].tolist(), of_experts, strict=True):
                total = self._by_concept.get(each)
                if total is None:
                    self._by_concept[each] = row.copy()
                else:
                    total += row

    def totals(self) -> dict[str, float]:
        """What each comparator has lost."""
        least = self._least.min(axis=0).tolist()
        totals = {"best_expert": float(self.losses[self._experts].min())}
        totals.update({f"switches_{switches}": loss for switches, loss in enumerate(least[1:], 1)})
        if self._by_concept:
            totals["concept_oracle"] = float(sum(total.min() for total in self._by_concept.values()))
        return totals
