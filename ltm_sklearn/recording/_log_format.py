"""Format of log files: JSON lines, a header and then one line for each record.

An incomplete record is written several times: a line replaces earlier lines that begin at the same row or after it. The
last line also holds the status of the run.
"""

from __future__ import annotations

import json
import os
from math import isfinite, nan
from typing import Any

from ._history import Record
from ._run_status import Now

NAME, FORMAT = "ltm_sklearn", 1


class LogFormatError(ValueError):
    """A file is not a log of ltm_sklearn, or of another format or run."""


def header_line(about: dict[str, Any]) -> str:
    """Return the first line of a log."""
    return json.dumps({"log": NAME, "format": FORMAT, **about}) + "\n"


def read_header(line: str, path: str) -> dict[str, Any]:
    """Return the header in the first line of a log."""
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("log") != NAME:
        raise LogFormatError(f"{path} is no log of ltm_sklearn: its first line is not the header of one")
    if header.get("format") != FORMAT:
        written_by = header.get("library", "?")
        raise LogFormatError(
            f"{path} has format {header.get('format')!r}, of version {written_by}; this version reads format {FORMAT}"
        )
    return header


def header_of(path: str) -> dict[str, Any] | None:
    """Return the header of a log file; None if the file does not exist or is empty."""
    if not os.path.exists(path):
        return None
    if not os.path.isfile(path):
        raise LogFormatError(f"{path} is no file")
    with open(path, "rb") as file:
        line = file.readline(100_000)
    return read_header(line.decode("utf-8", "replace"), path) if line else None


def record_line(record: Record, at: float, time: Any = None, now: Now | None = None) -> str:
    """Return the line of a record, with the moment of its last round and, if known, the time of its last row."""
    fields: dict[str, Any] = {name: value for name, value in record._asdict().items() if value is not None}
    fields["at"] = round(at, 3)
    if time is not None:
        fields["time"] = time
    if now is not None:
        fields["now"] = _without_nan(now._asdict())
    return json.dumps(_without_nan(fields), allow_nan=False) + "\n"


def _without_nan(values: dict[str, Any]) -> dict[str, Any]:
    """Replace numbers that JSON does not have, such as NaN, by None."""
    finite: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            finite[name] = _without_nan(value)
        else:
            finite[name] = None if isinstance(value, float) and not isfinite(value) else value
    return finite


def read_record(line: str) -> tuple[Record, float, Any, Now | None]:
    """Parse the line of a record; raise a KeyError, TypeError or ValueError if it is damaged."""
    fields = json.loads(line)
    at, time, now = float(fields.pop("at")), fields.pop("time", None), fields.pop("now", None)
    for name in ("weights", "losses", "predictions"):
        if name in fields:
            fields[name] = {str(expert): _number(value) for expert, value in fields[name].items()}
    for name in ("loss", "uniform", "target", "prediction"):
        if name in fields:
            fields[name] = _number(fields[name])
    for name in ("row", "n_rows", "round", "n_rounds"):
        fields[name] = int(fields[name])
    if now is not None:
        numbers: dict[str, Any] = {name: nan if value is None else value for name, value in now.items()}
        now = Now(**numbers)
    return Record(**fields), at, time, now


def _number(value: Any) -> float:
    return nan if value is None else float(value)
