"""Files of rows with a target: read, and checked as a whole before anything runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..forecasting import times_of as stamps_of
from ._features import LARGEST, MOST_WHOLE, Column, check_no_numbers, features_of
from ._table_file import check_columns, lines_named, numbers_of, read_table, times_of

MOST_CLASSES = 1000
FEWEST_ROWS = 20  #: with fewer there is nothing to compare


class SelectedExperts(NamedTuple):
    """What the options say of a file."""

    target: str
    drop: list[str]
    time: str | None
    concept: str | None
    as_text: list[str]
    task: str  #: "auto", "classification" or "regression"
    n_rows: int | None  #: how many of the first rows


class StreamFile(NamedTuple):
    """What a file says; rows without a target are not in it."""

    X: Floats
    y: NDArray[Any]  #: whole numbers or text for classes, otherwise numbers
    columns: list[Column]
    names: list[str]  #: of the features
    is_class: bool
    why: str  #: it is taken for the one or the other
    times: NDArray[Any] | None  #: ``datetime64`` or numbers
    concept: NDArray[Any] | None
    n_unlabelled: int  #: rows that were passed over


def read_stream(path: Path, asked: SelectedExperts) -> StreamFile:
    """Read a table.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    frame, lines = read_table(path, [name for name in (asked.time, asked.concept) if name is not None])
    frame.columns = [str(name) for name in frame.columns]
    named = {"--target": asked.target, "--time": asked.time, "--concept": asked.concept}
    named |= {f"--categories {name}": name for name in asked.as_text}
    check_columns(frame, {option: name for option, name in named.items() if name is not None}, asked.drop)
    if asked.n_rows is not None:
        frame = frame.head(asked.n_rows)
    with lines_named(lines):
        return _prepared(frame.drop(columns=asked.drop), asked)


def _prepared(frame: Any, asked: SelectedExperts) -> StreamFile:
    known = frame[asked.target].notna().to_numpy()
    n_known = int(known.sum())
    if not n_known:
        raise ValueError(f"column {asked.target!r} (--target) is empty in all {len(known)} rows")
    if n_known < FEWEST_ROWS:
        raise ValueError(
            f"only {n_known} of the rows have a target: at least {FEWEST_ROWS} are needed to compare models"
        )
    y, is_class, why = _targets(frame, known, asked)
    times = None if asked.time is None else _times(frame[asked.time], asked.time)
    concept = None if asked.concept is None else _concept(frame[asked.concept], asked.concept)
    table = frame.drop(columns=[name for name in (asked.target, asked.concept) if name is not None])
    if asked.time is not None:  # of dates the parts are used; of numbers, which only grow, nothing
        assert times is not None
        is_dates = times.dtype.kind == "M"
        table = table.assign(**{asked.time: times}) if is_dates else table.drop(columns=asked.time)
    features = features_of(table, asked.as_text)
    return StreamFile(
        features.X[known],
        y[known],
        features.columns,
        features.names,
        is_class,
        why,
        None if times is None else times[known],
        None if concept is None else concept[known],
        len(known) - n_known,
    )


# The target -------------------------------------------------------------------------------------------------------


def _targets(frame: Any, known: NDArray[np.bool_], asked: SelectedExperts) -> tuple[NDArray[Any], bool, str]:
    """The targets, whether they are classes, and why they are taken for that."""
    column, name = frame[asked.target], asked.target
    numbers = _numbers_or_none(column, known)
    distinct = int(column[known].nunique())
    if distinct == 1:
        raise ValueError(f"column {name!r} (--target) is {column[known].iloc[0]} in all rows: there is nothing to tell")
    if asked.task == "regression":
        return _checked(numbers_of(frame, name), name), False, "--task says so"
    whole = numbers is not None and bool((numbers[known] == np.floor(numbers[known])).all())
    if asked.task == "classification":
        is_class, why = True, "--task says so"
    elif numbers is None:
        check_no_numbers(column, name)
        is_class, why = True, f"{name} has {distinct} values that are no numbers"
    elif whole and distinct <= MOST_WHOLE:
        is_class, why = True, f"{name} has {distinct} different values, all whole numbers"
    else:
        why = f"{name} has {distinct:,} different numbers" if whole else f"{name} has numbers that are not whole"
        is_class = False
    if not is_class:
        assert numbers is not None
        return _checked(numbers, name), False, why
    if distinct > min(MOST_CLASSES, known.sum() / 2):
        raise ValueError(
            f"column {name!r} (--target) has {distinct:,} different values in {int(known.sum()):,} rows: too many for "
            "classes. If they are numbers, --task regression takes them so"
        )
    if whole and numbers is not None:
        return np.where(known, numbers, 0.0).astype(np.int64), True, why
    return column.astype(object).where(known, "").astype(str).to_numpy(dtype=str), True, why


def _numbers_or_none(column: Any, known: NDArray[np.bool_]) -> Floats | None:
    """Numbers, NaN where there is none; None if some are text or flags."""
    pandas = import_extra("pandas", "CSV files")
    if column.dtype.kind == "M" or any(isinstance(value, bool | np.bool_) for value in column[known].head(1)):
        return None
    try:
        numbers = pandas.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        return None
    return numbers


def _checked(numbers: Floats, name: str) -> Floats:
    with np.errstate(invalid="ignore"):
        far = np.abs(numbers) > LARGEST
    if far.any():
        row = int(far.argmax())
        raise ValueError(f"column {name!r} (--target) has {numbers[row]:g} in row {row}, which is no sensible number")
    return numbers


# Times and concepts -----------------------------------------------------------------------------------------------


def _times(column: Any, name: str) -> NDArray[Any]:
    """The times, which must not go back."""
    what = f"column {name!r} (--time)"
    times = stamps_of(times_of(column, name), what)
    back = times.order[1:] < times.order[:-1]
    if back.any():
        row = int(back.argmax()) + 1
        raise ValueError(
            f"{what} goes back: row {row} has {column.iloc[row]} after {column.iloc[row - 1]}. Rows must be in the "
            "order of time: sort the file"
        )
    return times.shown


def _concept(column: Any, name: str) -> NDArray[Any]:
    missing = column.isna().to_numpy()
    if missing.any():
        raise ValueError(f"column {name!r} (--concept) is empty in row {int(missing.argmax())}")
    return column.astype(str).to_numpy(dtype=str)
