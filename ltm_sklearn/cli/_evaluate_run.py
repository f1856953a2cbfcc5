"""Prequential run over a file: the default pool with and without memory, each of its models alone, and baselines."""

from __future__ import annotations

import sys
import warnings
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from .._typing import Floats
from ..ensemble import (
    ExpertSummary,
    ExpertWarning,
    LongTermMemoryClassifier,
    LongTermMemoryRegressor,
    classifiers,
    regressors,
)
from ..evaluation import Difference, LastTarget, MostFrequent, PrequentialResult, RunningMean, checksum, prequential
from ..persistence import Checkpoint, CheckpointWarning
from ..recording import RunRecord
from ._stream_file import StreamFile

WITH, WITHOUT = "with memory", "without memory"
RECORDS = 1000  #: records in the history of the pool with memory
WINDOW = 50  #: rows that count as "after a change", and rows of a point of the curve
#: Default batch sizes by the largest number of rows they are for. The cost of a round hardly depends on its batch size.
BATCHES = {5_000: 10, 10_000: 20, 50_000: 50, 200_000: 100}
LARGEST_BATCH = 200


class EvaluationRun(NamedTuple):
    """The results of a run."""

    file: StreamFile
    result: PrequentialResult
    run_record: RunRecord  #: of the pool with memory
    final_experts: list[ExpertSummary]  #: experts of the pool with memory at the end
    standalone: list[str]  #: names of the models that ran alone
    baselines: list[str]
    differences: dict[str, Difference]  #: gain of the pool with memory over each other model
    failures: dict[str, int]  #: number of times by failure of an expert
    batch: int  #: batch size

    @property
    def best_expert(self) -> str:
        """The best of the models that ran alone."""
        return self._best(self.standalone)

    @property
    def best_baseline(self) -> str:
        """The better of the baselines."""
        return self._best(self.baselines)

    def score(self, name: str) -> float:
        """Return the accuracy, or the mean absolute error, of a model."""
        return self.result.scores[name][self.result.measure]

    def _best(self, names: list[str]) -> str:
        sign = -1.0 if self.file.is_class else 1.0
        return min(names, key=lambda name: np.nan_to_num(sign * self.score(name), nan=np.inf))


def batch_for(n_rows: int) -> int:
    """Return the default batch size for a file of so many rows."""
    return next((batch for most, batch in BATCHES.items() if n_rows <= most), LARGEST_BATCH)


def run_evaluation(
    file: StreamFile, batch: int, delay: int, seed: int, checkpoint: Checkpoint | None = None
) -> EvaluationRun:
    """Test, then train, all models batch by batch."""
    ensemble: Any = LongTermMemoryClassifier if file.is_class else LongTermMemoryRegressor
    max_pending = max(delay + batch, 10_000)
    with_memory = ensemble(random_state=seed, record=RECORDS, max_pending=max_pending)
    without_memory = ensemble(memory=None, random_state=seed, max_pending=max_pending)
    pool = classifiers(seed) if file.is_class else regressors(seed)
    standalone = {f"{name} alone": StandaloneExpert(model, file.is_class) for name, model in pool}
    baselines: dict[str, Any] = {"last target": LastTarget()}
    baselines |= {"most frequent class": MostFrequent()} if file.is_class else {"running mean": RunningMean()}
    stream = (file.X, file.y) if file.concept is None else (file.X, file.y, file.concept)
    # a resumed run counts on from the failures before the checkpoint
    failures: dict[str, int] = {} if checkpoint is None else checkpoint.extra
    if checkpoint is not None:
        checkpoint.identity = _checksums(file)
    with _count_failures(failures):
        result = prequential(
            {WITH: with_memory, WITHOUT: without_memory, **standalone, **baselines},
            stream,
            batch_size=batch,
            delay=delay,
            window=WINDOW,
            progress=True,
            checkpoint=checkpoint,
        )
    for name, model in standalone.items():
        failures |= {f"{name}: {failure}": count for failure, count in model.failures.items()}
    others = [name for name in result.scores if name != WITH]
    differences = {name: result.difference(WITH, name) for name in others}
    return EvaluationRun(
        file=file,
        result=result,
        run_record=result.run_records[WITH],
        final_experts=list(with_memory.experts_),
        standalone=list(standalone),
        baselines=list(baselines),
        differences=differences,
        failures=dict(failures),
        batch=batch,
    )


def _checksums(file: StreamFile) -> dict[str, str]:
    """Return checksums by which a checkpoint recognizes the file; targets are compared row by row elsewhere."""
    features = zlib.crc32(np.ascontiguousarray(file.X).tobytes(), zlib.crc32(repr(file.names).encode()))
    sums = {"the checksum of the file's features": features}
    for option, column in (("--concept", file.concept), ("--time", file.times)):
        if column is not None:
            sums[f"the checksum of the {option} column"] = checksum(column, 0)
    return {name: f"{each:08x}" for name, each in sums.items()}


@contextmanager
def _count_failures(failures: dict[str, int]) -> Iterator[None]:
    """Count the warnings about experts, print those about checkpoints, and hide all others."""

    def count(message: Any, category: Any, *rest: Any, **named: Any) -> None:
        if issubclass(category, CheckpointWarning):
            print(f"evaluate: {message}", file=sys.stderr)
        else:
            failures[str(message)] = failures.get(str(message), 0) + 1

    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", ExpertWarning)
        warnings.simplefilter("always", CheckpointWarning)
        warnings.showwarning = count
        yield


class StandaloneExpert:
    """A model of the pool that runs alone; where it fails, it predicts nothing, as within the ensemble."""

    def __init__(self, model: Any, is_class: bool) -> None:
        self.model, self._is_class = model, is_class
        self.failures: Counter[str] = Counter()
        self.classes_: NDArray[Any] | None = None
        self._learned = False

    def partial_fit(self, X: Floats, y: NDArray[Any], classes: NDArray[Any] | None = None) -> Self:
        """Train the model on rows."""
        if self._is_class and classes is not None:
            self.classes_ = classes
        first = {} if self._learned or not self._is_class else {"classes": self.classes_}
        try:
            self.model.partial_fit(X, y, **first)
            self._learned = True
        except (ValueError, ArithmeticError) as error:
            self.failures[f"could not learn: {_first_line(error)}"] += 1
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Predict rows; None where the model fails."""
        if self._is_class:
            probabilities = self.predict_proba(X)
            assert self.classes_ is not None
            failed = np.isnan(probabilities).any(axis=1)
            labels = self.classes_.astype(object)[np.where(failed, 0, np.nan_to_num(probabilities).argmax(axis=1))]
            labels[failed] = None
            return labels
        try:
            return np.asarray(self.model.predict(X), dtype=object)
        except (ValueError, ArithmeticError, AttributeError) as error:
            self.failures[f"could not predict: {_first_line(error)}"] += 1
            return np.full(len(X), None, dtype=object)

    @available_if(lambda expert: expert._is_class)
    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes; NaN where the model fails."""
        assert self.classes_ is not None
        try:
            return np.asarray(self.model.predict_proba(X), dtype=np.float64)
        except (ValueError, ArithmeticError, AttributeError) as error:
            self.failures[f"could not predict: {_first_line(error)}"] += 1
            return np.full((len(X), len(self.classes_)), np.nan)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# Tables -----------------------------------------------------------------------------------------------------------


def scores_frame(run: EvaluationRun) -> Any:
    """Return the scores as a frame, with the gain of the pool with memory over each other model and its interval."""
    frame = run.result.frame()
    for at, column in enumerate(("gain", "gain_low", "gain_high")):
        frame[column] = [np.nan, *(difference[at] for difference in run.differences.values())]
    return frame


def expert_rows(run: EvaluationRun) -> list[tuple[str, str, int, float, float, float]]:
    """Return name, kind, first row, mean weight, mean loss and share of leading of each expert at the end."""
    led = leader_shares(run.run_record)
    rows = [
        (each.name, each.kind, each.born, each.long_term_weight, each.loss, led.get(each.name, 0.0))
        for each in run.final_experts
    ]
    return sorted(rows, key=lambda row: -row[3])


def leader_shares(run_record: RunRecord) -> dict[str, float]:
    """Return the share of the rows in which each expert had the largest weight."""
    led = np.bincount(run_record.weights.argmax(axis=1), weights=run_record.counts, minlength=len(run_record.names))
    return dict(zip(run_record.names, (led / run_record.counts.sum()).tolist(), strict=True))
