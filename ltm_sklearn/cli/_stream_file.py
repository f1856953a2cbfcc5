"""Files of labelled rows, checked completely before models run over them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ..forecasting import times_of
from ._features import (
    MOST_CLASSES_OF_NUMBERS,
    ColumnEncoding,
    check_not_mostly_numbers,
    check_not_too_large,
    encode_columns,
    is_flags,
)
from ._tables import add_line_numbers, as_numbers, check_columns, read_numbers, read_table, read_times

MOST_CLASSES = 1000
FEWEST_ROWS = 20  #: fewer labelled rows are too few to compare models


class StreamOptions(NamedTuple):
    """The options that say how the columns of a file are used."""

    target: str
    drop: Sequence[str] = ()
    time: str | None = None
    concept: str | None = None
    categories: Sequence[str] = ()  #: columns of numbers that are encoded as text
    task: str = "auto"  #: or "classification", "regression"
    rows: int | None = None  #: number of rows to read; None: all

    @property
    def columns(self) -> dict[str, Sequence[str]]:
        """Names of columns by the option that names them."""
        named = {"--target": self.target, "--time": self.time, "--concept": self.concept}
        columns: dict[str, Sequence[str]] = {option: [name] for option, name in named.items() if name is not None}
        return columns | {"--categories": self.categories, "--drop": self.drop}


class StreamFile(NamedTuple):
    """The labelled rows of a file, as features and targets."""

    X: Floats
    y: NDArray[Any]  #: whole numbers or text for classes; floats for regression
    columns: list[ColumnEncoding]
    names: list[str]  #: of the features
    is_class: bool
    reason: str  #: why the target is taken for classes, or for numbers
    times: NDArray[Any] | None  #: ``datetime64`` or numbers
    concept: NDArray[Any] | None
    n_unlabelled: int  #: rows that were skipped

    @property
    def task(self) -> str:
        """The task in words, with the reason."""
        task = f"classification of {len({*self.y.tolist()})} classes" if self.is_class else "regression"
        return f"{task}, because {self.reason}"


def read_stream(path: Path, options: StreamOptions) -> StreamFile:
    """Read a table of labelled rows.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    frame, lines = read_table(path, [name for name in (options.time, options.concept) if name is not None])
    frame.columns = [str(name) for name in frame.columns]
    check_columns(frame, options.columns)
    with add_line_numbers(lines):
        return _parse_table(frame.head(options.rows or len(frame)).drop(columns=[*options.drop]), options)


def _parse_table(frame: Any, options: StreamOptions) -> StreamFile:
    known = frame[options.target].notna().to_numpy()
    n_known = int(known.sum())
    if not n_known:
        raise ValueError(f"column {options.target!r} (--target) is empty in all {len(known)} rows")
    if n_known < FEWEST_ROWS:
        raise ValueError(
            f"only {n_known} of the rows have a target; at least {FEWEST_ROWS} are needed to compare models"
        )
    y, is_class, reason = _parse_target(frame, known, options)
    times = concept = None
    table = frame.drop(columns=options.target)
    if options.time is not None:
        times = _parse_times(frame[options.time], options.time)
        # dates have parts that recur; numbers only grow, and are no feature
        table = table.assign(**{options.time: times}) if times.dtype.kind == "M" else table.drop(columns=options.time)
        times = times[known]
    if options.concept is not None:
        missing = frame[options.concept].isna().to_numpy()
        if missing.any():
            raise ValueError(f"column {options.concept!r} (--concept) is empty in row {int(missing.argmax())}")
        concept = table.pop(options.concept).astype(str).to_numpy(dtype=str)[known]
    X, names, columns = encode_columns(table, options.categories)
    return StreamFile(X[known], y[known], columns, names, is_class, reason, times, concept, len(known) - n_known)


def _parse_target(frame: Any, known: NDArray[np.bool_], options: StreamOptions) -> tuple[NDArray[Any], bool, str]:
    """Return the targets, whether they are classes, and the reason why."""
    column, name = frame[options.target], options.target
    numbers = None if is_flags(column[known].head(1)) else as_numbers(column)
    distinct = int(column[known].nunique())
    if distinct == 1:
        raise ValueError(
            f"column {name!r} (--target) is {column[known].iloc[0]} in all rows: there is nothing to predict"
        )
    whole = numbers is not None and bool((numbers[known] == np.floor(numbers[known])).all())
    if options.task != "auto":
        is_class, reason = options.task == "classification", "--task says so"
    elif numbers is None:
        check_not_mostly_numbers(column, name)
        is_class, reason = True, f"{name} has {distinct} values that are not numbers"
    elif whole and distinct <= MOST_CLASSES_OF_NUMBERS:
        is_class, reason = True, f"{name} has {distinct} different values, all whole numbers"
    else:
        reason = f"{name} has {distinct:,} different numbers" if whole else f"{name} has numbers that are not whole"
        is_class = False
    if not is_class:
        numbers = read_numbers(frame, name)
        check_not_too_large(numbers, f"{name!r} (--target)")
        return numbers, False, reason
    if distinct > min(MOST_CLASSES, known.sum() / 2):
        raise ValueError(
            f"column {name!r} (--target) has {distinct:,} different values in {int(known.sum()):,} rows: too many for "
            "classes. If it is a quantity, use --task regression"
        )
    if whole and numbers is not None:
        return np.where(known, numbers, 0.0).astype(np.int64), True, reason
    return column.astype(object).where(known, "").astype(str).to_numpy(dtype=str), True, reason


def _parse_times(column: Any, name: str) -> NDArray[Any]:
    """Return the times, which must not decrease."""
    what = f"column {name!r} (--time)"
    times = times_of(read_times(column, name), what)
    back = times.order[1:] < times.order[:-1]
    if back.any():
        row = int(back.argmax()) + 1
        raise ValueError(
            f"{what} goes back: row {row} has {column.iloc[row]} after {column.iloc[row - 1]}. Sort the rows by time"
        )
    return times.shown
