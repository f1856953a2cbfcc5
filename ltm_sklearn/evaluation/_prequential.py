"""Test, then train: models side by side on one pass over a stream."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._frames import listed
from .._param_checks import check_count, check_hashable, check_number, is_whole
from ..persistence import Checkpoint
from ..recording import progress_bar
from ..streams import feed_of
from ._books import Books
from ._contestants import contestant_of
from ._kinds import predicts_classes
from ._result import PrequentialResult
from ._resuming import Batches, checksum, concepts_checksum, remaining, resumed
from ._run import Run
from ._tables import check_switches


def prequential(
    models: Any,
    stream: Any,
    *,
    batch_size: int = 1,
    delay: int = 0,
    n_samples: int | None = None,
    classes: Sequence[Any] | None = None,
    probabilities: bool = True,
    window: int = 50,
    tolerance: float = 0.05,
    experts: Sequence[Any] | None = None,
    max_switches: int = 10,
    progress: bool = False,
    checkpoint: Checkpoint | None = None,
) -> PrequentialResult:
    """Run models over a stream side by side: each predicts the rows, is scored, and then learns them.

    The models are trained in place. Memory does not grow with the stream.

    Parameters
    ----------
    models : model or dict
        One model, or several by name. Each is one of scikit-learn's (``partial_fit`` and ``predict``) or one of River's
        (``learn_one`` and ``predict_one``); all are classifiers, or all are regressors.
    stream : RecurringConcepts, Batches, tuple or iterable
        A pair ``(X, y)`` or triple ``(X, y, concept)`` of arrays or frames; or an iterable of pairs ``(x, y)`` with x a
        dictionary, as River's datasets are, or of batches ``(X, y)`` or ``(X, y, concept)``. River's models get
        dictionaries and scikit-learn's get arrays or frames, whatever the stream has.
    batch_size : int, default=1
        Rows that are predicted together, and then learned together, in whatever pieces the stream comes.
    delay : int, default=0
        How many more rows are predicted before a row's target is known. Models that take ids for this (``issue`` and
        ``learn``; ``predict_one(x, id=...)`` and ``learn_one(x, y, id=...)``) get the rows' numbers; so do River's in
        batches of several rows. Rows that still wait at the end are scored, but never learned.
    n_samples : int, optional
        Rows to go through at most; a stream without end needs it.
    classes : sequence, optional
        All classes, which scikit-learn's classifiers must be told. None: those of a ``RecurringConcepts`` that knows
        them, or of a whole pair ``(X, y)`` whose labels are no floats.
    probabilities : bool, default=True
        Whether classifiers are also asked for probabilities, for the log loss. That time is not counted.
    window : int, default=50
        Rows of a window: of the curve, of the first rows after a change, and of the mean that tells a recovery.
    tolerance : float, default=0.05
        How much worse than before a change a model that has recovered may be: in accuracy, or as a part of the mean
        absolute error.
    experts : sequence, optional
        Names of the models that regret is measured against. None: all.
    max_switches : int, default=10
        Regret is measured against the best sequence of experts with at most 1, 2, ... and so many switches; no more
        than 100,000.
    progress : bool, default=False
        Whether to show how far the run is: a bar if rich is installed, otherwise lines on stderr.
    checkpoint : Checkpoint, optional
        Saves the run on the way, and at its end. Called again with the same arguments, and the same stream from its
        beginning, it passes over the rows that were done and goes on to the same result; seconds add up. The models
        that are given then take over the state of those that were saved. After the end it returns the same result
        again, and if the stream has grown by whole batches, or ``n_samples`` has, it goes on from there.

    Returns
    -------
    PrequentialResult
        Rows count for a model's scores if it had an answer; their number is in ``rows``. scikit-learn's models have
        none before they first learned, and None, NaN and infinity are none.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from ltm_sklearn import LongTermMemoryClassifier
    >>> from ltm_sklearn.evaluation import prequential
    >>> from ltm_sklearn.streams import stagger
    >>> models = {
    ...     "with memory": LongTermMemoryClassifier([("bayes", GaussianNB())], random_state=0),
    ...     "alone": GaussianNB(),
    ... }
    >>> result = prequential(models, stagger(order="random", length=300, n_segments=8, seed=0), batch_size=10)
    >>> for name, scores in result.scores.items():
    ...     print(f"{name}: {scores['accuracy']:.3f}, after a return {scores['after_return']:.3f}")
    with memory: 0.931, after a return 0.764
    alone: 0.615, after a return 0.500
    """
    for name, count in (("batch_size", batch_size), ("window", window)):
        check_count(name, count, high=sys.maxsize)
    if not is_whole(delay) or not 0 <= delay <= sys.maxsize:
        raise ValueError(f"delay={delay!r} must be a whole number, 0 or more")
    check_switches(max_switches)
    check_number("tolerance", tolerance, 0.0, np.inf)
    if n_samples is not None:
        check_count("n_samples", n_samples, high=sys.maxsize)
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise ValueError(f"checkpoint={checkpoint!r} must be a Checkpoint, which takes the folder")
    given = None if classes is None else listed(classes, "classes")
    check_hashable(given or (), "class")
    arguments = {
        "batch_size": batch_size,
        "delay": delay,
        "classes": given,
        "probabilities": probabilities,
        "window": window,
        "tolerance": tolerance,
        "experts": None if experts is None else listed(experts, "experts"),
        "max_switches": max_switches,
    }
    named = _named(models)
    chosen = _chosen(experts, list(named))
    contestants = {name: contestant_of(name, model, delay, batch_size) for name, model in named.items()}
    only_rows = all(contestant.form == "dicts" for contestant in contestants.values())
    feed = feed_of(stream, batch_size, n_samples, as_rows=only_rows)
    first = next(feed.batches, None)
    if first is None:
        raise ValueError("the stream has no rows")
    batch, _ = first
    is_class = predicts_classes(named, batch.y)
    known = feed.classes if classes is None else given
    books = Books(list(named), is_class, window, tolerance, chosen, max_switches)
    names = list(batch.X[0]) if isinstance(batch.X, list) else feed.feature_names
    run = Run(contestants, books, is_class, known, names, delay, probabilities)
    batches: Batches = chain([first], feed.batches)
    if checkpoint is not None:
        run = resumed(checkpoint, run, named, arguments)
        batches = remaining(batches, run)
        if progress and run.n_predicted:
            print(f"prequential: resumed at row {run.n_predicted}", file=sys.stderr)
    is_saved = True
    with progress_bar("prequential", progress, feed.n_rows) as show:
        show(run.n_predicted)
        for batch, in_force in batches:
            run.step(batch, in_force)
            show(run.n_predicted)
            if checkpoint is not None:
                run.seen = checksum(batch.y, run.seen)
                run.concepts_seen = concepts_checksum(batch, in_force, run.concepts_seen)
                is_saved = checkpoint.step(run, len(batch.y))
    if checkpoint is not None and not is_saved:
        checkpoint.save(run)
    return run.result(feed.concept_names)


def _named(models: Any) -> dict[Any, Any]:
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty: at least one is needed")
    owners: dict[int, Any] = {}
    for name, model in named.items():
        if owners.setdefault(id(model), name) != name:
            raise ValueError(f"models {owners[id(model)]!r} and {name!r} are the same object, which would learn twice")
    return named


def _chosen(experts: Sequence[Any] | None, names: list[Any]) -> list[int]:
    if experts is None:
        return list(range(len(names)))
    unknown = [name for name in experts if name not in names]
    if unknown or isinstance(experts, str) or not len(experts):
        raise ValueError(f"experts={experts!r} must name some of the models {names}")
    return [names.index(name) for name in experts]
