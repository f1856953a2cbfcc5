"""Buffer of predicted rows whose labels have not arrived yet."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._param_checks import check_hashable
from ._round import RoundPredictions


@dataclass(eq=False)
class _Issue:
    """Rows that were predicted together."""

    number: int
    rows: dict[Hashable, int]  #: index of each row that still waits, by its id
    X: Any
    issued: RoundPredictions
    n_rows: int  #: rows of X and of the predictions

    def drop(self, id: Hashable) -> None:
        """Drop a row; copy the rest without the dropped rows once half of the rows have gone."""
        del self.rows[id]
        if 0 < len(self.rows) <= self.n_rows // 2:
            kept = np.array(list(self.rows.values()), dtype=np.intp)
            self.X = None if self.X is None else _safe_indexing(self.X, kept)
            self.issued = self.issued.cut(kept)
            self.rows = {id: row for row, id in enumerate(self.rows)}
            self.n_rows = len(kept)


class DueRows(NamedTuple):
    """Rows that were predicted together and whose labels have arrived."""

    X: Any  #: all rows that were predicted together
    issued: RoundPredictions
    rows: NDArray[np.intp]  #: which of these rows
    at: NDArray[np.intp]  #: the positions of their labels


class DelayedLabels:
    """A bounded buffer of predicted rows; when it is full, the rows that have waited longest are dropped.

    Parameters
    ----------
    most : int
        Largest number of rows that wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: dict[Hashable, _Issue] = {}  #: in the order in which they were issued
        self.n_issues = 0  #: so far

    def __len__(self) -> int:
        return len(self._waiting)

    def check_new(self, ids: Sequence[Hashable]) -> None:
        """Raise a ValueError if an id is waiting already, or occurs twice."""
        check_hashable(ids, "id")
        known: set[Hashable] = set()
        for each in ids:
            if each in self._waiting:
                raise ValueError(f"id {each!r} is waiting for its target already")
            if each in known:
                raise ValueError(f"id {each!r} is given twice")
            known.add(each)

    def hold(self, ids: Sequence[Hashable], X: Any, issued: RoundPredictions) -> None:
        """Keep rows and their predictions until the labels arrive."""
        issue = _Issue(self.n_issues, {each: row for row, each in enumerate(ids)}, X, issued, len(ids))
        self.n_issues += 1
        self._waiting.update(dict.fromkeys(ids, issue))
        self.release(list(islice(self._waiting, max(len(self._waiting) - self.most, 0))))

    def due(self, ids: Sequence[Hashable]) -> list[DueRows]:
        """Return the rows with these ids, grouped by issue, in the order of issue."""
        check_hashable(ids, "id")
        found: dict[_Issue, list[tuple[int, int]]] = {}
        for at, each in enumerate(ids):
            if each not in self._waiting:
                raise ValueError(
                    f"id {each!r} is not waiting for a target: it was never issued, has been learned, or was dropped "
                    f"when more than {self.most} rows waited"
                )
            issue = self._waiting[each]
            found.setdefault(issue, []).append((issue.rows[each], at))
        if len({*ids}) < len(ids):
            raise ValueError("an id is given twice")
        oldest_first = sorted(found, key=lambda issue: issue.number)
        return [DueRows(issue.X, issue.issued, *np.array(found[issue], dtype=np.intp).T) for issue in oldest_first]

    def release(self, ids: Sequence[Hashable]) -> None:
        """Drop rows."""
        for each in ids:
            self._waiting.pop(each).drop(each)
