"""One re-entrant lock per estimator: threads see an estimator before or after a round, never in between.

Locks are kept beside the estimators, so they are not pickled or copied. They protect threads, not processes: a process
that is forked while another thread is in a round inherits a locked estimator.

``pickle`` and ``copy`` walk through the models after ``__getstate__`` has returned and the lock is released. The state
is therefore copied on write: before the next round of another thread, :func:`unshare` replaces what learning changes in
place by a copy and leaves the original to the reader. Copying within ``__getstate__`` would make each pickle two to
eight times as slow.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import ref

Estimator = TypeVar("Estimator")
Value = TypeVar("Value")
Arguments = ParamSpec("Arguments")

# Keyed by the id of the estimator, as not all estimators can be hashed.
_references: dict[int, ref[Any]] = {}
_locks: dict[int, threading.RLock] = {}
_readers: dict[int, set[int]] = {}  #: threads that have got the state and may still be pickling or copying it


def lock_of(estimator: Any) -> threading.RLock:
    """Return the lock of an estimator; a thread that holds it may acquire it again."""
    try:
        return _locks[id(estimator)]
    except KeyError:
        return _new_lock(estimator)


def _new_lock(estimator: Any) -> threading.RLock:
    key = id(estimator)

    def forget(_: Any) -> None:
        for entries in (_locks, _readers, _references):
            entries.pop(key, None)

    _references.setdefault(key, ref(estimator, forget))
    return _locks.setdefault(key, threading.RLock())


def locked(
    method: Callable[Concatenate[Estimator, Arguments], Value],
) -> Callable[Concatenate[Estimator, Arguments], Value]:
    """Decorate a method so that it runs while its estimator is locked."""

    @wraps(method)
    def run_locked(self: Estimator, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Value:
        with lock_of(self):
            return method(self, *args, **kwargs)

    return run_locked


@contextmanager
def changing(estimator: Any) -> Iterator[None]:
    """Lock an estimator in order to change its state."""
    with lock_of(estimator):
        unshare(estimator)
        yield


def shared_state(estimator: Any, state: dict[str, Any]) -> dict[str, Any]:
    """Return a state for ``__getstate__`` that later rounds leave alone; call it while the estimator is locked."""
    _readers.setdefault(id(estimator), set()).add(threading.get_ident())
    return dict(state)


def unshare(estimator: Any) -> None:
    """Copy what learning changes in place if another thread may be reading it; call it while the estimator is locked.

    ``_learned`` of the estimator holds the names of these attributes. They are copied together, as they may refer to
    one another.
    """
    readers = _readers.pop(id(estimator), None)
    if readers is not None and readers != {threading.get_ident()}:
        with suppress(Exception):  # a model that cannot be copied must not prevent learning
            learned = {name: estimator.__dict__[name] for name in estimator._learned if name in estimator.__dict__}
            estimator.__dict__.update(copy.deepcopy(learned))


@contextmanager
def unchanged_on_error(estimator: Any) -> Iterator[None]:
    """Restore the attributes of the estimator if an error is raised."""
    before = dict(estimator.__dict__)
    try:
        yield
    except BaseException:
        estimator.__dict__ = before
        raise
