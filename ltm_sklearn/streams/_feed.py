"""Any stream as batches of one size, with the concept in force where it is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import _num_samples

from .._frames import as_dicts
from ._batches import Batch, part, rebatched, sorted_labels, targets_of
from ._recurring import RecurringConcepts

MADE_TOGETHER = 500

EXPECTED = "pairs (x, y) with x a dictionary, or batches (X, y) or (X, y, concept)"


class Feed(NamedTuple):
    """A stream in batches, and what is known of it beforehand."""

    #: X is a list of dictionaries if the stream has pairs; beside each batch, the concept in force in each row: that
    #: of the schedule, which a row of a gradual change need not be of.
    batches: Iterator[tuple[Batch, NDArray[Any] | None]]
    feature_names: list[Any] | None  #: of arrays
    concept_names: list[Any] | None  #: of concepts that are numbers
    classes: list[Any] | None
    n_rows: int | None


def feed_of(stream: Any, batch_size: int, n_samples: int | None, as_rows: bool) -> Feed:
    """Begin to go through a stream; no more than ``n_samples`` rows of it, ``as_rows`` all of them as dictionaries."""
    if isinstance(stream, RecurringConcepts):
        if stream.n_samples is None and n_samples is None:
            raise ValueError("the stream has no end: n_samples says how many rows to go through")
        batches = _first_rows(stream.batches(batch_size), n_samples)
        n_rows = _least(stream.n_samples, n_samples)
        return Feed(_scheduled(stream, batches), stream.feature_names, stream.concept_names, stream.classes, n_rows)
    if isinstance(stream, tuple):
        whole = _batch(stream, "the stream")
        pieces: Iterator[Batch] = iter([whole])
        # missing ones are reported with their row
        labels = (label for label in whole.y.tolist() if label is not None)
        classes = None if whole.y.dtype.kind == "f" else sorted_labels(labels)
        n_rows = _least(len(whole.y), n_samples)
    elif isinstance(stream, Iterable) and not _is_no_stream(stream):
        pieces, classes = _pieces(stream, batch_size, n_samples), None
        n_rows = _least(getattr(stream, "n_samples", None), n_samples)
    else:
        raise ValueError(f"the stream is of type {type(stream).__name__}; it must be a pair (X, y), or have {EXPECTED}")
    if as_rows:
        pieces = (in_rows for piece in pieces for in_rows in _in_rows(piece))
    batches = _first_rows(rebatched(pieces, batch_size), n_samples)
    return Feed(((batch, batch.concept) for batch in batches), None, None, classes, n_rows)


def _is_no_stream(stream: Any) -> bool:
    """Whether it can be iterated, but not over rows with their targets: text, a dictionary, a frame."""
    return isinstance(stream, str | bytes | Mapping) or hasattr(stream, "columns")


def _least(known: int | None, limit: int | None) -> int | None:
    return min((count for count in (known, limit) if count is not None), default=None)


def _in_rows(piece: Batch) -> Iterator[Batch]:
    """A piece with dictionaries for its rows: made of many rows at a time, which takes far less than one by one."""
    for start in range(0, len(piece.y), MADE_TOGETHER):
        some = part(piece, start, min(start + MADE_TOGETHER, len(piece.y)))
        yield some._replace(X=as_dicts(some.X))


def _first_rows(batches: Iterator[Batch], n_rows: int | None) -> Iterator[Batch]:
    if n_rows is None:
        yield from batches
        return
    for batch in batches:
        yield batch if len(batch.y) <= n_rows else part(batch, 0, n_rows)
        n_rows -= len(batch.y)
        if n_rows <= 0:  # before the next batch is asked for, which may never come
            return


def _scheduled(stream: RecurringConcepts, batches: Iterator[Batch]) -> Iterator[tuple[Batch, NDArray[Any]]]:
    segments = stream.segments()
    concept, left = -1, 0
    for batch in batches:
        in_force = np.empty(len(batch.y), dtype=np.intp)
        at = 0
        while at < len(in_force):
            if not left:
                concept, _, left = next(segments)
            n_rows = min(left, len(in_force) - at)
            in_force[at : at + n_rows] = concept
            at, left = at + n_rows, left - n_rows
        yield batch, in_force


def _pieces(stream: Iterable[Any], n_rows: int, n_samples: int | None) -> Iterator[Batch]:
    """Batches as they come; pairs gathered, so many at a time."""
    items = iter(stream)
    first = next(items, None)
    if first is None:
        return
    items = chain([first], items)
    if not (isinstance(first, tuple | list) and first and isinstance(first[0], Mapping)):
        told = None
        for number, item in enumerate(items):
            batch = _batch(item, f"batch {number}")
            told = batch.concept is not None if told is None else told
            if told != (batch.concept is not None):
                raise ValueError(f"batch {number} has {'no' if told else 'a'} concept, unlike those before it")
            yield batch
        return
    start = 0
    items = islice(items, n_samples)
    while rows := list(islice(items, n_rows)):
        for at, row in enumerate(rows, start):
            if not (isinstance(row, tuple | list) and len(row) == len(first) and isinstance(row[0], Mapping)):
                raise ValueError(f"row {at} of the stream is of type {type(row).__name__}, unlike the first")
        yield _batch([list(column) for column in zip(*rows, strict=True)], "the stream")
        start += len(rows)


def _batch(item: Any, what: str) -> Batch:
    if not (isinstance(item, tuple | list) and len(item) in (2, 3)):
        raise ValueError(f"{what} is of type {type(item).__name__}; a stream must be a pair (X, y), or have {EXPECTED}")
    X, y, concept = item if len(item) == 3 else (*item, None)
    if isinstance(X, memoryview) or (isinstance(X, list) and not (X and isinstance(X[0], Mapping))):
        X = np.asarray(X)
    y = targets_of(y)
    if y.ndim != 1 or not (isinstance(X, list) or np.ndim(X) == 2):
        raise ValueError(
            f"{what} has rows of shape {np.shape(X)} and targets of shape {y.shape}; a stream must be a pair (X, y), "
            f"or have {EXPECTED}"
        )
    if _num_samples(X) != len(y):
        raise ValueError(f"{what} has {_num_samples(X)} rows and {len(y)} targets")
    if concept is not None:
        concept = np.asarray(concept)
        if concept.shape != y.shape:
            raise ValueError(f"{what} has {len(y)} rows, and concepts of shape {concept.shape}")
    return Batch(X, y, concept)
