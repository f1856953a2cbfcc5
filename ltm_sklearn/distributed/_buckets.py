"""Assignment of series to buckets by a checksum of their names."""

from __future__ import annotations

from numbers import Integral
from typing import Any
from zlib import crc32

import numpy as np

from .._typing import Integers

NO_BUCKET = -1  #: bucket of values that cannot be the name of a series


def plain_name(name: Any) -> str | int | None:
    """Return the name of a series as a plain ``str`` or ``int``; None if it is neither text nor a whole number.

    Members of some enumerations are text or numbers, too. They are equal to plain ones, but would be written to files
    as objects of their class, which needs a pickle.
    """
    if isinstance(name, str):
        return str.__str__(name)
    if isinstance(name, Integral) and not isinstance(name, bool | np.bool_ | np.timedelta64):
        return int(name)
    return None


def plain_names(column: Any) -> Any:
    """Return a pandas column with plain names, and None for other values, so that True is not taken for 1."""
    import pandas as pd

    if not (isinstance(column.dtype, pd.CategoricalDtype) or pd.api.types.is_object_dtype(column.dtype)):
        return column
    names = column.tolist()
    if not {*map(type, names)} <= {str, int}:
        names = [plain_name(name) for name in names]
    return pd.Series(names, index=column.index, dtype=object)


def bucket_of(series: Any, n_buckets: int) -> int:
    """Return the bucket of a series.

    The checksum of the name is the same in every process, on every machine and in later versions; ``hash`` of a text
    is not.
    """
    name = plain_name(series)
    return NO_BUCKET if name is None else crc32(str(name).encode(errors="surrogatepass")) % n_buckets


def buckets_of(column: Any, n_buckets: int) -> Integers:
    """Return the bucket of each row of a pandas column of series names."""
    import pandas as pd

    codes, names = pd.factorize(plain_names(column))
    buckets = [bucket_of(name, n_buckets) for name in names.tolist()]
    return np.array([*buckets, NO_BUCKET], dtype=np.int64)[codes]  # the code of a missing name is -1
