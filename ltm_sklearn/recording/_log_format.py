"""The format of a log of records: JSON lines, a header first, then a line a record.

A record that is not complete yet may be written again and again; a later line replaces those that begin at the same row
or after it. The last line says also how the run stands.
"""

from __future__ import annotations

import json
import os
from math import isfinite, nan
from typing import Any

from ._history import Record
from ._run_status import Now

NAME, FORMAT = "ltm_sklearn", 1


class NoLog(ValueError):
    """A file that is no log of ours."""


def header_line(about: dict[str, Any]) -> str:
    """The first line."""
    return json.dumps({"log": NAME, "format": FORMAT, **about}) + "\n"


def read_header(line: str, path: str) -> dict[str, Any]:
    """What the first line says; an error if the file is none of ours."""
    try:
        header = json.loads(line)
    except ValueError:
        header = None
    if not isinstance(header, dict) or header.get("log") != NAME:
        raise NoLog(f"{path} is no log of ltm_sklearn: its first line is not the header of one")
    if header.get("format") != FORMAT:
        written_by = header.get("library", "?")
        raise NoLog(
            f"{path} has format {header.get('format')!r}, of version {written_by}; this version reads format {FORMAT}"
        )
    return header


def header_of(path: str) -> dict[str, Any] | None:
    """Of a file; None if there is none, or if it is empty."""
    if not os.path.exists(path):
        return None
    if not os.path.isfile(path):
        raise NoLog(f"{path} is no file")
    with open(path, "rb") as file:
        line = file.readline(100_000)
    return read_header(line.decode("utf-8", "replace"), path) if line else None


def record_line(record: Record, at: float, time: Any = None, now: Now | None = None) -> str:
    """A record with the moment of its last round and, where the rows have times, the last one's."""
    fields: dict[str, Any] = {name: value for name, value in record._asdict().items() if value is not None}
    fields["at"] = round(at, 3)
    if time is not None:
        fields["time"] = time
    if now is not None:
        fields["now"] = _known(now._asdict())
    return json.dumps(_known(fields), allow_nan=False) + "\n"


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """With None, which JSON has, in the place of NaN, which it has not."""
    known = {}
    for name, value in values.items():
        if isinstance(value, float) and not isfinite(value):
            value = None
        known[name] = _known(value) if isinstance(value, dict) else value
    return known


def read_record(line: str) -> tuple[Record, float, Any, Now | None]:
    """The same from a line; KeyError, TypeError or ValueError if it is damaged."""
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
