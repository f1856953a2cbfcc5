"""Hostile values that replace good arguments."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from hypothesis import strategies as st


class Mute:
    """Object that cannot be compared or converted to a boolean."""

    def __bool__(self) -> bool:
        raise TypeError("a mute object has no truth value")

    def __eq__(self, other: object) -> bool:
        raise TypeError("a mute object cannot be compared")

    __hash__ = None  # type: ignore[assignment]


NUMBERS = [
    np.nan,
    np.inf,
    -np.inf,
    5e-324,
    1e-310,
    -1e-300,
    1e308,
    -1e308,
    1e300,
    1e160,
    1e16,
    -0.0,
    0,
    1,
    -1,
    0.5,
    2.0,
]
NUMBERS += [2**63, -(2**63), 2**70, 10**400, True, False, np.float16(65504), np.float32(3e38), np.longdouble("1e4000")]
NUMBERS += [np.int8(-128), np.uint64(2**64 - 1), Decimal("NaN"), Decimal("1e999"), Fraction(1, 3), 1j, complex("nan")]
OTHERS: list[Any] = [None, "", "text", "nan", "1.0", b"bytes", (), [], {}, {1, 2}, (1, "a"), [0.5, [0.5]], Ellipsis]
OTHERS += [datetime.datetime(2024, 1, 1), np.datetime64("NaT"), np.datetime64(3, "s"), np.timedelta64(5, "D"), pd.NA]
OTHERS += [pd.NaT, pd.Timestamp(0), "\ud800", "a" * 10_000, int, len, Mute(), object, np.ma.masked, range(3), slice(2)]


def _read_only(array: Any) -> Any:
    array = np.array(array)
    array.flags.writeable = False
    return array


def _strided(array: Any) -> Any:
    wide = np.zeros(tuple(2 * size for size in array.shape), dtype=array.dtype)
    every_other = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    every_other[...] = array
    return every_other


def _structured(array: Any) -> Any:
    return np.zeros(len(array), dtype=[("a", "f8"), ("b", "i4")]) if array.ndim else array


def _masked(array: Any) -> Any:
    return np.ma.masked_array(array, mask=np.arange(array.size).reshape(array.shape) % 3 == 0)


def _ragged(array: Any) -> Any:
    rows = array.tolist()
    return [*rows[:-1], rows[-1][:-1] if array.ndim > 1 and len(rows) else [rows]] if array.ndim and rows else rows


def _frame(array: Any, names: list[Any] | None = None) -> Any:
    table = array.reshape(len(array), -1) if array.ndim else array.reshape(1, 1)
    return pd.DataFrame(table, columns=names and [names[at % len(names)] for at in range(table.shape[1])])


def _polars(array: Any) -> Any:
    return pl.DataFrame({f"x{at}": list(column) for at, column in enumerate(_frame(array).to_numpy().T)}, strict=False)


#: The same numbers in other containers and dtypes; conversions that fail are skipped.
CONTAINERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda a: a.tolist(),
    "tuples": lambda a: tuple(map(tuple, a.tolist())) if a.ndim > 1 else tuple(a.tolist()),
    "read-only": _read_only,
    "Fortran": np.asfortranarray,
    "strided": _strided,
    "backwards": lambda a: a[::-1, ...],
    "objects": lambda a: a.astype(object),
    "text": lambda a: a.astype(str),
    "bytes": lambda a: a.astype("S"),
    "complex": lambda a: a.astype(complex),
    "half": lambda a: a.astype(np.float16),
    "single": lambda a: a.astype(np.float32),
    "long": lambda a: a.astype(np.longdouble),
    "other end": lambda a: a.astype(a.dtype.newbyteorder()),
    "small": lambda a: a.astype(np.int8),
    "unsigned": lambda a: a.astype(np.uint64),
    "flags": lambda a: a.astype(bool),
    "dates": lambda a: np.asarray(a, dtype=float).astype("int64").astype("datetime64[s]"),
    "spans": lambda a: np.asarray(a, dtype=float).astype("int64").astype("timedelta64[s]"),
    "structured": _structured,
    "masked": _masked,
    "ragged": _ragged,
    "matrix": lambda a: np.asmatrix(a),
    "csr": lambda a: sp.csr_matrix(np.atleast_2d(a)),
    "coo": lambda a: sp.coo_array(a),
    "frame": _frame,
    "doubled columns": lambda a: _frame(a, ["a", "a", "b"]),
    "odd columns": lambda a: _frame(a, [None, 3, ("a", "b"), np.nan, "", pd.Timestamp(0)]),
    "own columns": lambda a: _frame(a, ["time", "series", "group", "block", "target"]),
    "levels": lambda a: pd.concat({"a": _frame(a)}, axis=1),
    "odd index": lambda a: _frame(a).set_axis([0] * len(_frame(a))),
    "categories": lambda a: _frame(a).astype("category"),
    "nullable": lambda a: _frame(a).astype("Float64"),
    "series": lambda a: pd.Series(list(a), index=range(len(a), 0, -1)),
    "polars": _polars,
    "polars series": lambda a: pl.Series("y", a.tolist(), strict=False),
    "generator": lambda a: (row for row in a),
    "dictionary": lambda a: dict(enumerate(a.tolist())),
    "set": lambda a: set(a.ravel().tolist()),
    "memory": lambda a: memoryview(np.ascontiguousarray(a, dtype=float)),
}

#: Other shapes.
SHAPES: dict[str, Callable[[Any], Any]] = {
    "no rows": lambda a: a[:0],
    "no columns": lambda a: a[..., :0],
    "a row less": lambda a: a[:-1],
    "a row more": lambda a: np.concatenate([a, a[-1:]]),
    "a column less": lambda a: a[..., :-1],
    "a column more": lambda a: np.concatenate([a, a[..., :1]], axis=-1),
    "flat": lambda a: a.ravel(),
    "an axis more": lambda a: a[..., np.newaxis],
    "an axis before": lambda a: a[np.newaxis],
    "turned": lambda a: a.T,
    "no axis": lambda a: a.reshape(-1)[0],
    "one row": lambda a: a[:1],
    "all alike": lambda a: np.full_like(a, a.reshape(-1)[0]),
}

#: All numbers at another scale.
SCALES = [0.0, -1.0, 1e-320, 1e-160, 1e160, 1e307, np.inf, np.nan]


class Spoiler:
    """Replace good arguments by hostile ones, or leave them as they are.

    Parameters
    ----------
    draw : callable
        ``draw`` of Hypothesis.
    """

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self._draw = draw
        self.done: list[str] = []  #: changes, for a report

    def one_of(self, choices: Any) -> Any:
        """Draw one of several values."""
        return self._draw(st.sampled_from(list(choices)))

    def __call__(self, good: Any) -> Any:
        """Return an argument."""
        if self.one_of([True, False, False]):
            return good
        if isinstance(good, dict):
            return self._row(good)
        array = np.asarray(good)
        if array.ndim == 0 or self.one_of([True] + [False] * 5):
            return self._noted(self.one_of([*NUMBERS, *OTHERS]))
        return self._noted(self._in_container(self._shaped(self._with_bad_cells(self._scaled(array)))))

    def _noted(self, value: Any) -> Any:
        self.done.append(f"{type(value).__name__} {np.shape(value) if isinstance(value, np.ndarray) else ''}")
        return value

    def _scaled(self, array: Any) -> Any:
        if array.dtype.kind != "f" or self.one_of([True, True, True, False]):
            return array
        with np.errstate(all="ignore"):
            return array * self.one_of(SCALES)

    def _with_bad_cells(self, array: Any) -> Any:
        n_cells = self.one_of([0, 0, 1, 1, 2])
        if not n_cells or not array.size:
            return array
        bad = [self.one_of(NUMBERS if self.one_of([True, False]) else [*NUMBERS, *OTHERS]) for _ in range(n_cells)]
        plain = all(isinstance(value, float) for value in bad) and array.dtype.kind == "f"
        spoiled = array.copy() if plain else array.astype(object)
        for value in bad:
            place = self._draw(st.integers(0, array.size - 1))
            spoiled[np.unravel_index(place, array.shape)] = value
        return spoiled

    def _shaped(self, array: Any) -> Any:
        change = self.one_of([None, None, None, *SHAPES])
        if change is None:
            return array
        self.done.append(change)
        try:
            return np.asarray(SHAPES[change](array))
        except (IndexError, ValueError):  # the array is empty already
            return array

    def _in_container(self, array: Any) -> Any:
        change = self.one_of([None, None, *CONTAINERS])
        if change is None:
            return array
        self.done.append(change)
        try:
            with np.errstate(all="ignore"):
                return CONTAINERS[change](array)
        except (Exception, pl.exceptions.PanicException):  # these numbers cannot be put into it
            return array

    def _row(self, row: dict[Any, Any]) -> Any:
        """Return a changed row of River's kind."""
        change = self.one_of(["value", "value", "value", "lost", "joined", "empty", "no row"])
        self.done.append(f"row: {change}")
        name = self.one_of(row)
        if change == "value":
            return {**row, name: self.one_of([*NUMBERS, *OTHERS])}
        if change == "lost":
            return {key: value for key, value in row.items() if key != name}
        if change == "joined":
            return {**row, self.one_of([None, 3, ("a", 1), np.nan, "new"]): self.one_of(NUMBERS)}
        return {} if change == "empty" else self.one_of([value for value in OTHERS if not isinstance(value, dict)])


#: Replacements of a single argument: also large sizes, and values that are right for other arguments.
VALUES: list[Any] = [
    *NUMBERS,
    *OTHERS,
    2**31,
    10**9,
    -5,
    np.array([]),
    np.array(2.0),
    np.array([1, 2]),
    np.full(4, np.nan),
]
VALUES += [lambda *_: 0, lambda *_: np.nan, "warn", "raise", "full", "bandit", "row", "sample", "leader"]


class OneBad:
    """Replace one argument, and leave all others as they are.

    Parameters
    ----------
    at : int
        Position of the argument in the order of calls; -1: none is replaced.
    value : object
        Replacement.
    """

    def __init__(self, at: int, value: Any = None) -> None:
        self.at, self.value = at, value
        self.n_seen = 0
        self.done: list[str] = []  #: changes, for a report

    def __call__(self, good: Any) -> Any:
        """Return an argument."""
        self.n_seen += 1
        if self.n_seen - 1 != self.at:
            return good
        self.done.append(f"argument {self.at} is {shown(self.value)}")
        return self.value


def shown(value: Any) -> str:
    """Return a value as text for a report."""
    try:
        return repr(value)[:60]
    except Exception:  # some objects refuse
        return type(value).__name__


def is_finite(value: Any, nan: bool = False) -> bool:
    """Return whether all numbers in a result are finite, or NaN if ``nan`` is true."""
    if isinstance(value, dict):
        return all(is_finite(each, nan) for each in value.values())
    if isinstance(value, list | tuple):
        return all(is_finite(each, nan) for each in value)
    if isinstance(value, float | np.floating):
        return math.isfinite(value) or (nan and math.isnan(value))
    if hasattr(value, "to_numpy"):
        value = value.to_numpy()
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "O":
            return all(is_finite(each, nan) for each in value.ravel().tolist())
        return value.dtype.kind != "f" or bool((np.isfinite(value) | (np.isnan(value) & nan)).all())
    return True
