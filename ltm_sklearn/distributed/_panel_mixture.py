"""Mixture over a panel of series, on one machine or on a cluster."""

from __future__ import annotations

import re
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn import config_context
from sklearn.exceptions import NotFittedError

from .._optional import import_extra
from .._param_checks import check_count
from ..forecasting import CALENDAR, ExpertMixture, check_mixture
from ._buckets import bucket_of, plain_name
from ._panel_frames import panel_frame_of
from ._panel_state import Generation, PanelState
from ._panel_task import BucketReport, PanelTask, check_serializable, non_expert_columns

PREDICTION = "mixture"  #: column of the predictions
LEVEL = "quantile"  #: column of the quantiles in the weights


class PanelMixture:
    """An :class:`~ltm_sklearn.ExpertMixture` over a panel of series, on one machine or on a cluster.

    Frames of pandas and Polars are processed in this process. Frames of Dask, Ray and Spark are processed where their
    rows are, through Fugue. A row has a series, a time and the forecasts of the experts; all columns that are not named
    by a parameter are experts. The results are bitwise those of one ``ExpertMixture`` that is given all rows.

    The state is in a folder: another process continues with the same folder. A call of :meth:`partial_fit` takes effect
    as a whole or not at all: if it fails or is killed, the panel is as before.

    Parameters
    ----------
    mixture : ExpertMixture
        The parameters of the mixture of each series. Its ``series`` is required: the column of the series' names, which
        are text or whole numbers. Its ``time`` is required for frames of clusters, whose rows have no order.
    state : path
        The folder of the state. All workers must reach it. It is made if it does not exist.
    target : str, default="y"
        The column of the targets.
    n_buckets : int, default=64
        Number of files of the state. A checksum of its name assigns each series to one of them, so the number cannot be
        changed later. A bucket with its new rows must fit into the memory of a worker, and there should be several
        buckets for each worker. On Dask the same holds for the partitions of a frame.
    keep : int, default=2
        Number of generations of the state to keep; each call of :meth:`partial_fit` adds one. Predictions on a cluster
        are computed lazily from the generation at the time of the call, which must still exist then.

    Attributes
    ----------
    experts_ : list of str
        Names of the experts in order of first appearance.
    generation_ : int
        Number of completed calls of :meth:`partial_fit`.
    n_series_, n_samples_seen_ : int
        Numbers of series and rows so far.

    See Also
    --------
    ltm_sklearn.ExpertMixture : One mixture in memory.

    Examples
    --------
    The first forecaster is accurate for shop "a", the second for shop "b":

    >>> import tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from ltm_sklearn import ExpertMixture
    >>> from ltm_sklearn.distributed import PanelMixture
    >>> rows = pd.DataFrame({"shop": ["a", "b"] * 50, "day": np.repeat(np.arange(50), 2), "one": 0.0, "two": 1.0})
    >>> rows["y"] = rows["shop"].map({"a": 0.0, "b": 1.0})
    >>> folder, mixture = tempfile.mkdtemp(), ExpertMixture(series="shop", time="day")
    >>> panel = PanelMixture(mixture, folder, n_buckets=2).partial_fit(rows[:90])
    >>> panel.n_series_, panel.n_samples_seen_
    (2, 90)
    >>> again = PanelMixture(mixture, folder, n_buckets=2)  # for example in another process
    >>> again.partial_fit(rows[90:98]).predict(rows[98:]).round(1)
       shop  day    y  mixture
    98    a   49  0.0      0.0
    99    b   49  1.0      1.0
    """

    def __init__(
        self,
        mixture: ExpertMixture,
        state: str | PathLike[str],
        *,
        target: str = "y",
        n_buckets: int = 64,
        keep: int = 2,
    ) -> None:
        self.mixture = mixture
        self.state = state
        self.target = target
        self.n_buckets = n_buckets
        self.keep = keep

    def __repr__(self) -> str:
        return (
            f"PanelMixture({self.mixture!r}, {str(self.state)!r}, target={self.target!r}, "
            f"n_buckets={self.n_buckets!r}, keep={self.keep!r})"
        )

    # Training -----------------------------------------------------------------------------------------------------

    def partial_fit(self, frame: Any) -> Self:
        """Update the mixtures with rows whose targets are known.

        If there is a column of times, rows of a series may have any order; they must be later than those of earlier
        calls. New columns are new experts; experts without a column sleep. On a cluster the call waits until all
        buckets are written. An interrupt at the very end may come after the call took effect; check ``generation_``.

        Parameters
        ----------
        frame : frame of pandas, Polars, Dask, Ray or Spark

        Returns
        -------
        self
        """
        self._check_parameters()
        state = self._state
        before = self._last() or self._empty_generation()
        rows = panel_frame_of(frame)
        self._check_columns(rows.columns, learn=True)
        columns = [str.__str__(name) for name in rows.columns]
        if self.mixture.time is None and not rows.in_order:
            raise ValueError("the rows of this frame have no order: pass time=, the column of times, to the mixture")
        others = {*non_expert_columns(self.mixture), self.target}
        experts = before.experts + [name for name in columns if name not in others and name not in before.experts]
        if not experts:
            raise ValueError(f"the frame has no column of forecasts; its columns are {columns!r}")
        before = replace(before, experts=experts, n_first=before.n_first or len(experts))
        task = PanelTask(self.mixture, str(state.folder), before.header(), state.begin_call())
        try:
            reports = rows.learn(task)
            state.check_is_next(before.number + 1)
            _check_reports(reports)
            state.add(
                replace(
                    before,
                    number=before.number + 1,
                    call=task.call,
                    files=before.files | {str(report.bucket): task.new_file(report.bucket) for report in reports},
                    n_series=before.n_series | {str(report.bucket): report.n_series for report in reports},
                    n_rows=before.n_rows | {str(report.bucket): report.n_rows for report in reports},
                )
            )
        except BaseException:
            state.discard(task.call, before.number)
            raise
        state.prune(self.keep, before.number + 1)
        return self

    # Predicting -----------------------------------------------------------------------------------------------------

    def predict(self, frame: Any) -> Any:
        """Combine forecasts with the current weights; a new series has the weights of the prior.

        On a cluster the predictions are computed lazily.

        Parameters
        ----------
        frame : frame of pandas, Polars, Dask, Ray or Spark

        Returns
        -------
        frame of the same kind
            The columns that are not experts, and ``mixture``, or for quantiles such as 0.1 and 0.975 ``mixture_q10``
            and ``mixture_q97_5``. Rows of pandas and Polars keep their order.
        """
        task = self._task(self._current())
        rows = panel_frame_of(frame)
        self._check_columns(rows.columns, learn=False)
        others = {*non_expert_columns(self.mixture), self.target}
        return rows.predict(task, [name for name in rows.columns if name in others], self._prediction_columns())

    def _prediction_columns(self) -> list[str]:
        """Return the names of the columns of predictions."""
        if self.mixture.quantiles is None:
            return [PREDICTION]
        levels = [f"{100.0 * float(level):.10g}".replace(".", "_") for level in self.mixture.quantiles]
        return [f"{PREDICTION}_q{level}" for level in levels]

    def weights(self) -> Any:
        """Return the current weights of all series.

        Returns
        -------
        pandas.DataFrame
            A row for each series (and group, and quantile, if there are any), and a column for each expert.
        """
        pd = import_extra("pandas", "weights of a panel")
        current = self._current()
        task = self._task(current)
        parts = []
        for bucket in sorted(map(int, current.files)):
            mixture = task.load(bucket)
            cells = pd.DataFrame(mixture.cells_, columns=[self.mixture.series, self.mixture.group, LEVEL])
            weights = pd.DataFrame(np.atleast_2d(mixture.weights_), columns=mixture.experts_)
            parts.append(pd.concat([cells.dropna(axis=1, how="all"), weights], axis=1))
        return pd.concat(parts, ignore_index=True)

    def mixture_of(self, series: Any) -> ExpertMixture:
        """Return a copy of the mixture that holds a series and the others of its bucket.

        Its ``summary``, ``run_record`` and other methods take the series' name.

        Parameters
        ----------
        series : str or int

        Returns
        -------
        ExpertMixture
        """
        task = self._task(self._current())
        name = plain_name(series)
        if name is None:
            raise ValueError(f"series={series!r} is neither text nor a whole number")
        mixture = task.load(bucket_of(name, self.n_buckets))
        if name not in mixture._labels.series:
            raise ValueError(f"the panel has no series {series!r}")
        return mixture

    # Attributes -----------------------------------------------------------------------------------------------------

    @property
    def experts_(self) -> list[str]:
        """Names of the experts in order of first appearance."""
        return list(self._current().experts)

    @property
    def generation_(self) -> int:
        """Number of completed calls of :meth:`partial_fit`."""
        return self._current().number

    @property
    def n_series_(self) -> int:
        """Number of series so far."""
        return sum(self._current().n_series.values())

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows so far."""
        return sum(self._current().n_rows.values())

    @property
    def _state(self) -> PanelState:
        return PanelState(Path(self.state).absolute())

    def _task(self, generation: Generation) -> PanelTask:
        """Return the task that reads a generation."""
        return PanelTask(self.mixture, str(self._state.folder), generation.header())

    def _current(self) -> Generation:
        """Return the last generation, after checking the parameters."""
        self._check_parameters()
        last = self._last()
        if last is None:
            raise NotFittedError(f"the folder {str(self.state)!r} has no panel yet: call partial_fit")
        return last

    def _last(self) -> Generation | None:
        """Return the last generation, which must have the same parameters; None if there is none."""
        last, own = self._state.read(), self._empty_generation()
        if last is None:
            return None
        for name in ("n_buckets", "target"):
            stored, given = getattr(last, name), getattr(own, name)
            if stored != given:
                raise ValueError(f"{name}={given!r} differs from that of the panel in {str(self.state)!r}, {stored!r}")
        for name in last.parameters.keys() | own.parameters.keys():
            stored, given = (each.parameters.get(name) for each in (last, own))
            if stored != given:
                raise ValueError(f"{name}={given} differs from that of the mixtures in {str(self.state)!r}, {stored}")
        return last

    def _empty_generation(self) -> Generation:
        return Generation(0, int(self.n_buckets), self.target, _parameter_texts(self.mixture.get_params()), [], 0)

    # Checks -----------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not isinstance(self.mixture, ExpertMixture):
            raise ValueError(f"mixture={self.mixture!r} must be an ExpertMixture")
        check_mixture(self.mixture)
        if self.mixture.series is None:
            raise ValueError("the mixture needs series=, the column of the series' names")
        others = non_expert_columns(self.mixture)
        if not isinstance(self.target, str) or self.target in others:
            raise ValueError(f"target={self.target!r} must be the name of a column of its own")
        for name in self._prediction_columns():
            if name in (*others, self.target):
                raise ValueError(f"column {name!r} has the name of a column of predictions: rename it")
        check_serializable(self.mixture)
        if not isinstance(self.state, str | PathLike):
            raise ValueError(f"state={self.state!r} must be the path of a folder")
        if Path(self.state).exists() and not Path(self.state).is_dir():
            raise NotADirectoryError(f"state={str(self.state)!r} is a file, not a folder")
        check_count("n_buckets", self.n_buckets)
        check_count("keep", self.keep)

    def _check_columns(self, columns: list[Any], learn: bool) -> None:
        for name in columns:
            if not isinstance(name, str):
                raise ValueError(f"the names of columns must be text; there is {name!r}")
        doubled = [name for at, name in enumerate(columns) if name in columns[:at]]
        if doubled:
            raise ValueError(f"the frame has two columns {doubled[0]!r}")
        required = {"series": self.mixture.series}
        if learn:
            if self.mixture.quantiles is not None and LEVEL in columns and self.target != LEVEL:
                raise ValueError(f"column {LEVEL!r} has the name of a column of the weights: rename it")
            required |= {"target": self.target, "time": self.mixture.time}
            required["group"] = None if self.mixture.group in CALENDAR else self.mixture.group
            required["block"] = self.mixture.block if isinstance(self.mixture.block, str) else None
        for parameter, name in required.items():
            if name is not None and name not in columns:
                raise ValueError(f"the frame has no column {name!r} ({parameter}=); its columns are {columns!r}")


def _check_reports(reports: list[BucketReport]) -> None:
    """Raise the first error of the buckets."""
    errors = [report for report in reports if report.error]
    if errors:
        first = min(errors)
        more = f" (and {len(errors) - 1} more buckets have errors)" if len(errors) > 1 else ""
        raise (ValueError if first.is_input else RuntimeError)(f"{first.error}{more}; the panel is unchanged")
    if not reports:
        raise ValueError("the frame has no rows")


def _parameter_texts(parameters: dict[str, Any]) -> dict[str, str]:
    """Return the parameters of a mixture as texts for comparison; addresses of objects are left out."""
    ignored = ("n_jobs", "verbose")
    with config_context(print_changed_only=True):
        return {name: _parameter_text(value) for name, value in parameters.items() if name not in ignored}


def _parameter_text(value: Any) -> str:
    values = np.asarray(value).tolist() if isinstance(value, list | tuple | np.ndarray) else value
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(values))
