"""What models are asked to do, one after the other or side by side, and what becomes of it if they fail."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.parallel import Parallel, delayed

from ._models import Models
from ._turns import inside_a_round

#: Letters of what an error says.
MOST_TOLD = 500

#: Where the model stands in a task of :func:`attempt` that asks one, and of :func:`attempt_to_learn`.
MODEL = 2


@dataclass
class Failure:
    """Why an expert did not do its part; if it was to learn, with the model as it is now."""

    error: BaseException
    model: Any = None

    @property
    def passes(self) -> bool:
        """Whether it is an exit or an interrupt, which is none of the ensemble's business."""
        return not isinstance(self.error, Exception)


def words_of(error: BaseException) -> str:
    """What an error says, cut short; some cannot say it."""
    try:
        said = str(error)
    except Exception:
        return "(an error without words)"
    return said if len(said) <= MOST_TOLD else f"{said[:MOST_TOLD]} ..."


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or its failure, in a form that comes back from another process."""
    try:
        return function(*arguments)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # it could not come back from another process
            return Failure(RuntimeError(f"{type(error).__name__}: {words_of(error)}"))
        return Failure(error)


def attempt_to_learn(models: Models, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
    """The model, trained; or its failure."""
    try:
        result = attempt(models.learn, source, model, X, y, first)
    except BaseException as error:  # an exit or an interrupt, which is raised when the round is complete
        result = Failure(error)
    if isinstance(result, Failure):
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


def _map_here(function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Any]:
    """Without the machinery of joblib where it would not help."""
    if len(tasks) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*task) for task in tasks]
    settings = np.geterr()
    return Parallel(n_jobs=n_jobs)(delayed(_with_settings)(settings, function, *task) for task in tasks)


def _with_settings(settings: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with NumPy's error settings, which do not follow into other threads and processes."""
    with np.errstate(**settings), inside_a_round():
        return function(*arguments)
