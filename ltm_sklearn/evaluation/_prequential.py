"""Prequential evaluation: models predict, are scored and learn in one pass over a stream."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

from .._frames import as_list
from .._param_checks import check_count, check_hashable, check_number, is_integer
from ..persistence import Checkpoint
from ..recording import progress_bar
from ..streams import open_stream
from ._model_adapters import adapter_of, is_classification_task
from ._prequential_run import PrequentialRun
from ._result import PrequentialResult
from ._resumption import ScheduledBatches, checksum, concepts_checksum, resume, skip_processed
from ._run_metrics import RunMetrics
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
    """Evaluate models on a stream: each model predicts the next rows, is scored, and then learns them.

    The models are trained in place. Memory does not grow with the stream.

    Parameters
    ----------
    models : model or dict
        One model, or several by name: scikit-learn's (``partial_fit`` and ``predict``) and River's (``learn_one`` and
        ``predict_one``) together. All are classifiers, or all are regressors.
    stream : RecurringConcepts, Batches, tuple or iterable
        A pair ``(X, y)`` or triple ``(X, y, concept)`` of arrays or frames; or an iterable of pairs ``(x, y)`` with x a
        dictionary, as River's datasets are, or of batches ``(X, y)`` or ``(X, y, concept)``. Rows are converted to
        dictionaries for River's models, and to arrays or frames for scikit-learn's.
    batch_size : int, default=1
        Number of rows that are predicted, and then learned, together. It does not depend on the batches of the stream.
    delay : int, default=0
        Number of further rows that are predicted before the target of a row is known. Models that take ids for delayed
        labels (``issue`` and ``learn``; ``predict_one(x, id=...)`` and ``learn_one(x, y, id=...)``) get the numbers of
        the rows as ids; so do River's with ``batch_size`` above 1. Rows still pending at the end are scored, but not
        learned.
    n_samples : int, optional
        Most rows to process; required for endless streams.
    classes : sequence, optional
        All classes, which scikit-learn's classifiers need. None: those of a ``RecurringConcepts`` that names them, or
        of a pair ``(X, y)`` whose labels are not floats.
    probabilities : bool, default=True
        Whether classifiers also predict probabilities, for the log loss. Their time is not counted.
    window : int, default=50
        Number of rows in a block of the curve, after a change for ``after_change``, and in the mean that decides
        recovery.
    tolerance : float, default=0.05
        How much worse than before a change a recovered model may be: in accuracy, or as a share of the mean absolute
        error.
    experts : sequence, optional
        Names of the models that regret compares with. None: all.
    max_switches : int, default=10
        Regret is computed against the best sequences of experts with at most 1, 2, ... ``max_switches`` switches, at
        most 100,000.
    progress : bool, default=False
        Whether to show progress: a bar if rich is installed, otherwise lines on stderr.
    checkpoint : Checkpoint, optional
        Saves the run at intervals and at the end. Called again with the same arguments, and the same stream from its
        first row, ``prequential`` skips the processed rows and continues to the same result; seconds add up. The given
        models take over the state of the saved ones. A finished run returns its result again, and continues if the
        stream has grown by whole batches or ``n_samples`` has grown.

    Returns
    -------
    PrequentialResult
        Only rows with a prediction count for the scores of a model; their number is in ``rows``. scikit-learn's models
        have no predictions before their first training; None, NaN and infinity are no predictions.

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
    if not is_integer(delay) or not 0 <= delay <= sys.maxsize:
        raise ValueError(f"delay={delay!r} must be a whole number, 0 or more")
    check_switches(max_switches)
    check_number("tolerance", tolerance, 0.0, np.inf)
    if n_samples is not None:
        check_count("n_samples", n_samples, high=sys.maxsize)
    if checkpoint is not None and not isinstance(checkpoint, Checkpoint):
        raise ValueError(f"checkpoint={checkpoint!r} must be a Checkpoint, such as Checkpoint(folder)")
    given_classes = None if classes is None else as_list(classes, "classes")
    check_hashable(given_classes or (), "class")
    named = _named_models(models)
    chosen = _expert_indices(experts, list(named))
    adapters = {name: adapter_of(name, model, delay, batch_size) for name, model in named.items()}
    row_dicts = all(adapter.form == "dicts" for adapter in adapters.values())
    opened = open_stream(stream, batch_size, n_samples, row_dicts)
    first = next(opened.batches, None)
    if first is None:
        raise ValueError("the stream has no rows: pass at least one")
    batch, _ = first
    is_classification = is_classification_task(named, batch.y)
    run = PrequentialRun(
        adapters,
        RunMetrics(list(named), is_classification, window, tolerance, chosen, max_switches),
        is_classification,
        classes=opened.classes if classes is None else given_classes,
        feature_names=list(batch.X[0]) if isinstance(batch.X, list) else opened.feature_names,
        delay=delay,
        probabilities=probabilities,
    )
    batches: ScheduledBatches = chain([first], opened.batches)
    if checkpoint is not None:
        arguments = {
            "batch_size": batch_size,
            "delay": delay,
            "classes": given_classes,
            "probabilities": probabilities,
            "window": window,
            "tolerance": tolerance,
            "experts": None if experts is None else as_list(experts, "experts"),
            "max_switches": max_switches,
        }
        run = resume(checkpoint, run, named, arguments)
        batches = skip_processed(batches, run)
        if progress and run.n_predicted:
            print(f"prequential: resumed at row {run.n_predicted}", file=sys.stderr)
    is_saved = True
    with progress_bar("prequential", progress, opened.n_rows) as show:
        show(run.n_predicted)
        for batch, scheduled in batches:
            run.step(batch, scheduled)
            show(run.n_predicted)
            if checkpoint is not None:
                run.targets_checksum = checksum(batch.y, run.targets_checksum)
                run.concepts_checksum = concepts_checksum(batch, scheduled, run.concepts_checksum)
                is_saved = checkpoint.step(run, len(batch.y))
    if checkpoint is not None and not is_saved:
        checkpoint.save(run)
    return run.result(opened.concept_names)


def _named_models(models: Any) -> dict[Any, Any]:
    named = dict(models) if isinstance(models, Mapping) else {type(models).__name__: models}
    if not named:
        raise ValueError("models is empty: pass at least one model")
    names: dict[int, Any] = {}
    for name, model in named.items():
        if names.setdefault(id(model), name) != name:
            raise ValueError(
                f"models {names[id(model)]!r} and {name!r} are the same object, which would learn each row twice: "
                "pass a copy"
            )
    return named


def _expert_indices(experts: Sequence[Any] | None, names: list[Any]) -> list[int]:
    if experts is None:
        return list(range(len(names)))
    unknown = [name for name in experts if name not in names]
    if unknown or isinstance(experts, str) or not len(experts):
        raise ValueError(f"experts={experts!r} must be a list of names of the models {names}")
    return [names.index(name) for name in experts]
