"""Base class of the displays of a run: constructors from an estimator, a result or a log."""

from __future__ import annotations

from abc import ABC, abstractmethod
from os import PathLike
from typing import Any, Self

from ..recording import RunRecord, end_of, read_log
from ._layout import axes_or_new


class RunDisplay(ABC):
    """Base class of the displays that are drawn from the record of a run.

    Parameters
    ----------
    run_record : RunRecord
    """

    def __init__(self, run_record: RunRecord) -> None:
        self.run_record = run_record

    @property
    def figsize(self) -> tuple[float, float]:
        """Width and height of a new figure in inches."""
        return 9.0, 4.0

    @classmethod
    def from_run_record(cls, run_record: RunRecord, *, ax: Any = None, **options: Any) -> Self:
        """Draw a run from its record.

        Parameters
        ----------
        run_record : RunRecord
        ax : matplotlib Axes, optional
            None: a new figure.
        **options
            Options of this display, such as ``switches`` of :class:`CumulativeLossDisplay`.
        """
        return cls(run_record, **options).plot(ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, series: Any = None, output: Any = None, ax: Any = None, **options: Any
    ) -> Self:
        """Draw the recorded run of an estimator.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``record=``; or a pipeline that ends in such an estimator.
        series, output : optional
            The series and the output to draw, of an estimator that records several.
        ax : matplotlib Axes, optional
            None: a new figure.
        **options
            Options of this display, such as ``switches`` of :class:`CumulativeLossDisplay`.
        """
        model = end_of(estimator)
        if not hasattr(model, "run_record"):
            raise TypeError(
                f"{type(model).__name__} records no run that could be drawn. Pass an estimator of ltm_sklearn, fitted "
                "with record="
            )
        which = {name: value for name, value in (("series", series), ("output", output)) if value is not None}
        return cls.from_run_record(model.run_record(**which), ax=ax, **options)

    @classmethod
    def from_result(cls, result: Any, *, model: Any = None, ax: Any = None, **options: Any) -> Self:
        """Draw the recorded run of a model in a prequential evaluation.

        Parameters
        ----------
        result : PrequentialResult
        model : optional
            The model's name. None: the only model with a record.
        ax : matplotlib Axes, optional
            None: a new figure.
        **options
            Options of this display, such as ``switches`` of :class:`CumulativeLossDisplay`.
        """
        run_records: dict[Any, RunRecord] = result.run_records
        if not run_records:
            raise ValueError(
                "the result has no recorded run: pass record= to a model. Draw a model with several series by "
                "from_estimator(model, series=...)"
            )
        if model is None and len(run_records) > 1:
            raise ValueError(f"the result has several recorded runs: pass model=, one of {list(run_records)}")
        if model is not None and model not in run_records:
            raise ValueError(f"model={model!r} has no recorded run; those with one are {list(run_records)}")
        return cls.from_run_record(run_records[next(iter(run_records)) if model is None else model], ax=ax, **options)

    @classmethod
    def from_log(cls, path: str | PathLike[str], *, ax: Any = None, **options: Any) -> Self:
        """Draw a run from its log, in any process, during the run or after it.

        Parameters
        ----------
        path : str or path
            The file that was passed to the estimator as ``record=``.
        ax : matplotlib Axes, optional
            None: a new figure.
        **options
            Options of this display, such as ``switches`` of :class:`CumulativeLossDisplay`.
        """
        return cls.from_run_record(read_log(path).run_record(), ax=ax, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        self.ax_ = axes_or_new(ax, self.figsize)
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Any) -> None:
        """Draw the display into the axes."""
