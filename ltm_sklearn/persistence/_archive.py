"""The file: a zip archive whose comment has the checksum of all that stands before it.

``manifest.json`` says what it is and who wrote it, ``state.json`` has the objects, ``arrays/`` their arrays, and
``models.skops`` or ``models.pickle`` what belongs to other libraries.
"""

from __future__ import annotations

import io
import json
import zlib
from hashlib import sha256
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from ._errors import BadFile, Damaged
from ._sizes import MOST_PARTS, MOST_RATIO, check_parts, check_sizes, n_parts

FORMAT = "ltm_sklearn"
FORMAT_VERSION = 1
MODELS = {"models.skops", "models.pickle"}

_MARK = b"ltm_sklearn, sha256 of all before: "
_DIGEST_SIZE = 64


def packed(members: dict[str, bytes]) -> bytes:
    """The bytes of a file."""
    data = _packed(members, ZIP_DEFLATED)
    texts = [text for name, text in members.items() if not name.endswith(".npy")]
    n_bytes = sum(map(len, members.values()))
    if n_bytes > MOST_RATIO // 2 * len(data) or n_parts(texts) > MOST_PARTS // 2 * len(data):
        data = _packed(members, ZIP_STORED)  # lest it is taken for an attack
    return data


def _packed(members: dict[str, bytes], way: int) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            info = ZipInfo(name, (1980, 1, 1, 0, 0, 0))  # the same state gives the same bytes
            is_array = name.endswith(".npy")  # which would take its time, and hardly become smaller
            archive.writestr(info, data, ZIP_STORED if is_array else way, compresslevel=1)
        archive.comment = _MARK + b"0" * _DIGEST_SIZE
    before = buffer.getvalue()[:-_DIGEST_SIZE]
    return before + sha256(before).hexdigest().encode()


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    """The manifest, and the other members; the bytes are known to be those that were written."""
    before, digest = data[:-_DIGEST_SIZE], data[-_DIGEST_SIZE:]
    if not before.endswith(_MARK):
        raise Damaged("it is no file of ltm_sklearn, or not all of it is there")
    if sha256(before).hexdigest().encode() != digest:
        raise Damaged("it is damaged: its checksum is another one")
    try:
        with ZipFile(io.BytesIO(data)) as archive:
            check_sizes(archive, len(data))
            names = archive.namelist()
            if len({*names}) < len(names):
                raise BadFile("it has a member twice")
            members = {name: archive.read(name) for name in names}
    except (BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise BadFile(f"it cannot be unpacked: {error}") from None
    check_parts([text for name, text in members.items() if name.endswith(".json")], len(data))
    manifest = _manifest(members.pop("manifest.json", None))
    known = {"state.json", *MODELS}
    unknown = sorted(name for name in members if name not in known and not name.startswith("arrays/"))
    if unknown or "state.json" not in members:
        raise BadFile(f"it has a member {unknown[0]!r}" if unknown else "it has no state.json")
    return manifest, members


def _manifest(data: bytes | None) -> dict[str, Any]:
    manifest = {} if data is None else read_json(data, "manifest.json")
    if manifest.get("format") != FORMAT:
        raise BadFile("it is no file of ltm_sklearn: its manifest does not say so")
    written = manifest.setdefault("versions", {})
    if not isinstance(written, dict) or {*map(type, written.values())} - {str}:
        raise BadFile("its manifest does not say which versions have written it")
    version = manifest.get("format_version")
    if type(version) is not int or version < 1:
        raise BadFile(f"its format has the version {version!r}")
    if version > FORMAT_VERSION:
        by = written.get("ltm_sklearn")
        raise BadFile(
            f"its format is version {version}, written by ltm_sklearn {by}; here it is {FORMAT_VERSION}: update"
        )
    return manifest


def as_json(value: Any) -> bytes:
    """Without NaN, which is not JSON."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).encode()


def read_json(data: bytes, name: str) -> dict[str, Any]:
    """A table."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise BadFile(f"its {name} cannot be read: {error}") from None
    if not isinstance(value, dict):
        raise BadFile(f"its {name} is no table")
    return value
