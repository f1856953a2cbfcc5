"""Whether a difference between two models can be told from noise."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from .._typing import Floats

#: More stretches would be shorter, and neighbours less independent; fewer would leave little to judge the spread by.
MOST_STRETCHES = 20
#: With fewer, stretches that happen to agree, as counts of mistakes in a few rows often do, would look like certainty.
FEWEST_STRETCHES = 5


class Difference(NamedTuple):
    """A mean difference with its interval; made by :meth:`PrequentialResult.difference`."""

    mean: float
    low: float  #: NaN if the stream is too short to tell
    high: float
    stretches: Floats  #: the difference in each of the stretches that the interval comes from
    ends: Floats  #: how many rows had been compared when each ended

    @property
    def told(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0.0 or self.high < 0.0


def batch_means(differences: Floats, counts: Floats, level: float) -> Difference:
    """The mean of a series and its interval by the method of batch means.

    Neighbouring rows are alike, so that single rows would make the interval far too narrow; means of long stretches
    nearly are independent. Stretches have different numbers of rows, hence the weights: with shares s_j of all rows
    and means d_j, the variance of d = Σ s_j d_j is estimated by k/(k - 1) Σ s_j² (d_j - d)².

    Parameters
    ----------
    differences, counts : ndarray of shape (n_blocks,)
        Means of blocks of rows that follow one another, and how many rows they are of.
    level : float
    """
    known = counts > 0.0
    totals, counts = np.where(known, differences, 0.0)[known] * counts[known], counts[known]
    if not len(counts):
        return Difference(math.nan, math.nan, math.nan, np.zeros(0), np.zeros(0))
    # a block is of the stretch that its middle is in
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
