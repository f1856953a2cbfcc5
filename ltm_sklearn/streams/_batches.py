"""Mini-batches of a stream, and a queue that regroups their rows."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._frames import concatenate_rows
from .._optional import import_extra


class Batch(NamedTuple):
    """Consecutive rows of a stream with their targets."""

    X: Any  #: array or frame of shape (n_rows, n_features), or a list of dictionaries
    y: NDArray[Any]
    concept: NDArray[np.intp] | None = None  #: the concept that each row was drawn from, if known


class BatchQueue:
    """First-in, first-out queue of rows: batches of any size go in, batches of a requested size come out."""

    def __init__(self) -> None:
        self._batches: deque[Batch] = deque()
        self._start = 0  #: first row of the oldest batch that is still in the queue
        self.n_rows = 0

    def push(self, batch: Batch) -> None:
        """Append the rows of a batch."""
        if len(batch.y):
            self._batches.append(batch)
            self.n_rows += len(batch.y)

    def pop(self, n_rows: int) -> Batch:
        """Remove the oldest ``n_rows`` rows and return them as one batch."""
        self.n_rows -= n_rows
        parts = []
        while n_rows > 0:
            oldest, start = self._batches[0], self._start
            stop = min(start + n_rows, len(oldest.y))
            parts.append(slice_batch(oldest, start, stop))
            self._start = stop
            if stop == len(oldest.y):
                self._batches.popleft()
                self._start = 0
            n_rows -= stop - start
        return concatenate(parts)


def rebatch(batches: Iterable[Batch], batch_size: int) -> Iterator[Batch]:
    """Regroup batches of any size into batches of ``batch_size`` rows; the last one may be smaller."""
    queue = BatchQueue()
    for batch in batches:
        queue.push(batch)
        while queue.n_rows >= batch_size:
            yield queue.pop(batch_size)
    if queue.n_rows:
        yield queue.pop(queue.n_rows)


def slice_batch(batch: Batch, start: int, stop: int) -> Batch:
    """Return the rows from ``start`` to ``stop`` of a batch."""
    if start == 0 and stop == len(batch.y):
        return batch
    rows = slice(start, stop)
    concept = None if batch.concept is None else batch.concept[rows]
    # _safe_indexing takes longer for a single row than many models take to predict it
    is_plain = isinstance(batch.X, np.ndarray | list)
    return Batch(batch.X[rows] if is_plain else _safe_indexing(batch.X, rows), batch.y[rows], concept)


def concatenate(batches: list[Batch]) -> Batch:
    """Join batches into one."""
    if len(batches) == 1:
        return batches[0]
    targets = [batch.y for batch in batches]
    if len({y.dtype.kind in "US" for y in targets}) > 1:  # NumPy would turn numbers beside text into text
        targets = [y.astype(object) for y in targets]
    concepts = [batch.concept for batch in batches if batch.concept is not None]
    tables = [batch.X for batch in batches]
    X = [x for table in tables for x in table] if isinstance(tables[0], list) else concatenate_rows(tables)
    return Batch(X, np.concatenate(targets), np.concatenate(concepts) if concepts else None)


def target_array(y: Any) -> NDArray[Any]:
    """Convert targets to an array; a list of text and numbers becomes an array of objects, not of text."""
    targets = np.asarray(y)
    if isinstance(y, list) and targets.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in y):
        targets = np.empty(len(y), dtype=object)
        targets[:] = y
    return targets


def distinct_labels(labels: Iterable[Any]) -> list[Any]:
    """Return each label once: sorted, or in the order of appearance if the labels cannot be compared."""
    labels = list(dict.fromkeys(labels))
    try:
        return sorted(labels)
    except TypeError:
        return labels


def as_frames(batches: Iterable[Batch], names: list[Any]) -> Iterator[Batch]:
    """Convert the features of batches from arrays to pandas frames."""
    pandas = import_extra("pandas", "frames")
    for batch in batches:
        yield batch._replace(X=pandas.DataFrame(batch.X, columns=names).infer_objects())
