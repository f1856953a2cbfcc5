"""Frames of Dask, Ray and Spark, through Fugue."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd

from ._bucket_work import FailureReport, Work
from ._buckets import buckets_of

BUCKET = "ltm_bucket"  #: a column that is added on the way


class FugueFrame:
    """One whose rows are on the workers of a cluster."""

    in_order = False

    def __init__(self, frame: Any) -> None:
        import fugue.api as fa  # here, as it is not always there

        is_dask = type(frame).__module__.startswith("dask")
        self.frame, self._fugue = _without_categories(frame) if is_dask else frame, fa
        self.columns = fa.get_column_names(frame)
        if BUCKET in self.columns:
            raise ValueError(f"the name of column {BUCKET!r} is needed on the way: rename it")
        for name in self.columns:
            if isinstance(name, str) and any(letter < " " for letter in name):
                raise ValueError(f"column {name!r} has a tab or a newline in its name, which Fugue does not take")
        index = getattr(getattr(frame, "index", None), "name", None)  # of Dask
        if index is not None:
            raise ValueError(
                f"the frame's index has the name {index!r}, which Fugue does not take: make it a column with "
                "reset_index(), or let it go with reset_index(drop=True)"
            )

    def learn(self, work: Work) -> list[FailureReport]:
        """Learn all rows, now: what comes back is small, and is asked for once."""
        schema = "bucket:long,n_series:long,n_rows:long,error:str,is_input:bool"
        reports = self._fugue.as_array(self._by_bucket(_learned, work, schema, {}), type_safe=True)
        return [FailureReport(*row) for row in reports]

    def predict(self, work: Work, kept: list[str], names: list[str]) -> Any:
        """A frame of the same kind with some of its columns, and what is predicted."""
        with self._told():
            schema = self._fugue.get_schema(self.frame).extract(kept) + [(name, float) for name in names]
        return self._by_bucket(_predicted, work, schema, {"kept": kept, "names": names})

    def _by_bucket(self, using: Any, work: Work, schema: Any, params: dict[str, Any]) -> Any:
        of = {"series": work.mixture.series, "n_buckets": work.generation.n_buckets}
        params = {"work": replace(work, of_one_type=True), **params}
        with self._told():
            numbered = self._fugue.transform(self.frame, _numbered, schema=f"*,{BUCKET}:long", params=of)
            return self._fugue.transform(numbered, using, schema=schema, partition={"by": BUCKET}, params=params)

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Errors of Fugue in our words."""
        from fugue.dataframe.utils import SchemaError

        try:
            yield
        except SyntaxError as error:
            told = f"among {self.columns!r} is a name that Fugue does not take, with , or : perhaps: {error}"
            raise ValueError(told) from error
        except SchemaError as error:
            if "empty" in str(error):  # of Ray: without rows it has no columns
                raise ValueError("the frame has no rows") from error
            raise


def _without_categories(frame: Any) -> Any:
    """Fugue does not know those of Dask: they are what they stand for."""
    names = [name for name, kind in dict(frame.dtypes).items() if isinstance(kind, pd.CategoricalDtype)]
    if not names:
        return frame
    known = frame.categorize(columns=names, index=False)  # or they would all be taken for text; a look at all rows
    return known.astype({name: known.dtypes[name].categories.dtype for name in names})


def _numbered(rows: pd.DataFrame, series: str, n_buckets: int) -> pd.DataFrame:
    return rows.assign(**{BUCKET: buckets_of(rows[series], n_buckets)})


def _learned(rows: pd.DataFrame, work: Any) -> pd.DataFrame:
    report = work.learn(int(rows[BUCKET].iloc[0]), rows.reset_index(drop=True))
    return pd.DataFrame([report])


def _predicted(rows: pd.DataFrame, work: Any, kept: Any, names: Any) -> pd.DataFrame:
    said = work.predict(int(rows[BUCKET].iloc[0]), rows.reset_index(drop=True))
    return rows[kept].assign(**dict(zip(names, said.T, strict=True)))
