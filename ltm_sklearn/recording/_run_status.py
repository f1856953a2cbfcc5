"""How a run stands now: what a line for a person, the log file and the live view have in common."""

from __future__ import annotations

from collections import deque
from math import fsum, isnan, nan
from typing import Any, NamedTuple

from ._history import Record

LATELY = 100  #: rounds over which losses are averaged
PACE = 10.0  #: seconds over which the pace is measured, up to twice as many
SHORTEST = 0.1  #: seconds that are enough to measure it at the beginning


class Now(NamedTuple):
    """How a run stands."""

    row: int
    round: int
    loss: float  #: mean of what was issued, over the last rounds
    uniform: float  #: the same of the experts' plain mean; NaN where not all were asked
    leader: str
    share: float  #: the leader's weight
    since: int  #: the row after which it has led
    experts: int
    remembered: int  #: how many of the experts are snapshots
    pace: float  #: rows a second; NaN where there was no time to measure it

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
    """A number to read: three digits, or as many as it has before the point."""
    return f"{value:,.0f}" if abs(value) >= 1000.0 else f"{value:.3g}"


def pace_called(pace: float) -> str:
    """Rows a second or, if they are few, a minute or an hour."""
    for unit, seconds in (("s", 1.0), ("min", 60.0)):
        if pace * seconds >= 1.0:
            return f"{number(pace * seconds)} rows/{unit}"
    return f"{number(pace * 3600.0)} rows/h"


class RunStatus:
    """Takes in round after round, in constant memory, and says how the run stands."""

    def __init__(self) -> None:
        self.row = self.round = 0
        self.experts = self.remembered = 0
        self.leader, self.share, self.since = "", 0.0, 0
        self._recent: deque[tuple[int, float, float]] = deque(maxlen=LATELY)  #: rows, loss, loss of the plain mean
        self._marks: list[tuple[float, int]] = []  #: when how many rows had come, now and then

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_marks": []}  # the pace is that of one process

    def add(self, record: Record, when: float) -> None:
        """Take in a round, and the time when it was complete."""
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
        """How the run stands, at this time."""
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
