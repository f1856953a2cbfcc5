"""The models of a worker, and what they are asked there."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from sklearn import config_context

from ..engine import CallFailure, able_to_travel, error_text
from ..persistence import write_atomically
from ._threads import Threads


class Task(NamedTuple):
    """What a model is asked."""

    key: str  #: of the model
    arguments: list[bytes]  #: digests of the function and of what it takes
    keep_as: str | None  #: the key under which to keep what comes of it, in place of sending it back


class Message(NamedTuple):
    """What a worker is told at once."""

    tasks: list[Task]
    parcels: dict[bytes, bytes]  #: arguments that it has not yet, pickled, by their digests
    placed: dict[str, tuple[Any, bool]]  #: new models by key, each a pickle or a file's path; whether that will do
    freed: list[str]  #: keys of models that nobody needs
    errors: Any  #: NumPy's settings
    config: dict[str, Any]  #: scikit-learn's settings


class Answer(NamedTuple):
    """What became of a task."""

    result: Any
    learned: bool = False  #: the result is the model itself, which stays where it is
    saved: Any = None  #: the model's checkpoint if it was due: a pickle or a file's path
    unsaved: str = ""  #: why there is none although it was due
    gone: bool = False  #: the model is not there: it was lost, or could not be read
    late: bool = False  #: the model is still busy with this, or with what it was asked before


@dataclass
class Held:
    """A model, and how it stands."""

    model: Any
    saved: int | None  #: how many batches it had learned when it was last saved
    n_learned: int = 0
    is_copy: bool = False  #: whether the checkpoint is that of another, of which it is a copy
    overdue: bool = False  #: whether it is still busy with what nobody waits for any more
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def recover(self, work: asyncio.Future[Answer]) -> None:
        """It has ended at last. Nobody sees what came of it: a checkpoint is due, and one that was written goes."""
        if work.cancelled():  # the worker closes
            return
        self.overdue, self.saved = False, None
        saved = work.result().saved
        if isinstance(saved, str):
            Path(saved).unlink(missing_ok=True)


class Bench:
    """An actor of Dask: it holds the models of one worker, and runs so many of them side by side.

    Parameters
    ----------
    n_threads : int
    checkpoint_every : int
        After so many learned batches a model's checkpoint goes with the answer.
    folder : str or None
        Where checkpoints are written; None: they are sent.
    timeout : float
        Seconds that a task may take; one that takes longer is not waited for, and another may begin in its place.
    """

    def __init__(self, n_threads: int, checkpoint_every: int, folder: str | None, timeout: float) -> None:
        self.checkpoint_every, self.folder, self.timeout = checkpoint_every, folder, timeout
        self.models: dict[str, Held] = {}
        self.arguments: dict[bytes, Any] = {}  #: of the last message, by digest: the next one is often about the same
        self.free = asyncio.Semaphore(n_threads)
        self.threads = Threads()

    async def run(self, message: Message) -> list[Answer] | None:
        """The answers, in order; None if an argument is neither here nor in the message: nothing was done then."""
        wanted = {digest for task in message.tasks for digest in task.arguments}
        if not wanted <= self.arguments.keys() | message.parcels.keys():
            return None
        for key in message.freed:
            self.models.pop(key, None)
        known = {digest: self.arguments[digest] for digest in wanted & self.arguments.keys()}
        for digest in wanted - known.keys():
            known[digest] = await asyncio.to_thread(loads, message.parcels[digest])
        self.arguments = known
        unread: dict[str, CallFailure] = {}  # not kept: a disk may come back, and another worker may have the library
        for key, (data, saved) in message.placed.items():
            model = await asyncio.to_thread(kept_in, unpacked, data)
            if isinstance(model, CallFailure):
                unread[key] = model
            else:
                self.models[key] = Held(model, 0 if saved else None)
        return list(await asyncio.gather(*(self._in_time(task, message, known, unread) for task in message.tasks)))

    async def keys(self) -> list[str]:
        """Of the models that are here."""
        return list(self.models)

    async def _in_time(
        self, task: Task, message: Message, known: dict[bytes, Any], unread: dict[str, CallFailure]
    ) -> Answer:
        """An answer at the latest when time is up; what runs then cannot be stopped, and ends when it ends."""
        held = self.models.get(task.key)
        if held is None:
            lost = CallFailure(LookupError("its model is not on its worker any more"))
            return Answer(unread.get(task.key, lost), gone=True)
        arguments = [known[digest] for digest in task.arguments]
        async with held.turn:
            if held.overdue:
                return Answer(CallFailure(TimeoutError("it is still busy with what it was asked before")), late=True)
            async with self.free:
                work = self.threads.call(self._answer, held, task, message, arguments)
                done, _ = await asyncio.wait([work], timeout=self.timeout)
            if done:
                return work.result()
            held.overdue = True

        def end(work: asyncio.Future[Answer]) -> None:
            held.recover(work)
            self.models.pop(task.keep_as or "", None)  # nobody knows of this copy

        work.add_done_callback(end)
        return Answer(CallFailure(TimeoutError(f"it has not answered within {self.timeout:g} s")), late=True)

    def _answer(self, *asked: Any) -> Answer:
        answer: Answer | CallFailure = kept_in(self._do, *asked)
        return Answer(answer) if isinstance(answer, CallFailure) else answer

    def _do(self, held: Held, task: Task, message: Message, arguments: list[Any]) -> Answer:
        function, *rest = arguments
        with np.errstate(**message.errors), config_context(**message.config):
            result = kept_in(function, held.model, *rest)
        if isinstance(result, CallFailure):
            return Answer(able_to_travel(CallFailure(own_error(result.error))))  # the model stays here
        if task.keep_as is not None:
            self.models[task.keep_as] = Held(result, held.saved, held.n_learned, is_copy=True)
            return Answer(None)
        learned = result is held.model
        if held.is_copy and not learned:  # a snapshot: it will never learn, and would be restored as it was before
            held.saved = None
        held.is_copy = False
        held.n_learned += learned
        answer = Answer(None if learned else result, learned)
        if held.saved is None or held.n_learned - held.saved >= self.checkpoint_every:
            saved = kept_in(self._saved, task.key, held)
            if isinstance(saved, CallFailure):  # the disk is full, say: it is tried again the next time
                error = saved.error
                return answer._replace(unsaved=f"{type(error).__name__}: {error_text(error)}")
            answer, held.saved = answer._replace(saved=saved), held.n_learned
        return answer

    def _saved(self, key: str, held: Held) -> Any:
        data = dumps(held.model)
        if self.folder is None:
            return data
        # a name of its own: whoever lets go of an older checkpoint removes that one's file
        path = str(Path(self.folder) / f"{key}-{held.n_learned}-{uuid4().hex[:8]}.pickle")
        write_atomically(data, path)
        return path


def kept_in(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or its failure: an exit or an interrupt, too, would take all other models along."""
    try:
        return function(*arguments)
    except BaseException as error:
        return CallFailure(own_error(error))


def own_error(error: BaseException) -> Exception:
    """An exit or an interrupt of a model on a worker is an error of that model; nobody else is to end by it."""
    return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error_text(error)}")


def dumps(value: Any) -> bytes:
    """Pickled as Dask does it: classes of a script or a notebook come along."""
    import cloudpickle

    return bytes(cloudpickle.dumps(value))


def loads(data: bytes) -> Any:
    """What :func:`dumps` has pickled."""
    import cloudpickle

    return cloudpickle.loads(data)


def unpacked(data: bytes | str) -> Any:
    """What was pickled, here or in a file."""
    return loads(Path(data).read_bytes() if isinstance(data, str) else data)
