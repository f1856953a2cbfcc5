"""Threads for calls that an event loop waits for, and that may never end."""

from __future__ import annotations

import asyncio
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

Jobs = SimpleQueue[Callable[[], None] | None]


class Threads:
    """As many daemon threads as there are calls at a time. One that hangs keeps no call and no process waiting."""

    def __init__(self) -> None:
        self._jobs: Jobs = SimpleQueue()
        self._n_idle = 0  #: written by the loop's thread alone
        weakref.finalize(self, self._jobs.put, None)

    def call(self, function: Callable[..., Any], *arguments: Any) -> asyncio.Future[Any]:
        """What a function will return, which must not raise."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()

        def tell(result: Any) -> None:
            self._n_idle += 1
            if not future.cancelled():
                future.set_result(result)

        def job() -> None:
            result = function(*arguments)
            with suppress(RuntimeError):  # the loop is closed: nobody waits
                loop.call_soon_threadsafe(tell, result)

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
