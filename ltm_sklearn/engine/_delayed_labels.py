"""Rows whose targets have not come yet, with what was said of them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._param_checks import check_hashable


@dataclass(eq=False)
class _Issue:
    """Rows that were predicted together."""

    number: int
    rows: dict[Hashable, int]  #: of those that still wait, by their ids
    X: Any
    issued: Any  #: what the engine said of them
    n_rows: int  #: that are held

    def let_go(self, id: Hashable) -> None:
        """Of a row. When few are left, the others are no longer held."""
        del self.rows[id]
        if 0 < len(self.rows) <= self.n_rows // 2:
            kept = np.array(list(self.rows.values()), dtype=np.intp)
            self.X = None if self.X is None else _safe_indexing(self.X, kept)
            self.issued = self.issued.cut(kept)
            self.rows = {id: row for row, id in enumerate(self.rows)}
            self.n_rows = len(kept)


class Due(NamedTuple):
    """Rows of one issue whose targets have come."""

    X: Any  #: of the whole issue
    issued: Any
    rows: NDArray[np.intp]  #: which of its rows
    at: NDArray[np.intp]  #: where their targets stand


class DelayedLabels:
    """A bounded buffer: when it is full, the rows that have waited longest are given up.

    Parameters
    ----------
    most : int
        Rows that may wait.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self._waiting: dict[Hashable, _Issue] = {}  #: in the order in which they were issued
        self.n_issues = 0  #: so far

    def __len__(self) -> int:
        return len(self._waiting)

    def check_new(self, ids: Sequence[Hashable]) -> None:
        """Ids must be new, and differ."""
        check_hashable(ids, "id")
        seen: set[Hashable] = set()
        for each in ids:
            if each in self._waiting:
                raise ValueError(f"id {each!r} is waiting for its target already")
            if each in seen:
                raise ValueError(f"id {each!r} is given twice")
            seen.add(each)

    def hold(self, ids: Sequence[Hashable], X: Any, issued: Any) -> None:
        """Keep rows, and what was said of them, until their targets come."""
        issue = _Issue(self.n_issues, {each: row for row, each in enumerate(ids)}, X, issued, len(ids))
        self.n_issues += 1
        self._waiting.update(dict.fromkeys(ids, issue))
        self.release(list(islice(self._waiting, max(len(self._waiting) - self.most, 0))))

    def due(self, ids: Sequence[Hashable]) -> list[Due]:
        """The rows with these ids, those that were issued together as one, in the order of issue."""
        check_hashable(ids, "id")
        found: dict[_Issue, list[tuple[int, int]]] = {}
        for at, each in enumerate(ids):
            if each not in self._waiting:
                raise ValueError(
                    f"id {each!r} is not waiting for a target: it was never issued, has been learned, or was given up "
                    f"when more than {self.most} rows waited"
                )
            issue = self._waiting[each]
            found.setdefault(issue, []).append((issue.rows[each], at))
        if len({*ids}) < len(ids):
            raise ValueError("an id is given twice")
        oldest_first = sorted(found, key=lambda issue: issue.number)
        return [Due(issue.X, issue.issued, *np.array(found[issue], dtype=np.intp).T) for issue in oldest_first]

    def release(self, ids: Sequence[Hashable]) -> None:
        """Forget rows."""
        for each in ids:
            self._waiting.pop(each).let_go(each)
