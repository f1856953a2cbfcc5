"""All metrics of a prequential run: scores, curve, concept changes, C-F1 and regret of each model."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._comparators import Comparators
from ._concept_changes import ConceptChanges, ConceptTimeline
from ._concept_f1 import ConceptF1
from ._curve import LossCurve
from ._metrics import ClassificationMetrics, MajorityClass, RegressionMetrics
from ._result import PrequentialResult

ROWS_PER_UPDATE = 500


class BatchPredictions(NamedTuple):
    """Targets of the rows of a batch, and what each model predicted for them."""

    y: list[Any]
    predictions: list[list[Any]]  #: of each model
    probabilities: list[Floats | None]  #: of each model, for the true labels
    leaders: list[str | None]  #: ``leader_`` of each model when it predicted
    concept: NDArray[Any] | None
    scheduled: NDArray[Any] | None


class RunMetrics:
    """Metrics of all models of a run; their memory does not grow with the stream."""

    def __init__(
        self,
        names: list[Any],
        is_classification: bool,
        window: int,
        tolerance: float,
        experts: list[int],
        max_switches: int,
    ) -> None:
        self._names, self._is_classification, self._window = names, is_classification, window
        self._metrics = [ClassificationMetrics() if is_classification else RegressionMetrics() for _ in names]
        self._majority = MajorityClass()
        self._curve = LossCurve(len(names), window)
        self._comparators = Comparators(len(names), experts, max_switches)
        self._timeline = ConceptTimeline()
        self._changes = ConceptChanges(len(names), window, tolerance, relative=not is_classification)
        self._concept_f1 = [ConceptF1() for _ in names]
        self._n_rows = 0
        self._buffer: list[BatchPredictions] = []
        self._n_buffered = 0

    def add(self, batch: BatchPredictions) -> None:
        """Add the predictions of a batch; updating many rows at a time is far faster than one by one."""
        self._buffer.append(batch)
        self._n_buffered += len(batch.y)
        if self._n_buffered >= ROWS_PER_UPDATE:
            self._update()
        if self._is_classification:
            self._majority.predict(batch.y)

    def learn_labels(self, y: list[Any]) -> None:
        """Make targets known to the baseline of kappa-M."""
        self._majority.learn(y)

    def _update(self) -> None:
        batches, self._buffer, self._n_buffered = self._buffer, [], 0
        y = [target for batch in batches for target in batch.y]
        losses = np.empty((len(y), len(self._names)))
        for model, metrics in enumerate(self._metrics):
            predictions = [prediction for batch in batches for prediction in batch.predictions[model]]
            probabilities = _concatenate([batch.probabilities[model] for batch in batches])
            losses[:, model] = metrics.add(y, predictions, probabilities)
        concept = _concatenate([batch.concept for batch in batches])
        scheduled = _concatenate([batch.scheduled for batch in batches])
        self._n_rows += len(y)
        self._curve.add(losses)
        self._comparators.add(losses**2, concept)  # the square of a 0-1 loss is the loss itself
        if concept is not None and scheduled is not None:
            self._timeline.add(scheduled)
            self._changes.add(losses, scheduled)
            for model, concept_f1 in enumerate(self._concept_f1):
                concept_f1.add([batch.leaders[model] for batch in batches for _ in batch.y], concept.tolist())

    def result(self, seconds: dict[Any, dict[str, float]], concept_names: list[Any] | None) -> PrequentialResult:
        """Return the result of the run; ``seconds`` are further columns, by model."""
        if self._buffer:
            self._update()
        self._changes.end()
        scores = {
            name: metrics.summary(self._majority.accuracy)
            for name, metrics in zip(self._names, self._metrics, strict=True)
        }
        segments = self._timeline.segments
        if segments:
            after = self._in_measure(self._changes.mean_losses())
            for model, name in enumerate(self._names):
                scores[name]["after_change"], scores[name]["after_return"] = after[:, model].tolist()
                scores[name]["recovery"] = self._changes.recovery_times()[model]
                scores[name]["c_f1"] = self._concept_f1[model].score()
        for name, taken in seconds.items():
            scores[name].update(taken)
        rows, losses = self._curve.points()
        return PrequentialResult(
            n_rows=self._n_rows,
            measure="accuracy" if self._is_classification else "mae",
            window=self._window,
            scores=scores,
            curve_rows=rows,
            curve_values=self._in_measure(losses),
            curve_counts=self._curve.counts(),
            segments=segments,
            concept_names=concept_names,
            n_changes=self._changes.n_changes,
            n_returns=self._changes.n_returns,
            losses=dict(zip(self._names, self._comparators.losses.tolist(), strict=True)),
            comparators=self._comparators.totals(),
            n_compared=self._comparators.n_rows,
        )

    def _in_measure(self, losses: Floats) -> Floats:
        return 1.0 - losses if self._is_classification else losses


def _concatenate(parts: list[NDArray[Any] | None]) -> NDArray[Any] | None:
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None
