"""Folders that appear whole, or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

PAGE = "index.html"
#: By this in its page a folder is known for a report.
GENERATOR = '<meta name="generator" content="ltm_sklearn'


def check_free(folder: Path, names: Iterable[str], force: bool) -> None:
    """Raise an OSError if a report cannot go there.

    ``names`` are the files that reports may have: a folder with nothing else in it, and with a page of ours, is an
    earlier report.
    """
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    if not folder.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {folder.absolute().parent} to write {folder.name} into")
    place = folder if folder.is_dir() else folder.absolute().parent
    if not os.access(place, os.W_OK | os.X_OK):  # better known before a long run than after it
        raise PermissionError(f"{place} cannot be written to")
    folders = [name for name in names if (folder / name).is_dir()]
    if folders:
        raise FileExistsError(f"{folder / folders[0]} is a folder, and a report has a file of that name")
    if not folder.is_dir() or force:
        return
    others = sorted({entry.name for entry in folder.iterdir()} - {*names})
    if others:
        raise FileExistsError(f"{folder} holds other files, as {others[0]}: choose another folder, or use --force")
    if any(folder.iterdir()) and not _is_ours(folder / PAGE):
        raise FileExistsError(f"{folder} holds files that are no earlier report: choose another folder, or use --force")


def _is_ours(page: Path) -> bool:
    return page.is_file() and GENERATOR in page.read_text(encoding="utf-8", errors="replace")[:2000]


def write_folder(folder: Path, files: Mapping[str, bytes], names: Iterable[str]) -> None:
    """Write files beside the folder, then put them in its place; those of an earlier report go, any others stay."""
    folder = folder.resolve()
    # not by tempfile, whose folders nobody else may read; one that a killed run has left is passed over
    beside = next(path for at in count() if not (path := folder.parent / f".{folder.name}.{at}.part").exists())
    beside.mkdir()
    try:
        for name, content in files.items():
            (beside / name).write_bytes(content)
        if not folder.exists():
            beside.rename(folder)
            return
        stale = {*names} - {*files} if _is_ours(folder / PAGE) else set()
        # one by one, as somebody may stand in the folder, and it may hold files of others; the page last
        for name in sorted(files, key=lambda name: name == PAGE):
            os.replace(beside / name, folder / name)
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
