"""Rows as River has them: dictionaries, or a frame of any library that narwhals knows."""

from __future__ import annotations

from typing import Any, Self

import narwhals.stable.v2 as nw
import numpy as np

from .._frames import frame_as_dicts, listed
from .._param_checks import as_floats
from .._typing import Floats


class Rows(list[dict[Any, Any]]):
    """Rows as dictionaries and, if they came in one, as a frame."""

    frame: Any = None

    @classmethod
    def of_frame(cls, X: Any) -> Self:
        """The rows of a frame."""
        rows = cls(frame_as_dicts(framed(X)))
        rows.frame = X
        return rows

    def chosen(self, places: list[int]) -> Self:
        """Some of the rows."""
        rows = type(self)(self[at] for at in places)
        if self.frame is not None:
            rows.frame = nw.from_native(self.frame, eager_only=True)[places].to_native()
        return rows


def framed(X: Any) -> nw.DataFrame[Any]:
    """A frame as narwhals has it, which complains of what is none; rows without columns are an error."""
    frame = nw.from_native(X, eager_only=True)
    if not frame.columns and len(X):
        raise ValueError(f"the frame X has {len(X)} rows and no columns")
    return frame


def checked_weights(w: Any, n_rows: int) -> Floats:
    """Weights of rows, one for all or one for each; an error if they are none."""
    weights = as_floats(w if np.ndim(w) == 0 else listed(w), "weights w")
    if weights.ndim and len(weights) != n_rows:
        raise ValueError(f"there are {len(weights)} weights for {n_rows} rows")
    if not ((weights >= 0.0) & np.isfinite(weights)).all():
        raise ValueError(f"the weight is {w!r}: it must be a number that is not negative")
    return np.broadcast_to(weights, (n_rows,))
