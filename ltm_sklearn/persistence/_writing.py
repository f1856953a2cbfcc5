"""Atomic writes: a file is there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

PART = ".part"  #: how the name of a file that is half written ends
HOUR = 3600.0


def write_atomically(data: bytes, path: str | os.PathLike[str]) -> None:
    """Write a file so that, whenever the process or the machine stops, it is the old one or the new one.

    The bytes go to a temporary file in the same folder, which is on the disk before it takes the place of the old one.

    Parameters
    ----------
    data : bytes
    path : str or path
        A link is followed, and the file it leads to is replaced. Its permissions stay.
    """
    target = os.path.realpath(path)
    try:
        _write(data, target)
    except OSError as error:
        if error.filename is not None or error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, target) from error  # a full disk does not name the file


def _write(data: bytes, path: str) -> None:
    folder = os.path.dirname(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    before = os.stat(path) if os.path.exists(path) else None
    if before is not None and not stat.S_ISREG(before.st_mode):  # a device or a pipe would be gone
        raise FileExistsError(errno.EEXIST, "it is no regular file, and cannot be replaced", path)
    temporary = temporary_name(path)
    try:
        with open(temporary, "xb") as file:
            if before is not None:
                os.chmod(temporary, stat.S_IMODE(before.st_mode))
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.remove(temporary)
        raise
    sync_folder(folder)


def temporary_name(path: str | os.PathLike[str]) -> str:
    """Return a new name beside a file, under which it is written first."""
    folder, name = os.path.split(path)
    short = name if len(os.fsencode(name)) < 200 else name[:40]  # names have at most 255 bytes
    return os.path.join(folder, f".{short}.{uuid4().hex[:8]}{PART}")


def remove_abandoned(folder: Path, stem: str) -> None:
    """Delete temporary files that killed processes have left, of files whose names begin with ``stem``.

    A file that is younger than an hour may still be written by a process. Files that cannot be deleted stay.
    """
    for path in folder.glob(f".{stem}*{PART}"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > HOUR:
                path.unlink()


def sync_folder(folder: str | os.PathLike[str]) -> None:
    """Wait until the names of new files in a folder are on the disk. On Windows there is no such call.

    Parameters
    ----------
    folder : str or path
    """
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
