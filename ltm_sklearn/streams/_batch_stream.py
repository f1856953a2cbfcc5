"""Any stream as batches of one size, with the scheduled concept of each row where it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from .._frames import as_dicts
from ._batches import Batch, distinct_labels, rebatch, slice_batch, target_array
from ._recurring_concepts import RecurringConcepts

ROWS_PER_CONVERSION = 500  #: rows that become dictionaries in one step, far faster than one by one

ACCEPTED = "a pair (X, y), or an iterable of pairs (x, y) with x a dictionary, or of batches (X, y) or (X, y, concept)"


class BatchStream(NamedTuple):
    """Stream in batches of one size, and what is known of it before the first row."""

    #: Each batch comes with the scheduled concept of its rows, or None. Around a gradual change a row may be drawn from
    #: another concept than the scheduled one. X is a list of dictionaries if the stream consists of pairs.
    batches: Iterator[tuple[Batch, NDArray[Any] | None]]
    feature_names: list[Any] | None  #: names of the columns of arrays
    concept_names: list[Any] | None  #: names of concepts that are numbers
    classes: list[Any] | None
    n_rows: int | None


def open_stream(stream: Any, batch_size: int, n_samples: int | None, row_dicts: bool) -> BatchStream:
    """Begin to read a stream in batches.

    Parameters
    ----------
    stream : RecurringConcepts, tuple or iterable
    batch_size : int
    n_samples : int or None
        Most rows to read; None for all.
    row_dicts : bool
        Whether to convert all rows to dictionaries.
    """
    if isinstance(stream, RecurringConcepts):
        if stream.n_samples is None and n_samples is None:
            raise ValueError("the stream has no end: pass n_samples, the number of rows to read")
        batches = _first_rows(stream.batches(batch_size), n_samples)
        n_rows = _smaller(stream.n_samples, n_samples)
        scheduled = _with_schedule(stream, batches)
        return BatchStream(scheduled, stream.feature_names, stream.concept_names, stream.classes, n_rows)
    if isinstance(stream, tuple):
        whole = _as_batch(stream, "the stream")
        pieces: Iterator[Batch] = iter([whole])
        classes = None
        if whole.y.dtype.kind != "f":
            classes = distinct_labels(label for label in whole.y.tolist() if label is not None)
        n_rows = _smaller(len(whole.y), n_samples)
    elif isinstance(stream, str | bytes | Mapping) or hasattr(stream, "columns") or not isinstance(stream, Iterable):
        raise ValueError(f"the stream is of type {type(stream).__name__}; it must be {ACCEPTED}")
    else:
        pieces, classes = _pieces(stream, batch_size, n_samples), None
        n_rows = _smaller(getattr(stream, "n_samples", None), n_samples)
    if row_dicts:
        pieces = (converted for piece in pieces for converted in _as_row_dicts(piece))
    batches = _first_rows(rebatch(pieces, batch_size), n_samples)
    return BatchStream(((batch, batch.concept) for batch in batches), None, None, classes, n_rows)


def _smaller(known: int | None, limit: int | None) -> int | None:
    return min((count for count in (known, limit) if count is not None), default=None)


def _as_row_dicts(batch: Batch) -> Iterator[Batch]:
    for start in range(0, len(batch.y), ROWS_PER_CONVERSION):
        part = slice_batch(batch, start, min(start + ROWS_PER_CONVERSION, len(batch.y)))
        yield part._replace(X=as_dicts(part.X))


def _first_rows(batches: Iterator[Batch], n_rows: int | None) -> Iterator[Batch]:
    if n_rows is None:
        yield from batches
        return
    for batch in batches:
        yield batch if len(batch.y) <= n_rows else slice_batch(batch, 0, n_rows)
        n_rows -= len(batch.y)
        if n_rows <= 0:  # stop here: a live stream may never deliver another batch
            return


def _with_schedule(stream: RecurringConcepts, batches: Iterator[Batch]) -> Iterator[tuple[Batch, NDArray[Any]]]:
    segments = stream.segments()
    concept, n_left = -1, 0
    for batch in batches:
        scheduled = np.empty(len(batch.y), dtype=np.intp)
        start = 0
        while start < len(scheduled):
            if not n_left:
                concept, _, n_left = next(segments)
            n_rows = min(n_left, len(scheduled) - start)
            scheduled[start : start + n_rows] = concept
            start, n_left = start + n_rows, n_left - n_rows
        yield batch, scheduled


def _pieces(stream: Iterable[Any], n_rows: int, n_samples: int | None) -> Iterator[Batch]:
    """Read batches of any size, or gather ``n_rows`` pairs into each batch."""
    items = iter(stream)
    first = next(items, None)
    if first is None:
        return
    items = chain([first], items)
    if not (isinstance(first, tuple | list) and first and isinstance(first[0], Mapping)):
        yield from _checked_batches(items)
        return
    start = 0
    items = islice(items, n_samples)
    while rows := list(islice(items, n_rows)):
        for at, row in enumerate(rows, start):
            if not (isinstance(row, tuple | list) and len(row) == len(first) and isinstance(row[0], Mapping)):
                raise ValueError(
                    f"row {at} of the stream is of type {type(row).__name__}; it must have the form of the first row, "
                    "(x, y) or (x, y, concept) with x a dictionary"
                )
        yield _as_batch([list(column) for column in zip(*rows, strict=True)], "the stream")
        start += len(rows)


def _checked_batches(items: Iterable[Any]) -> Iterator[Batch]:
    has_concept = None
    for number, item in enumerate(items):
        batch = _as_batch(item, f"batch {number}")
        has_concept = batch.concept is not None if has_concept is None else has_concept
        if has_concept != (batch.concept is not None):
            article = "no" if has_concept else "a"
            raise ValueError(f"batch {number} has {article} concept, unlike those before it: pass it always or never")
        yield batch


def _as_batch(item: Any, what: str) -> Batch:
    if not (isinstance(item, tuple | list) and len(item) in (2, 3)):
        raise ValueError(f"{what} is of type {type(item).__name__}; a stream must be {ACCEPTED}")
    X, y, concept = item if len(item) == 3 else (*item, None)
    if isinstance(X, memoryview) or (isinstance(X, list) and not (X and isinstance(X[0], Mapping))):
        X = np.asarray(X)
    y = target_array(y)
    if y.ndim != 1 or not (isinstance(X, list) or np.ndim(X) == 2):
        raise ValueError(
            f"{what} has rows of shape {np.shape(X)} and targets of shape {y.shape}; a stream must be {ACCEPTED}"
        )
    if _num_samples(X) != len(y):
        raise ValueError(f"{what} has {_num_samples(X)} rows and {len(y)} targets: pass one target for each row")
    if concept is not None:
        concept = np.asarray(concept)
        if concept.shape != y.shape:
            raise ValueError(
                f"{what} has {len(y)} rows and concepts of shape {concept.shape}: pass one concept for each row"
            )
    return Batch(X, y, concept)
