"""Named features as the columns of a matrix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from river.utils import dataframe

from .._typing import Floats

Row = dict[Any, Any]


@dataclass(frozen=True)
class FeatureColumns:
    """Columns of an estimator's matrix, by name of the feature.

    A missing feature is 0, as in River's linear models; a new one is ignored.
    """

    allow_nan: bool
    names: tuple[Any, ...] = ()  #: empty before the first batch

    def fixed(self, rows: Iterable[Iterable[Any]]) -> FeatureColumns:
        """Return columns for the features of the first rows; the same object if it has names already.

        They are sorted, since River requires that the order of a row's features makes no difference.
        """
        return self if self.names else replace(self, names=tuple(sorted({name for x in rows for name in x}, key=str)))

    def check(self, x: Row) -> None:
        """Raise a ValueError that names a feature that is not a number."""
        if not isinstance(x, Mapping):
            raise ValueError(f"the row is {x!r}: it must be a dictionary")
        known = {name: x[name] for name in self.names if name in x} if self.names else x
        try:
            if math.isfinite(sum(known.values())):
                return
        except (TypeError, OverflowError):
            pass
        for name, value in known.items():
            if not self._is_fine(value):
                raise ValueError(f"feature {name!r} is {value!r}, which is not a number that scikit-learn accepts")

    def _is_fine(self, value: Any) -> bool:
        if value is None:
            return self.allow_nan
        try:
            number = math.nan if isinstance(value, str) else float(value)
        except (TypeError, ValueError, OverflowError):
            return False
        return math.isfinite(number) or (self.allow_nan and math.isnan(number) and not isinstance(value, str))

    def matrix(self, rows: list[Row]) -> Floats:
        """Return checked rows as an array."""
        return np.array([[x.get(name, 0.0) for name in self.names] for x in rows], dtype=np.float64)

    def matrix_of_frame(self, X: Any) -> Floats:
        """Return a frame of any library as an array."""
        frame = dataframe.into_frame(X)
        there = set(frame.columns)
        known = [name for name in self.names if name in there]
        matrix = np.zeros((len(frame), len(self.names)))
        if known:
            try:
                # through nw.col, as names in pandas need not be strings
                values = dataframe.to_numpy(frame.select(nw.col(known)))
            except (TypeError, ValueError) as error:
                raise ValueError(f"some of the columns {known!r} are no numbers: {error}") from error
            bad = np.isinf(values) if self.allow_nan else ~np.isfinite(values)
            if bad.any():
                row, column = np.argwhere(bad)[0].tolist()
                raise ValueError(f"feature {known[column]!r} of row {row} is {values[row, column]}")
            matrix[:, [self.names.index(name) for name in known]] = values
        return matrix
