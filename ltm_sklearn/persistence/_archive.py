"""The archive that a file is: a zip with a manifest, a checksum, and the members.

``manifest.json`` says what the file is and which versions wrote it; ``state.json`` has the objects of this package,
``arrays.npz`` their arrays, and ``models.skops`` and ``models.pickle`` the models of other libraries.
"""

from __future__ import annotations

import io
import json
import zlib
from hashlib import sha256
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

FORMAT = "ltm_sklearn"
FORMAT_VERSION = 1
MANIFEST = "manifest.json"


class BadFileError(ValueError):
    """Error for a file that is not loaded: damaged, of another kind, of a newer format, or not trusted."""


class DamagedFileError(BadFileError):
    """Error for a file whose bytes are not those that were written."""


def pack(manifest: dict[str, Any], members: dict[str, bytes]) -> bytes:
    """Return the bytes of a file."""
    manifest = {"format": FORMAT, "format_version": FORMAT_VERSION, **manifest, "sha256": _checksum(members)}
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in {MANIFEST: to_json(manifest), **members}.items():
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # a fixed time, so that equal states give equal bytes
            way = ZIP_STORED if name.endswith(".npz") else ZIP_DEFLATED  # arrays hardly become smaller, and take long
            archive.writestr(info, data, way, compresslevel=1)
    return buffer.getvalue()


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """Return the manifest and the members of a file after verifying its checksum."""
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            members = {name: archive.read(name) for name in archive.namelist()}
    except (BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError) as error:
        raise DamagedFileError(f"it is damaged, or no file of ltm_sklearn ({error})") from None
    manifest = from_json(members.pop(MANIFEST)) if MANIFEST in members else None
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        # not BadFileError: the first half of a file may end in its arrays, which are an archive, too
        raise DamagedFileError("it is damaged, or no file of ltm_sklearn (it has no manifest of one)")
    version = manifest.get("format_version")
    if version != FORMAT_VERSION:
        writer = manifest.get("versions", {}).get("ltm_sklearn")
        raise BadFileError(
            f"its format is version {version}, written by ltm_sklearn {writer}, and this version of ltm_sklearn reads "
            f"version {FORMAT_VERSION}. Install ltm_sklearn {writer}"
        )
    if manifest.get("sha256") != _checksum(members):
        raise DamagedFileError("it is damaged: its content has another checksum than when it was written")
    return manifest, members


def _checksum(members: dict[str, bytes]) -> str:
    digest = sha256()
    for name, data in members.items():
        digest.update(f"{name} {len(data)} ".encode())
        digest.update(data)
    return digest.hexdigest()


def to_json(value: Any) -> bytes:
    """Return a value as JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def from_json(data: bytes) -> Any:
    """Return the value of a member in JSON."""
    try:
        return json.loads(data)
    except ValueError as error:
        raise DamagedFileError(f"it is damaged: its JSON cannot be read ({error})") from None
