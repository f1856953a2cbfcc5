"""A mixture of more series than one process holds."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.exceptions import NotFittedError

from .._optional import import_extra
from .._param_checks import check_count
from ..forecasting import CALENDAR, ExpertMixture, check_mixture
from ._bucket_work import FailureReport, Work, check_own, special_columns
from ._buckets import bucket_of, plain_name
from ._frames import frame_of
from ._generations import Generation, Generations, described

PREDICTION = "mixture"  #: the column of what is predicted
LEVEL = "quantile"  #: the column of the quantiles among the weights


class PanelMixture:
    """An :class:`~ltm_sklearn.ExpertMixture` over a panel of series, on one machine or on a cluster.

    The same call takes a frame of pandas or Polars, which is worked on in this process, or of Dask, Ray or Spark, which
    is worked on where its rows are, through Fugue. A row is of one series and one time, and has the forecasts of the
    experts, a column each; all columns that are not named below are experts. The numbers are those of one
    ``ExpertMixture`` that is given all rows, to the last bit.

    What is learned is in a folder: another process, with the same folder, goes on where this one ended. A call of
    :meth:`partial_fit` counts as a whole or not at all: if it fails, or is killed, the panel is as it was before.

    Parameters
    ----------
    mixture : ExpertMixture
        The parameters of the mixture of each series. Its ``series`` is needed: the column of the series' names, which
        are text or whole numbers. Its ``time`` is needed for frames of clusters, whose rows have no order.
    state : path
        The folder, which all workers must reach; it is made if it is not there.
    target : str, default="y"
        The column of the targets.
    n_buckets : int, default=64
        Series are kept together in so many files, by a checksum of their names: it cannot be changed later. A bucket
        with its new rows must fit into the memory of a worker, and there should be several for each worker. On Dask
        the same holds for the partitions of a frame.
    keep : int, default=2
        How many generations of the state to keep, of which each call that learns makes one. Predictions on a cluster
        are computed when they are asked for, from the state at the time of the call: it must still be there.

    Attributes
    ----------
    experts_ : list of str
        Names of the experts; those that came later are last.
    generation_ : int
        How many calls have learned.
    n_series_, n_samples_seen_ : int
        Series and rows so far.

    See Also
    --------
    ltm_sklearn.ExpertMixture : The same in memory.

    Examples
    --------
    One forecaster is right about shop "a", the other about shop "b":

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
    >>> again = PanelMixture(mixture, folder, n_buckets=2)  # in another process, say
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

    # Learning -----------------------------------------------------------------------------------------------------

    def partial_fit(self, frame: Any) -> Self:
        """Learn rows whose targets have come.

        Rows of a series may stand in any order if there is a column of times; they must be later than those of the
        calls before. A frame may have columns that were not there before, which are new experts, and may lack others,
        which sleep. On a cluster this waits until all is learned. An interrupt at the very end may come when the call
        counts already: ``generation_`` tells.

        Parameters
        ----------
        frame : frame of pandas, Polars, Dask, Ray or Spark

        Returns
        -------
        self
        """
        self._check_parameters()
        generations = self._generations
        before = self._last() or self._none_yet()
        given = frame_of(frame)
        self._check_columns(given.columns, learn=True)
        columns = [str.__str__(name) for name in given.columns]
        if self.mixture.time is None and not given.in_order:
            raise ValueError("the rows of such a frame have no order: give the mixture time=, a column of times")
        special = {*special_columns(self.mixture), self.target}
        new = [name for name in columns if name not in special and name not in before.experts]
        experts = before.experts + new
        if not experts:
            raise ValueError(f"there is no column of forecasts among {columns!r}")
        before = replace(before, experts=experts, n_first=before.n_first or len(experts))
        work = Work(self.mixture, str(generations.folder), before.header(), generations.begin())
        try:
            reports = given.learn(work)
            generations.check_no_other(before.number + 1)
            self._check_reports(reports)
            generations.add(self._next(before, work, reports))
        except BaseException:
            generations.discard(work.call, before.number)
            raise
        generations.tidy(self.keep, before.number + 1)
        return self

    @property
    def _generations(self) -> Generations:
        return Generations(Path(self.state).absolute())

    def _check_reports(self, reports: list[FailureReport]) -> None:
        errors = [report for report in reports if report.error]
        if errors:
            first = min(errors)
            more = f" (and {len(errors) - 1} more buckets have errors)" if len(errors) > 1 else ""
            raise (ValueError if first.is_input else RuntimeError)(f"{first.error}{more}; nothing was learned")
        if not reports:
            raise ValueError("the frame has no rows")

    def _next(self, before: Generation, work: Work, reports: list[FailureReport]) -> Generation:
        return replace(
            before,
            number=before.number + 1,
            call=work.call,
            files=before.files | {str(report.bucket): work.new_file(report.bucket) for report in reports},
            n_series=before.n_series | {str(report.bucket): report.n_series for report in reports},
            n_rows=before.n_rows | {str(report.bucket): report.n_rows for report in reports},
        )

    def _none_yet(self) -> Generation:
        return Generation(0, int(self.n_buckets), self.target, described(self.mixture.get_params()), [], 0)

    # Predicting -----------------------------------------------------------------------------------------------------

    def predict(self, frame: Any) -> Any:
        """Combine forecasts with the weights that are in force now; a series that is new has those of the prior.

        On a cluster this is computed when it is asked for.

        Parameters
        ----------
        frame : frame of pandas, Polars, Dask, Ray or Spark

        Returns
        -------
        frame of the same kind
            The columns that are no experts, and ``mixture``; of quantiles 0.1 and 0.975, ``mixture_q10`` and
            ``mixture_q97_5``. Rows of pandas and Polars are in the order in which they came.
        """
        work = self._work(self._now())
        given = frame_of(frame)
        self._check_columns(given.columns, learn=False)
        special = {*special_columns(self.mixture), self.target}
        kept = [name for name in given.columns if name in special]
        return given.predict(work, kept, self._predicted())

    def _predicted(self) -> list[str]:
        """The names of the columns that are predicted."""
        if self.mixture.quantiles is None:
            return [PREDICTION]
        levels = [f"{100.0 * float(level):.10g}".replace(".", "_") for level in self.mixture.quantiles]
        return [f"{PREDICTION}_q{level}" for level in levels]

    def weights(self) -> Any:
        """The weights now, of all series.

        Returns
        -------
        pandas.DataFrame
            A row for each series (and group, and quantile, where there are), and a column for each expert.
        """
        pd = import_extra("pandas", "weights of a panel")
        now = self._now()
        work = self._work(now)
        parts = []
        for bucket in sorted(map(int, now.files)):
            mixture = work.load(bucket)
            cells = pd.DataFrame(mixture.cells_, columns=[self.mixture.series, self.mixture.group, LEVEL])
            names = pd.DataFrame(np.atleast_2d(mixture.weights_), columns=mixture.experts_)
            parts.append(pd.concat([cells.dropna(axis=1, how="all"), names], axis=1))
        return pd.concat(parts, ignore_index=True)

    def mixture_of(self, series: Any) -> ExpertMixture:
        """A copy of the mixture that a series is in, with others of its bucket: for its summary, or its run_record.

        Parameters
        ----------
        series : str or int

        Returns
        -------
        ExpertMixture
        """
        work = self._work(self._now())
        name = plain_name(series)
        if name is None:
            raise ValueError(f"series={series!r} is neither text nor a whole number")
        mixture = work.load(bucket_of(name, self.n_buckets))
        if name not in mixture._labels.series:
            raise ValueError(f"there is no series {series!r}")
        return mixture

    # Attributes -----------------------------------------------------------------------------------------------------

    @property
    def experts_(self) -> list[str]:
        """Names of the experts."""
        return list(self._now().experts)

    @property
    def generation_(self) -> int:
        """How many calls have learned."""
        return self._now().number

    @property
    def n_series_(self) -> int:
        """Series so far."""
        return sum(self._now().n_series.values())

    @property
    def n_samples_seen_(self) -> int:
        """Rows so far."""
        return sum(self._now().n_rows.values())

    def _work(self, now: Generation) -> Work:
        """What is done with the generation as it is."""
        return Work(self.mixture, str(self._generations.folder), now.header())

    def _now(self) -> Generation:
        """The generation that is in force."""
        self._check_parameters()
        last = self._last()
        if last is None:
            raise NotFittedError(f"there is no panel in {str(self.state)!r} yet: call partial_fit")
        return last

    def _last(self) -> Generation | None:
        """The last generation, which must be of the same panel."""
        last, own = self._generations.read(), self._none_yet()
        if last is None:
            return None
        for what in ("n_buckets", "target"):
            if getattr(last, what) != getattr(own, what):
                was = getattr(last, what)
                raise ValueError(f"the panel in {str(self.state)!r} has {what}={was!r}, not {getattr(own, what)!r}")
        for name in last.parameters.keys() | own.parameters.keys():
            was, now = (each.parameters.get(name) for each in (last, own))
            if was != now:
                raise ValueError(f"the mixtures in {str(self.state)!r} have {name}={was}, not {now}")
        return last

    # Checks -----------------------------------------------------------------------------------------------------------

    def _check_parameters(self) -> None:
        if not isinstance(self.mixture, ExpertMixture):
            raise ValueError(f"mixture={self.mixture!r} must be an ExpertMixture")
        check_mixture(self.mixture)
        if self.mixture.series is None:
            raise ValueError("the mixture needs series=, the column of the series' names")
        if not isinstance(self.target, str) or self.target in special_columns(self.mixture):
            raise ValueError(f"target={self.target!r} must be the name of a column of its own")
        for name in self._predicted():
            if name in (*special_columns(self.mixture), self.target):
                raise ValueError(f"column {name!r} has the name of what is predicted: rename it")
        check_own(self.mixture)
        if not isinstance(self.state, str | PathLike):
            raise ValueError(f"state={self.state!r} must be the path of a folder")
        if Path(self.state).exists() and not Path(self.state).is_dir():
            raise NotADirectoryError(f"state={str(self.state)!r} is a file, not a folder")
        check_count("n_buckets", self.n_buckets)
        check_count("keep", self.keep)

    def _check_columns(self, columns: list[Any], learn: bool) -> None:
        for name in columns:
            if not isinstance(name, str):
                raise ValueError(f"columns must be named by text; there is {name!r}")
        doubled = [name for at, name in enumerate(columns) if name in columns[:at]]
        if doubled:
            raise ValueError(f"there are two columns {doubled[0]!r}")
        needed = {"series": self.mixture.series}
        if learn:
            if self.mixture.quantiles is not None and LEVEL in columns and self.target != LEVEL:
                raise ValueError(f"column {LEVEL!r} has the name of a column of the weights: rename it")
            needed |= {"target": self.target, "time": self.mixture.time}
            needed["group"] = None if self.mixture.group in CALENDAR else self.mixture.group
            needed["block"] = self.mixture.block if isinstance(self.mixture.block, str) else None
        for which, missing in needed.items():
            if missing is not None and missing not in columns:
                raise ValueError(f"there is no column {missing!r} ({which}=) among {columns!r}")
