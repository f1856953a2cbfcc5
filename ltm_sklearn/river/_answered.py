"""What was said of the rows that were predicted last, so that nobody is asked twice when they are learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine import Expert, RoundPredictions
from ._rows import Rows


@dataclass(frozen=True)
class Answered:
    """Rows, and what was issued for them in a round."""

    round: int
    rows: Rows
    issued: RoundPredictions

    def speaks_of(self, X: Rows, round: int) -> bool:
        """Whether these are the same rows, in the same round: then the experts are who they were."""
        return round == self.round and len(X) == len(self.rows) and all(map(_same, X, self.rows))

    def recalled(self, experts: list[Expert], n_outputs: int) -> RoundPredictions:
        """What was issued, for the classes that there are now."""
        issued = self.issued.recalled(np.arange(len(self.rows)), experts, n_outputs)
        return replace(issued, errors=self.issued.errors, reports=self.issued.reports)


def _same(one: Any, other: Any) -> bool:
    """Whether two rows, or two values in them, are of one type and equal: 1, 1.0 and True are not the same."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # an array, say, which compares item by item
        return False
