"""Training and prediction of the buckets of a panel, the same in every process."""

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
from ._panel_state import GenerationHeader, PanelState

PLAIN = (str, int, float, bool, type(None))  #: types that every file may hold


class BucketReport(NamedTuple):
    """Result of training a bucket."""

    bucket: int
    n_series: int
    n_rows: int  #: in total
    error: str  #: empty if there was none
    is_input: bool  #: whether the rows caused the error


@dataclass(frozen=True)
class PanelTask:
    """Training or prediction of the buckets of a panel; it has plain values only and is sent to the workers.

    A bucket is one mixture with many series, which is faster than a mixture for each series.
    """

    mixture: ExpertMixture
    folder: str
    generation: GenerationHeader  #: the current one, with the experts of this call
    call: str = ""
    of_one_type: bool = False  #: whether all series names have one type: on clusters 5 may have become "5"

    # Training -----------------------------------------------------------------------------------------------------

    def learn(self, bucket: int, rows: Any) -> BucketReport:
        """Train a bucket and write its next file. Errors are reported, as clusters would wrap raised ones."""
        try:
            rows = self._with_plain_names(bucket, rows)
            mixture = self.load(bucket)
            self._check_name_types(mixture, rows)
            try:
                self._learn(mixture, rows)
            except ValueError as error:
                again = self.load(bucket)
                raise self._error_of_series(bucket, rows, error, partial(self._learn, again)) from error
            write_atomically(self._serialized(mixture), str(self._state.path(self.new_file(bucket))))
        except ValueError as error:
            return BucketReport(bucket, 0, 0, str(error), True)
        except Exception:
            return BucketReport(bucket, 0, 0, f"bucket {bucket}: {traceback.format_exc()}", False)
        return BucketReport(bucket, len(mixture._labels.series), mixture.n_samples_seen_, "", False)

    def _learn(self, mixture: ExpertMixture, rows: Any) -> None:
        time = self.mixture.time
        if time is not None:  # rows of a cluster have no order
            order = np.argsort(times_of(rows[time], f"column {time!r} (time=)").order, kind="stable")
            rows = rows.iloc[order].reset_index(drop=True)
        mixture.partial_fit(self._forecasts(rows), rows[self.generation.target])

    def new_file(self, bucket: int) -> str:
        """Return the name of the bucket's file in the next generation."""
        return self._state.new_file(self.generation.number + 1, self.call, bucket)

    @property
    def _state(self) -> PanelState:
        return PanelState(Path(self.folder))

    def load(self, bucket: int) -> ExpertMixture:
        """Return the current mixture of a bucket, with all experts of the panel."""
        given = self.generation
        try:
            path = self._state.bucket_path(given, bucket)
            if path is None:
                mixture = clone(self.mixture)._begin_panel(given.experts[: given.n_first])
            else:
                mixture = load(path, trusted=needs_pickle(self.mixture))
                mixture.n_jobs = self.mixture.n_jobs
        except FileNotFoundError as error:
            raise ValueError(
                f"generation {given.number} in {self.folder} is gone ({error}). Unless its files were deleted by hand, "
                "compute predictions before the next partial_fit, or keep more generations (keep=)"
            ) from error
        mixture._add_to_panel(given.experts[len(mixture.experts_) :])
        return mixture

    def _with_plain_names(self, bucket: int, rows: Any) -> Any:
        """Return the rows with plain names of series."""
        series = self.mixture.series
        if bucket == NO_BUCKET:
            name = rows[series].tolist()[0]
            raise ValueError(f"column {series!r} (series=): {name!r} is neither text nor a whole number")
        rows = rows.copy(deep=False)
        rows[series] = plain_names(rows[series])
        return rows

    def _forecasts(self, rows: Any) -> Any:
        """Return the columns of the mixture; those of missing experts are NaN."""
        columns = non_expert_columns(self.mixture) + self.generation.experts
        given = [name for name in columns if name in rows.columns]
        missing = [name for name in self.generation.experts if name not in rows.columns]
        forecasts = rows[given].reindex(columns=[*given, *missing])
        forecasts.columns = [*given, *missing]  # plain text, whatever the frame has
        return forecasts

    def _check_name_types(self, mixture: ExpertMixture, rows: Any) -> None:
        """Raise an error for a number that was text before, or text that was a number: it would be a new series."""
        known = mixture._labels.series
        for name in rows[self.mixture.series].drop_duplicates().tolist() if self.of_one_type else []:
            other = _of_other_type(name)
            if name not in known and other in known:
                raise ValueError(
                    f"column {self.mixture.series!r} (series=): {name!r} would be a new series beside {other!r}. "
                    "Convert the column to the type of the earlier calls"
                )

    def _error_of_series(self, bucket: int, rows: Any, error: ValueError, attempt: Callable[[Any], Any]) -> ValueError:
        """Return the same error for the first series with which the attempt fails alone."""
        for _, own_rows in rows.groupby(self.mixture.series, sort=False):
            try:
                attempt(own_rows.reset_index(drop=True))
            except ValueError as own:
                name = own_rows[self.mixture.series].tolist()[0]
                counted = " (of the rows of this series)" if " row " in str(own) else ""
                return ValueError(f"series {name!r} (bucket {bucket}): {own}{counted}")
        return ValueError(f"bucket {bucket}: {error}")

    def _serialized(self, mixture: ExpertMixture) -> bytes:
        """Return the bytes of a bucket's file; refuse what could not be loaded again, which would lose the bucket."""
        self._check_labels("group", mixture._labels.groups)
        self._check_labels("block", mixture._labels.last_block.values())
        try:
            return dumps(mixture, allow_pickle=needs_pickle(self.mixture))
        except ValueError as error:
            raise ValueError(_NOT_SERIALIZABLE.format(self.mixture, error)) from error

    def _check_labels(self, parameter: str, labels: Iterable[Any]) -> None:
        """Raise a ValueError for a label that could only be pickled."""
        for label in {(type(label), label): label for label in labels if type(label) not in PLAIN}.values():
            try:
                dumps(label, allow_pickle=False)
            except ValueError as error:
                raise ValueError(
                    f"column {getattr(self.mixture, parameter)!r} ({parameter}=): {label!r}, of {type(label)!r}, "
                    "cannot be written without pickle. Convert the column to text or numbers"
                ) from error

    # Predicting -----------------------------------------------------------------------------------------------------

    def predict(self, bucket: int, rows: Any) -> Floats:
        """Predict rows of a bucket, shape (n_rows, n_outputs), in their order."""
        rows = self._with_plain_names(bucket, rows)
        mixture = self.load(bucket)
        self._check_name_types(mixture, rows)

        def predict(rows: Any) -> Floats:
            return mixture.predict(self._forecasts(rows))

        try:
            predictions = predict(rows)
        except ValueError as error:
            raise self._error_of_series(bucket, rows, error, predict) from error
        return predictions.reshape(len(rows), -1)


_NOT_SERIALIZABLE = (
    "algorithm={0.algorithm!r} or loss={0.loss!r} cannot be written to files that all workers can read: {1}"
)


def _of_other_type(name: Any) -> Any:
    """Return the text of a number, or the number of a text; None if there is none."""
    if not isinstance(name, str):
        return str(name)
    try:
        return int(name) if str(int(name)) == name else None
    except ValueError:
        return None


def non_expert_columns(mixture: ExpertMixture) -> list[str]:
    """Return the columns of series, times, groups and blocks."""
    names = [mixture.series, mixture.time, mixture.group, mixture.block]
    return [name for name in dict.fromkeys(names) if isinstance(name, str)]


def needs_pickle(mixture: ExpertMixture) -> bool:
    """Return whether the algorithm or the loss is the user's own, so that files of the panel have pickles."""
    try:
        dumps([mixture.algorithm, mixture.loss], allow_pickle=False)
    except ValueError:
        return True
    return False


def check_serializable(mixture: ExpertMixture) -> None:
    """Raise an error if a user's algorithm or loss cannot be written and read again by all workers."""
    for parameter, given in {"algorithm": mixture.algorithm, "loss": mixture.loss}.items():
        parts = [given]
        while parts:
            part = parts.pop()
            if isinstance(part, partial):
                parts += [part.func, *part.args, *part.keywords.values()]
            elif (part if hasattr(part, "__qualname__") else type(part)).__module__ == "__main__":
                raise ValueError(
                    f"{parameter}={given!r} is defined in __main__, which workers cannot import. Move it to a module"
                )
    try:
        loads(dumps(clone(mixture)), trusted=True)
    except ValueError as error:
        raise ValueError(_NOT_SERIALIZABLE.format(mixture, error)) from error
