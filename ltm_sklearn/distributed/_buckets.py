"""Which bucket a series is in."""

from __future__ import annotations

from numbers import Integral
from typing import Any
from zlib import crc32

import numpy as np

from .._timetable import Integers

NO_BUCKET = -1  #: of what cannot be the name of a series


def bucket_of(series: Any, n_buckets: int) -> int:
    """The bucket of a series.

    Made of its name, which is text or a whole number, by a checksum that is the same in every process, on every machine
    and in later versions: Python's own hash of a text is not.
    """
    if not isinstance(series, str | Integral) or isinstance(series, bool | np.bool_):
        return NO_BUCKET
    return crc32(str(series).encode(errors="surrogatepass")) % n_buckets


def buckets_of(column: Any, n_buckets: int) -> Integers:
    """Those of the rows of a column of pandas."""
    import pandas as pd

    codes, names = pd.factorize(column)
    buckets = [bucket_of(name, n_buckets) for name in names.tolist()]
    return np.array([*buckets, NO_BUCKET], dtype=np.int64)[codes]  # where there is no name, the code is -1
