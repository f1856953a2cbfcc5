"""What is done with the rows of a bucket, by whoever has them: it is the same in every process."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._typing import Floats
from ..forecasting import ExpertMixture, times_of
from ..persistence import dumps, load, loads, write_atomically
from ._buckets import NO_BUCKET, plain_names
from ._generations import Generations, Header

PLAIN = (str, int, float, bool, type(None))  #: what every file may hold


class FailureReport(NamedTuple):
    """Of the learning of a bucket."""

    bucket: int
    n_series: int
    n_rows: int  #: so far
    error: str  #: empty if there was none
    is_input: bool  #: whether the error is one of the rows


@dataclass(frozen=True)
class Work:
    """What a call does, wherever it is done: plain values, which go to the workers.

    A bucket is one mixture with many series, as they run faster side by side.
    """

    mixture: ExpertMixture
    folder: str
    generation: Header  #: that is gone on from, with the experts of the call
    call: str = ""
    of_one_type: bool = False  #: whether all names of series are: rows are a cluster's, where 5 may have become "5"

    # Learning -----------------------------------------------------------------------------------------------------

    def learn(self, bucket: int, rows: Any) -> FailureReport:
        """Learn rows, and write the bucket's next file. An error is reported, not raised: no cluster hides it so."""
        try:
            rows = self._named(bucket, rows)
            mixture = self.load(bucket)
            self._check_names(mixture, rows)
            try:
                self._learn(mixture, rows)
            except ValueError as error:
                again = self.load(bucket)
                raise self._told_by_series(bucket, rows, error, partial(self._learn, again)) from error
            write_atomically(self._dumped(mixture), str(self._generations.path(self.new_file(bucket))))
        except ValueError as error:
            return FailureReport(bucket, 0, 0, str(error), True)
        except Exception:
            return FailureReport(bucket, 0, 0, f"bucket {bucket}: {traceback.format_exc()}", False)
        return FailureReport(bucket, len(mixture._labels.series), mixture.n_samples_seen_, "", False)

    def _learn(self, mixture: ExpertMixture, rows: Any) -> None:
        rows = self._in_time(rows)
        mixture.partial_fit(self._forecasts(rows), rows[self.generation.target])

    def new_file(self, bucket: int) -> str:
        """The bucket's file of the next generation."""
        return self._generations.new_file(self.generation.number + 1, self.call, bucket)

    @property
    def _generations(self) -> Generations:
        return Generations(Path(self.folder))

    def load(self, bucket: int) -> ExpertMixture:
        """The bucket as it is, with all experts that the panel has met."""
        given = self.generation
        try:
            path = self._generations.file_of(given, bucket)
            if path is None:
                mixture = clone(self.mixture)._begin_panel(given.experts[: given.n_first])
            else:
                mixture = load(path, trusted=needs_pickle(self.mixture))
                mixture.n_jobs = self.mixture.n_jobs
        except FileNotFoundError as error:
            raise ValueError(
                f"generation {given.number} in {self.folder} is gone ({error}). If nobody deletes files there, let "
                "predictions be computed before the panel learns further, or keep more generations (keep=)"
            ) from error
        mixture._add_to_panel(given.experts[len(mixture.experts_) :])
        return mixture

    def _named(self, bucket: int, rows: Any) -> Any:
        """Rows with plain names of series."""
        series = self.mixture.series
        if bucket == NO_BUCKET:
            name = rows[series].tolist()[0]
            raise ValueError(f"column {series!r} (series=): {name!r} is neither text nor a whole number")
        rows = rows.copy(deep=False)
        rows[series] = plain_names(rows[series])
        return rows

    def _in_time(self, rows: Any) -> Any:
        """Rows of a series in the order of time: a frame of a cluster has none."""
        time = self.mixture.time
        if time is None:
            return rows
        order = np.argsort(times_of(rows[time], f"column {time!r} (time=)").order, kind="stable")
        return rows.iloc[order].reset_index(drop=True)

    def _forecasts(self, rows: Any) -> Any:
        """The columns that a mixture takes; what an expert does not say is NaN."""
        columns = special_columns(self.mixture) + self.generation.experts
        given = [name for name in columns if name in rows.columns]
        missing = [name for name in self.generation.experts if name not in rows.columns]
        forecasts = rows[given].reindex(columns=[*given, *missing])
        forecasts.columns = [*given, *missing]  # plain text, whatever the frame has
        return forecasts

    def _check_names(self, mixture: ExpertMixture, rows: Any) -> None:
        """That no number has become text on its way, or the other way round: it would be another series."""
        known = mixture._labels.series
        for name in rows[self.mixture.series].drop_duplicates().tolist() if self.of_one_type else []:
            twin = _twin(name)
            if name not in known and twin in known:
                raise ValueError(
                    f"there is a series {twin!r}, and {name!r} would be another one: give column "
                    f"{self.mixture.series!r} (series=) the type that it had"
                )

    def _told_by_series(self, bucket: int, rows: Any, error: ValueError, attempt: Callable[[Any], Any]) -> ValueError:
        """The same error, of the first series with which the same attempt fails alone."""
        for _, its in rows.groupby(self.mixture.series, sort=False):
            try:
                attempt(its.reset_index(drop=True))
            except ValueError as own:
                name = its[self.mixture.series].tolist()[0]
                counted = " (of the rows of this series)" if " row " in str(own) else ""
                return ValueError(f"series {name!r} (bucket {bucket}): {own}{counted}")
        return ValueError(f"bucket {bucket}: {error}")

    def _dumped(self, mixture: ExpertMixture) -> bytes:
        """The bytes of a bucket's file. What could not be read again is refused: all its series would be lost."""
        self._check_labels("group", mixture._labels.groups)
        self._check_labels("block", mixture._labels.last_block.values())
        try:
            return dumps(mixture, allow_pickle=needs_pickle(self.mixture))
        except ValueError as error:
            raise ValueError(_UNREADABLE.format(self.mixture, error)) from error

    def _check_labels(self, which: str, labels: Iterable[Any]) -> None:
        """Raise a ValueError for a label that could only be pickled."""
        for label in {(type(label), label): label for label in labels if type(label) not in PLAIN}.values():
            try:
                dumps(label, allow_pickle=False)
            except ValueError as error:
                raise ValueError(
                    f"column {getattr(self.mixture, which)!r} ({which}=): {label!r}, of {type(label)!r}, cannot be "
                    "written so that all can read it: make it text or a number"
                ) from error

    # Predicting -----------------------------------------------------------------------------------------------------

    def predict(self, bucket: int, rows: Any) -> Floats:
        """What the bucket says of rows, (n_rows, n_outputs), in their order."""
        rows = self._named(bucket, rows)
        mixture = self.load(bucket)
        self._check_names(mixture, rows)

        def issued(rows: Any) -> Floats:
            return mixture.predict(self._forecasts(rows))

        try:
            said = issued(rows)
        except ValueError as error:
            raise self._told_by_series(bucket, rows, error, issued) from error
        return said.reshape(len(rows), -1)


_UNREADABLE = "algorithm={0.algorithm!r} or loss={0.loss!r} cannot be written so that all can read it: {1}"
_OF_MAIN = "{} is of __main__, where workers do not find it: put it into a module"


def _twin(name: Any) -> Any:
    """The text of a number, or the number of a text; None if there is none."""
    if not isinstance(name, str):
        return str(name)
    try:
        return int(name) if str(int(name)) == name else None
    except ValueError:
        return None


def special_columns(mixture: ExpertMixture) -> list[str]:
    """Those that are no experts."""
    names = [mixture.series, mixture.time, mixture.group, mixture.block]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]


def needs_pickle(mixture: ExpertMixture) -> bool:
    """Return whether the algorithm or the loss is the user's own, so that files of the panel have pickles."""
    try:
        dumps([mixture.algorithm, mixture.loss], allow_pickle=False)
    except ValueError:
        return True
    return False


def check_own(mixture: ExpertMixture) -> None:
    """That what is the caller's own can be written and read again by all: what is learned would else be lost."""
    for which, given in {"algorithm": mixture.algorithm, "loss": mixture.loss}.items():
        left = [given]
        while left:
            thing = left.pop()
            if isinstance(thing, partial):
                left += [thing.func, *thing.args, *thing.keywords.values()]
            elif (thing if hasattr(thing, "__qualname__") else type(thing)).__module__ == "__main__":
                raise ValueError(_OF_MAIN.format(f"{which}={given!r}"))
    try:
        loads(dumps(clone(mixture)), trusted=True)
    except ValueError as error:
        raise ValueError(_UNREADABLE.format(mixture, error)) from error
