"""Frames of a panel: pandas and Polars in this process, Dask, Ray and Spark through Fugue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ._buckets import buckets_of
from ._panel_task import BucketReport, PanelTask

LOCAL = ("pandas", "polars")
KINDS = (*LOCAL, "dask", "ray", "pyspark")


class PanelFrame(Protocol):
    """A frame whose buckets can be trained and predicted where its rows are."""

    in_order: bool  #: whether its rows have an order
    columns: list[Any]

    def learn(self, task: PanelTask) -> list[BucketReport]:
        """Train the buckets of all rows."""

    def predict(self, task: PanelTask, kept: list[str], names: list[str]) -> Any:
        """Return a frame of the same kind with the kept columns and the predictions as columns with these names."""


def panel_frame_of(frame: Any) -> PanelFrame:
    """Return the panel frame of a frame of any supported library."""
    kind = type(frame).__module__.split(".")[0]
    if type(frame).__module__.startswith("pyspark.pandas"):
        raise ValueError("frames of pyspark.pandas are not supported: pass frame.to_spark()")
    if kind not in KINDS or type(frame).__name__ not in ("DataFrame", "Dataset", "MaterializedDataset"):
        raise ValueError(f"frame must be a frame of pandas, Polars, Dask, Ray or Spark; it is {type(frame)!r}")
    if kind in LOCAL:
        return LocalFrame(frame)
    from ._fugue_frame import FugueFrame

    try:
        return FugueFrame(frame)
    except ImportError as error:
        extra = {"dask": "dask,fugue", "ray": "ray", "pyspark": "spark"}[kind]
        raise ImportError(f"frames of {kind} need Fugue: pip install 'ltm_sklearn[{extra}]'") from error


class LocalFrame:
    """A frame of pandas or Polars, whose buckets are processed one after the other in this process."""

    in_order = True

    def __init__(self, frame: Any) -> None:
        self.frame = frame
        self.columns: list[Any] = list(frame.columns)
        self.is_pandas = hasattr(frame, "iloc")
        if not self.is_pandas:
            for module in ("pandas", "pyarrow"):
                import_extra(module, "panels of Polars", "arrow")

    def learn(self, task: PanelTask) -> list[BucketReport]:
        return [task.learn(bucket, rows) for bucket, rows, _ in self._buckets(task)]

    def predict(self, task: PanelTask, kept: list[str], names: list[str]) -> Any:
        predictions: Floats = np.empty((len(self.frame), len(names)))
        for bucket, rows, positions in self._buckets(task):
            predictions[positions] = task.predict(bucket, rows)
        columns = dict(zip(names, predictions.T, strict=True))
        if self.is_pandas:
            return self.frame[kept].assign(**columns)
        import polars

        return self.frame[kept].with_columns(**{name: polars.Series(values) for name, values in columns.items()})

    def _buckets(self, task: PanelTask) -> Iterator[tuple[int, Any, NDArray[np.intp]]]:
        """Yield each bucket with its rows and their positions."""
        rows = self.frame if self.is_pandas else self.frame.to_pandas()
        rows = rows.reset_index(drop=True)
        buckets = buckets_of(rows[task.mixture.series], task.generation.n_buckets)
        order = np.argsort(buckets, kind="stable")
        cuts = np.flatnonzero(np.diff(buckets[order])) + 1
        for positions in np.split(order, cuts) if len(order) else []:
            yield int(buckets[positions[0]]), rows.iloc[positions].reset_index(drop=True), positions
