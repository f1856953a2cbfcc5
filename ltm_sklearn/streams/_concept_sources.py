"""Sources of rows: functions, tables and iterables of pairs behind one interface that draws a number of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._frames import column_names, default_names
from ._batches import distinct_labels, target_array

Arrays = tuple[NDArray[Any], NDArray[Any]]  #: X and y
Draw = Callable[[np.random.Generator, int], Arrays]


class ConceptSource(Protocol):
    """Source of the rows of one concept."""

    names: list[Any]  #: names of the features
    classes: list[Any] | None  #: None if the targets are real or the classes are unknown

    def start(self) -> Draw:
        """Return a function ``draw(rng, n_rows)`` that begins with the first row."""


def source_of(concept: Any, name: Any) -> ConceptSource:
    """Return the source of a concept that is a function, a pair ``(X, y)`` or an iterable of pairs."""
    if isinstance(concept, tuple) and len(concept) == 2:
        return TableSource(*concept, name)
    if callable(concept):
        return FunctionSource(concept, name)
    if isinstance(concept, Iterable) and not isinstance(concept, str | bytes):
        return PairSource(concept, f"concept {name!r}")
    raise ValueError(
        f"concept {name!r} is {concept!r}; it must be a function, a pair (X, y) or an iterable of pairs (x, y)"
    )


class FunctionSource:
    """Source that calls a function ``concept(rng, n_rows)``, which returns X (an array or a frame) and y."""

    def __init__(self, function: Any, name: Any) -> None:
        self._function, self._name = function, name
        self._columns = column_names(self._call(np.random.default_rng(0), 1)[0]) or []
        n_features = self._draw(np.random.default_rng(0), 1)[0].shape[1]
        self.names = list(getattr(function, "feature_names", None) or self._columns or default_names(n_features))
        classes = getattr(function, "classes", None)
        self.classes = None if classes is None else list(classes)

    def start(self) -> Draw:
        """Return the function that draws rows; its draws are independent."""
        return self._draw

    def _call(self, rng: np.random.Generator, n_rows: int) -> Any:
        try:
            X, y = self._function(rng, n_rows)
        except Exception as error:
            error.add_note(f"raised when concept {self._name!r} was called for {n_rows} rows")
            raise
        return X, y

    def _draw(self, rng: np.random.Generator, n_rows: int) -> Arrays:
        X, y = self._call(rng, n_rows)
        columns, X, y = column_names(X) or [], np.asarray(X), np.asarray(y)
        if columns != self._columns:
            if {*columns} != {*self._columns}:
                raise ValueError(
                    f"concept {self._name!r} has columns {columns}, and had {self._columns} before; "
                    "return the same columns in each call"
                )
            X = X[:, np.array([columns.index(name) for name in self._columns])]
        if X.ndim != 2 or len(X) != n_rows or y.shape != (n_rows,):
            raise ValueError(
                f"concept {self._name!r} was called for {n_rows} rows and returned X of shape {X.shape} and y of shape "
                f"{y.shape}; X must have shape (n_rows, n_features) and y shape (n_rows,)"
            )
        return X, y


class TableSource:
    """Source that reads the rows of an array or a frame in order, and begins again after the last one."""

    def __init__(self, X: Any, y: Any, name: Any) -> None:
        self._X, self._y = np.asarray(X), target_array(y)
        if self._X.ndim != 2 or self._y.shape != (len(self._X),) or not len(self._y):
            raise ValueError(
                f"concept {name!r} has X of shape {self._X.shape} and y of shape {self._y.shape}; they must have "
                "shapes (n_rows, n_features) and (n_rows,), with rows"
            )
        self.names = column_names(X) or default_names(self._X.shape[1])
        self.classes = None if self._y.dtype.kind == "f" else distinct_labels(self._y.tolist())

    def start(self) -> Draw:
        """Return a function that draws rows, from the first one on."""
        start = 0

        def draw(rng: np.random.Generator, n_rows: int) -> Arrays:
            nonlocal start
            rows = np.arange(start, start + n_rows) % len(self._y)
            start = (start + n_rows) % len(self._y)
            return self._X[rows], self._y[rows]

        return draw


class PairSource:
    """Source that reads pairs ``(x, y)`` with x a dictionary, as River's datasets have, and begins again at the end."""

    classes: list[Any] | None = None

    def __init__(self, pairs: Iterable[Any], what: str) -> None:
        if isinstance(pairs, Iterator):
            raise ValueError(f"{what} is an iterator, which can be read only once: pass a list or a dataset")
        self._pairs, self._what = pairs, what
        try:
            first = next(iter(pairs), None)
        except (TypeError, NotImplementedError) as error:
            raise ValueError(f"{what} cannot be read row by row: {error}") from error
        if first is None:
            raise ValueError(f"{what} has no rows: pass at least one pair (x, y)")
        self._check([first])
        self.names = list(first[0])

    def pieces(self, n_rows: int) -> Iterator[Arrays]:
        """Iterate once over all rows, in pieces of ``n_rows``."""
        iterator = iter(self._pairs)
        while rows := list(islice(iterator, n_rows)):
            yield self._arrays(rows)

    def start(self) -> Draw:
        """Return a function that draws rows, from the first one on."""
        iterator = iter(self._pairs)

        def draw(rng: np.random.Generator, n_rows: int) -> Arrays:
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
                raise ValueError(f"{self._what} has {kind}: they must be pairs (x, y) with x a dictionary")

    def _arrays(self, rows: list[Any]) -> Arrays:
        self._check(rows)
        return dicts_as_array([x for x, _ in rows], self.names, self._what), target_array([y for _, y in rows])


def dicts_as_array(rows: list[Any], names: list[Any], what: str) -> NDArray[Any]:
    """Convert dictionaries to an array with these columns: of numbers, or of objects if some values are no numbers."""
    for x in rows:
        if x.keys() != set(names):
            raise ValueError(
                f"{what} has a row with features {list(x)}; the first row has {names}. All rows must have the same"
            )
    values = [[x[name] for name in names] for x in rows]
    X = np.array(values)
    return X if X.dtype.kind in "biuf" else np.array(values, dtype=object)
