"""Rows as River has them: dictionaries, or a frame of any library that narwhals knows."""

from __future__ import annotations

from typing import Any, Self

import narwhals.stable.v2 as nw

from .._river_models import is_known


class Rows(list[dict[Any, Any]]):
    """Rows as dictionaries and, if they came in one, as a frame."""

    frame: Any = None

    @classmethod
    def of_frame(cls, X: Any) -> Self:
        """The rows of a frame."""
        frame = nw.from_native(X, eager_only=True)
        # not ``rows(named=True)``, which wants names that are strings
        # what is missing is left out, which many of River's models bear, while NaN spoils their means for good
        columns = frame.columns
        rows = cls(
            {name: value for name, value in zip(columns, row, strict=True) if is_known(value)} for row in frame.rows()
        )
        rows.frame = X
        return rows


def listed(values: Any) -> list[Any]:
    """A series, an array or any other sequence as a list of Python's own objects."""
    for method in ("to_list", "to_pylist", "tolist"):  # of pandas and polars, pyarrow, NumPy
        if hasattr(values, method):
            return list(getattr(values, method)())
    return list(values)
