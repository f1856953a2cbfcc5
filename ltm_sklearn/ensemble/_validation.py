"""Checks of rows, labels and targets before they are passed to the experts."""

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

from .._param_checks import named_value_errors, naming_argument, require_targets
from .._typing import Floats

#: Number of classes that an error message lists.
MAX_LISTED_CLASSES = 20


def check_rows(estimator: Any, X: Any, reset: bool) -> Any:
    """Check that rows agree with those of earlier calls, and return them.

    Frames are returned unchanged, so that experts see the names of the columns; other rows become arrays.
    """
    if not reset and _is_plain(X, estimator) and np.isfinite(X).all():
        return X  # validate_data takes .25 ms for the same checks, which is long for single rows
    tags = get_tags(estimator).input_tags
    checks: dict[str, Any] = {"accept_sparse": "csr" if tags.sparse else False, "ensure_all_finite": not tags.allow_nan}
    if hasattr(X, "collect") and not hasattr(X, "__len__"):
        raise ValueError(f"X is a {type(X).__name__}, which has no rows yet. Call its collect() first.")
    if not hasattr(X, "columns"):
        with named_value_errors("X"):
            rows = validate_data(estimator, X, reset=reset, dtype="numeric", **checks)
        if rows.dtype.kind in "mM":  # dates pass validate_data
            raise ValueError(f"X must be numbers; it is of type {rows.dtype}")
        return rows
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    if _is_numeric(X):  # other columns are left to the preprocessing of the experts
        check_array(
            X if hasattr(X, "iloc") else np.asarray(X), dtype=None, estimator=estimator, input_name="X", **checks
        )
    elif len(X) == 0:
        raise ValueError("Found array with 0 sample(s) while a minimum of 1 is required.")
    return X


def read_only(array: Any) -> Any:
    """Return a read-only view of an array, so that no expert changes rows that others use; frames stay as they are."""
    if type(array) is not np.ndarray or not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def takes_nan(estimator: Any) -> bool:
    """Return whether an estimator accepts NaN; a pipeline does if an imputer comes before the steps that do not."""
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
    """Return whether :func:`check_rows` looks for NaN in these rows."""
    return not hasattr(X, "columns") or _is_numeric(X)


def _is_plain(X: Any, estimator: Any) -> bool:
    """Return whether X is a float array with the right number of columns, for an estimator without feature names."""
    if type(X) is not np.ndarray or X.ndim != 2 or X.dtype != np.float64 or len(X) == 0:
        return False
    return X.shape[1] == estimator.n_features_in_ and not hasattr(estimator, "feature_names_in_")


def _is_numeric(frame: Any) -> bool:
    """Return whether all columns of a frame are numeric."""
    dtypes = getattr(frame, "dtypes", None)
    if dtypes is None:  # pyarrow
        types: Any = sys.modules["pyarrow"].types
        numeric = types.is_boolean, types.is_integer, types.is_floating
        return all(any(is_such(each) for is_such in numeric) for each in frame.schema.types)
    if hasattr(dtypes, "to_numpy"):  # pandas
        return all(getattr(dtype, "kind", "O") in "biuf" for dtype in dtypes)
    return all(getattr(dtype, "is_numeric", lambda: False)() for dtype in dtypes)  # polars


def check_labels(estimator: Any, y: Any) -> Any:
    """Return class labels as an array; a ValueError says what is wrong with them."""
    require_targets(estimator, y)
    with named_value_errors("y"):
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
    with one_kind("y"):
        check_classification_targets(y)
    return y


@contextmanager
def one_kind(what: str) -> Iterator[None]:
    """Raise a ValueError for labels that cannot be sorted, such as text and numbers together."""
    try:
        yield
    except TypeError as error:
        raise ValueError(f"{what} must have labels of one kind, all text or all numbers: {error}") from None
    except ValueError as error:
        raise naming_argument(error, what) from None


def class_indices(y: Any, classes: Any) -> Any:
    """Return the index of each label among the sorted classes; an unknown label is a ValueError."""
    if not len(classes):
        raise ValueError("classes is empty")
    try:
        indices = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
        unknown = classes[indices] != y
    except TypeError as error:  # the labels cannot be compared with the classes
        raise ValueError(f"labels of type {y.dtype} cannot be compared with the classes {classes!r}") from error
    if unknown.any():
        row = int(unknown.argmax())
        shown = repr(classes[:MAX_LISTED_CLASSES].tolist())
        others = f" and {len(classes) - MAX_LISTED_CLASSES:,} more" if len(classes) > MAX_LISTED_CLASSES else ""
        raise ValueError(f"label {y[row]!r} of row {row} is not among the classes {shown}{others}")
    return indices


def check_numbers(estimator: Any, y: Any) -> Floats:
    """Return targets as finite floats; a ValueError says what is wrong with them."""
    require_targets(estimator, y)
    with named_value_errors("y"):
        y = check_array(y, ensure_2d=False, dtype=np.float64, input_name="y", estimator=estimator)
        numbers: Floats = column_or_1d(y, warn=True)
    return numbers


def is_frozen(estimator: Any) -> bool:
    """Return whether an expert must not be trained: ``FrozenEstimator.partial_fit`` would train the inner estimator."""
    return isinstance(estimator, FrozenEstimator)
