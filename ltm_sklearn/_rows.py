"""Rows in whatever container they come: arrays, sparse matrices, frames."""

from __future__ import annotations

import copy
import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples


def stacked(batches: list[Any]) -> Any:
    """Batches of rows as one: frames if all are frames of one library."""
    if any(sp.issparse(batch) for batch in batches):
        return sp.vstack([sp.csr_array(batch) for batch in batches], format="csr")
    libraries = {type(batch).__module__.partition(".")[0] for batch in batches}
    library: Any = sys.modules.get(libraries.pop()) if len(libraries) == 1 else None
    if hasattr(batches[0], "columns") and hasattr(library, "concat"):  # pandas and polars
        return library.concat(batches)
    return np.concatenate([np.asarray(batch) for batch in batches])


def last_rows(X: Any, most: int) -> Any:
    """A copy of the last rows, at most so many: the caller may use its arrays again."""
    if type(X) is np.ndarray:
        return X[-most:].copy()
    n_rows = _num_samples(X)
    rows = _safe_indexing(X, slice(max(n_rows - most, 0), n_rows))
    return rows.copy() if hasattr(rows, "copy") else copy.copy(rows)
