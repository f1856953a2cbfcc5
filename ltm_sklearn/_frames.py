"""Rows in whatever container they come: arrays, sparse matrices, frames."""

from __future__ import annotations

import copy
import math
import sys
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples

from ._typing import Floats


def default_names(n_features: int) -> list[Any]:
    """Names for features that have none, as scikit-learn has them."""
    return [f"x{at}" for at in range(n_features)]


def column_names(X: Any) -> list[Any] | None:
    """Names of the columns of a frame; None if it is none."""
    if hasattr(X, "column_names"):  # pyarrow, whose columns are arrays
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else None


def as_dicts(X: Any, names: list[Any] | None = None) -> list[dict[Any, Any]]:
    """Rows as River has them, of plain values: arrays, sparse matrices, frames of pandas, polars and pyarrow.

    What is missing is left out, which many of River's models bear, while NaN spoils their means for good. ``names`` are
    for the columns of arrays.
    """
    if isinstance(X, list):
        return X
    of_frame = column_names(X)
    if of_frame is not None:
        names = of_frame
        if len({*names}) < len(names):
            raise ValueError(f"columns must have different names; got {names!r}")
        columns = [listed(X[name]) for name in names]
    else:
        X = X.toarray() if sp.issparse(X) else np.asarray(X)
        names = names or default_names(X.shape[1])
        if X.dtype.kind in "biuf" and np.isfinite(X).all():
            return [dict(zip(names, values, strict=True)) for values in X.tolist()]
        columns = X.T.tolist()
    rows = zip(*columns, strict=True)
    return [{name: value for name, value in zip(names, row, strict=True) if is_known(value)} for row in rows]


def listed(values: Any, what: str = "values") -> list[Any]:
    """A series, an array or any other sequence as a list of Python's own objects."""
    try:
        for method in ("to_list", "to_pylist", "tolist"):  # of pandas and polars, pyarrow, NumPy
            if hasattr(values, method):
                return list(getattr(values, method)())
        return list(values)
    except TypeError:
        raise ValueError(f"{what} must be a sequence; got {values!r}") from None


def stacked(batches: list[Any]) -> Any:
    """Batches of rows as one: frames if all are frames of one library."""
    if any(sp.issparse(batch) for batch in batches):
        return sp.vstack([sp.csr_array(batch) for batch in batches], format="csr")
    libraries = {type(batch).__module__.partition(".")[0] for batch in batches}
    library: Any = sys.modules.get(libraries.pop()) if len(libraries) == 1 else None
    concat = getattr(library, "concat", None) or getattr(library, "concat_tables", None)  # the latter is pyarrow's
    if hasattr(batches[0], "columns") and concat is not None:
        return concat(batches)
    return np.concatenate([np.asarray(batch) for batch in batches])


def last_rows(X: Any, most: int) -> Any:
    """A copy of the last rows, at most so many: the caller may use its arrays again."""
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
