"""What skops says of its objects, looked at before skops reads it."""

from __future__ import annotations

import json
from typing import Any

from ._errors import BadFile
from ._sizes import check_parts

_VERSIONS = ("_sklearn_version", "_ltm_sklearn_version")


def check_schema(data: bytes, n_bytes: int) -> None:
    """Raise an error for what skops does not write: it would be busy with it for years, or show an object.

    skops writes an object each time that it is referred to, and keeps the first when it reads. So all those of one
    identity have the same shape; if they had not, twenty pairs in each other would be a million.
    """
    check_parts([data], n_bytes)
    found = [json.loads(data)]
    for each in found:  # which grows meanwhile: parents before their children
        parts = each.values() if isinstance(each, dict) else each
        found += [part for part in parts if isinstance(part, dict | list)]
    shapes: dict[Any, int] = {}
    shape_of: dict[int, int] = {}  #: by the place in memory of a part
    shape_of_identity: dict[Any, int] = {}
    for each in reversed(found):
        is_node = isinstance(each, dict)
        inner = each.values() if is_node else each
        shape = (each.get("__loader__") if is_node else None, *[shape_of.get(id(part)) for part in inner])
        number = shape_of[id(each)] = shapes.setdefault(shape, len(shapes))
        if not is_node:
            continue
        if shape_of_identity.setdefault(each.get("__id__"), number) != number and each.get("__id__"):
            raise BadFile("its models refer to the same things over and over")
        for name in _VERSIONS:
            version = each.get(name)
            if isinstance(version, dict) and version.get("__loader__") != "JsonNode":
                raise BadFile("a model was written by a version that is no text")
