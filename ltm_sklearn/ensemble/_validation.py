"""Rows that are handed on to other estimators: checked, and put together."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite, check_array, get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d, validate_data

from .._param_checks import _named, named_value_errors, require
from .._typing import Floats

MOST_SHOWN = 20  #: classes that an error lists


def check_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """Rows that agree with those seen before: frames as they are, so that experts see the names, the rest as arrays."""
    if not reset and _is_plain(X, estimator) and np.isfinite(X).all():
        return X  # what validate_data finds out in a quarter of a millisecond: much when rows come one by one
    tags = get_tags(estimator).input_tags
    checks: dict[str, Any] = {"accept_sparse": "csr" if tags.sparse else False, "ensure_all_finite": not tags.allow_nan}
    if hasattr(X, "collect") and not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}, which has no rows yet: collect() them first")
    if not hasattr(X, "columns"):
        with named_value_errors("X"):
            rows = validate_data(estimator, X, reset=reset, dtype="numeric", **checks)
        if rows.dtype.kind in "mM":  # scikit-learn lets them pass, and they mix with no numbers
            raise ValueError(f"X must be numbers; it is of type {rows.dtype}")
        return rows
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if _is_numeric(X):  # other columns are up to the experts' own preprocessing
        check_array(
            X if hasattr(X, "iloc") else np.asarray(X), dtype=None, estimator=estimator, input_name="X", **checks
        )
    elif len(X) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return X


def read_only(array: Any) -> Any:
    """What several experts are given must not be changed by one of them; frames and sparse rows stay as they are."""
    if type(array) is not np.ndarray or not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def takes_nan(estimator: Any) -> bool:
    """Whether an estimator may be given NaN. Of a pipeline scikit-learn does not tell; here: if a step fills it in."""
    if isinstance(estimator, Pipeline):
        for _, step in estimator.steps:
            if type(step).__module__.startswith("sklearn.impute"):
                return True
            if not (step is None or step == "passthrough" or takes_nan(step)):
                return False
        return True
    allow_nan: bool = get_tags(estimator).input_tags.allow_nan
    return allow_nan


def are_checked(X: Any) -> bool:
    """Whether :func:`check_rows` has looked for NaN in these rows."""
    return not hasattr(X, "columns") or _is_numeric(X)


def _is_plain(X: Any, estimator: Any) -> bool:
    """Whether this is an array of floats of the right width, and rows have no names."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or len(X) == 0:
        return False
    return X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_")


def _is_numeric(frame: Any) -> bool:
    """Whether all columns are."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None:  # pyarrow
        types: Any = sys.modules["pyarrow"].types
        numeric = types.is_boolean, types.is_integer, types.is_floating
        return all(any(is_such(each) for is_such in numeric) for each in frame.schema.types)
    if hasattr(dtypes, "to_numpy"):  # pandas
        return all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)
    return all(getattr(dtype, "is_numeric", lambda: False)() for dtype in dtypes)  # polars


def check_labels(estimator: Any, y: Any) -> Any:
    """One class label a row."""
    require(estimator, y)
    with named_value_errors("y"):
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
    with one_kind("y"):
        check_classification_targets(y)
    return y


@contextmanager
def one_kind(what: str) -> Iterator[None]:
    """Labels that cannot be sorted, as text and numbers together, are a ValueError that says so."""
    try:
        yield
    except TypeError as error:
        raise ValueError(f"{what} must have labels of one kind, all text or all numbers: {error}") from None
    except ValueError as error:
        raise _named(error, what) from None


def class_indices(y: Any, classes: Any) -> Any:
    """Where each label stands among the sorted classes; one that is none of them is an error."""
    if not len(classes):
        raise ValueError("classes is empty")
    try:
        indices = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        unknown = classes[indices] != y
    except TypeError as error:  # labels that cannot even be compared with the classes
        raise ValueError(f"labels of type {y.dtype} do not go with the classes {classes!r}") from error
    if unknown.any():
        row = int(unknown.argmax())
        shown = repr(classes[:MOST_SHOWN].tolist())
        others = f" and {len(classes) - MOST_SHOWN:,} more" if len(classes) > MOST_SHOWN else ""
        raise ValueError(f"label {y[row]!r} of row {row} is not among the classes {shown}{others}")
    return indices


def check_numbers(estimator: Any, y: Any) -> Floats:
    """One finite number a row."""
    require(estimator, y)
    with named_value_errors("y"):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
        numbers: Floats = column_or_1d(y, warn=True)
    return numbers


def is_frozen(estimator: Any) -> bool:
    """Whether an expert is never trained. FrozenEstimator hands ``partial_fit`` on to what it holds."""
    return isinstance(estimator, FrozenEstimator)
