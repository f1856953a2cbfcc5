"""Log files that mirror a history, so that other processes can follow the run."""

from __future__ import annotations

import os
import time
import uuid
from contextlib import suppress
from typing import Any

from .._version import __version__
from ._history import Record, RecordSource
from ._log_format import LogFormatError, header_line, header_of, record_line
from ._logging import logger, warn_user
from ._run_status import RunStatus

N_RECORDS = 1000  #: records that are kept if ``record`` is a path
MOST_LINES = 3 * N_RECORDS  #: lines of the file, also those that later ones replace; beyond it the file is rewritten
SHARE = 0.05  #: largest share of the time that is spent on writing
RETRY = 10.0  #: seconds until the next attempt after the file could not be written


class LogFile:
    """A file that mirrors a bounded history.

    The file is open only while it is written, so a log file can be copied and pickled. If several estimators are given
    the same path, the file belongs to the last one that began to write: a copy, in this or another process, takes it
    over with its first write, and the previous owner stops with a warning.

    Parameters
    ----------
    path : str or path
    about : dict
        Description of the run in the header.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any]) -> None:
        self.path = os.fspath(path)
        self.about = {**about, "library": __version__, "started": round(time.time(), 3)}
        self._forget()

    def _forget(self) -> None:
        self._process = os.getpid()
        self._run: str | None = None  #: identifier of the run in its header; None: the file has to be taken over
        self._known: tuple[int, int, int] | None = None  #: the file as it was left; None: rewrite it
        self._stride = self._n_complete = self._n_lines = 0  #: of the records in the file
        self._round = 0  #: the last one in the file
        self._next = 0.0  #: the moment from which the file may be written again
        self._fails = self._stopped = False

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "about": self.about}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def check(self) -> None:
        """Raise a ValueError if the file cannot be written."""
        what, path = f"record={self.path!r}", os.path.realpath(self.path)
        folder = os.path.dirname(path)
        if not os.path.isdir(folder):
            raise ValueError(f"{what}: there is no folder {folder}")
        try:
            header_of(path)
            beside = self._beside(path)
            with open(beside, "wb"):
                pass
            os.remove(beside)
        except LogFormatError as error:
            raise ValueError(f"{what}: {error}, and is not replaced") from None
        except OSError as error:
            raise ValueError(f"{what}: it cannot be written: {error}") from None

    def write(self, source: RecordSource, status: RunStatus, at_once: bool = False) -> None:
        """Write new records, if that is due; if the file cannot be written, warn once."""
        if self._process != os.getpid():
            self._forget()  # this is a forked process
        start = time.monotonic()
        if self._stopped or (start < self._next and not at_once):
            return
        try:
            self._write(source, status)
        except LogFormatError as error:
            self._stopped = True
            warn_user(f"record={self.path!r} is written no longer: {error}", RuntimeWarning)
        except OSError as error:
            self._known, self._next = None, time.monotonic() + RETRY  # the file may end with half a line
            if not self._fails:
                self._fails = True
                again = f"learning continues, and writing is tried again every {RETRY:.0f} s"
                warn_user(f"record={self.path!r} could not be written: {error}; {again}", RuntimeWarning)
        else:
            if self._fails:
                logger.info("record=%r is written again", self.path)
                self._fails = False
            end = time.monotonic()
            self._next = end + (end - start) / SHARE

    def close(self, source: RecordSource, status: RunStatus) -> None:
        """Write the remaining records, if the file still belongs to this run."""
        if self._run is not None and self._process == os.getpid() and not self._stopped:
            with suppress(LogFormatError, OSError):
                self._write(source, status)

    def _write(self, source: RecordSource, status: RunStatus) -> None:
        if not len(source) or (self._known is not None and self._round == status.round):
            return
        path = os.path.realpath(self.path)
        again = self._known is None or source.stride != self._stride or self._n_lines >= MOST_LINES
        if again or not self._append(path, source, status):
            self._replace(path, source, status)
        self._round = status.round

    def _append(self, path: str, source: RecordSource, status: RunStatus) -> bool:
        """Append lines; return False if the file is not as it was left."""
        items = source.items(self._n_complete)
        try:
            file = os.open(path, os.O_WRONLY | os.O_APPEND | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            return False
        try:
            if _identity(file) != self._known:
                return False
            _write_all(file, _lines(items, status))
            self._note(file, source.stride, items)
        finally:
            os.close(file)
        return True

    def _replace(self, path: str, source: RecordSource, status: RunStatus) -> None:
        """Rewrite the file atomically: readers see either the old one or the new one."""
        header = header_of(path)
        if header is not None and self._run is not None and header.get("run") != self._run:
            process = header.get("process")
            raise LogFormatError(f"another estimator, or a copy, records to {path} now, in process {process}")
        run = self._run or uuid.uuid4().hex
        head = header_line({**self.about, "run": run, "process": os.getpid()})
        items = source.items(0)
        beside = self._beside(path)
        file = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_BINARY", 0), 0o666)
        try:
            try:
                _write_all(file, [head, *_lines(items, status)])
            finally:
                os.close(file)
            os.replace(beside, path)
        except OSError:
            with suppress(OSError):
                os.remove(beside)
            raise
        self._run = run
        file = os.open(path, os.O_RDONLY)
        try:
            self._n_complete, self._n_lines = 0, 1
            self._note(file, source.stride, items)
        finally:
            os.close(file)

    def _note(self, file: int, stride: int, items: list[tuple[Record, float, Any]]) -> None:
        """Remember which records the file holds."""
        self._known, self._stride = _identity(file), stride
        self._n_complete += len(items) - (items[-1][0].n_rounds < stride)  # the last one may yet change
        self._n_lines += len(items)

    @staticmethod
    def _beside(path: str) -> str:
        # not by tempfile, whose files other users cannot read
        folder, name = os.path.split(path)
        return os.path.join(folder, f".{name}.{os.getpid()}.{uuid.uuid4().hex[:8]}.part")


def _lines(items: list[tuple[Record, float, Any]], status: RunStatus) -> list[str]:
    *others, (record, moment, when) = items
    return [*(record_line(*item) for item in others), record_line(record, moment, when, status.now(moment))]


def _identity(file: int) -> tuple[int, int, int]:
    status = os.fstat(file)
    return status.st_dev, status.st_ino, status.st_size


def _write_all(file: int, lines: list[str]) -> None:
    left = memoryview("".join(lines).encode())
    while left:  # a write may be short
        left = left[os.write(file, left) :]
