"""Which bucket a series is in."""

from __future__ import annotations

from numbers import Integral
from typing import Any
from zlib import crc32

import numpy as np

from .._typing import Integers

NO_BUCKET = -1  #: of what cannot be the name of a series


def plain_name(name: Any) -> str | int | None:
    """The name of a series, as text or number of Python's own; None if it is neither.

    Members of some enumerations are text or numbers, too. They are equal to plain ones, but are shown as others and
    are written to files as objects of their class, which nobody who reads them trusts.
    """
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, Integral) and not isinstance(name, bool | np.bool_ | np.timedelta64):
        return int(name)
    return None


def plain_names(column: Any) -> Any:
    """A column of pandas with plain names, and None where there is none: else True would be the same as 1."""
    import pandas as pd

    if not (isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_object_dtype(column.dtype)):
        return column
    names = column.tolist()
    if not {*map(type, names)} <= {str, int}:
        names = [plain_name(name) for name in names]
    return pd.Series(names, index=column.index, dtype=object)


def bucket_of(series: Any, n_buckets: int) -> int:
    """The bucket of a series.

    Made of its name, which is text or a whole number, by a checksum that is the same in every process, on every machine
    and in later versions: Python's own hash of a text is not.
    """
    name = plain_name(series)
    return NO_BUCKET if name is None else crc32(str(name).encode(errors="surrogatepass")) % n_buckets


def buckets_of(column: Any, n_buckets: int) -> Integers:
    """Those of the rows of a column of pandas."""
    import pandas as pd

    codes, names = pd.factorize(plain_names(column))
    buckets = [bucket_of(name, n_buckets) for name in names.tolist()]
    return np.array([*buckets, NO_BUCKET], dtype=np.int64)[codes]  # where there is no name, the code is -1
