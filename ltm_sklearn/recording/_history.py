"""Records of the rounds of an ensemble, which cover a whole stream in bounded memory."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol


class Record(NamedTuple):
    """One round, or the means over several neighbouring ones."""

    round: int  #: the last round it covers, counted from 1
    n_rounds: int  #: how many it covers
    loss: float  #: mean loss of the predictions that were issued
    weights: dict[str, float]  #: mean weight of each expert
    losses: dict[str, float]  #: mean loss of each expert that was awake
    row: int  #: the last row it covers, counted from 1
    n_rows: int  #: how many it covers
    uniform: float  #: mean loss of the plain mean of the experts; NaN where not all were queried
    target: float | None = None  #: mean target; this and the next two are None for classifiers
    prediction: float | None = None  #: mean prediction
    predictions: dict[str, float] | None = None  #: mean prediction of each expert that was awake


class RecordSource(Protocol):
    """Records of which only the last one changes, until the stride does."""

    @property
    def stride(self) -> int:
        """Number of rounds in a complete record."""

    def __len__(self) -> int: ...

    def items(self, start: int) -> list[tuple[Record, float, Any]]:
        """Return the records from ``start`` on, with the moments and, if known, the times of their last rows."""


class History:
    """At most ``limit`` records: when there are more, neighbours are averaged and later records cover twice as many.

    Snapshots come and go, so a record of many rounds may have many experts. Only those with the largest weights are
    kept, at most twice as many as there were at any time.
    """

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.stride = 1
        self.records: list[Record] = []
        self.moments: list[float] = []  #: when the last round of each record was complete, in seconds since 1970
        self._most_experts = 0

    def __len__(self) -> int:
        return len(self.records)

    def items(self, start: int) -> list[tuple[Record, float, Any]]:
        """Return the records from ``start`` on with their moments; the times of the rows are not known."""
        return [(record, at, None) for record, at in zip(self.records[start:], self.moments[start:], strict=True)]

    def add(self, record: Record, moment: float) -> None:
        """Add a round."""
        self._most_experts = max(self._most_experts, len(record.weights))
        if self.records and self.records[-1].n_rounds < self.stride:
            self.records[-1], self.moments[-1] = self._averaged(self.records[-1], record), moment
            return
        if len(self.records) == self.limit:
            pairs = [self.records[at : at + 2] for at in range(0, self.limit, 2)]
            self.records = [pair[0] if len(pair) == 1 else self._averaged(*pair) for pair in pairs]
            self.moments = [self.moments[min(at + 1, self.limit - 1)] for at in range(0, self.limit, 2)]
            self.stride *= 2
            self.add(record, moment)
            return
        self.records.append(record)
        self.moments.append(moment)

    def _averaged(self, first: Record, second: Record) -> Record:
        joined = _average(first, second)
        if len(joined.weights) <= 2 * self._most_experts:
            return joined
        kept = sorted(joined.weights, key=joined.weights.__getitem__, reverse=True)[: 2 * self._most_experts]
        weights = {name: joined.weights[name] for name in kept}
        losses = {name: joined.losses[name] for name in kept if name in joined.losses}
        known = joined.predictions
        predictions = None if known is None else {name: known[name] for name in kept if name in known}
        return joined._replace(weights=weights, losses=losses, predictions=predictions)


def _average(first: Record, second: Record) -> Record:
    n, m = first.n_rounds, second.n_rounds

    def mean(a: dict[str, float], b: dict[str, float], missing: bool) -> dict[str, float]:
        joined = {}
        for name in {**a, **b}:
            if missing and (name not in a or name not in b):  # known from one side only
                joined[name] = a[name] if name in a else b[name]
            else:
                joined[name] = (n * a.get(name, 0.0) + m * b.get(name, 0.0)) / (n + m)
        return joined

    def number(a: Any, b: Any) -> Any:
        return None if a is None else (n * a + m * b) / (n + m)

    one, other = first.predictions, second.predictions
    return Record(
        second.round,
        n + m,
        number(first.loss, second.loss),
        mean(first.weights, second.weights, missing=False),
        mean(first.losses, second.losses, missing=True),
        second.row,
        first.n_rows + second.n_rows,
        number(first.uniform, second.uniform),
        number(first.target, second.target),
        number(first.prediction, second.prediction),
        None if one is None or other is None else mean(one, other, missing=True),
    )
