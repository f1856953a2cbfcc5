"""What a concept may be, behind one function: draw so many rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._frames import column_names, default_names
from ._batches import sorted_labels, targets_of

Draw = Callable[[np.random.Generator, int], tuple[NDArray[Any], NDArray[Any]]]


class Source(Protocol):
    """A concept that can be drawn from."""

    names: list[Any]  #: of the features
    classes: list[Any] | None  #: None: real targets, or not known

    def start(self) -> Draw:
        """Begin to draw, from the first row on."""


def source_of(concept: Any, name: Any) -> Source:
    """A concept as a source; an error if it is none."""
    if isinstance(concept, tuple) and len(concept) == 2:
        return Table(*concept, name)
    if callable(concept):
        return Function(concept, name)
    if isinstance(concept, Iterable) and not isinstance(concept, str | bytes):
        return Pairs(concept, f"concept {name!r}")
    raise ValueError(f"concept {name!r} is {concept!r}, neither a function, a pair (X, y) nor an iterable of (x, y)")


class Function:
    """``concept(rng, n_rows)`` returns X, an array or a frame, and y."""

    def __init__(self, function: Any, name: Any) -> None:
        self._function, self._name = function, name
        # of a frame; they may come in another order another time
        self._columns = column_names(self._asked(np.random.default_rng(0), 1)[0]) or []
        n_features = self._draw(np.random.default_rng(0), 1)[0].shape[1]
        self.names = list(getattr(function, "feature_names", None) or self._columns or default_names(n_features))
        classes = getattr(function, "classes", None)
        self.classes = None if classes is None else list(classes)

    def start(self) -> Draw:
        """Each draw is by itself."""
        return self._draw

    def _asked(self, rng: np.random.Generator, n_rows: int) -> Any:
        try:
            X, y = self._function(rng, n_rows)
        except Exception as error:
            error.add_note(f"raised when concept {self._name!r} was asked for {n_rows} rows")
            raise
        return X, y

    def _draw(self, rng: np.random.Generator, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
        X, y = self._asked(rng, n_rows)
        columns, X, y = column_names(X) or [], np.asarray(X), np.asarray(y)
        if columns != self._columns:
            if {*columns} != {*self._columns}:
                raise ValueError(f"concept {self._name!r} has columns {columns}, and had {self._columns} before")
            X = X[:, np.array([columns.index(name) for name in self._columns])]
        if X.ndim != 2 or len(X) != n_rows or y.shape != (n_rows,):
            raise ValueError(
                f"concept {self._name!r} was asked for {n_rows} rows: X has shape {X.shape}, y has shape {y.shape}"
            )
        return X, y


class Table:
    """Rows of an array or a frame in their order; after the last, the first again."""

    def __init__(self, X: Any, y: Any, name: Any) -> None:
        self._X, self._y = np.asarray(X), targets_of(y)
        if self._X.ndim != 2 or self._y.shape != (len(self._X),) or not len(self._y):
            raise ValueError(
                f"concept {name!r} needs X of shape (n_rows, n_features) and y of shape (n_rows,), with rows; got "
                f"{self._X.shape} and {self._y.shape}"
            )
        self.names = column_names(X) or default_names(self._X.shape[1])
        self.classes = None if self._y.dtype.kind == "f" else sorted_labels(self._y.tolist())

    def start(self) -> Draw:
        """From the first row on."""
        at = 0

        def draw(rng: np.random.Generator, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
            nonlocal at
            rows = np.arange(at, at + n_rows) % len(self._y)
            at = (at + n_rows) % len(self._y)
            return self._X[rows], self._y[rows]

        return draw


class Pairs:
    """Pairs ``(x, y)`` of River's kind, x a dictionary; drawn from, after the last comes the first again."""

    classes: list[Any] | None = None

    def __init__(self, pairs: Iterable[Any], what: str) -> None:
        if isinstance(pairs, Iterator):
            raise ValueError(f"{what} is an iterator, which ends for good: give what can be iterated again")
        self._pairs, self._what = pairs, what
        try:
            first = next(iter(pairs), None)
        except (TypeError, NotImplementedError) as error:
            raise ValueError(f"{what} cannot be gone through row by row: {error}") from error
        if first is None:
            raise ValueError(f"{what} has no rows")
        self._check([first])
        self.names = list(first[0])

    def pieces(self, n_rows: int) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """All rows once, so many at a time."""
        iterator = iter(self._pairs)
        while rows := list(islice(iterator, n_rows)):
            yield self._arrays(rows)

    def start(self) -> Draw:
        """From the first row on."""
        iterator = iter(self._pairs)

        def draw(rng: np.random.Generator, n_rows: int) -> tuple[NDArray[Any], NDArray[Any]]:
            nonlocal iterator
            rows = list(islice(iterator, n_rows))
            while len(rows) < n_rows:
                iterator = iter(self._pairs)
                rows += islice(iterator, n_rows - len(rows))
            return self._arrays(rows)

        return draw

    def _check(self, rows: list[Any]) -> None:
        for row in rows:
            if not (isinstance(row, tuple | list) and len(row) == 2 and isinstance(row[0], Mapping)):
                is_pair = isinstance(row, tuple | list) and len(row) == 2
                kind = f"pairs ({type(row[0]).__name__}, y)" if is_pair else f"rows of type {type(row).__name__}"
                raise ValueError(f"{self._what} has {kind}: they must be pairs ({{...}}, y)")

    def _arrays(self, rows: list[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        self._check(rows)
        return table_of([x for x, _ in rows], self.names, self._what), targets_of([y for _, y in rows])


def table_of(rows: list[Any], names: list[Any], what: str) -> NDArray[Any]:
    """Dictionaries as an array with these columns; of objects if some are no numbers."""
    for x in rows:
        if x.keys() != set(names):
            raise ValueError(f"{what} has a row with features {list(x)}; the first has {names}")
    values = [[x[name] for name in names] for x in rows]
    X = np.array(values)
    return X if X.dtype.kind in "biuf" else np.array(values, dtype=object)
