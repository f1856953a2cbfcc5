"""Calls of models that may take only so long: they run in threads of our own, and those that are late are left behind.

A thread cannot be stopped. One that is late is a daemon: it keeps neither a round nor the interpreter's end waiting.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn import config_context, get_config

from ..recording import logger
from ._locks import Turns, inside_a_round, leave_behind
from ._model_calls import CallFailure, apart, attempt_to_learn, error_text
from ._models import Expert, Models


class LateAnswer(TimeoutError):
    """An expert's call took too long."""


def too_late(limit: float) -> LateAnswer:
    """What is raised, or reported, of a call beyond its limit."""
    return LateAnswer(f"took longer than {limit:g} s")


@dataclass(eq=False)
class Call:
    """A call of a model, in its thread."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    began: float | None = None  #: when it was started
    ended: bool = False
    given_up: bool = False  #: it was late, and nobody waits for it
    trains: Any = None  #: the model whose place the result takes; None if it takes none
    earlier: Call | None = None  #: of the same expert: it had ended, but what it has learned was not taken back yet
    turns: Turns = field(default_factory=Turns)  #: that its thread has
    result: Any = None
    error: BaseException | None = None  #: that the call has raised, which is none of its results
    process: int = field(default_factory=os.getpid)  #: whose thread it is

    @property
    def is_running(self) -> bool:
        """Whether its thread is still at it, which is not there in a forked process."""
        return self.began is not None and not self.ended and self.process == os.getpid()

    def run(self) -> None:
        """Do it; the arguments are let go, as they may be large."""
        try:
            self.result = self.function(*self.arguments)
        except BaseException as error:
            self.error = error
        self.arguments = ()


@dataclass
class _Crew:
    """Calls that are made one after the other, or several at a time."""

    calls: list[Call]
    limit: float
    n_jobs: int
    change: threading.Condition = field(default_factory=threading.Condition)
    n_begun: int = 0
    n_workers: int = 0

    def run(self) -> None:
        """Until all calls have ended or are late."""
        try:
            self._wait_for_all(get_config(), np.geterr())
        except BaseException:  # an interrupt: what has not begun never will, and the rest is left behind
            with self.change:
                self.n_begun = len(self.calls)
                for call in self.calls:
                    if call.is_running and not call.given_up:
                        leave_behind(call.turns)
                    call.given_up = True
            raise

    def _wait_for_all(self, config: dict[str, Any], errors: Any) -> None:
        with self.change:
            while True:
                running = [call for call in self.calls if call.began is not None and not (call.ended or call.given_up)]
                now = time.monotonic()
                for call in running:
                    if now - (call.began or now) >= self.limit:
                        call.given_up = True
                        leave_behind(call.turns)
                        self.n_workers -= 1  # its thread is lost
                running = [call for call in running if not call.given_up]
                waiting = len(self.calls) - self.n_begun
                while waiting > 0 and self.n_workers < min(self.n_jobs, waiting + len(running)):
                    self.n_workers += 1
                    # what is set for this thread holds for that one, too
                    threading.Thread(target=copy_context().run, args=(self._work, config, errors), daemon=True).start()
                if not waiting and not running:
                    return
                first = min((call.began or now for call in running), default=now)
                self.change.wait(max(first + self.limit - now, 0.0) if running else None)

    def _work(self, config: dict[str, Any], errors: Any) -> None:
        with config_context(**config), np.errstate(**errors):
            while True:
                with self.change:
                    if self.n_begun == len(self.calls):
                        self.n_workers -= 1
                        return
                    call = self.calls[self.n_begun]
                    self.n_begun += 1
                    call.began = time.monotonic()
                    self.change.notify()
                with inside_a_round(call.turns):
                    call.run()
                with self.change:
                    call.ended = True
                    if call.given_up:
                        return
                    self.change.notify()


def make_calls(limit: float, calls: list[Call], n_jobs: int | None) -> None:
    """Make calls, each of which may take so many seconds; those that are late go on alone."""
    if calls:
        _Crew(calls, limit, min(effective_n_jobs(n_jobs), len(calls))).run()
    for call in calls:
        if not call.given_up and call.error is not None:
            raise call.error


def call_within(limit: float | None, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, if it does so in time."""
    if limit is None:
        return function(*arguments)
    call = Call(function, arguments)
    make_calls(limit, [call], 1)
    if call.given_up:
        raise too_late(limit)
    return call.result


def learn_apart(models: Models, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
    """A copy of the model, trained; or its failure. Should it be late, it holds no model that others use."""
    copied = apart(model)
    return copied if isinstance(copied, CallFailure) else attempt_to_learn(models, source, copied, X, y, first)


def attempts_within(
    limit: float, function: Callable[..., Any], tasks: list[tuple[Any, ...]], experts: list[Expert], n_jobs: int | None
) -> list[Any]:
    """What comes of the experts' tasks; an expert whose call is late is busy until it ends."""
    calls = [Call(function, task) for task in tasks]
    try:
        make_calls(limit, calls, n_jobs)
    finally:  # also if one of them exits, or there is an interrupt
        for expert, call in zip(experts, calls, strict=True):
            if call.given_up and call.began is not None:
                before = expert.late
                if before is not None:  # only the first can have learned: between two lessons there are but questions
                    call.earlier = before.earlier or before
                call.trains, expert.late = expert.model, call
    return [CallFailure(too_late(limit)) if call.given_up else call.result for call in calls]


def still_busy() -> CallFailure:
    """Of an expert that is not called, as its last call has not ended."""
    return CallFailure(LateAnswer("its last call is still running"))


def undo_late(experts: list[Expert]) -> None:
    """Of a round that is undone: what the late ones learn from it does not count."""
    for expert in experts:
        if expert.late is not None:
            expert.late.trains = None


def take_back(experts: list[Expert], n_rows: int) -> None:
    """Those whose late calls have ended go on; with what they have learned, if they have and nothing took its place."""
    for expert in experts:
        call = expert.late
        if call is None:
            continue
        if call.earlier is not None:
            _take(expert, call.earlier, n_rows)
            call.earlier = None
        if not call.is_running:
            expert.late = None
            _take(expert, call, n_rows)
            logger.info("row %d: expert %r is back, as its call has ended", n_rows, expert.name)


def hand_over_late(experts: list[Expert], copies: list[Expert]) -> None:
    """Late calls go on for copies of their experts, which have copies of the models that they train."""
    for expert, copied in zip(experts, copies, strict=True):
        call = copied.late = expert.late
        for each in () if call is None else (call, call.earlier):
            if each is not None and each.trains is expert.model:
                each.trains = copied.model


def _take(expert: Expert, call: Call, n_rows: int) -> None:
    """What came of a late call that has ended."""
    error = call.result.error if isinstance(call.result, CallFailure) else call.error
    if error is not None:
        told = n_rows, expert.name, type(error).__name__, error_text(error)
        logger.warning("row %d: the late call of expert %r failed: %s: %s", *told)
    elif call.ended and call.function is learn_apart and call.trains is expert.model:
        expert.model, expert.trained = call.result, True


class Hurried:
    """Models that must predict, and be copied, in time.

    Parameters
    ----------
    models : Models
    limit : float
    late : list of Call
        The last call that was late. While it runs, none is made: so there is never more than one thread for these.
    """

    def __init__(self, models: Models, limit: float, late: list[Call]) -> None:
        self._models, self._limit, self._late = models, limit, late

    def predict(self, model: Any, X: Any) -> Any:
        """In time, or an error."""
        return self._in_time(self._models.predict, model, X)

    def copy(self, model: Any) -> Any:
        """In time, or an error."""
        return self._in_time(self._models.copy, model)

    def _in_time(self, function: Callable[..., Any], *arguments: Any) -> Any:
        if any(call.is_running for call in self._late):
            raise still_busy().error
        call = Call(function, arguments)
        self._late[:] = [call]
        make_calls(self._limit, [call], 1)
        if call.given_up:
            raise too_late(self._limit)
        self._late.clear()
        return call.result

    def __getattr__(self, name: str) -> Any:
        return getattr(self._models, name)
