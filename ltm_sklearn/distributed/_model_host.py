"""Dask actor that holds the models of a worker and runs tasks with them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
from sklearn import config_context

from ..engine import CallFailure, able_to_travel, error_text
from ..persistence import write_atomically
from ._daemon_threads import DaemonThreads
from ._worker_messages import TaskBatch, TaskResult, WorkerTask, digests_of, dumps, loads, read_model


@dataclass
class HostedModel:
    """A model on a worker."""

    model: Any
    n_saved: int | None  #: number of batches in the last checkpoint; None: a checkpoint is due
    n_learned: int = 0  #: number of batches
    has_checkpoint_of_original: bool = False  #: whether the model is a copy that has no checkpoint of its own
    overdue: bool = False  #: whether a task that timed out is still running
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)

    def end_overdue(self, work: asyncio.Future[TaskResult]) -> None:
        """Note that a task that timed out has ended: its checkpoint is removed, and a new one is due."""
        if work.cancelled():  # the worker closes
            return
        self.overdue, self.n_saved = False, None
        checkpoint = work.result().checkpoint
        if isinstance(checkpoint, str):
            Path(checkpoint).unlink(missing_ok=True)


class ModelHost:
    """Dask actor that holds the models of a worker and runs tasks with them in threads.

    Parameters
    ----------
    n_threads : int
        Number of tasks that run at a time.
    checkpoint_every : int
        Number of learned batches between checkpoints of a model.
    folder : str or None
        Where checkpoints are written. None: they are returned.
    timeout : float
        Seconds for a task. After them its result is ignored, and the next task begins.
    """

    def __init__(self, n_threads: int, checkpoint_every: int, folder: str | None, timeout: float) -> None:
        self.checkpoint_every, self.folder, self.timeout = checkpoint_every, folder, timeout
        self.models: dict[str, HostedModel] = {}
        self.arguments: dict[bytes, Any] = {}  #: of the last batch by digest: the next one often has the same
        self.free = asyncio.Semaphore(n_threads)
        self.threads = DaemonThreads()

    async def run(self, batch: TaskBatch) -> list[TaskResult] | None:
        """Run a batch and return its results in order; None, and nothing is run, if an argument is missing."""
        needed = digests_of(batch.tasks)
        if not needed <= self.arguments.keys() | batch.arguments.keys():
            return None
        for key in batch.freed:
            self.models.pop(key, None)
        arguments = {digest: self.arguments[digest] for digest in needed & self.arguments.keys()}
        for digest in needed - arguments.keys():
            arguments[digest] = await asyncio.to_thread(loads, batch.arguments[digest])
        self.arguments = arguments
        unread: dict[str, CallFailure] = {}  # not stored: the disk may come back, or another worker has the library
        for key, (data, has_checkpoint) in batch.models.items():
            model = await asyncio.to_thread(call_safely, read_model, data)
            if isinstance(model, CallFailure):
                unread[key] = model
            else:
                self.models[key] = HostedModel(model, 0 if has_checkpoint else None)
        return list(await asyncio.gather(*(self._run_task(task, batch, arguments, unread) for task in batch.tasks)))

    async def keys(self) -> list[str]:
        """Return the keys of the models."""
        return list(self.models)

    async def _run_task(
        self, task: WorkerTask, batch: TaskBatch, arguments: dict[bytes, Any], unread: dict[str, CallFailure]
    ) -> TaskResult:
        """Run a task with a timeout; a thread that exceeds it cannot be stopped and ends on its own."""
        hosted = self.models.get(task.key)
        if hosted is None:
            lost = CallFailure(LookupError("the worker does not have the model any more"))
            return TaskResult(unread.get(task.key, lost), missing=True)
        values = [arguments[digest] for digest in task.arguments]
        async with hosted.turn:
            if hosted.overdue:
                return TaskResult(CallFailure(TimeoutError("the model is still busy with an earlier task")), late=True)
            async with self.free:
                work = self.threads.call(self._result, hosted, task, batch, values)
                done, _ = await asyncio.wait([work], timeout=self.timeout)
            if done:
                return work.result()
            hosted.overdue = True

        def end(work: asyncio.Future[TaskResult]) -> None:
            hosted.end_overdue(work)
            self.models.pop(task.keep_as or "", None)  # the driver does not know of this copy

        work.add_done_callback(end)
        return TaskResult(CallFailure(TimeoutError(f"no result within {self.timeout:g} s")), late=True)

    def _result(self, *arguments: Any) -> TaskResult:
        result: TaskResult | CallFailure = call_safely(self._call, *arguments)
        return TaskResult(result) if isinstance(result, CallFailure) else result

    def _call(self, hosted: HostedModel, task: WorkerTask, batch: TaskBatch, values: list[Any]) -> TaskResult:
        """Call the task's function, keep or return its result, and write a checkpoint if one is due."""
        function, *arguments = values
        with np.errstate(**batch.numpy_errors), config_context(**batch.sklearn_config):
            result = call_safely(function, hosted.model, *arguments)
        if isinstance(result, CallFailure):
            return TaskResult(able_to_travel(CallFailure(as_exception(result.error))))
        if task.keep_as is not None:
            copied = HostedModel(result, hosted.n_saved, hosted.n_learned, has_checkpoint_of_original=True)
            self.models[task.keep_as] = copied
            return TaskResult(None)
        trained = result is hosted.model
        if hosted.has_checkpoint_of_original and not trained:  # a snapshot, which the original's would not restore
            hosted.n_saved = None
        hosted.has_checkpoint_of_original = False
        hosted.n_learned += trained
        answer = TaskResult(None if trained else result, trained)
        if hosted.n_saved is None or hosted.n_learned - hosted.n_saved >= self.checkpoint_every:
            checkpoint = call_safely(self._checkpoint, task.key, hosted)
            if isinstance(checkpoint, CallFailure):  # for example a full disk; retried with the next task
                error = checkpoint.error
                return answer._replace(checkpoint_error=f"{type(error).__name__}: {error_text(error)}")
            answer, hosted.n_saved = answer._replace(checkpoint=checkpoint), hosted.n_learned
        return answer

    def _checkpoint(self, key: str, hosted: HostedModel) -> bytes | str:
        """Return the pickled model or, with a folder, the path of a new file with it."""
        data = dumps(hosted.model)
        if self.folder is None:
            return data
        # a unique name: the file of an older checkpoint is removed on its own
        path = str(Path(self.folder) / f"{key}-{hosted.n_learned}-{uuid4().hex[:8]}.pickle")
        write_atomically(data, path)
        return path


def call_safely(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the result of a function, or its failure, also for exits and interrupts, which would end the worker."""
    try:
        return function(*arguments)
    except BaseException as error:
        return CallFailure(as_exception(error))


def as_exception(error: BaseException) -> Exception:
    """Return an error of a model as an ``Exception``: its exits and interrupts must not end other processes."""
    return error if isinstance(error, Exception) else RuntimeError(f"{type(error).__name__}: {error_text(error)}")
