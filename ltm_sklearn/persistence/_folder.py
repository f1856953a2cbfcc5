"""The folder of a checkpoint, and the names of its files."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from ._writing import part_in, remove_left, sync_folder

STEM, SUFFIX = "checkpoint-", ".ltm"


def path_at(folder: Path, n_rows: int) -> Path:
    """The file for so many rows."""
    return folder / f"{STEM}{n_rows:012d}{SUFFIX}"


def files_in(folder: Path) -> list[tuple[int, Path]]:
    """The files that are there, with their rows; the newest first."""
    found = []
    for name in os.listdir(folder):
        digits = name.removeprefix(STEM).removesuffix(SUFFIX)
        if digits.isdecimal() and name == f"{STEM}{digits}{SUFFIX}":
            found.append((int(digits), folder / name))
    return sorted(found, reverse=True)


def open_folder(folder: Path) -> None:
    """Make it if it is not there, and clear away what a killed run left half written.

    Raises an OSError if no file can be written there.
    """
    above = folder.absolute().parent
    if not above.is_dir():
        raise FileNotFoundError(errno.ENOENT, f"there is no folder {above} to make {folder.name} in")
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, f"{folder} is a file, not a folder")
    try:
        if not folder.exists():
            folder.mkdir(exist_ok=True)
            sync_folder(os.fspath(above))  # or else it may be gone after a power failure, with all that is in it
        remove_left(os.fspath(folder), STEM)
        probe = Path(part_in(os.fspath(folder), f"{STEM}probe"))
        probe.write_bytes(b"x")  # also on a full disk an empty one could be made
        probe.unlink(missing_ok=True)  # another thread may take it for one that was left
    except OSError as error:
        raise OSError(error.errno, f"{folder} cannot be written to: {error.strerror}") from error
