"""A run, batch by batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter_ns
from typing import Any

from numpy.typing import NDArray

from .._frames import is_known, is_number
from .._river_compat import last_step
from .._typing import Floats
from ..recording import recorded
from ..streams import Batch, joined, part
from ._books import Books, Said
from ._contestants import Contestant, Rows
from ._result import PrequentialResult


class Run:
    """Predicts rows, has them booked, and learns those whose targets have come."""

    concepts_seen = 0  #: checksum of the concepts, if there are any; of the class, as files of before have none

    def __init__(
        self,
        contestants: Mapping[Any, Contestant],
        books: Books,
        is_class: bool,
        classes: list[Any] | None,
        feature_names: list[Any] | None,
        delay: int,
        probabilities: bool,
    ) -> None:
        self.contestants, self._books = contestants, books
        self._is_class, self._classes = is_class, None if classes is None else {*classes}
        self._feature_names, self._delay, self._probabilities = feature_names, delay, probabilities
        self._forms = {contestant.form for contestant in contestants.values()}
        self._waiting: list[Batch] = []
        self.n_predicted, self._n_learned = 0, 0
        self.seen = 0  #: checksum of the targets, where the run can be resumed
        self._nanoseconds: Counter[tuple[Any, str]] = Counter()
        if is_class:
            for name, contestant in contestants.items():
                if contestant.needs_classes:
                    if classes is None:
                        raise ValueError(f"model {name!r} must be told all classes before it learns: give classes=")
                    contestant.tell_classes(classes)

    def step(self, batch: Batch, in_force: NDArray[Any] | None) -> None:
        """The next rows of the stream."""
        self._check_targets(batch.y)
        y = batch.y.tolist()
        rows = self._rows(batch, self.n_predicted)
        leaders = [getattr(last_step(each.model), "leader_", None) for each in self.contestants.values()]
        answers = self._all("predict", rows)
        chances: list[Floats | None] = [None] * len(leaders)
        if self._is_class and self._probabilities:  # after that, as a model may keep what it said: the first is timed
            chances = self._all("chances", rows, y)
        self._books.add(Said(y, answers, chances, leaders, batch.concept, in_force))
        if self._is_class:
            self._books.majority.predict(y)
        self.n_predicted += len(y)
        due = self._due(batch)
        if due is not None:
            self._all("learn", rows if due is batch else self._rows(due, self._n_learned), due.y)
            self._books.majority.learn(due.y.tolist())
            self._n_learned += len(due.y)

    def result(self, concept_names: list[Any] | None) -> PrequentialResult:
        """What was found."""
        seconds = {
            name: {f"{what}_seconds": self._nanoseconds[name, what] / 1e9 for what in ("predict", "learn")}
            for name in self.contestants
        }
        run_records = {name: recorded(contestant.model) for name, contestant in self.contestants.items()}
        known = {name: run_record for name, run_record in run_records.items() if run_record is not None}
        return replace(self._books.result(seconds, concept_names), run_records=known)

    def _rows(self, batch: Batch, first: int) -> Rows:
        """Rows in all forms that are wanted, so that no model's time includes their making."""
        rows = Rows(batch.X, first, len(batch.y), self._feature_names)
        for form in self._forms:
            getattr(rows, form)
        return rows

    def _all(self, what: str, rows: Rows, *arguments: Any) -> list[Any]:
        """Have all models do something, and time it."""
        results = []
        for name, contestant in self.contestants.items():
            start = perf_counter_ns()
            try:
                results.append(getattr(contestant, what)(rows, *arguments))
            except Exception as error:
                error.add_note(f"model {name!r}, rows {rows.ids[0]} to {rows.ids[-1]} of the stream")
                raise
            self._nanoseconds[name, what] += perf_counter_ns() - start
        return results

    def _due(self, batch: Batch) -> Batch | None:
        """The rows whose targets come now."""
        if not self._delay:
            return batch
        self._waiting.append(batch)
        n_due = self.n_predicted - self._delay - self._n_learned
        taken: list[Batch] = []
        while n_due > 0:
            oldest = self._waiting.pop(0)
            if len(oldest.y) > n_due:
                self._waiting.insert(0, part(oldest, n_due, len(oldest.y)))
                oldest = part(oldest, 0, n_due)
            taken.append(oldest)
            n_due -= len(oldest.y)
        return joined(taken) if taken else None

    def _check_targets(self, y: NDArray[Any]) -> None:
        for row, target in enumerate(y.tolist(), self.n_predicted):
            if not is_known(target):
                raise ValueError(f"row {row} of the stream has no target: it is {target!r}")
            if self._is_class and self._classes is not None and target not in self._classes:
                raise ValueError(f"row {row} of the stream has the label {target!r}, which is none of the classes")
            if not self._is_class and not is_number(target):
                raise ValueError(f"row {row} of the stream has the target {target!r}, which is no finite number")
