"""Prequential run over a file: the default pool with and without memory, each of its models alone, and baselines."""

from __future__ import annotations

import sys
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.metaestimators import available_if

from .._optional import import_extra
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
from ._report import leaders
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
        return self._best_of(self.standalone)

    @property
    def best_baseline(self) -> str:
        """The better of the baselines."""
        return self._best_of(self.baselines)

    def score(self, name: str) -> float:
        """Return the accuracy, or the mean absolute error, of a model."""
        return self.result.scores[name][self.result.measure]

    def _best_of(self, names: list[str]) -> str:
        sign = -1.0 if self.file.is_class else 1.0
        return min(names, key=lambda name: np.nan_to_num(sign * self.score(name), nan=np.inf))


def run_evaluation(
    file: StreamFile, batch: int | None, delay: int, seed: int, checkpoint: Checkpoint | None = None
) -> EvaluationRun:
    """Test, then train, all models batch by batch; if ``batch`` is None, its size depends on the number of rows."""
    n_rows = len(file.y)
    if batch is None:
        batch = next((size for most_rows, size in BATCHES.items() if n_rows <= most_rows), LARGEST_BATCH)
    if batch + delay > n_rows // 2:
        raise ValueError(
            f"{n_rows} rows are too few for --batch {batch} and --delay {delay}: more than half of them would pass "
            "before anything is learned. Use smaller values"
        )
    ensemble: Any = LongTermMemoryClassifier if file.is_class else LongTermMemoryRegressor
    max_pending = max(delay + batch, 10_000)
    with_memory = ensemble(random_state=seed, record=RECORDS, max_pending=max_pending)
    without_memory = ensemble(memory=None, random_state=seed, max_pending=max_pending)
    pool = classifiers(seed) if file.is_class else regressors(seed)
    standalone = {f"{name} alone": StandaloneExpert(f"{name} alone", model, file.is_class) for name, model in pool}
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
    """A model of the pool that runs alone; where it fails, it warns and predicts nothing, as within the ensemble."""

    def __init__(self, name: str, model: Any, is_class: bool) -> None:
        self.name, self.model, self._is_class = name, model, is_class
        self.classes_: NDArray[Any] | None = None

    def partial_fit(self, X: Floats, y: NDArray[Any], classes: NDArray[Any] | None = None) -> Self:
        """Train the model on rows."""
        if self._is_class and classes is not None:
            self.classes_ = classes
        with self._warn_of_failure("learn"):
            self.model.partial_fit(X, y, **({"classes": self.classes_} if self._is_class else {}))
        return self

    def predict(self, X: Floats) -> NDArray[Any]:
        """Predict rows; None where the model fails."""
        predictions = np.full(len(X), None, dtype=object)
        if not self._is_class:
            with self._warn_of_failure("predict"):
                predictions[:] = self.model.predict(X)
            return predictions
        probabilities = self.predict_proba(X)
        known = ~np.isnan(probabilities).any(axis=1)
        assert self.classes_ is not None
        predictions[known] = self.classes_[probabilities[known].argmax(axis=1)].tolist()
        return predictions

    @available_if(lambda expert: expert._is_class)
    def predict_proba(self, X: Floats) -> Floats:
        """Predict the probabilities of the classes; NaN where the model fails."""
        assert self.classes_ is not None
        probabilities = np.full((len(X), len(self.classes_)), np.nan)
        with self._warn_of_failure("predict"):
            probabilities[:] = self.model.predict_proba(X)
        return probabilities

    @contextmanager
    def _warn_of_failure(self, step: str) -> Iterator[None]:
        try:
            yield
        except (ValueError, ArithmeticError, AttributeError) as error:  # AttributeError: a model without training
            reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
            warnings.warn(f"{self.name}: could not {step}: {reason}", ExpertWarning, stacklevel=2)


# Tables -----------------------------------------------------------------------------------------------------------


def scores_frame(run: EvaluationRun) -> Any:
    """Return the scores as a frame, with the gain of the pool with memory over each other model and its interval."""
    frame = run.result.frame()
    for at, column in enumerate(("gain", "gain_low", "gain_high")):
        frame[column] = [np.nan, *(difference[at] for difference in run.differences.values())]
    return frame.reset_index()


def experts_frame(run: EvaluationRun) -> Any:
    """Return the experts at the end as a frame, the largest mean weight first."""
    pandas = import_extra("pandas", "tables")
    led = dict(leaders(run.run_record))
    rows = [
        (each.name, each.kind, each.born, each.long_term_weight, each.loss, led.get(each.name, 0.0))
        for each in run.final_experts
    ]
    frame = pandas.DataFrame(rows, columns=["expert", "kind", "row", "mean_weight", "mean_loss", "led"])
    return frame.sort_values("mean_weight", ascending=False, kind="stable")
