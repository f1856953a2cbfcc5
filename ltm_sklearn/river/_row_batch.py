"""Rows as River represents them: dictionaries, or a frame of any library that narwhals supports."""

from __future__ import annotations

from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from .._frames import as_list, frame_rows_as_dicts
from .._param_checks import as_floats
from .._typing import Floats


class RowBatch(list[dict[Any, Any]]):
    """Rows as dictionaries, with the frame that they came in, if any."""

    frame: Any = None

    @classmethod
    def of_frame(cls, X: Any) -> Self:
        """Return the rows of a frame."""
        rows = cls(frame_rows_as_dicts(as_narwhals(X)))
        rows.frame = X
        return rows

    def chosen(self, indices: list[int]) -> Self:
        """Return the rows with these indices."""
        rows = type(self)(self[at] for at in indices)
        if self.frame is not None:
            rows.frame = nw.from_native(self.frame, eager_only=True)[indices].to_native()
        return rows


def as_narwhals(X: Any) -> nw.DataFrame[Any]:
    """Return a frame as a narwhals frame; a frame with rows but no columns is a ValueError."""
    frame = nw.from_native(X, eager_only=True)
    if not frame.columns and len(X):
        raise ValueError(f"the frame X has {len(X)} rows and no columns")
    return frame


def checked_weights(w: Any, n_rows: int) -> Floats:
    """Return the weights of rows, one for all or one for each; a ValueError says what is wrong with them."""
    weights = as_floats(w if np.ndim(w) == 0 else as_list(w), "weights w")
    if weights.ndim and len(weights) != n_rows:
        raise ValueError(f"there are {len(weights)} weights for {n_rows} rows")
    if not ((weights >= 0.0) & np.isfinite(weights)).all():
        raise ValueError(f"the weight is {w!r}: it must be a finite number, 0 or more")
    return np.broadcast_to(weights, (n_rows,))
