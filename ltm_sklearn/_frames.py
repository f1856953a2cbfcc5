"""Rows in any container: arrays, sparse matrices, lists, and frames of pandas, Polars or pyarrow."""

from __future__ import annotations

import copy
import math
from numbers import Real
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ._typing import Floats


def default_names(n_features: int) -> list[Any]:
    """Return the names that scikit-learn gives to features without names."""
    return [f"x{at}" for at in range(n_features)]


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a frame of pandas, Polars or pyarrow as a narwhals frame; None for anything that is not a frame.

    Two columns of one name, and lazy frames, raise a ValueError.
    """
    if isinstance(X, np.ndarray | list):  # narwhals takes 60 us to find this out
        return None
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(f"a {type(X).__name__} of {frame.implementation.value} has no rows yet: collect them first")
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame; None for anything that is not a frame."""
    frame = as_frame(X)
    return None if frame is None else frame.columns


def as_dicts(X: Any, names: list[Any] | None = None) -> list[dict[Any, Any]]:
    """Return rows of an array, a sparse matrix or a frame as dictionaries of plain values, as River has them.

    Missing values are left out: many of River's models accept that, while NaN would spoil their means for good.
    ``names`` are the names of the columns of an array.
    """
    if isinstance(X, list):
        return X
    frame = as_frame(X)
    if frame is not None:
        return frame_as_dicts(frame)
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    names = names or default_names(X.shape[1])
    if X.dtype.kind in "biuf" and np.isfinite(X).all():
        return [dict(zip(names, values, strict=True)) for values in X.tolist()]
    return _known_values(names, X.T.tolist())


def frame_as_dicts(frame: nw.DataFrame[Any]) -> list[dict[Any, Any]]:
    """Return the rows of a frame as dictionaries, without missing values."""
    native = frame.to_native()  # its columns, and not those of narwhals: twice as fast
    return _known_values(frame.columns, [listed(native[name]) for name in frame.columns])


def _known_values(names: list[Any], columns: list[list[Any]]) -> list[dict[Any, Any]]:
    rows = zip(*columns, strict=True)
    return [{name: value for name, value in zip(names, row, strict=True) if is_known(value)} for row in rows]


def listed(values: Any, what: str = "values") -> list[Any]:
    """Return a series, an array or any other sequence as a list of plain Python objects."""
    try:
        for method in ("to_list", "to_pylist", "tolist"):  # of pandas and polars, pyarrow, NumPy
            if hasattr(values, method):
                return list(getattr(values, method)())
        return list(values)
    except TypeError:
        raise ValueError(f"{what} must be a sequence; got {values!r}") from None


def stacked(batches: list[Any]) -> Any:
    """Concatenate batches of rows; frames of one library become a frame of this library."""
    if any(sp.issparse(batch) for batch in batches):
        return sp.vstack([sp.csr_array(batch) for batch in batches], format="csr")
    frames = [frame for batch in batches if (frame := as_frame(batch)) is not None]
    if len(frames) == len(batches) and len({frame.implementation for frame in frames}) == 1:
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(batch) for batch in batches])


def last_rows(X: Any, most: int) -> Any:
    """Return a copy of the last rows, at most ``most``: the caller may overwrite its arrays."""
    if type(X) is np.ndarray:
        return X[-most:].copy()
    n_rows = _num_samples(X)
    rows = _safe_indexing(X, slice(max(n_rows - most, 0), n_rows))
    return rows.copy() if hasattr(rows, "copy") else copy.copy(rows)


def is_known(value: Any) -> bool:
    """Whether a value is there: neither None nor NaN, nor what pandas has for them."""
    if value is None:
        return False
    try:
        return bool(value == value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return False
    except Exception:  # an array or a column, which compares item by item
        return True


def is_number(value: Any) -> bool:
    """Whether a value is a finite number, of Python or of NumPy."""
    try:
        return isinstance(value, Real) and not isinstance(value, np.timedelta64) and math.isfinite(value)
    except OverflowError:  # a whole number beyond all floats
        return False


#: What ``float`` takes though it is no number, or only with a warning.
_NO_NUMBERS = (str, bytes, complex, np.complexfloating, np.ma.MaskedArray)


def as_numbers(answer: Any) -> Floats:
    """A fresh array of what a model predicts, NaN where it is masked; what are no real numbers is an error."""
    if isinstance(answer, np.ma.MaskedArray):
        answer = np.ma.filled(answer.astype(np.float64), np.nan)
    if isinstance(answer, list):  # of single answers, which may be masked, or of rows of them
        try:
            answer = [as_number(each) for each in answer]
        except TypeError:
            rows = list, tuple, np.ndarray
            answer = [as_numbers(each) if isinstance(each, rows) else as_number(each) for each in answer]
    array = np.asarray(answer)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"its predictions are of type {array.dtype}, not numbers")
    return np.array(array, dtype=np.float64)  # a model may change later what it has returned


def as_number(answer: Any) -> float:
    """One of them."""
    return float(as_numbers(answer)) if isinstance(answer, _NO_NUMBERS) else float(answer)
