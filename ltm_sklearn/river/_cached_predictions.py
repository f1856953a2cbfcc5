"""Predictions of the last rows, so that experts are not queried again when the rows are learned."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..engine import Expert, RoundPredictions
from ._row_batch import RowBatch


@dataclass(frozen=True)
class CachedPredictions:
    """Rows, and the predictions that were issued for them in a round."""

    round: int
    rows: RowBatch
    issued: RoundPredictions

    def match(self, X: RowBatch, round: int) -> bool:
        """Return whether these are predictions of the same rows in the same round, and so of the same experts."""
        return round == self.round and len(X) == len(self.rows) and all(map(_same, X, self.rows))

    def recalled(self, experts: list[Expert], n_outputs: int) -> RoundPredictions:
        """Return the predictions for the classes known now."""
        issued = self.issued.recalled(np.arange(len(self.rows)), experts, n_outputs)
        return replace(issued, errors=self.issued.errors, reports=self.issued.reports)


def _same(one: Any, other: Any) -> bool:
    """Return whether two rows or values are equal and of one type: 1, 1.0 and True differ."""
    if one is other:
        return True
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(value, other[key]) for key, value in one.items())
    try:
        return bool(one == other)
    except (TypeError, ValueError):  # an array, for example, which compares item by item
        return False
