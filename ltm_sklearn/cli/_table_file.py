"""Tables in files: read, with the line of each row, and checked column by column."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from ..streams import CSV

MOST_NAMES = 12  #: columns that an error lists


def read_table(path: Path, as_text: list[str]) -> tuple[Any, NDArray[Any] | None]:
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
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read: it is no UTF-8 text (byte {error.object[error.start]:#x})") from None
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
    other = next((mark for mark in (";", "\t", "|") if len(header) == 1 and mark in str(header.iloc[0])), None)
    if other is not None:
        raise ValueError(f"its columns are separated by {other!r}; write them with commas, and numbers with points")
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
    pandas = import_extra("pandas", "Parquet files", "arrow")
    try:
        return pandas.read_parquet(path).reset_index(drop=True)
    except (ValueError, OSError):
        raise
    except Exception as error:  # those of pandas and pyarrow on damaged files are of many kinds
        raise ValueError(f"what it says of its columns is damaged: {type(error).__name__}: {error}") from None


@contextmanager
def lines_named(lines: NDArray[Any] | None) -> Iterator[None]:
    """Errors that name a row also name its line."""

    def with_line(found: re.Match[str]) -> str:
        row = int(found[1])
        return f"{found[0]}, line {lines[row]}" if lines is not None and row < len(lines) else found[0]

    try:
        yield
    except ValueError as error:
        raise ValueError(re.sub(r"(?<!['\"\w])row (\d+)\b", with_line, str(error))) from None


def check_columns(frame: Any, named: dict[str, str], drop: list[str]) -> None:
    """Raise a ValueError if an option names a column that is not there, or a column that is used has no name."""
    columns = [str(name) for name in frame.columns]
    for option, name in [*named.items(), *(("--drop", name) for name in drop)]:
        if name not in columns:
            listed = ", ".join(map(repr, columns[:MOST_NAMES])) + (", …" if len(columns) > MOST_NAMES else "")
            raise ValueError(f"there is no column {name!r} ({option}); there are {listed}")
    nameless = [name for name in columns if name.startswith("Unnamed: ") and name not in (*named.values(), *drop)]
    if nameless:  # row numbers that a frame was written with: no forecasts
        at = columns.index(nameless[0]) + 1
        raise ValueError(f"column {at} has no name: give it one, or leave it out with --drop {nameless[0]!r}")


def numbers_of(frame: Any, name: str) -> Any:
    """A column of numbers; NaN where it is empty."""
    pandas = import_extra("pandas", "CSV files")
    column = frame[name]
    numbers = pandas.to_numeric(column, errors="coerce").astype("float64")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"column {name!r} is not numeric: row {row} has {column.iloc[row]!r}")
    return numbers.to_numpy()


def times_of(column: Any, name: str) -> Any:
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
