"""Files of forecasts: read, and checked as a whole before anything runs."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..ensemble import ExpertMixture
from ..ensemble._forecasts import Reader
from ..ensemble._times import CALENDAR
from ..experts._validation import Floats
from ..streams._batches import import_extra
from ..streams._readers import CSV

MOST_NAMES = 12  #: columns that an error lists


@dataclass(frozen=True)
class ForecastFile:
    """What a file says."""

    X: Any  #: the frame: experts, and the columns that tell time, series, group and block
    target: Floats  #: NaN where it has not come yet
    known: NDArray[np.bool_]  #: whether it has
    experts: list[str]
    time: Any  #: the column of times as it stands in the file; None if there is none
    shown: NDArray[Any] | None  #: the times, ``datetime64`` or numbers
    series: NDArray[Any] | None  #: which series each row is of


def read_forecasts(path: Path, mixture: ExpertMixture, target: str, drop: list[str]) -> ForecastFile:
    """Read a table for a mixture, whose parameters say which columns are no experts.

    Raises a ValueError that names the column, the row, counted from 0, and the line in a CSV file.
    """
    named = {"--target": target, "--time": mixture.time, "--series": mixture.series}
    as_text = [name for name in (mixture.time, mixture.series) if name is not None]
    frame, lines = _read(path, as_text)
    named["--block"] = mixture.block if isinstance(mixture.block, str) else None
    _check_columns(frame, {option: name for option, name in named.items() if name is not None}, drop)
    _check_group(frame, mixture)
    with _lines_named(lines):
        return _prepared(frame.drop(columns=drop), mixture, target)


# Reading ----------------------------------------------------------------------------------------------------------


def _read(path: Path, as_text: list[str]) -> tuple[Any, NDArray[Any] | None]:
    """The table, and which line each row is; None where a file has no lines."""
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file")
    name = path.name.lower()
    if not name.endswith((*CSV, ".parquet", ".pq")):
        raise ValueError(f"{path.name} is neither a CSV file nor a Parquet file, as far as its name tells")
    try:
        frame, lines = _read_csv(path, as_text) if name.endswith(CSV) else (_read_parquet(path), None)
    except (ValueError, OSError, EOFError, zlib.error, Warning) as error:
        raise ValueError(f"{path} cannot be read: {str(error).strip().splitlines()[0]}") from None
    if not len(frame.columns):
        raise ValueError(f"{path} is empty")
    if not len(frame):
        raise ValueError(f"{path} has no rows, only the names of {len(frame.columns)} columns")
    return frame, lines


def _read_csv(path: Path, as_text: list[str]) -> tuple[Any, NDArray[Any]]:
    pandas = import_extra("pandas", "CSV files")
    try:
        header = pandas.read_csv(path, header=None, nrows=1, dtype=str, skip_blank_lines=False).iloc[0]
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame(), np.zeros(0, dtype=np.int64)
    doubled = header[header.notna() & header.duplicated()]
    if len(doubled):  # pandas would call the second one name.1
        raise ValueError(f"there are two columns {doubled.iloc[0]!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # lines longer than the header would be cut
        frame = pandas.read_csv(
            path, dtype=dict.fromkeys(as_text, str), index_col=False, skip_blank_lines=False, low_memory=False
        )
    frame = frame.dropna(how="all")  # blank lines; the index knows of them
    return frame.reset_index(drop=True), frame.index.to_numpy() + 2


def _read_parquet(path: Path) -> Any:
    import_extra("pyarrow", "Parquet files", "arrow")
    return import_extra("pandas", "Parquet files", "arrow").read_parquet(path).reset_index(drop=True)


@contextmanager
def _lines_named(lines: NDArray[Any] | None) -> Iterator[None]:
    """Errors that name a row also name its line."""

    def with_line(found: re.Match[str]) -> str:
        row = int(found[1])
        return f"{found[0]}, line {lines[row]}" if lines is not None and row < len(lines) else found[0]

    try:
        yield
    except ValueError as error:
        raise ValueError(re.sub(r"(?<!['\"\w])row (\d+)\b", with_line, str(error))) from None


# Checking ---------------------------------------------------------------------------------------------------------


def _check_columns(frame: Any, named: dict[str, str], drop: list[str]) -> None:
    columns = [str(name) for name in frame.columns]
    for option, name in [*named.items(), *(("--drop", name) for name in drop)]:
        if name not in columns:
            listed = ", ".join(map(repr, columns[:MOST_NAMES])) + (", …" if len(columns) > MOST_NAMES else "")
            raise ValueError(f"there is no column {name!r} ({option}); there are {listed}")
    nameless = [name for name in columns if name.startswith("Unnamed: ") and name not in (*named.values(), *drop)]
    if nameless:  # row numbers that a frame was written with: no forecasts
        at = columns.index(nameless[0]) + 1
        raise ValueError(f"column {at} has no name: give it one, or leave it out with --drop {nameless[0]!r}")


def _check_group(frame: Any, mixture: ExpertMixture) -> None:
    group = mixture.group
    if group is None or group in frame.columns:
        return
    if group not in CALENDAR:
        raise ValueError(f"there is no column {group!r} (--group), and it is none of {', '.join(CALENDAR)}")
    if mixture.time is None:
        raise ValueError(f"--group {group} is taken from times: say with --time which column has them")


def _prepared(frame: Any, mixture: ExpertMixture, target: str) -> ForecastFile:
    special = {mixture.time, mixture.series, mixture.group, mixture.block}
    X = frame.drop(columns=target)
    experts = [name for name in X.columns if name not in special]
    for name in experts:
        X[name] = _numbers(frame, name)
    y = _numbers(frame, target)
    time = None if mixture.time is None else frame[mixture.time]
    if mixture.time is not None:
        X[mixture.time] = _times(frame[mixture.time], mixture.time)
    series = None if mixture.series is None else frame[mixture.series].to_numpy()
    infinite = np.isinf(y)
    if infinite.any():
        raise ValueError(f"column {target!r} (--target) is infinite in row {int(infinite.argmax())}")
    if np.isnan(y).all():
        raise ValueError(f"column {target!r} (--target) is empty in all rows: there is nothing to learn from")
    known = _known(y, series, target)
    shown = _check_rows(X, y, known, mixture)
    return ForecastFile(X, y, known, experts, time, shown, series)


def _numbers(frame: Any, name: str) -> Any:
    """A column of numbers; NaN where it is empty."""
    pandas = import_extra("pandas", "CSV files")
    column = frame[name]
    numbers = pandas.to_numeric(column, errors="coerce").astype("float64")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"column {name!r} is not numeric: row {row} has {column.iloc[row]!r}")
    return numbers.to_numpy()


def _times(column: Any, name: str) -> Any:
    """Numbers, or what ISO 8601 says; with offsets that change, as in summer, in UTC."""
    pandas = import_extra("pandas", "CSV files")
    if column.dtype.kind in "Miuf" or getattr(column.dtype, "tz", None) is not None:
        return column
    numbers = pandas.to_numeric(column, errors="coerce")
    if numbers.notna().all():
        return numbers
    try:
        return pandas.to_datetime(column, format="ISO8601")
    except ValueError:
        read = pandas.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
    bad = (read.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"column {name!r} (--time) has no time in row {row} but {column.iloc[row]!r}: "
            "write times as 2024-01-31 13:00, or as numbers"
        )
    return read


def _known(y: Floats, series: NDArray[Any] | None, target: str) -> NDArray[np.bool_]:
    """Whether targets have come: those of the last rows of each series need not have."""
    known = ~np.isnan(y)
    later: dict[Any, bool] = {}  # whether a later row of the series has one
    labels = [None] * len(y) if series is None else series.tolist()
    first_gap = None
    for row in range(len(y) - 1, -1, -1):
        if known[row]:
            later[labels[row]] = True
        elif later.get(labels[row]):
            first_gap = row
    if first_gap is not None:
        raise ValueError(
            f"column {target!r} (--target) is empty in row {first_gap}, though later rows have one: "
            "only the last rows may lack it"
        )
    return known


def _check_rows(X: Any, y: Floats, known: NDArray[np.bool_], mixture: ExpertMixture) -> NDArray[Any] | None:
    """All that the mixture itself would find wrong, before it runs; returns the times."""
    filled = np.where(known, y, y[known][-1])  # rows of the future are checked for all but their targets
    times = Reader(ExpertMixture(**mixture.get_params()), None).read(X, filled).times
    reader = Reader(ExpertMixture(**mixture.get_params()), None)
    reader.check_history(reader.read(X[known], y[known]), mixture.lag)
    return times
