"""Reading the log file of a run, during the run or afterwards."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ._history import Record
from ._log_format import LogFormatError, read_header, read_record
from ._run_record import RunRecord, run_record_of_history
from ._run_status import Now


@dataclass(frozen=True, eq=False, repr=False)
class RunLog:
    """Contents of a log file."""

    path: str
    header: dict[str, Any]
    records: list[Record]
    moments: list[float]  #: when the last round of each record was complete, in seconds since 1970
    times: list[Any]  #: of the records' last rows; None where not known
    now: Now  #: status of the run when the file was last written

    def run_record(self) -> RunRecord:
        """Return the run record, as the estimator's ``run_record()`` does."""
        run_record = run_record_of_history(self.records, str(self.header.get("loss", "loss")))
        if any(time is None for time in self.times):
            return run_record
        dates = isinstance(self.times[0], str)
        return replace(run_record, times=np.array(self.times, dtype="datetime64" if dates else None))


def read_log(path: str | os.PathLike[str]) -> RunLog:
    """Read a log file; the run may be writing to it at the same time.

    Raises
    ------
    ValueError
        The file is not a log, has no record yet, or is damaged; then the message names the line.
    OSError
        The file does not exist or cannot be read.
    """
    path = os.fspath(path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}")
    if not os.path.isfile(path):
        raise LogFormatError(f"{path} is no file")
    with open(path, encoding="utf-8", errors="replace") as file:
        *lines, _ = file.read().split("\n")  # a last line without an end is being written, or was cut off
    if not lines:
        raise LogFormatError(f"{path} is no log of ltm_sklearn: it has no complete line")
    header = read_header(lines[0], path)
    kept: list[tuple[Record, float, Any]] = []
    now: Now | None = None
    for at, line in enumerate(lines[1:], start=2):
        try:
            record, moment, time, stands = read_record(line)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"line {at} of {path} is damaged: {type(error).__name__}: {error}") from None
        start = record.row - record.n_rows
        while kept and kept[-1][0].row > start:  # an earlier state of the same record
            kept.pop()
        kept.append((record, moment, time))
        now = stands or now
    if now is None:
        raise ValueError(f"{path} has no record of a round")
    records, moments, times = zip(*kept, strict=True)
    return RunLog(path, header, list(records), list(moments), list(times), now)
