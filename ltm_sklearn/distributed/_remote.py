"""What the driver knows of a model that is on a worker, and of the worker."""

from __future__ import annotations

import time
import weakref
from collections import deque
from pathlib import Path
from typing import Any
from warnings import warn

from ..engine import ExpertWarning
from ..recording import logger
from ._bench import Answer, Bench, Message, dumps, unpacked

#: Seconds between two looks at whether a worker that does not answer is still there.
LOOK_EVERY = 0.2

#: Seconds in which a worker must get ready for models: it may have to import libraries.
TO_OPEN = 30.0

#: Seconds that an answer may take on its way, beyond the time that the models are given.
ON_THE_WAY = 5.0


class WorkerLost(RuntimeError):
    """The worker on which a model was is gone."""


class Saved:
    """A checkpoint: a pickle, or a file with one, which goes when nobody refers to it any more."""

    def __init__(self, data: bytes | str) -> None:
        self.data = data
        if isinstance(data, str):
            weakref.finalize(self, Path(data).unlink, missing_ok=True)


class Remote:
    """A model on a worker.

    Parameters
    ----------
    origin : object
        The model as the driver has it, until there is a checkpoint.
    lasting : bool, default=False
        Whether the driver keeps the origin in any case, so that no checkpoint is needed before the model learns.
    """

    def __init__(self, origin: Any = None, lasting: bool = False) -> None:
        self.origin, self.lasting = origin, lasting
        self.saved: Saved | None = None
        self.seat: Seat | None = None  #: where it is; None: nowhere, until it is needed
        self.key = ""
        self.n_learned = self.n_saved = 0  #: batches: those learned, those in the checkpoint
        self.classes: Any = None  #: asked of it once
        self.is_late = False  #: whether it was busy when it was last asked

    def settle(self, seat: Seat, key: str) -> None:
        """From now on it is there, under a key of its own."""
        self.seat, self.key = seat, key
        seat.keys.add(self.key)
        self._lease = weakref.finalize(self, seat.release, self.key)
        self._lease.atexit = False

    def leave(self) -> None:
        """It is nowhere any more, until it is restored from its checkpoint."""
        if self.seat is not None:
            told = "a model on %s is lost, with %d batches learned since its checkpoint"
            logger.info(told, self.seat.address, self.n_learned - self.n_saved)
            self._lease()
            self.seat, self.n_learned, self.is_late = None, self.n_saved, False

    def twin(self) -> Remote:
        """A copy that is nowhere; until it is saved itself, the last that is known is what it was copied from."""
        twin = Remote(self.origin, self.lasting)
        twin.saved, twin.classes = self.saved, self.classes
        twin.n_learned = twin.n_saved = self.n_saved
        return twin

    def take(self, answer: Answer) -> None:
        """Note what a worker has told of it."""
        self.is_late = answer.late
        self.n_learned += answer.learned
        if answer.saved is not None:
            self.saved, self.origin, self.n_saved = Saved(answer.saved), None, self.n_learned
        if answer.unsaved:
            told = f"a model on a worker has no new checkpoint, and would be lost with the worker: {answer.unsaved}"
            warn(told, ExpertWarning, stacklevel=2)

    def to_place(self) -> tuple[Any, bool]:
        """What a worker needs to have it, and whether a worker that is lost could be sent the same again."""
        if self.saved is not None:
            return self.saved.data, True
        return dumps(self.origin), self.lasting

    def last_known(self) -> Any:
        """The model as it was last saved."""
        return self.origin if self.saved is None else unpacked(self.saved.data)


class Seat:
    """A worker, with its bench of models.

    Parameters
    ----------
    client : distributed.Client
    address : str
    n_threads, checkpoint_every, folder, timeout : int, int, str or None, float
        Of the :class:`Bench`.
    """

    def __init__(
        self, client: Any, address: str, n_threads: int, checkpoint_every: int, folder: str | None, timeout: float
    ) -> None:
        self.address, self.n_threads, self.timeout = address, n_threads, timeout
        arguments = n_threads, checkpoint_every, folder, timeout
        self.future = client.submit(Bench, *arguments, actor=True, pure=False, workers=[address])
        self.actor = self._opened(client)
        self.keys: set[str] = set()  #: of models that are here
        self.freed: deque[str] = deque()  #: keys of models to be freed with the next message
        self.known: frozenset[bytes] = frozenset()  #: digests of the arguments of the last message
        self.gone = False
        self.late: Any = None  #: an answer that did not come in time

    def _opened(self, client: Any) -> Any:
        """The actor. Dask would wait for ever for a worker that is gone, as it might come back."""
        deadline = time.monotonic() + TO_OPEN
        while True:
            try:
                return self.future.result(timeout=LOOK_EVERY)
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
    def loss(self) -> str:
        """What to say of it when it is lost."""
        is_closed = self.future.client.status in ("closing", "closed")
        return f"the worker {self.address} is lost{', as the client is closed' if is_closed else ''}"

    @property
    def is_late(self) -> bool:
        """Whether an answer is overdue."""
        if self.late is not None and self.late.done():
            self.late = None
        return self.late is not None

    def release(self, key: str) -> None:
        """A model is needed no longer. Called by the garbage collector too, so that nothing is sent."""
        self.keys.discard(key)
        self.freed.append(key)

    def send(self, message: Message) -> Any:
        """Give the worker a message; returns what :meth:`wait` takes."""
        try:
            return self.actor.run(message)
        except Exception as error:  # Dask says so when it knows that the worker is gone
            self.gone = True
            raise WorkerLost(self.loss) from error

    def wait(self, answer: Any, n_tasks: int) -> list[Answer] | None:
        """The answers to a message with so many tasks."""
        n_turns = -(-n_tasks // self.n_threads)  # in the worst case they take all their time, one after the other
        deadline = time.monotonic() + self.timeout + ON_THE_WAY
        while True:
            try:
                answers: list[Answer] | None = answer.result(timeout=LOOK_EVERY)
                return answers
            except TimeoutError:
                if self.is_lost:
                    raise WorkerLost(self.loss) from None
                if time.monotonic() > deadline:
                    n_turns -= 1
                    if n_turns and self._responds():
                        deadline += self.timeout
                        continue
                    self.late, self.known = answer, frozenset()
                    raise TimeoutError(f"the worker {self.address} does not answer") from None
            except Exception as error:
                self.gone = True
                raise WorkerLost(f"{self.loss}: {error}") from error

    def _responds(self) -> bool:
        """Whether the worker itself answers, if its models do not."""
        try:
            self.actor.keys().result(timeout=ON_THE_WAY)
        except Exception:
            return False
        return True
