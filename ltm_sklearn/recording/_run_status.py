"""Current status of a run, for printed lines, log files and the live display."""

from __future__ import annotations

from collections import deque
from math import fsum, isnan, nan
from typing import Any, NamedTuple

from ._history import Record

LATELY = 100  #: rounds over which losses are averaged
PACE = 10.0  #: seconds, up to twice as many, over which the pace is measured
SHORTEST = 0.1  #: seconds after which the pace is first measured


class Now(NamedTuple):
    """Status of a run at one moment."""

    row: int
    round: int
    loss: float  #: mean loss over the last rounds
    uniform: float  #: mean loss of the plain mean of the experts; NaN where not all were queried
    leader: str
    share: float  #: weight of the leader
    since: int  #: the row after which the leader has not changed
    experts: int
    remembered: int  #: number of snapshots among the experts
    pace: float  #: rows per second; NaN until it can be measured

    def __str__(self) -> str:
        rounds = "" if self.round == self.row else f" ({self.round:,} round{'s' * (self.round != 1)})"
        led = self.row - self.since
        words = [
            f"row {self.row:,}{rounds}: loss {number(self.loss)}",
            *([] if isnan(self.uniform) else [f"plain mean {number(self.uniform)}"]),
            f"led by {self.leader} ({self.share:.0%}) for {led:,} row{'s' * (led != 1)}",
            f"{self.experts} expert{'s' * (self.experts != 1)}",
            *([f"{self.remembered} remembered"] if self.remembered else []),
            *([] if isnan(self.pace) else [pace_called(self.pace)]),
        ]
        return ", ".join(words)


def number(value: float) -> str:
    """Format a number with three digits, or with all digits before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def pace_called(pace: float) -> str:
    """Format rows per second or, if they are few, per minute or hour."""
    for unit, seconds in (("s", 1.0), ("min", 60.0)):
        if pace * seconds >= 1.0:
            return f"{number(pace * seconds)} rows/{unit}"
    return f"{number(pace * 3600.0)} rows/h"


class RunStatus:
    """Running status of a run, in constant memory."""

    def __init__(self) -> None:
        self.row = self.round = 0
        self.experts = self.remembered = 0
        self.leader, self.share, self.since = "", 0.0, 0
        self._recent: deque[tuple[int, float, float]] = deque(maxlen=LATELY)  #: rows, loss, loss of the plain mean
        self._marks: list[tuple[float, int]] = []  #: moments, and the number of rows by then

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_marks": []}  # the pace is measured in one process

    def add(self, record: Record, when: float) -> None:
        """Add a round, which was complete at the moment ``when``."""
        if record.weights:
            leader = max(record.weights, key=record.weights.__getitem__)
            self.share = record.weights[leader]
            if leader != self.leader:
                self.leader, self.since = leader, record.row - record.n_rows
        self.row, self.round = record.row, record.round
        self._recent.append((record.n_rows, record.loss, record.uniform))
        if not self._marks:
            self._marks = [(when, self.row)]
        elif when - self._marks[-1][0] >= PACE:
            self._marks = [self._marks[-1], (when, self.row)]

    def now(self, when: float) -> Now:
        """Return the status at the moment ``when``."""
        n_rows = sum(rows for rows, _, _ in self._recent)
        loss = fsum(rows * loss for rows, loss, _ in self._recent) / n_rows
        uniform = fsum(rows * uniform for rows, _, uniform in self._recent) / n_rows
        then, row = self._marks[0] if self._marks else (when, self.row)
        pace = (self.row - row) / (when - then) if when - then >= SHORTEST else nan
        return Now(
            self.row,
            self.round,
            loss,
            uniform,
            self.leader,
            self.share,
            self.since,
            self.experts,
            self.remembered,
            pace,
        )
