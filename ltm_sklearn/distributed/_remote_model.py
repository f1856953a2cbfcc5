"""Models on workers and connections to these workers, as the driver sees them."""

from __future__ import annotations

import time
import weakref
from collections import deque
from pathlib import Path
from typing import Any
from warnings import warn

from ..engine import ExpertWarning
from ..recording import logger
from ._model_host import ModelHost
from ._worker_messages import TaskBatch, TaskResult, dumps, read_model

#: Seconds between two checks whether a worker that does not answer still exists.
POLL_INTERVAL = 0.2

#: Seconds for a worker to start its actor, which may have to import libraries.
START_TIMEOUT = 30.0

#: Seconds for an answer to travel, beyond the timeout of the tasks.
TRAVEL_TIME = 5.0


class WorkerLost(RuntimeError):
    """The worker of a model is gone."""


class StoredModel:
    """A checkpoint of a model: a pickle, or a file with one that is removed with the last reference to it."""

    def __init__(self, data: bytes | str) -> None:
        self.data = data
        if isinstance(data, str):
            weakref.finalize(self, Path(data).unlink, missing_ok=True)


class RemoteModel:
    """A model on a worker.

    Parameters
    ----------
    origin : object
        The model on the driver, until there is a checkpoint.
    lasting : bool, default=False
        Whether the driver keeps the origin in any case, so that no checkpoint is needed before the model learns.
    """

    def __init__(self, origin: Any = None, lasting: bool = False) -> None:
        self.origin, self.lasting = origin, lasting
        self.checkpoint: StoredModel | None = None
        self.connection: WorkerConnection | None = None  #: None: on no worker, until the model is needed
        self.key = ""
        self.n_learned = self.n_saved = 0  #: batches learned, and batches in the checkpoint
        self.classes: Any = None  #: fetched once
        self.is_late = False  #: whether the model was busy at the last task

    def place(self, connection: WorkerConnection, key: str) -> None:
        """Note that the model is on a worker, under a key."""
        self.connection, self.key = connection, key
        connection.keys.add(self.key)
        self._release = weakref.finalize(self, connection.release, self.key)
        self._release.atexit = False

    def remove(self) -> None:
        """Note that the model is on no worker until it is restored from its checkpoint."""
        if self.connection is not None:
            logger.info(
                "a model on %s is lost, with %d batches learned since its checkpoint",
                self.connection.address,
                self.n_learned - self.n_saved,
            )
            self._release()
            self.connection, self.n_learned, self.is_late = None, self.n_saved, False

    def copied(self) -> RemoteModel:
        """Return a copy that is on no worker and has the last checkpoint."""
        copied = RemoteModel(self.origin, self.lasting)
        copied.checkpoint, copied.classes = self.checkpoint, self.classes
        copied.n_learned = copied.n_saved = self.n_saved
        return copied

    def update(self, result: TaskResult) -> None:
        """Note the result of a task."""
        self.is_late = result.late
        self.n_learned += result.trained
        if result.checkpoint is not None:
            self.checkpoint, self.origin, self.n_saved = StoredModel(result.checkpoint), None, self.n_learned
        if result.checkpoint_error:
            warn(
                "a model on a worker has no new checkpoint; if the worker is lost, the batches since the last one are "
                f"lost, too: {result.checkpoint_error}",
                ExpertWarning,
                stacklevel=2,
            )

    def to_send(self) -> tuple[bytes | str, bool]:
        """Return the pickled model or its file, and whether the same could be sent again if the worker is lost."""
        if self.checkpoint is not None:
            return self.checkpoint.data, True
        return dumps(self.origin), self.lasting

    def last_saved(self) -> Any:
        """Return the model of the last checkpoint."""
        return self.origin if self.checkpoint is None else read_model(self.checkpoint.data)


class WorkerConnection:
    """Connection to the :class:`ModelHost` of a worker.

    Parameters
    ----------
    client : distributed.Client
    address : str
    n_threads, checkpoint_every, folder, timeout : int, int, str or None, float
        Parameters of the :class:`ModelHost`.
    """

    def __init__(
        self, client: Any, address: str, n_threads: int, checkpoint_every: int, folder: str | None, timeout: float
    ) -> None:
        self.address, self.n_threads, self.timeout = address, n_threads, timeout
        arguments = n_threads, checkpoint_every, folder, timeout
        self.future = client.submit(ModelHost, *arguments, actor=True, pure=False, workers=[address])
        self.actor = self._started_actor(client)
        self.keys: set[str] = set()  #: of the models on the worker
        self.freed: deque[str] = deque()  #: keys of models to be freed with the next batch
        self.known: frozenset[bytes] = frozenset()  #: digests of the arguments of the last batch
        self.gone = False
        self.late: Any = None  #: an answer that exceeded its time

    def _started_actor(self, client: Any) -> Any:
        """Wait for the actor. Dask itself would wait forever for a lost worker, which might come back."""
        deadline = time.monotonic() + START_TIMEOUT
        while True:
            try:
                return self.future.result(timeout=POLL_INTERVAL)
            except TimeoutError:
                if time.monotonic() > deadline or self.address not in client.nthreads():
                    self.future.cancel()
                    raise TimeoutError(f"the worker {self.address} is not ready for models") from None

    @property
    def is_lost(self) -> bool:
        """Whether the worker is gone for good."""
        self.gone = self.gone or self.future.status != "finished"
        return self.gone

    @property
    def loss_text(self) -> str:
        """The error message if the worker is lost."""
        is_closed = self.future.client.status in ("closing", "closed")
        return f"the worker {self.address} is lost{', as the client is closed' if is_closed else ''}"

    @property
    def is_late(self) -> bool:
        """Whether an answer is overdue."""
        if self.late is not None and self.late.done():
            self.late = None
        return self.late is not None

    def release(self, key: str) -> None:
        """Free a model with the next batch; the garbage collector calls this, too, so nothing is sent now."""
        self.keys.discard(key)
        self.freed.append(key)

    def take_freed(self) -> list[str]:
        """Return and forget the keys of the models to be freed; the garbage collector may add some meanwhile."""
        keys = []
        while self.freed:
            keys.append(self.freed.popleft())
        return keys

    def send(self, batch: TaskBatch) -> Any:
        """Send a batch to the worker; return the pending answer for :meth:`wait`."""
        try:
            return self.actor.run(batch)
        except Exception as error:  # Dask knows already that the worker is gone
            self.gone = True
            raise WorkerLost(self.loss_text) from error

    def wait(self, pending: Any, n_tasks: int) -> list[TaskResult] | None:
        """Wait for the results of a batch of so many tasks."""
        n_turns = -(-n_tasks // self.n_threads)  # the worst case: all take the whole timeout, one after the other
        deadline = time.monotonic() + self.timeout + TRAVEL_TIME
        while True:
            try:
                results: list[TaskResult] | None = pending.result(timeout=POLL_INTERVAL)
                return results
            except TimeoutError:
                if self.is_lost:
                    raise WorkerLost(self.loss_text) from None
                if time.monotonic() > deadline:
                    n_turns -= 1
                    if n_turns and self._responds():
                        deadline += self.timeout
                        continue
                    self.late, self.known = pending, frozenset()
                    raise TimeoutError(f"the worker {self.address} does not answer") from None
            except Exception as error:
                self.gone = True
                raise WorkerLost(f"{self.loss_text}: {error}") from error

    def _responds(self) -> bool:
        """Return whether the actor itself answers while its models are busy."""
        try:
            self.actor.keys().result(timeout=TRAVEL_TIME)
        except Exception:
            return False
        return True
