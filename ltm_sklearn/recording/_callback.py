"""Who looks on while rounds are learned: keeps their history, mirrors it in a file, and prints a line now and then."""

from __future__ import annotations

import os
import time
import weakref
from typing import Any

from .._param_checks import check_count
from ._history import Record
from ._log_file import N_RECORDS, LogFile, Source
from ._run_status import RunStatus

LONGEST_SILENCE = 60.0  #: seconds between lines, at the most


def check_record(record: Any) -> None:
    """It is None, a number of records, or a path."""
    if isinstance(record, str | os.PathLike):
        if not isinstance(os.fspath(record), str) or not os.fspath(record):
            raise ValueError(f"record={record!r} is no path")
    elif record is not None:
        try:
            check_count("record", record)
        except ValueError:
            raise ValueError(f"record={record!r} must be a positive integer, the path of a file, or None") from None


def n_records(record: Any) -> int:
    """How many records are kept."""
    return N_RECORDS if isinstance(record, str | os.PathLike) else int(record)


def log_file(estimator: Any, loss: str) -> LogFile | None:
    """The file that an estimator's ``record`` names, checked; None if it names none."""
    if not isinstance(estimator.record, str | os.PathLike):
        return None
    log = LogFile(estimator.record, {"estimator": type(estimator).__name__, "loss": loss})
    log.check()
    return log


def check_verbose(verbose: Any) -> None:
    """0, or more for more lines."""
    if verbose is not True and verbose is not False and verbose != 0:
        try:
            check_count("verbose", verbose)
        except ValueError:
            raise ValueError(f"verbose={verbose!r} must be 0, 1 or 2") from None


class RunCallback:
    """Looks on.

    Parameters
    ----------
    source : Source or None
        The records, for the file.
    log : LogFile or None
    """

    def __init__(self, source: Source | None, log: LogFile | None) -> None:
        self.source: Any = source
        self.log = log
        self._verbose = 0
        self.status = RunStatus()
        self.has_news = False
        self._closes: Any = None  #: writes what is left when this goes away, or Python ends
        self._told_at, self._told_round = 0.0, 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_closes": None, "_told_at": 0.0}

    @property
    def verbose(self) -> int:
        """0, or more for more lines; checked, as estimators may be told otherwise in mid-run."""
        return self._verbose

    @verbose.setter
    def verbose(self, verbose: int) -> None:
        if verbose is not self._verbose:
            check_verbose(verbose)
            self._verbose = verbose

    @property
    def listens(self) -> bool:
        """Whether it wants to know how the run stands."""
        return self.log is not None or bool(self._verbose)

    def see(self, record: Record, when: float) -> None:
        """Take in a round."""
        self.status.add(record, when)
        self.has_news = True

    def tell(self, n_experts: int, n_remembered: int, at_the_end: bool = False) -> None:
        """Once a round is complete: write and print what is due; at the end of a fit, what is left."""
        status = self.status
        status.experts, status.remembered = n_experts, n_remembered
        self.has_news = False
        if not status.round:
            return  # nothing was issued yet
        if self.verbose:
            self._print(at_the_end)
        if self.log is not None and self.source is not None:
            if self._closes is None:
                self._closes = weakref.finalize(self, self.log.close, self.source, status)
            self.log.write(self.source, status, at_the_end)

    def _print(self, at_the_end: bool) -> None:
        """A line where rounds have doubled since the last one, or a minute has passed; or always."""
        rounds, when = self.status.round, time.monotonic()
        silent = self._told_round and when - self._told_at < LONGEST_SILENCE
        if self.verbose < 2 and rounds < 2 * self._told_round and silent and not at_the_end:
            return
        if rounds > self._told_round:
            print(self.status.now(time.time()), flush=True)
        self._told_at, self._told_round = when, rounds
