"""What the pictures of a run_record share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from typing import Any, Self

import numpy as np

from ..recording import RunRecord, end_of, read_log
from ._axes import axes_of
from ._look import Look


class TraceDisplay(ABC):
    """Base of the pictures of a run_record."""

    def __init__(self, run_record: RunRecord) -> None:
        self.run_record = run_record

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None, **which: Any) -> Self:
        """Draw what an estimator has recorded.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``record=``; or a pipeline that ends in one.
        ax : matplotlib Axes, optional
            None: a new figure.
        **which
            Of an estimator that has several records, which one.
        """
        return cls(recorded_by(estimator, **which)).plot(ax=ax)

    @classmethod
    def from_result(cls, result: Any, *, model: Any = None, ax: Any = None) -> Self:
        """Draw what a model has recorded in a prequential run.

        Parameters
        ----------
        result : PrequentialResult
        model : optional
            The model's name. None: the only one that has recorded.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        return cls(recorded_in(result, model)).plot(ax=ax)

    @classmethod
    def from_log(cls, path: str | PathLike[str], *, ax: Any = None) -> Self:
        """Draw a run from its log, in any process, while it goes on or afterwards.

        Parameters
        ----------
        path : str or path
            What was given to the estimator as ``record=``.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        return cls(read_log(path).run_record()).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        ax = axes_of(ax, self._size())
        self.ax_, self.figure_ = ax, ax.figure
        self._draw(ax, Look(self.run_record))
        return self

    def _size(self) -> tuple[float, float]:
        """Of a new figure, in inches."""
        return 9.0, 4.0

    @abstractmethod
    def _draw(self, ax: Any, look: Look) -> None: ...


def recorded_by(estimator: Any, **which: Any) -> RunRecord:
    """What an estimator has recorded."""
    last = end_of(estimator)
    if not hasattr(last, "run_record") or isinstance(last, np.ndarray | np.generic):  # of another kind
        kind = type(last).__name__
        raise TypeError(f"a {kind} keeps no history to draw; the estimators of ltm_sklearn do, with record=")
    run_record: RunRecord = last.run_record(**which)
    return run_record


def recorded_in(result: Any, model: Any) -> RunRecord:
    """What a model has recorded in a prequential run."""
    run_records: dict[Any, RunRecord] = result.run_records
    if not run_records:
        raise ValueError(
            "no model of this result has recorded anything: give one record=. One that has several series is drawn "
            "by itself: from_estimator(model, series=...)"
        )
    if model is None and len(run_records) > 1:
        raise ValueError(f"several models have recorded: give model=, one of {list(run_records)}")
    if model is not None and model not in run_records:
        raise ValueError(f"model={model!r} has not recorded; those that have are {list(run_records)}")
    return run_records[next(iter(run_records)) if model is None else model]


def check_every_row(run_record: RunRecord) -> None:
    """Oracles need every expert's loss in every row."""
    if not run_record.all_were_queried:
        raise ValueError(
            "not all experts were asked in each round (feedback='bandit'), and what the others would have lost, which "
            "oracles need, is not known"
        )
    most = int(max(run_record.counts))
    if most > 1:
        raise ValueError(f"only means of {most} rows were recorded, and oracles need every row: give a larger record=")
