"""What models are asked to do, one after the other or side by side, and what becomes of it if they fail."""

from __future__ import annotations

import copy
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ._models import Models

#: Letters of what an error says.
MOST_TOLD = 500

#: Where the model stands in a task of :func:`attempt` that asks one, and of :func:`attempt_to_learn`.
MODEL = 2


#: What did not come in the round that is under way, though it was waited for.
_missed: ContextVar[list[Any] | None] = ContextVar("missed", default=None)


@dataclass
class CallFailure:
    """Why an expert did not do its part; if it was to learn, with the model as it is now."""

    error: BaseException
    model: Any = None

    @property
    def passes(self) -> bool:
        """Whether it is an exit or an interrupt, which is none of the ensemble's business."""
        return not isinstance(self.error, Exception)


@contextmanager
def one_round() -> Iterator[None]:
    """A round, in which nothing is waited for twice."""
    token = _missed.set(missed_in_round())
    try:
        yield
    finally:
        _missed.reset(token)


def missed_in_round() -> list[Any]:
    """Whom to wait for no more; a round that is a part of another one is in the same case."""
    missed = _missed.get()
    return [] if missed is None else missed


def error_text(error: BaseException) -> str:
    """What an error says, cut short; some cannot say it."""
    try:
        said = str(error)
    except Exception:
        return "(an error without words)"
    return said if len(said) <= MOST_TOLD else f"{said[:MOST_TOLD]} ..."


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or its failure."""
    try:
        return function(*arguments)
    except Exception as error:
        return CallFailure(error)


def apart(model: Any) -> Any:
    """A copy of a model, to be trained, which leaves the model as it is; or its failure."""
    try:
        return copy.deepcopy(model)
    except Exception as error:
        told = "cannot be copied, as on_error='raise', threads and the first round need"
        return CallFailure(RuntimeError(f"{told}: {error_text(error)}"), model)


def able_to_travel(result: Any) -> Any:
    """What was attempted, in a form that comes back from another process: some errors would not."""
    if isinstance(result, CallFailure):
        try:
            pickle.loads(pickle.dumps(result.error))
        except Exception:
            result.error = RuntimeError(f"{type(result.error).__name__}: {error_text(result.error)}")
    return result


def attempt_to_learn(models: Models, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
    """The model, trained; or its failure."""
    try:
        result = attempt(models.learn, source, model, X, y, first)
    except BaseException as error:  # an exit or an interrupt, which is raised when the round is complete
        result = CallFailure(error)
    if isinstance(result, CallFailure):
        result.model = model  # in another process this is a copy, which may have changed
    return result


def map_tasks(function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Any]:
    """In order; those whose models are not in this process are run where these are, side by side."""
    places: list[Any] = [getattr(task[MODEL], "elsewhere", None) for task in tasks]
    if all(place is None for place in places):
        return _map_here(function, tasks, n_jobs)
    seats = {place: [at for at, other in enumerate(places) if other is place] for place in places}
    here = seats.pop(None, [])
    waits = {place: place.begin(function, [tasks[at] for at in there]) for place, there in seats.items()}
    results = dict(zip(here, _map_here(function, [tasks[at] for at in here], n_jobs), strict=True))
    for place, wait in waits.items():
        results.update(zip(seats[place], wait(), strict=True))
    return [results[at] for at in range(len(tasks))]


def one_by_one(models: list[Any], n_jobs: int | None) -> bool:
    """Whether models are trained in this thread, where no failure but their own comes between."""
    return effective_n_jobs(n_jobs) == 1 and all(getattr(model, "elsewhere", None) is None for model in models)


def in_threads(n_jobs: int | None) -> bool:
    """Whether models are trained in other threads of this process: they go on after an interrupt of this one."""
    return effective_n_jobs(n_jobs) > 1 and getattr(get_active_backend()[0], "uses_threads", False)


def _map_here(function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None) -> list[Any]:
    """Without the machinery of joblib where it would not help."""
    if len(tasks) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*task) for task in tasks]
    errors = np.geterr()
    try:
        results: list[Any] = _side_by_side(errors, function, tasks, n_jobs)
    except Exception:  # a process has died, or something could not be sent: one of them is the reason
        if in_threads(n_jobs):  # where neither is so, and some may have learned
            raise
        results = [_alone(errors, function, task, n_jobs) for task in tasks]
    return results


def _side_by_side(errors: Any, function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None) -> Any:
    return Parallel(n_jobs=n_jobs)(delayed(_elsewhere)(errors, os.getpid(), function, *task) for task in tasks)


def _alone(errors: Any, function: Callable[..., Any], task: tuple[Any, ...], n_jobs: int | None) -> Any:
    try:
        return _side_by_side(errors, function, [task], n_jobs)[0]
    except Exception as error:
        return CallFailure(error, task[MODEL])


def _elsewhere(errors: Any, process: int, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with NumPy's settings of errors, which do not follow into other threads and processes."""
    with np.errstate(**errors):
        result = function(*arguments)
    return result if process == os.getpid() else able_to_travel(result)
