"""Frames of five kinds, and how the rows of their buckets are worked on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ._bucket_work import FailureReport, Work
from ._buckets import buckets_of

LOCAL = ("pandas", "polars")
KINDS = (*LOCAL, "dask", "ray", "pyspark")


def frame_of(frame: Any) -> Any:
    """A frame with what panels ask of it."""
    kind = type(frame).__module__.split(".")[0]
    if type(frame).__module__.startswith("pyspark.pandas"):
        raise ValueError("frames of pyspark.pandas are not taken: give frame.to_spark()")
    if kind not in KINDS or type(frame).__name__ not in ("DataFrame", "Dataset", "MaterializedDataset"):
        raise ValueError(f"a frame of pandas, Polars, Dask, Ray or Spark is needed; this is {type(frame)!r}")
    if kind in LOCAL:
        return LocalFrame(frame)
    from ._fugue_frame import FugueFrame

    try:
        return FugueFrame(frame)
    except ImportError as error:
        extra = {"dask": "dask,fugue", "ray": "ray", "pyspark": "spark"}[kind]
        raise ImportError(f"frames of {kind} need Fugue: pip install 'ltm_sklearn[{extra}]'") from error


class LocalFrame:
    """One of pandas or Polars, which is worked on here, bucket by bucket."""

    in_order = True  #: whether its rows are in an order

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.columns = list(frame.columns)
        self.is_pandas = hasattr(frame, "iloc")
        if not self.is_pandas:
            for module in ("pandas", "pyarrow"):
                import_extra(module, "panels of Polars", "arrow")

    def learn(self, work: Work) -> list[FailureReport]:
        """Learn all rows."""
        return [work.learn(bucket, rows) for bucket, rows, _ in self._buckets(work)]

    def predict(self, work: Work, kept: list[str], names: list[str]) -> Any:
        """A frame of the same kind with some of its columns, and what is predicted."""
        said: Floats = np.empty((len(self.frame), len(names)))
        for bucket, rows, places in self._buckets(work):
            said[places] = work.predict(bucket, rows)
        columns = dict(zip(names, said.T, strict=True))
        if self.is_pandas:
            return self.frame[kept].assign(**columns)
        import polars

        return self.frame[kept].with_columns(**{name: polars.Series(values) for name, values in columns.items()})

    def _buckets(self, work: Work) -> Iterator[tuple[int, Any, NDArray[np.intp]]]:
        """Each bucket with its rows and their places."""
        rows = self.frame if self.is_pandas else self.frame.to_pandas()
        rows = rows.reset_index(drop=True)
        buckets = buckets_of(rows[work.mixture.series], work.generation.n_buckets)
        order = np.argsort(buckets, kind="stable")
        cuts = np.flatnonzero(np.diff(buckets[order])) + 1
        for places in np.split(order, cuts) if len(order) else []:
            yield int(buckets[places[0]]), rows.iloc[places].reset_index(drop=True), places
