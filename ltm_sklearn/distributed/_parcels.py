"""What a round's tasks take, pickled once and sent once."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from typing import Any

from ..ensemble import SklearnModelsAdapter
from ._bench import Task, dumps


class Parcels:
    """Arguments of a round's tasks, each pickled once and known by what it holds."""

    def __init__(self) -> None:
        self._digests: dict[int, bytes] = {}  #: by identity, which is sound as long as the round's tasks live
        self._values: list[Any] = []  #: hence they are held
        self._data: dict[bytes, bytes] = {}

    def digest(self, value: Any) -> bytes:
        """Of an argument."""
        if id(value) not in self._digests:
            # a worker does not need the other experts
            data = dumps(replace(value, estimators={}) if isinstance(value, SklearnModelsAdapter) else value)
            digest = blake2b(data, digest_size=16).digest()
            self._digests[id(value)], self._data[digest] = digest, data
            self._values.append(value)
        return self._digests[id(value)]

    def besides(self, known: frozenset[bytes], tasks: list[Task]) -> dict[bytes, bytes]:
        """What tasks need and a worker does not know."""
        wanted = {digest for task in tasks for digest in task.arguments}
        return {digest: self._data[digest] for digest in wanted - known}
