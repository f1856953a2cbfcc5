"""Rows in arrays, sparse matrices, lists and frames of pandas, Polars or pyarrow: conversions and checks of values."""

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
    return [f"x{index}" for index in range(n_features)]


def as_frame(X: Any) -> nw.DataFrame[Any] | None:
    """Return a frame of pandas, Polars or pyarrow as a narwhals frame; None for anything that is not a frame.

    Two columns of one name, and lazy frames, raise a ValueError.
    """
    if isinstance(X, np.ndarray | list):  # narwhals needs 60 us for this check
        return None
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        raise ValueError(
            f"a {type(X).__name__} of {frame.implementation.value} has no rows yet: collect or compute it first"
        )
    return frame if isinstance(frame, nw.DataFrame) else None


def column_names(X: Any) -> list[Any] | None:
    """Return the names of the columns of a frame; None for anything that is not a frame."""
    frame = as_frame(X)
    return None if frame is None else frame.columns


def as_dicts(X: Any, names: list[Any] | None = None) -> list[dict[Any, Any]]:
    """Return rows of an array, a sparse matrix or a frame as dictionaries of Python objects, the rows of River.

    Missing values are left out: many of River's models accept that, while one NaN would make their running means NaN.
    ``names`` are the names of the columns of an array.
    """
    if isinstance(X, list):
        return X
    frame = as_frame(X)
    if frame is not None:
        return frame_rows_as_dicts(frame)
    X = X.toarray() if sp.issparse(X) else np.asarray(X)
    names = names or default_names(X.shape[1])
    if X.dtype.kind in "biuf" and np.isfinite(X).all():
        return [dict(zip(names, values, strict=True)) for values in X.tolist()]
    return _known_values(names, X.T.tolist())


def frame_rows_as_dicts(frame: nw.DataFrame[Any]) -> list[dict[Any, Any]]:
    """Return the rows of a frame as dictionaries, without missing values."""
    native = frame.to_native()  # reading native columns is twice as fast as reading those of narwhals
    return _known_values(frame.columns, [as_list(native[name]) for name in frame.columns])


def _known_values(names: list[Any], columns: list[list[Any]]) -> list[dict[Any, Any]]:
    """Return the rows of columns as dictionaries, without missing values."""
    rows = zip(*columns, strict=True)
    return [{name: value for name, value in zip(names, row, strict=True) if is_known(value)} for row in rows]


def as_list(values: Any, what: str = "values") -> list[Any]:
    """Return a series, an array or any other sequence as a list of Python objects; ``what`` names it in errors."""
    try:
        for method in ("to_list", "to_pylist", "tolist"):  # methods of pandas and Polars, of pyarrow, of NumPy
            if hasattr(values, method):
                return list(getattr(values, method)())
        return list(values)
    except TypeError:
        raise ValueError(f"{what} must be a sequence; got {values!r}") from None


def concatenate_rows(batches: list[Any]) -> Any:
    """Concatenate batches of rows. Frames of one library give a frame of this library; other mixtures an array."""
    if any(sp.issparse(batch) for batch in batches):
        return sp.vstack([sp.csr_array(batch) for batch in batches], format="csr")
    frames = [frame for batch in batches if (frame := as_frame(batch)) is not None]
    if len(frames) == len(batches) and len({frame.implementation for frame in frames}) == 1:
        return nw.concat(frames).to_native()
    return np.concatenate([np.asarray(batch) for batch in batches])


def last_rows(X: Any, max_rows: int) -> Any:
    """Return a copy of the last rows, at most ``max_rows``. It is a copy because callers may overwrite their arrays."""
    if type(X) is np.ndarray:
        return X[-max_rows:].copy()
    n_rows = _num_samples(X)
    rows = _safe_indexing(X, slice(max(n_rows - max_rows, 0), n_rows))
    return rows.copy() if hasattr(rows, "copy") else copy.copy(rows)


def is_known(value: Any) -> bool:
    """Return whether a value is not missing: neither None nor NaN nor ``pandas.NA`` nor ``pandas.NaT``."""
    if value is None:
        return False
    try:
        return bool(value == value)
    except TypeError:  # comparing pandas.NA gives pandas.NA, which has no truth value
        return False
    except Exception:  # an array or a column compares item by item
        return True


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number of Python or NumPy."""
    try:
        return isinstance(value, Real) and not isinstance(value, np.timedelta64) and math.isfinite(value)
    except OverflowError:  # an integer that is larger than all floats
        return False


#: Types that ``float`` accepts although they are not real numbers, or accepts with a warning.
_NOT_REAL = (str, bytes, complex, np.complexfloating, np.ma.MaskedArray)


def as_numbers(predictions: Any) -> Floats:
    """Return predictions as a new array of floats, NaN where masked; raise a TypeError if they are not real numbers."""
    if isinstance(predictions, np.ma.MaskedArray):
        predictions = np.ma.filled(predictions.astype(np.float64), np.nan)
    if isinstance(predictions, list):  # of numbers, some of which may be masked, or of rows of numbers
        try:
            predictions = [as_number(each) for each in predictions]
        except TypeError:
            rows = list, tuple, np.ndarray
            predictions = [as_numbers(each) if isinstance(each, rows) else as_number(each) for each in predictions]
    array = np.asarray(predictions)
    if array.dtype.kind not in "biufO":
        raise TypeError(f"its predictions are of type {array.dtype}, not numbers")
    return np.array(array, dtype=np.float64)  # a copy, as the model may reuse its array


def as_number(prediction: Any) -> float:
    """Return a single prediction of a model as a float, NaN if masked; raise a TypeError if it is not real."""
    return float(as_numbers(prediction)) if isinstance(prediction, _NOT_REAL) else float(prediction)
