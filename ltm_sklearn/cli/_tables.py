"""Tables in CSV and Parquet files; errors name column, row and line."""

from __future__ import annotations

import re
import warnings
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..streams import CSV

MOST_NAMES = 12  #: column names that an error lists


def read_table(path: Path, text_columns: list[str]) -> tuple[Any, NDArray[Any] | None]:
    """Read a file as a pandas frame, with the line number of each row; None for Parquet, which has no lines.

    ``text_columns`` are read as text, whatever they look like.
    """
    if not path.exists():
        raise ValueError(f"there is no file {path}")
    if path.is_dir():
        raise ValueError(f"{path} is a folder, not a file")
    name = path.name.lower()
    if not name.endswith((*CSV, ".parquet", ".pq")):
        raise ValueError(
            f"{path.name} is neither a CSV file nor a Parquet file: its name must end in {', '.join(CSV)}, .parquet or "
            ".pq"
        )
    try:
        frame, lines = _read_csv(path, text_columns) if name.endswith(CSV) else (_read_parquet(path), None)
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} cannot be read: it is not UTF-8 text (byte {error.object[error.start]:#x})") from None
    except (ValueError, OSError, EOFError, zlib.error, Warning) as error:
        raise ValueError(f"{path} cannot be read: {str(error).strip().splitlines()[0]}") from None
    if not len(frame.columns):
        raise ValueError(f"{path} is empty")
    if not len(frame):
        raise ValueError(f"{path} has no rows, only a header of {len(frame.columns)} columns")
    return frame, lines


def _read_csv(path: Path, text_columns: list[str]) -> tuple[Any, NDArray[Any]]:
    pandas = import_extra("pandas", "CSV files")
    try:
        header = pandas.read_csv(path, header=None, nrows=1, dtype=str, skip_blank_lines=False).iloc[0]
    except pandas.errors.EmptyDataError:
        return pandas.DataFrame(), np.zeros(0, dtype=np.int64)
    other = next((mark for mark in (";", "\t", "|") if len(header) == 1 and mark in str(header.iloc[0])), None)
    if other is not None:
        raise ValueError(
            f"its columns are separated by {other!r}; separate them by commas, and write decimals with points"
        )
    doubled = header[header.notna() & header.duplicated()]
    if len(doubled):  # pandas would rename the second one to name.1
        raise ValueError(f"there are two columns {doubled.iloc[0]!r}")
    with warnings.catch_warnings():
        warnings.simplefilter("error", pandas.errors.ParserWarning)  # lines longer than the header would be truncated
        frame = pandas.read_csv(
            path, dtype=dict.fromkeys(text_columns, str), index_col=False, skip_blank_lines=False, low_memory=False
        )
    frame = frame.dropna(how="all")  # blank lines; the index still counts them
    return frame.reset_index(drop=True), frame.index.to_numpy() + 2


def _read_parquet(path: Path) -> Any:
    import_extra("pyarrow", "Parquet files", "arrow")
    pandas = import_extra("pandas", "Parquet files", "arrow")
    try:
        return pandas.read_parquet(path).reset_index(drop=True)
    except (ValueError, OSError):
        raise
    except Exception as error:  # damaged files raise many kinds of errors in pandas and pyarrow
        raise ValueError(f"its column metadata is damaged: {type(error).__name__}: {error}") from None


@contextmanager
def add_line_numbers(lines: NDArray[Any] | None) -> Iterator[None]:
    """Add the line of the file to ValueErrors that name a row."""

    def with_line(found: re.Match[str]) -> str:
        row = int(found[1])
        return f"{found[0]}, line {lines[row]}" if lines is not None and row < len(lines) else found[0]

    try:
        yield
    except ValueError as error:
        raise ValueError(re.sub(r"(?<!['\"\w])row (\d+)\b", with_line, str(error))) from None


def check_columns(frame: Any, columns: Mapping[str, Iterable[str]]) -> None:
    """Raise a ValueError if an option names a column that does not exist, or if a column that is used has no name.

    ``columns`` has the names by the option that names them.
    """
    found = [str(name) for name in frame.columns]
    for option, names in columns.items():
        for name in names:
            if name not in found:
                listed = ", ".join(map(repr, found[:MOST_NAMES])) + (", …" if len(found) > MOST_NAMES else "")
                raise ValueError(f"there is no column {name!r} ({option}). The columns are {listed}")
    named = {name for names in columns.values() for name in names}
    nameless = [name for name in found if name.startswith("Unnamed: ") and name not in named]
    if nameless:  # the index of a frame that was written with the table
        at = found.index(nameless[0]) + 1
        raise ValueError(f"column {at} has no name: name it, or leave it out with --drop {nameless[0]!r}")


def as_numbers(column: Any) -> Floats | None:
    """Return a column as numbers, NaN where it is empty; None if it has text or dates."""
    pandas = import_extra("pandas", "CSV files")
    if is_dates(column):
        return None
    try:
        return np.asarray(pandas.to_numeric(column).to_numpy(dtype=np.float64, na_value=np.nan))
    except (ValueError, TypeError):
        return None


def is_dates(column: Any) -> bool:
    """Return whether pandas read a column as dates, with or without a time zone."""
    return column.dtype.kind == "M" or getattr(column.dtype, "tz", None) is not None


def read_numbers(frame: Any, name: str) -> Any:
    """Return a column as numbers, NaN where it is empty; text raises a ValueError."""
    pandas = import_extra("pandas", "CSV files")
    column = frame[name]
    numbers = pandas.to_numeric(column, errors="coerce").astype("float64")
    bad = (numbers.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(f"column {name!r} is not numeric: row {row} has {column.iloc[row]!r}")
    return numbers.to_numpy()


def read_times(column: Any, name: str) -> Any:
    """Return a column of numbers or ISO 8601 dates as times; dates whose UTC offset changes are converted to UTC."""
    pandas = import_extra("pandas", "CSV files")
    if is_dates(column):
        return column
    numbers = pandas.to_numeric(column, errors="coerce")
    if column.dtype.kind in "iuf" or numbers.notna().all():
        return numbers
    try:
        return pandas.to_datetime(column, format="ISO8601")
    except ValueError:
        times = pandas.to_datetime(column, format="ISO8601", errors="coerce", utc=True)
    bad = (times.isna() & column.notna()).to_numpy()
    if bad.any():
        row = int(bad.argmax())
        raise ValueError(
            f"column {name!r} (--time): row {row} has {column.iloc[row]!r}, which is not a time. "
            "Write times as 2024-01-31 13:00, or as numbers"
        )
    return times
