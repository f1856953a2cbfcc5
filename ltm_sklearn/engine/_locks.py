"""Threads that use one estimator take turns: whoever looks at it sees it before a round or after it, never in between.

The locks stand here, beside the estimators, and are no part of what is copied or pickled. Pickling and copying walk
through the models after ``__getstate__`` has returned, without any lock. So what it hands out is *lent* to its thread:
a round of another thread leaves it alone, and goes on with a copy.
"""

from __future__ import annotations

import copy
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import ref

Owner = TypeVar("Owner")
Value = TypeVar("Value")
Given = ParamSpec("Given")

#: Seconds that a fork waits at most for rounds of other threads.
PATIENCE = 1.0

#: All by the ids of their owners, as not all of these can be hashed.
_owners: dict[int, ref[Any]] = {}
_locks: dict[int, Any] = {}
lent: dict[int, set[int]] = {}  #: the threads to which a state is lent

_here = threading.local()


class Turns:
    """The locks of a thread for which a round waits, and which may be left behind.

    They count for the thread that makes it, too, if a round waits for that one: whoever leaves it behind leaves both.
    """

    def __init__(self) -> None:
        self.had: dict[Any, int] = {}  #: with the ids of their owners
        self.left_behind = False
        above = turns_here()
        self.above: tuple[Turns, ...] = () if above is None else (above, *above.above)

    @property
    def is_left_behind(self) -> bool:
        """Whether nobody waits for the thread, or for one that waits for it."""
        return self.left_behind or any(each.left_behind for each in self.above)

    def note(self, lock: Any, owner: int) -> None:
        """The thread has this lock."""
        for each in (self, *self.above):
            each.had[lock] = owner

    def forget(self, lock: Any) -> None:
        """It has it no longer."""
        for each in (self, *self.above):
            each.had.pop(lock, None)


def turns_here() -> Turns | None:
    """Those of this thread, if it may be left behind."""
    turns: Turns | None = getattr(_here, "turns", None)
    return turns


def turn_of(owner: Any) -> Any:
    """The lock of an estimator; the thread that has it may take it again."""
    try:
        lock = _locks[id(owner)]
    except KeyError:
        lock = _new_lock(owner)
    turns = turns_here()
    return lock if turns is None else _noted(lock, id(owner), turns)


@contextmanager
def _noted(lock: Any, key: int, turns: Turns) -> Iterator[None]:
    """In a thread that may be left behind: which locks it has, and none once nobody waits for it."""
    with lock:
        again = lock in turns.had
        turns.note(lock, key)
        try:
            if not turns.is_left_behind:
                yield
                return
        finally:
            if not again:
                turns.forget(lock)
    yield


def _new_lock(owner: Any) -> Any:
    key = id(owner)

    def forget(_: Any) -> None:
        for book in (_locks, lent, _owners):
            book.pop(key, None)

    _owners.setdefault(key, ref(owner, forget))
    return _locks.setdefault(key, threading.RLock())


def in_turn(method: Callable[Concatenate[Owner, Given], Value]) -> Callable[Concatenate[Owner, Given], Value]:
    """A method that looks at its estimator between two rounds."""

    @wraps(method)
    def between_rounds(self: Owner, *given: Given.args, **named: Given.kwargs) -> Value:
        with turn_of(self):
            return method(self, *given, **named)

    return between_rounds


@contextmanager
def changing(owner: Any) -> Iterator[None]:
    """Change an estimator."""
    with turn_of(owner):
        reclaim(owner)
        yield


def reclaim(owner: Any) -> None:
    """Before a change: what another thread is copying now is left to it.

    An owner's ``_learned`` are the names of what learning changes in place; these may refer to one another. What copies
    leave out, ``hand_over`` gives to the copy that takes the place of the original.
    """
    threads = lent.pop(id(owner), None)
    if threads is not None and threads != {threading.get_ident()}:
        with suppress(Exception):  # what cannot be copied is not being copied by others either
            learned = {name: owner.__dict__[name] for name in owner._learned if name in owner.__dict__}
            copied = copy.deepcopy(learned)
            for name, original in learned.items():
                if hasattr(original, "hand_over"):
                    original.hand_over(copied[name])
            owner.__dict__.update(copied)


def lent_state(owner: Any, state: dict[str, Any]) -> dict[str, Any]:
    """What ``__getstate__`` returns, in its turn."""
    lent.setdefault(id(owner), set()).add(threading.get_ident())
    return dict(state)


# Forks -----------------------------------------------------------------------------------------------------------


@contextmanager
def inside_a_round(turns: Turns | None = None) -> Iterator[None]:
    """In a thread for which a round waits: should it fork, it must not wait for the round.

    ``turns`` are the locks that the thread has, for :func:`leave_behind`.
    """
    before = getattr(_here, "inside", False), getattr(_here, "turns", None)
    _here.inside, _here.turns = True, turns
    try:
        yield
    finally:
        _here.inside, _here.turns = before


def leave_behind(turns: Turns) -> None:
    """A thread that predicts has these locks and may never give them back: others need not wait for it.

    Those with whom it is busy are not asked meanwhile, but they are pickled and copied.
    """
    turns.left_behind = True
    for lock, key in list(turns.had.items()):
        if _locks.get(key) is lock:
            _locks[key] = threading.RLock()


class Torn:
    """In the place of a lock, in a process that was forked in the midst of another thread's round."""

    def __enter__(self) -> None:
        raise RuntimeError(
            "this process was forked while another thread was in the midst of a round of this estimator, which is half "
            "learned here: fork between rounds, or send it to the process by pickle"
        )

    def __exit__(self, *_: object) -> None: ...


#: Threads fork one after the other: each waits for the locks of all.
_fork_turn = threading.Lock()


def _before_fork() -> None:
    """Wait for the rounds of other threads to end, so that the child has whole ones."""
    held: list[Any] = []
    _here.held = None
    _fork_turn.acquire()
    _here.held = held
    waiting = [lock for lock in list(_locks.values()) if not isinstance(lock, Torn)]
    end = time.monotonic() + (0.0 if getattr(_here, "inside", False) else PATIENCE)
    while True:  # all or none: other threads may hold one and want the next, as nested ensembles do
        for at, lock in enumerate(waiting):
            if not lock.acquire(timeout=max(end - time.monotonic(), 0.0) if at == 0 else 0.0):
                break
            held.append(lock)
        else:
            return
        if time.monotonic() >= end:
            held.extend(other for other in waiting[at + 1 :] if other.acquire(blocking=False))
            return
        while held:
            held.pop().release()
        waiting.insert(0, waiting.pop(at))  # wait for the one that was missing


def _after_in_parent() -> None:
    held = _here.held
    if held is None:  # an interrupt came before its turn
        return
    while held:
        held.pop().release()
    _fork_turn.release()


def _after_in_child() -> None:
    """Fresh locks: those who held the old ones are not here."""
    global _fork_turn
    _fork_turn = threading.Lock()
    lent.clear()
    held = _here.held or []
    for key, lock in list(_locks.items()):
        whole = any(lock is each for each in held)
        _locks[key] = threading.RLock() if whole else Torn()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_in_parent, after_in_child=_after_in_child)


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """If anything is wrong, the estimator has the attributes that it had before."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise
