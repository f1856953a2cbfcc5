"""C-F1: how well the leading expert identifies the concept."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

MOST_LEADERS = 1000


class ConceptF1:
    """C-F1: the F1 score of the best leader of each concept, averaged over the concepts.

    Snapshots come and go; at most ``MOST_LEADERS`` leaders are kept, those that led in most rows.
    """

    def __init__(self) -> None:
        self._rows_led: dict[str, Counter[Any]] = {}  #: number of rows of each concept, by leader
        self._n_rows: Counter[Any] = Counter()

    def add(self, leaders: list[str | None], concepts: list[Any]) -> None:
        """Add rows: the leader when each was predicted, None if there was none, and the concept of each."""
        self._n_rows.update(concepts)
        for (leader, concept), count in Counter(zip(leaders, concepts, strict=True)).items():
            if leader is not None:
                self._rows_led.setdefault(leader, Counter())[concept] += count
        if len(self._rows_led) > MOST_LEADERS:
            longest = sorted(self._rows_led.items(), key=lambda item: item[1].total(), reverse=True)
            self._rows_led = dict(longest[: MOST_LEADERS // 2])

    def score(self) -> float:
        """Return C-F1, NaN if no row had a leader."""
        if not self._rows_led:
            return float("nan")
        leaders = [(rows, rows.total()) for rows in self._rows_led.values()]

        def best_f1(concept: Any, n_rows: int) -> float:
            return max(2.0 * rows[concept] / (n_rows + n_led) for rows, n_led in leaders)

        return float(np.mean([best_f1(concept, n_rows) for concept, n_rows in self._n_rows.items()]))
