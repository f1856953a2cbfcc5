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


@dataclass
class Failure:
    """Why an expert did not do its part; if it was to learn, with the model as it is now."""

    error: Exception
    model: Any = None


def attempt(function: Callable[..., Any], *arguments: Any) -> Any:
    """What a function returns, or its failure, in a form that comes back from another process."""
    try:
        return function(*arguments)
    except Exception as error:
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # it could not come back from another process
            return Failure(RuntimeError(f"{type(error).__name__}: {error}"))
        return Failure(error)


def attempt_to_learn(models: Models, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
    """The model, trained; or its failure."""
    result = attempt(models.learn, source, model, X, y, first)
    if isinstance(result, Failure):
        result.model = model  # in another process this is a copy, which may have changed
    return result


def map_tasks(function: Callable[..., Any], tasks: list[tuple[Any, ...]], n_jobs: int | None) -> Iterable[Any]:
    """In order; without the machinery of joblib where it would not help."""
    if len(tasks) < 2 or effective_n_jobs(n_jobs) == 1:
        return [function(*task) for task in tasks]
    settings = np.geterr()
    return Parallel(n_jobs=n_jobs)(delayed(_with_settings)(settings, function, *task) for task in tasks)


def _with_settings(settings: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function with NumPy's error settings, which do not follow into other threads and processes."""
    with np.errstate(**settings):
        return function(*arguments)
