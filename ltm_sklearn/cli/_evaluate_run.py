"""The default pool with and without memory, its experts alone, and baselines, side by side over a file."""

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
RECORDS = 1000  #: of what the ensemble did
WINDOW = 50  #: rows after a change, and of a point of the curve
#: Rows of a file up to which so many rows are a batch: a round costs about the same, however many rows it has.
BATCHES = {5_000: 10, 10_000: 20, 50_000: 50, 200_000: 100}
LARGEST_BATCH = 200


class Run(NamedTuple):
    """What came out."""

    file: StreamFile
    result: PrequentialResult
    run_record: RunRecord  #: of the pool with memory
    remembered: list[ExpertSummary]  #: its experts at the end
    experts: list[str]  #: names of the experts alone
    baselines: list[str]
    differences: dict[str, Difference]  #: how much better the pool with memory is than each other model
    failures: dict[str, int]  #: what experts could not do, and how often
    batch: int

    @property
    def best_expert(self) -> str:
        """The best of the experts alone."""
        return self._best(self.experts)

    @property
    def best_baseline(self) -> str:
        """The better baseline."""
        return self._best(self.baselines)

    def score(self, name: str) -> float:
        """Accuracy or mean absolute error."""
        return self.result.scores[name][self.result.measure]

    def _best(self, names: list[str]) -> str:
        sign = -1.0 if self.file.is_class else 1.0
        return min(names, key=lambda name: np.nan_to_num(sign * self.score(name), nan=np.inf))


def batch_for(n_rows: int) -> int:
    """Rows that are predicted together, and then learned together, unless somebody says otherwise."""
    return next((batch for most, batch in BATCHES.items() if n_rows <= most), LARGEST_BATCH)


def run_evaluation(file: StreamFile, batch: int, delay: int, seed: int, checkpoint: Checkpoint | None = None) -> Run:
    """Test, then train, all of them."""
    ensemble: Any = LongTermMemoryClassifier if file.is_class else LongTermMemoryRegressor
    room = max(delay + batch, 10_000)
    remembering = ensemble(random_state=seed, record=RECORDS, max_pending=room)
    forgetting = ensemble(memory=None, random_state=seed, max_pending=room)
    pool = classifiers(seed) if file.is_class else regressors(seed)
    alone = {f"{name} alone": Alone(model, file.is_class) for name, model in pool}
    baselines: dict[str, Any] = {"last target": LastTarget()}
    baselines |= {"most frequent class": MostFrequent()} if file.is_class else {"running mean": RunningMean()}
    stream = (file.X, file.y) if file.concept is None else (file.X, file.y, file.concept)
    # of the whole run, also of what came before a checkpoint
    failures: dict[str, int] = {} if checkpoint is None else checkpoint.extra
    if checkpoint is not None:
        checkpoint.identity = _contents(file)
    with _failures_counted(failures):
        result = prequential(
            {WITH: remembering, WITHOUT: forgetting, **alone, **baselines},
            stream,
            batch_size=batch,
            delay=delay,
            window=WINDOW,
            progress=True,
            checkpoint=checkpoint,
        )
    for name, model in alone.items():
        failures |= {f"{name}: {what}": count for what, count in model.failures.items()}
    others = [name for name in result.scores if name != WITH]
    differences = {name: result.difference(WITH, name) for name in others}
    remembered = list(remembering.experts_)
    return Run(
        file,
        result,
        result.run_records[WITH],
        remembered,
        list(alone),
        list(baselines),
        differences,
        dict(failures),
        batch,
    )


def _contents(file: StreamFile) -> dict[str, str]:
    """By which a file is known for the one of a checkpoint; its targets are compared row by row."""
    seen = zlib.crc32(np.ascontiguousarray(file.X).tobytes(), zlib.crc32(repr(file.names).encode()))
    sums = {"the checksum of the file's features": seen}
    for option, column in (("--concept", file.concept), ("--time", file.times)):
        if column is not None:
            sums[f"the checksum of the {option} column"] = checksum(column, 0)
    return {name: f"{each:08x}" for name, each in sums.items()}


@contextmanager
def _failures_counted(failures: dict[str, int]) -> Iterator[None]:
    """Warnings of experts are counted, those of checkpoints shown, and those of libraries about numbers are not."""

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


class Alone:
    """An expert by itself; where it fails, it has no answer, as within an ensemble."""

    def __init__(self, model: Any, is_class: bool) -> None:
        self.model, self._is_class = model, is_class
        self.failures: Counter[str] = Counter()
        self.classes_: NDArray[Any] | None = None
        self._learned = False

    def partial_fit(self, X: Floats, y: NDArray[Any], classes: NDArray[Any] | None = None) -> Self:
        """Take in rows."""
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
        """What it says; None where it has no answer."""
        if self._is_class:
            chances = self.predict_proba(X)
            assert self.classes_ is not None
            silent = np.isnan(chances).any(axis=1)
            said = self.classes_.astype(object)[np.where(silent, 0, np.nan_to_num(chances).argmax(axis=1))]
            said[silent] = None
            return said
        try:
            return np.asarray(self.model.predict(X), dtype=object)
        except (ValueError, ArithmeticError, AttributeError) as error:
            self.failures[f"could not predict: {_first_line(error)}"] += 1
            return np.full(len(X), None, dtype=object)

    @available_if(lambda alone: alone._is_class)
    def predict_proba(self, X: Floats) -> Floats:
        """Of classes; NaN where it has no answer."""
        assert self.classes_ is not None
        try:
            return np.asarray(self.model.predict_proba(X), dtype=np.float64)
        except (ValueError, ArithmeticError, AttributeError) as error:
            self.failures[f"could not predict: {_first_line(error)}"] += 1
            return np.full((len(X), len(self.classes_)), np.nan)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__


# Tables -----------------------------------------------------------------------------------------------------------


def scores_frame(run: Run) -> Any:
    """The scores, with how much better the pool with memory is than each other, and the interval."""
    frame = run.result.frame()
    for at, column in enumerate(("gain", "gain_low", "gain_high")):
        frame[column] = [np.nan, *(difference[at] for difference in run.differences.values())]
    return frame


def memory_rows(run: Run) -> list[tuple[str, str, int, float, float, float]]:
    """Of each expert at the end: name, kind, row it is of, mean weight, mean loss, share of the time it led."""
    led = leads(run.run_record)
    rows = [
        (each.name, each.kind, each.born, each.long_term_weight, each.loss, led.get(each.name, 0.0))
        for each in run.remembered
    ]
    return sorted(rows, key=lambda row: -row[3])


def leads(run_record: RunRecord) -> dict[str, float]:
    """The share of the rows in which each expert had the largest weight."""
    led = np.bincount(run_record.weights.argmax(axis=1), weights=run_record.counts, minlength=len(run_record.names))
    return dict(zip(run_record.names, (led / run_record.counts.sum()).tolist(), strict=True))
