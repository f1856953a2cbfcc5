"""State of a prequential run, which processes one batch after the other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from time import perf_counter_ns
from typing import Any, TypeVar

from numpy.typing import NDArray

from .._frames import is_known, is_number
from .._river_compat import last_step
from .._typing import Floats
from ..recording import recorded
from ..streams import Batch, BatchQueue
from ._model_adapters import ModelAdapter, StreamRows
from ._result import PrequentialResult
from ._run_metrics import BatchPredictions, RunMetrics

T = TypeVar("T")


class PrequentialRun:
    """Run in which all models predict each batch, are scored, and learn the rows whose targets are known by then.

    Parameters
    ----------
    adapters : dict
        Adapters of the models, by name.
    metrics : RunMetrics
    is_classification : bool
    classes : list or None
        All classes, if known.
    feature_names : list or None
        Names of the columns of arrays.
    delay : int
        Number of rows that are predicted before the target of a row is known.
    probabilities : bool
        Whether classifiers also predict probabilities.
    """

    def __init__(
        self,
        adapters: Mapping[Any, ModelAdapter],
        metrics: RunMetrics,
        is_classification: bool,
        classes: list[Any] | None,
        feature_names: list[Any] | None,
        delay: int,
        probabilities: bool,
    ) -> None:
        self.adapters, self._metrics = adapters, metrics
        self._is_classification, self._classes = is_classification, None if classes is None else {*classes}
        self._feature_names, self._delay, self._probabilities = feature_names, delay, probabilities
        self._pending = BatchQueue()
        self.n_predicted = 0
        self.targets_checksum, self.concepts_checksum = 0, 0  #: of the rows so far; kept only with a checkpoint
        self._nanoseconds: Counter[tuple[Any, str]] = Counter()
        if is_classification:
            for name, adapter in adapters.items():
                if adapter.needs_classes:
                    if classes is None:
                        raise ValueError(f"model {name!r} needs all classes before its first training: pass classes")
                    adapter.set_classes(classes)

    def step(self, batch: Batch, scheduled: NDArray[Any] | None) -> None:
        """Predict the next rows, score the predictions and train on the rows whose targets are known now."""
        self._check_targets(batch.y)
        y = batch.y.tolist()
        rows = self._rows(batch, self.n_predicted)
        leaders = [getattr(last_step(adapter.model), "leader_", None) for adapter in self.adapters.values()]
        predictions = self._each("predict", rows, lambda adapter: adapter.predict(rows))
        probabilities: list[Floats | None] = [None] * len(leaders)
        # after predict, which is timed: a model may keep its predictions for the second call
        if self._is_classification and self._probabilities:
            probabilities = self._each("probabilities", rows, lambda adapter: adapter.true_label_probabilities(rows, y))
        self._metrics.add(BatchPredictions(y, predictions, probabilities, leaders, batch.concept, scheduled))
        self.n_predicted += len(y)
        if self._delay:
            first = self.n_predicted - len(y) - self._pending.n_rows
            self._pending.push(batch)
            n_due = self._pending.n_rows - self._delay
            if n_due <= 0:
                return
            batch = self._pending.pop(n_due)
            rows = self._rows(batch, first)
        self._each("learn", rows, lambda adapter: adapter.learn(rows, batch.y))
        self._metrics.learn_labels(batch.y.tolist())

    def result(self, concept_names: list[Any] | None) -> PrequentialResult:
        """Return the metrics, the time that each model took, and what the models recorded."""
        seconds = {
            name: {f"{step}_seconds": self._nanoseconds[name, step] / 1e9 for step in ("predict", "learn")}
            for name in self.adapters
        }
        records = {name: recorded(adapter.model) for name, adapter in self.adapters.items()}
        run_records = {name: record for name, record in records.items() if record is not None}
        return replace(self._metrics.result(seconds, concept_names), run_records=run_records)

    def _rows(self, batch: Batch, first: int) -> StreamRows:
        """Convert the rows to all forms that models take, so that the time of no model includes the conversion."""
        rows = StreamRows(batch.X, first, len(batch.y), self._feature_names)
        for adapter in self.adapters.values():
            getattr(rows, adapter.form)
        return rows

    def _each(self, step: str, rows: StreamRows, call: Callable[[ModelAdapter], T]) -> list[T]:
        """Call all models in turn and measure the time of each."""
        results = []
        for name, adapter in self.adapters.items():
            start = perf_counter_ns()
            try:
                results.append(call(adapter))
            except Exception as error:
                error.add_note(f"model {name!r}, rows {rows.ids[0]} to {rows.ids[-1]} of the stream")
                raise
            self._nanoseconds[name, step] += perf_counter_ns() - start
        return results

    def _check_targets(self, y: NDArray[Any]) -> None:
        for row, target in enumerate(y.tolist(), self.n_predicted):
            if not is_known(target):
                raise ValueError(f"row {row} of the stream has no target: it is {target!r}. Drop rows without targets")
            if self._is_classification and self._classes is not None and target not in self._classes:
                raise ValueError(f"row {row} of the stream has the label {target!r}, which is none of the classes")
            if not self._is_classification and not is_number(target):
                raise ValueError(f"row {row} of the stream has the target {target!r}, which is no finite number")
