"""Messages between the driver and the workers of a cluster: batches of tasks, and their results."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

from ..ensemble import SklearnModelsAdapter


class WorkerTask(NamedTuple):
    """Call of a function with a model on a worker."""

    key: str  #: of the model
    arguments: list[bytes]  #: digests of the function and of its further arguments
    keep_as: str | None  #: a key under which the worker keeps the result instead of returning it


class TaskBatch(NamedTuple):
    """Everything that a worker is sent for a round."""

    tasks: list[WorkerTask]
    arguments: dict[bytes, bytes]  #: pickled arguments by digest, those that the worker does not have
    models: dict[str, tuple[bytes | str, bool]]  #: new models by key: a pickle or a file; if it is a checkpoint
    freed: list[str]  #: keys of models that are no longer needed
    numpy_errors: Any  #: settings of numpy.seterr
    sklearn_config: dict[str, Any]


class TaskResult(NamedTuple):
    """Result of a task."""

    result: Any
    trained: bool = False  #: whether the result is the model itself, which stays on the worker
    checkpoint: bytes | str | None = None  #: the model's checkpoint if one was due: a pickle or a file
    checkpoint_error: str = ""  #: why a checkpoint that was due could not be written
    missing: bool = False  #: whether the worker does not have the model: it was lost, or could not be read
    late: bool = False  #: whether the model is still busy with this task or with an earlier one


class PickledArguments:
    """Arguments of the tasks of a round, each pickled once and identified by a digest of its content."""

    def __init__(self) -> None:
        self._digests: dict[int, bytes] = {}  #: by the identity of the value
        self._values: list[Any] = []  #: keeps the values alive, and their identities valid
        self._data: dict[bytes, bytes] = {}

    def digest(self, value: Any) -> bytes:
        """Pickle an argument, unless it was pickled before, and return its digest."""
        if id(value) not in self._digests:
            # workers do not need the other experts
            data = dumps(replace(value, estimators={}) if isinstance(value, SklearnModelsAdapter) else value)
            digest = blake2b(data, digest_size=16).digest()
            self._digests[id(value)], self._data[digest] = digest, data
            self._values.append(value)
        return self._digests[id(value)]

    def unknown_to(self, known: frozenset[bytes], tasks: list[WorkerTask]) -> dict[bytes, bytes]:
        """Return the pickled arguments of tasks that a worker, which has the known ones, needs."""
        return {digest: self._data[digest] for digest in digests_of(tasks) - known}


def digests_of(tasks: list[WorkerTask]) -> frozenset[bytes]:
    """Return the digests of all arguments of tasks."""
    return frozenset(digest for task in tasks for digest in task.arguments)


def dumps(value: Any) -> bytes:
    """Pickle a value as Dask does, with the classes of a script or a notebook."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def loads(data: bytes) -> Any:
    """Unpickle a value."""
    import cloudpickle

    return cloudpickle.loads(data)


def read_model(data: bytes | str) -> Any:
    """Unpickle a model from a pickle or from a file with one."""
    return loads(Path(data).read_bytes() if isinstance(data, str) else data)
