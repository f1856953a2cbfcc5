"""Mean difference between two models, with a confidence interval."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from .._typing import Floats

#: With more stretches neighbours would depend on each other; with fewer the variance would be estimated badly.
MOST_STRETCHES = 20
#: With fewer stretches, equal differences by chance would give an interval of width 0.
FEWEST_STRETCHES = 5


class Difference(NamedTuple):
    """Mean difference with a confidence interval; returned by :meth:`PrequentialResult.difference`."""

    mean: float
    low: float  #: NaN if the stream is too short
    high: float
    stretches: Floats  #: difference in each of the stretches of the stream that the interval comes from
    ends: Floats  #: number of compared rows up to the end of each stretch

    @property
    def is_significant(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0.0 or self.high < 0.0


def batch_means(differences: Floats, counts: Floats, level: float) -> Difference:
    """Return the mean of a series and its confidence interval by the method of batch means.

    Neighbouring rows depend on each other, so that an interval from single rows would be far too narrow; the means of
    long stretches are nearly independent. Stretches have different numbers of rows, hence the weights: with shares s_j
    of all rows and means d_j, the variance of d = Σ s_j d_j is estimated by k/(k - 1) Σ s_j² (d_j - d)².

    Parameters
    ----------
    differences, counts : ndarray of shape (n_blocks,)
        Means of consecutive blocks of rows, and their numbers of rows.
    level : float
        Confidence level.
    """
    known = counts > 0.0
    totals, counts = np.where(known, differences, 0.0)[known] * counts[known], counts[known]
    if not len(counts):
        return Difference(math.nan, math.nan, math.nan, np.zeros(0), np.zeros(0))
    # a block belongs to the stretch that contains its middle
    middle = (np.cumsum(counts) - counts / 2.0) / counts.sum()
    n_wanted = min(MOST_STRETCHES, len(counts))
    _, starts = np.unique((middle * n_wanted).astype(np.intp), return_index=True)
    rows = np.add.reduceat(counts, starts)
    means = np.add.reduceat(totals, starts) / rows
    shares = rows / rows.sum()
    mean = float(shares @ means)
    n = len(means)
    half = math.nan
    if n >= FEWEST_STRETCHES:
        half = float(stdtrit(n - 1, 0.5 + level / 2.0) * np.sqrt(n / (n - 1) * (shares**2 @ (means - mean) ** 2)))
    return Difference(mean, mean - half, mean + half, means, np.cumsum(rows))
