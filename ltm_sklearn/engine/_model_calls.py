"""Calls of models: in this process, through joblib, or on the workers where the models are."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from .._typing import Floats
from ._models import Models

#: Error messages are cut to this many characters.
LONGEST_ERROR_TEXT = 500


@dataclass(slots=True)
class ModelCall:
    """One call ``function(model, *arguments)``; the function returns a :class:`CallFailure` in place of raising."""

    function: Callable[..., Any]
    model: Any
    arguments: tuple[Any, ...]


@dataclass
class CallFailure:
    """The error of a model that failed; after training, with the model as it is now."""

    error: BaseException
    model: Any = None

    @property
    def is_exit(self) -> bool:
        """Whether the error is an exit or an interrupt, which is raised once the round is complete."""
        return not isinstance(self.error, Exception)


class WorkerPool(Protocol):
    """Workers that hold models; the attribute ``worker_pool`` of such a model refers to them."""

    def begin(self, calls: list[ModelCall]) -> Callable[[], list[Any]]:
        """Start calls on the workers of their models; return a function that waits for the results, in order."""


def predict_rows(
    model: Any, models: Models, X: Any, shape: tuple[int, int], rows: NDArray[np.intp] | None = None
) -> Floats | CallFailure | None:
    """Return a model's predictions of this shape; NaN outside ``rows``, the only ones that are queried if given."""
    try:
        n_queried = shape[0] if rows is None else len(rows)
        predictions = models.predict(model, X if rows is None else models.chosen(X, rows))
        if predictions is None:
            return None
        if predictions.shape != (n_queried, shape[1]):
            raise ValueError(f"its predictions have shape {predictions.shape}, not {(n_queried, shape[1])}")
    except Exception as error:
        return CallFailure(error)
    if rows is None:
        return predictions
    of_all = np.full(shape, np.nan)
    of_all[rows] = predictions
    return of_all


def train_model(model: Any, models: Models, source: str, X: Any, y: Any, first: bool) -> Any:
    """Train a model and return it; a failure holds the model as it is now, also after an exit or an interrupt."""
    try:
        return models.learn(source, model, X, y, first)
    except BaseException as error:
        return CallFailure(error, model)  # in another process the model is a copy, which may have changed


def call_function(model: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Return ``function(model, *arguments)``, or its failure."""
    try:
        return function(model, *arguments)
    except Exception as error:
        return CallFailure(error)


def map_calls(calls: list[ModelCall], n_jobs: int | None) -> list[Any]:
    """Return the results of calls, in order. Models on workers are called there, all at once."""
    pools: list[WorkerPool | None] = [getattr(call.model, "worker_pool", None) for call in calls]
    if all(pool is None for pool in pools):
        return _map_here(calls, n_jobs)
    places = {pool: [at for at, other in enumerate(pools) if other is pool] for pool in pools}
    here = places.pop(None, [])
    waits = {pool: pool.begin([calls[at] for at in there]) for pool, there in places.items() if pool is not None}
    results = dict(zip(here, _map_here([calls[at] for at in here], n_jobs), strict=True))
    for pool, wait in waits.items():
        results.update(zip(places[pool], wait(), strict=True))
    return [results[at] for at in range(len(calls))]


def are_trained_in_turn(models: list[Any], n_jobs: int | None) -> bool:
    """Return whether models are trained one after another in this thread, so that only their own errors can occur."""
    return effective_n_jobs(n_jobs) == 1 and all(getattr(model, "worker_pool", None) is None for model in models)


def are_trained_in_threads(n_jobs: int | None) -> bool:
    """Return whether models are trained in other threads, which continue after an interrupt of this one."""
    return effective_n_jobs(n_jobs) > 1 and getattr(get_active_backend()[0], "uses_threads", False)


def _map_here(calls: list[ModelCall], n_jobs: int | None) -> list[Any]:
    if len(calls) < 2 or effective_n_jobs(n_jobs) == 1:
        return [call.function(call.model, *call.arguments) for call in calls]
    errors = np.geterr()
    try:
        return _map_through_joblib(calls, n_jobs, errors)
    except Exception:  # a process has died, or something could not be pickled: find out which call is the reason
        if are_trained_in_threads(n_jobs):  # neither happens in threads, and some models may have been trained
            raise
    results: list[Any] = []
    for call in calls:
        try:
            results += _map_through_joblib([call], n_jobs, errors)
        except Exception as error:
            results.append(CallFailure(error, call.model))
    return results


def _map_through_joblib(calls: list[ModelCall], n_jobs: int | None, errors: Any) -> list[Any]:
    results: list[Any] = Parallel(n_jobs=n_jobs)(delayed(_run_call)(call, errors, os.getpid()) for call in calls)
    return results


def _run_call(call: ModelCall, errors: Any, process: int) -> Any:
    """Run a call with NumPy's error settings, which other threads and processes do not inherit."""
    with np.errstate(**errors):
        result = call.function(call.model, *call.arguments)
    return result if process == os.getpid() else able_to_travel(result)


def able_to_travel(result: Any) -> Any:
    """Return a result that can be sent to another process: errors that cannot be unpickled are replaced."""
    if isinstance(result, CallFailure):
        try:
            pickle.loads(pickle.dumps(result.error))
        except Exception:
            result.error = RuntimeError(f"{type(result.error).__name__}: {error_text(result.error)}")
    return result


def copy_to_train(model: Any) -> Any:
    """Return a copy of a model, whose training leaves the model itself as it is; or the failure to copy it."""
    try:
        return copy.deepcopy(model)
    except Exception as error:
        reason = "cannot be copied, as on_error='raise', threads and the first round need"
        return CallFailure(RuntimeError(f"{reason}: {error_text(error)}"), model)


def error_text(error: BaseException) -> str:
    """Return the message of an error, cut short; some errors raise another one when converted to text."""
    try:
        text = str(error)
    except Exception:
        return "(an error without words)"
    return text if len(text) <= LONGEST_ERROR_TEXT else f"{text[:LONGEST_ERROR_TEXT]} ..."


#: Worker pools that had no worker in the current round: they are not waited for again in that round.
_unavailable_pools: ContextVar[list[Any] | None] = ContextVar("unavailable_pools", default=None)


@contextmanager
def waiting_once() -> Iterator[None]:
    """Wait for each unavailable worker pool at most once within this context; nested contexts share the list."""
    token = _unavailable_pools.set(unavailable_pools())
    try:
        yield
    finally:
        _unavailable_pools.reset(token)


def unavailable_pools() -> list[Any]:
    """Return the worker pools that had no worker in this round, as a list to append to."""
    pools = _unavailable_pools.get()
    return [] if pools is None else pools
