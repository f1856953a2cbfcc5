"""Daemon threads for calls that an event loop awaits and that may never return."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

Jobs = SimpleQueue[Callable[[], None] | None]


class DaemonThreads:
    """Daemon threads, as many as calls run at a time; a call that hangs blocks no other call and no exit."""

    def __init__(self) -> None:
        self._jobs: Jobs = SimpleQueue()
        self._n_idle = 0  #: changed by the loop's thread only
        weakref.finalize(self, self._jobs.put, None)

    def call(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """Return a future of the result of a function, which must not raise."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def finish(result: Any) -> None:
            self._n_idle += 1
            if not future.cancelled():
                future.set_result(result)

        def job() -> None:
            result = function(*arguments)
            with suppress(RuntimeError):  # the loop is closed, and the result is not needed
                loop.call_soon_threadsafe(finish, result)

        if self._n_idle:
            self._n_idle -= 1
        else:
            threading.Thread(target=_work, args=(self._jobs,), name="ltm_sklearn", daemon=True).start()
        self._jobs.put(job)
        return future


def _work(jobs: Jobs) -> None:
    while (job := jobs.get()) is not None:
        job()
        del job  # with its arguments, which may be large
    jobs.put(None)  # for the next thread
