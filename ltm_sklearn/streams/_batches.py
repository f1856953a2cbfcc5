"""Mini-batches of a stream, and rows of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing

from .._frames import as_dicts, stacked
from .._optional import import_extra


class Batch(NamedTuple):
    """Some rows of a stream, with their targets."""

    X: Any  #: array or frame of shape (n_rows, n_features)
    y: NDArray[Any]
    concept: NDArray[np.intp] | None = None  #: which concept each row is of, where that is known


def rebatched(pieces: Iterable[Batch], batch_size: int) -> Iterator[Batch]:
    """The same rows in batches of this size; the last may be smaller."""
    held: list[Batch] = []
    n_held = 0
    for piece in pieces:
        start = 0
        while n_held + len(piece.y) - start >= batch_size:
            stop = start + batch_size - n_held
            yield joined([*held, part(piece, start, stop)])
            held, n_held, start = [], 0, stop
        if start < len(piece.y):
            held.append(part(piece, start, len(piece.y)))
            n_held += len(piece.y) - start
    if held:
        yield joined(held)


def part(batch: Batch, start: int, stop: int) -> Batch:
    """Some rows of a batch."""
    rows = slice(start, stop)
    concept = None if batch.concept is None else batch.concept[rows]
    # For single rows, scikit-learn's way takes longer than many models.
    quick = isinstance(batch.X, np.ndarray | list)
    return Batch(batch.X[rows] if quick else _safe_indexing(batch.X, rows), batch.y[rows], concept)


def joined(parts: list[Batch]) -> Batch:
    """Batches as one."""
    if len(parts) == 1:
        return parts[0]
    concepts = [each.concept for each in parts if each.concept is not None]
    y = joined_targets([each.y for each in parts])
    tables = [each.X for each in parts]
    X = [x for table in tables for x in table] if isinstance(tables[0], list) else stacked(tables)
    return Batch(X, y, np.concatenate(concepts) if concepts else None)


def targets_of(y: Any) -> NDArray[Any]:
    """As an array; labels of several kinds stay what they are, where NumPy would make strings of all."""
    targets = np.asarray(y)
    if isinstance(y, list) and targets.dtype.kind in "US" and not all(isinstance(label, str | bytes) for label in y):
        targets = np.empty(len(y), dtype=object)
        targets[:] = y
    return targets


def joined_targets(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Targets as one array, with the same care."""
    if len({part.dtype.kind in "US" for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def sorted_labels(labels: Iterable[Any]) -> list[Any]:
    """Each label once, sorted if they can be."""
    labels = list(dict.fromkeys(labels))
    try:
        return sorted(labels)
    except TypeError:  # of several kinds
        return labels


def as_pairs(batch: Batch, names: list[Any]) -> Iterator[tuple[dict[Any, Any], Any]]:
    """Rows and targets as River has them."""
    return zip(as_dicts(batch.X, names), batch.y.tolist(), strict=True)


def as_frames(batches: Iterable[Batch], names: list[Any]) -> Iterator[Batch]:
    """The same batches with pandas frames for X."""
    pandas = import_extra("pandas", "frames")
    for batch in batches:
        yield batch._replace(X=pandas.DataFrame(batch.X, columns=names).infer_objects())
