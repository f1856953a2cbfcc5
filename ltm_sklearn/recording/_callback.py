"""The callback of a run: it prints status lines and mirrors the history in a log file."""

from __future__ import annotations

import os
import time
import weakref
from typing import Any

from .._param_checks import check_count
from ._history import Record, RecordSource
from ._log_file import N_RECORDS, LogFile
from ._run_status import RunStatus

LONGEST_SILENCE = 60.0  #: most seconds between two lines


def check_record(record: Any) -> None:
    """Raise a ValueError if ``record`` is neither None, a number of records, nor a path."""
    if isinstance(record, str | os.PathLike):
        if not isinstance(os.fspath(record), str) or not os.fspath(record):
            raise ValueError(f"record={record!r} is no path")
    elif record is not None:
        try:
            check_count("record", record)
        except ValueError:
            raise ValueError(f"record={record!r} must be a positive integer, the path of a file, or None") from None


def n_records(record: Any) -> int:
    """Return the number of records to keep."""
    return N_RECORDS if isinstance(record, str | os.PathLike) else int(record)


def log_file(estimator: Any, loss: str) -> LogFile | None:
    """Return the log file that an estimator's ``record`` names, after checks; None if it is not a path."""
    if not isinstance(estimator.record, str | os.PathLike):
        return None
    log = LogFile(estimator.record, {"estimator": type(estimator).__name__, "loss": loss})
    log.check()
    return log


def check_verbose(verbose: Any) -> None:
    """Raise a ValueError if ``verbose`` is not a whole number from 0 on."""
    if verbose is not True and verbose is not False and verbose != 0:
        try:
            check_count("verbose", verbose)
        except ValueError:
            raise ValueError(f"verbose={verbose!r} must be 0, 1 or 2") from None


class RunCallback:
    """Follow a run: print its status, write its log file.

    Parameters
    ----------
    source : RecordSource or None
        The records for the log file.
    log : LogFile or None
    """

    def __init__(self, source: RecordSource | None, log: LogFile | None) -> None:
        self.source: Any = source
        self.log = log
        self._verbose = 0
        self.status = RunStatus()
        self.has_news = False
        self._closes: Any = None  #: writes the last records when this object is deleted, or Python exits
        self._printed_at, self._printed_round = 0.0, 0

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_closes": None, "_printed_at": 0.0}

    @property
    def verbose(self) -> int:
        """Verbosity; checked when it changes, as it can be set during a run."""
        return self._verbose

    @verbose.setter
    def verbose(self, verbose: int) -> None:
        if verbose is not self._verbose:
            check_verbose(verbose)
            self._verbose = verbose

    @property
    def listens(self) -> bool:
        """Whether rounds must be passed to :meth:`on_round`."""
        return self.log is not None or bool(self._verbose)

    def on_round(self, record: Record, when: float) -> None:
        """Add a round."""
        self.status.add(record, when)
        self.has_news = True

    def report(self, n_experts: int, n_remembered: int, at_the_end: bool = False) -> None:
        """Print and write after a complete round what is due; at the end of a fit, everything."""
        status = self.status
        status.experts, status.remembered = n_experts, n_remembered
        self.has_news = False
        if not status.round:
            return  # no round was predicted yet
        if self.verbose:
            self._print(at_the_end)
        if self.log is not None and self.source is not None:
            if self._closes is None:
                self._closes = weakref.finalize(self, self.log.close, self.source, status)
            self.log.write(self.source, status, at_the_end)

    def _print(self, at_the_end: bool) -> None:
        """Print a line when the rounds have doubled since the last one, or a minute has passed; or always."""
        rounds, when = self.status.round, time.monotonic()
        silent = self._printed_round and when - self._printed_at < LONGEST_SILENCE
        if self.verbose < 2 and rounds < 2 * self._printed_round and silent and not at_the_end:
            return
        if rounds > self._printed_round:
            print(self.status.now(time.time()), flush=True)
        self._printed_at, self._printed_round = when, rounds
