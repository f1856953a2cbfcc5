"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import platform
import re
import stat
import time
import zlib
from contextlib import suppress
from uuid import uuid4

PART = re.compile(r"\.(\d+)\.([0-9a-f-]+)\.part$")  #: how the name of a file that is half written ends
DAY = 86400.0

_being_written: set[str] = set()  #: names of files that threads of this process write now


def write_whole(data: bytes, path: str) -> None:
    """All of it, or nothing: beside the file first, then in its place, each on the disk before the next step."""
    path = os.path.realpath(path)
    try:
        _write(data, path)
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, path) from error  # a full disk does not say for which file


def _write(data: bytes, path: str) -> None:
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    before = os.stat(path) if os.path.exists(path) else None
    if before is not None and not stat.S_ISREG(before.st_mode):  # a device or a pipe would be gone
        raise FileExistsError(errno.EEXIST, "it is no file that could be replaced", path)
    beside = part_in(folder, _short(name))
    _being_written.add(os.path.basename(beside))
    try:
        with open(beside, "xb") as file:
            if before is not None:  # whom it was closed to, it stays closed to
                os.chmod(beside, stat.S_IMODE(before.st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    except BaseException:
        with suppress(OSError):
            os.remove(beside)
        raise
    finally:
        _being_written.discard(os.path.basename(beside))
    sync_folder(folder)


def _short(name: str) -> str:
    """Names have at most 255 bytes."""
    return name if len(os.fsencode(name)) < 200 else name[:40]


def remove_left_of(path: str) -> None:
    """Remove what processes that are gone have left half written of a file. It looks through the folder."""
    folder, name = os.path.split(os.path.realpath(path))
    remove_left(folder, f"{_short(name)}.")


def sync_folder(folder: str) -> None:
    """So that the new name, too, is on the disk; Windows has no such thing."""
    if os.name == "nt":
        return
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # one may write to a folder that one may not list: the file is in place all the same
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def part_in(folder: str, name: str) -> str:
    """Where a file of this name is written first: the process and the machine are in it, to be asked for later."""
    return os.path.join(folder, f".{name}.{os.getpid()}.{_machine()}-{uuid4().hex[:8]}.part")


def remove_left(folder: str, stem: str) -> None:
    """Remove what processes that are gone have left half written, of files whose names begin so.

    What another process is writing stays. It is tidying: where it cannot be done, nothing is said.
    """
    with suppress(OSError):
        for name in os.listdir(folder):
            found = PART.search(name) if name.startswith(f".{stem}") else None
            if found is not None:
                path = os.path.join(folder, name)
                with suppress(OSError):
                    if _is_left(name, int(found[1]), found[2]) or time.time() - os.stat(path).st_mtime > DAY:
                        os.remove(path)


def _is_left(name: str, process: int, token: str) -> bool:
    """Whether a process is known to be no more; those of other machines, and of Windows, cannot be asked."""
    machine = token.rpartition("-")[0]
    if machine not in ("", _machine()):
        return False
    if process == os.getpid():  # or of an earlier process with this number: in a container each one has the same
        return name not in _being_written
    if os.name == "nt":
        return False
    try:
        os.kill(process, 0)  # which only asks; on Windows it would be Ctrl-C
    except (ProcessLookupError, OverflowError):
        return True
    except OSError:  # somebody else's
        return False
    return False


def _machine() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
