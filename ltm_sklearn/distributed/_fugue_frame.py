"""Frames of Dask, Ray and Spark, through Fugue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd

from ._buckets import buckets_of
from ._panel_task import BucketReport, PanelTask

BUCKET = "ltm_bucket"  #: a temporary column


class FugueFrame:
    """A frame whose rows are on the workers of a cluster."""

    in_order = False

    def __init__(self, frame: Any) -> None:
        import fugue.api as fa  # optional

        is_dask = type(frame).__module__.startswith("dask")
        self.frame, self._fugue = _without_categories(frame) if is_dask else frame, fa
        self.columns: list[Any] = fa.get_column_names(frame)
        if BUCKET in self.columns:
            raise ValueError(f"column {BUCKET!r} has the name of a temporary column: rename it")
        for name in self.columns:
            if isinstance(name, str) and any(letter < " " for letter in name):
                raise ValueError(f"column {name!r} has a tab or a newline in its name, which Fugue does not support")
        index = getattr(getattr(frame, "index", None), "name", None)  # of Dask
        if index is not None:
            raise ValueError(
                f"the frame's index has the name {index!r}, which Fugue does not support: make it a column with "
                "reset_index(), or remove it with reset_index(drop=True)"
            )

    def learn(self, task: PanelTask) -> list[BucketReport]:
        schema = "bucket:long,n_series:long,n_rows:long,error:str,is_input:bool"
        reports = self._fugue.as_array(self._by_bucket(_learned, task, schema, {}), type_safe=True)
        return [BucketReport(*row) for row in reports]

    def predict(self, task: PanelTask, kept: list[str], names: list[str]) -> Any:
        with self._clear_errors():
            schema = self._fugue.get_schema(self.frame).extract(kept) + [(name, float) for name in names]
        return self._by_bucket(_predicted, task, schema, {"kept": kept, "names": names})

    def _by_bucket(self, using: Any, task: PanelTask, schema: Any, params: dict[str, Any]) -> Any:
        """Return the frame of the results of a function that is called with the rows of each bucket."""
        bucketing = {"series": task.mixture.series, "n_buckets": task.generation.n_buckets}
        params = {"task": replace(task, of_one_type=True), **params}
        with self._clear_errors():
            numbered = self._fugue.transform(self.frame, _with_bucket, schema=f"*,{BUCKET}:long", params=bucketing)
            return self._fugue.transform(numbered, using, schema=schema, partition={"by": BUCKET}, params=params)

    @contextmanager
    def _clear_errors(self) -> Iterator[None]:
        """Replace Fugue's errors by messages that name the cause."""
        from fugue.dataframe.utils import SchemaError

        try:
            yield
        except SyntaxError as error:
            raise ValueError(
                f"columns={self.columns!r} has a name that Fugue does not support, perhaps one with , or : in it: "
                f"{error}"
            ) from error
        except SchemaError as error:
            if "empty" in str(error):  # a Ray dataset without rows has no columns
                raise ValueError("the frame has no rows") from error
            raise


def _without_categories(frame: Any) -> Any:
    """Return a Dask frame with the values of its categorical columns, which Fugue does not support."""
    names = [name for name, kind in dict(frame.dtypes).items() if isinstance(kind, pd.CategoricalDtype)]
    if not names:
        return frame
    known = frame.categorize(columns=names, index=False)  # reads all rows; unknown categories would become text
    return known.astype({name: known.dtypes[name].categories.dtype for name in names})


def _with_bucket(rows: pd.DataFrame, series: str, n_buckets: int) -> pd.DataFrame:
    return rows.assign(**{BUCKET: buckets_of(rows[series], n_buckets)})


def _learned(rows: pd.DataFrame, task: Any) -> pd.DataFrame:
    report = task.learn(int(rows[BUCKET].iloc[0]), rows.reset_index(drop=True))
    return pd.DataFrame([report])


def _predicted(rows: pd.DataFrame, task: Any, kept: Any, names: Any) -> pd.DataFrame:
    predictions = task.predict(int(rows[BUCKET].iloc[0]), rows.reset_index(drop=True))
    return rows[kept].assign(**dict(zip(names, predictions.T, strict=True)))
