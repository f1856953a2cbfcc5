"""Files that are there as a whole or not at all."""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from uuid import uuid4


def write_whole(data: bytes, path: str) -> None:
    """All of it, or nothing: beside the file first, then in its place, each on the disk before the next step."""
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    if not os.path.isdir(folder):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder", folder)
    before = os.stat(path) if os.path.exists(path) else None
    if before is not None and not stat.S_ISREG(before.st_mode):  # a device or a pipe would be gone
        raise FileExistsError(errno.EEXIST, "it is no file that could be replaced", path)
    short = name if len(os.fsencode(name)) < 200 else name[:40]  # names have at most 255 bytes
    beside = os.path.join(folder, f".{short}.{os.getpid()}.{uuid4().hex[:8]}.part")
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
    sync_folder(folder)


def sync_folder(folder: str) -> None:
    """So that the new name, too, is on the disk; Windows has no such thing."""
    if os.name == "nt":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
