"""Against archives that are small as files and enormous when they are opened."""

from __future__ import annotations

from collections.abc import Iterable
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from ._errors import BadFile

#: Members are at most so many times as large as in the file.
MOST_RATIO = 100

#: Values and tables in JSON, at most, for each byte of the file: each takes some hundred bytes once it is read.
MOST_PARTS = 2
_FEW = 10_000


def check_sizes(archive: ZipFile, n_bytes: int) -> None:
    """Raise an error if members would be far larger than the file, or are packed in another way, or encrypted."""
    for info in archive.infolist():
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.flag_bits & 1:
            raise BadFile(f"{info.filename} is packed in a way that is not read")
    if sum(info.file_size for info in archive.infolist()) > MOST_RATIO * n_bytes:
        raise BadFile(f"it would be more than {MOST_RATIO} times as large when it is unpacked")


def n_parts(texts: Iterable[bytes]) -> int:
    """How many values, lists and tables are in JSON, at most."""
    return sum(text.count(mark) for text in texts for mark in (b"[", b"{", b","))


def check_parts(texts: Iterable[bytes], n_bytes: int) -> None:
    """Raise an error if they are far more than a file of this size needs: packed brackets are next to nothing."""
    if n_parts(texts) > MOST_PARTS * n_bytes + _FEW:
        raise BadFile("it has far more values than it has bytes")
