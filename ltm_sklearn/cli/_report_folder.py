"""Folders of reports: written completely, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

PAGE = "index.html"
GENERATOR = "ltm_sklearn"
#: The beginning of the tag by which the page of an earlier report is recognized.
GENERATOR_TAG = f'<meta name="generator" content="{GENERATOR}'


def check_free(folder: Path, names: Iterable[str], force: bool) -> None:
    """Raise an OSError if a report cannot be written to a folder.

    ``names`` are the files that reports may have. A folder that holds only such files, among them a page of this
    package, is an earlier report and may be replaced.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    if not folder.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.absolute().parent} in which {folder.name} could be made")
    place = folder if folder.is_dir() else folder.absolute().parent
    if not os.access(place, os.W_OK | os.X_OK):  # found before a long run, not after it
        raise PermissionError(f"{place} cannot be written to")
    folders = [name for name in names if (folder / name).is_dir()]
    if folders:
        raise FileExistsError(f"{folder / folders[0]} is a folder, and the report has a file of that name")
    if not folder.is_dir() or force:
        return
    others = sorted({entry.name for entry in folder.iterdir()} - {*names})
    if others:
        raise FileExistsError(f"{folder} holds other files, as {others[0]}: choose another folder, or use --force")
    if any(folder.iterdir()) and not _is_report(folder):
        raise FileExistsError(
            f"{folder} holds files that are not an earlier report: choose another folder, or use --force"
        )


def _is_report(folder: Path) -> bool:
    page = folder / PAGE
    return page.is_file() and GENERATOR_TAG in page.read_text(encoding="utf-8", errors="replace")[:2000]


def write_folder(folder: Path, files: Mapping[str, bytes], names: Iterable[str]) -> None:
    """Write files to a temporary folder, then move them into place; stale files of an earlier report are deleted.

    Files with names that are not in ``names`` stay.
    """
    folder = folder.resolve()
    # not tempfile, whose folders only the owner may read; the folder of a killed run is passed over
    temporary = next(path for at in count() if not (path := folder.parent / f".{folder.name}.{at}.part").exists())
    temporary.mkdir()
    try:
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        if not folder.exists():
            temporary.rename(folder)
            return
        stale = {*names} - {*files} if _is_report(folder) else set()
        # file by file: the folder may hold other files, or be the working folder of a process; the page comes last
        for name in sorted(files, key=lambda name: name == PAGE):
            os.replace(temporary / name, folder / name)
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
