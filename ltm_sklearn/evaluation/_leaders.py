"""How well the expert in the lead tells the concept."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

MOST_LEADERS = 1000


class Leaders:
    """C-F1: for each concept the best F1 score that a leader has as its sign, and their mean over the concepts.

    Experts come and go, so no more than the leaders of most rows are kept.
    """

    def __init__(self) -> None:
        self._led: dict[str, Counter[Any]] = {}  #: how many rows of each concept
        self._n_rows: Counter[Any] = Counter()

    def add(self, leaders: list[str | None], concepts: list[Any]) -> None:
        """Take in rows: who led when each was predicted, perhaps nobody, and which concept it is of."""
        self._n_rows.update(concepts)
        for (leader, concept), count in Counter(zip(leaders, concepts, strict=True)).items():
            if leader is not None:
                self._led.setdefault(leader, Counter())[concept] += count
        if len(self._led) > MOST_LEADERS:
            longest = sorted(self._led.items(), key=lambda item: item[1].total(), reverse=True)
            self._led = dict(longest[: MOST_LEADERS // 2])

    def score(self) -> float:
        """C-F1; NaN if nobody ever led."""
        if not self._led:
            return float("nan")
        reigns = [(led, led.total()) for led in self._led.values()]

        def best(concept: Any, n_rows: int) -> float:
            return max(2.0 * led[concept] / (n_rows + reign) for led, reign in reigns)

        return float(np.mean([best(concept, n_rows) for concept, n_rows in self._n_rows.items()]))
