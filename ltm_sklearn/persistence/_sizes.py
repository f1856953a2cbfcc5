"""Against archives that are small as files and enormous when they are opened."""

from __future__ import annotations

from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

from ._errors import BadFile

#: Members are at most so many times as large as in the file.
MOST_RATIO = 100


def check_sizes(archive: ZipFile, n_bytes: int) -> None:
    """Raise an error if members would be far larger than the file, or are packed in another way, or encrypted."""
    for info in archive.infolist():
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED) or info.flag_bits & 1:
            raise BadFile(f"{info.filename} is packed in a way that is not read")
    if sum(info.file_size for info in archive.infolist()) > MOST_RATIO * n_bytes:
        raise BadFile(f"it would be more than {MOST_RATIO} times as large when it is unpacked")
