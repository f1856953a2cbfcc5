"""Issue schedule: when rows are issued, and when their targets are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers


class IssueSchedule(NamedTuple):
    """Schedule of rows that are ordered by series, and in each by time; all numbers count the rows of a series."""

    issue: Integers  #: (n_rows,): the first row of the block that each row was issued with
    known_at: Integers  #: (n_rows,): how many rows there are when all targets of its block are known
    complete: NDArray[np.bool_]  #: (n_rows,): whether all targets of its block are there


def issue_schedule(series: Integers, before: Integers, blocks: Integers | None, block: int, lag: int) -> IssueSchedule:
    """Compute the schedule of rows.

    Parameters
    ----------
    series : ndarray of shape (n_rows,)
        Codes, sorted.
    before : ndarray of shape (n_series,)
        Number of rows of each series before these.
    blocks : ndarray of shape (n_rows,) or None
        A number for each row, which changes where a block ends; None: blocks of ``block`` rows.
    block : int
        Rows of a block.
    lag : int
        Rows that come before a target is known.
    """
    first_of_series = np.flatnonzero(np.diff(series, prepend=-1))
    n_of_series = np.diff(first_of_series, append=len(series))
    place = before[series] + np.arange(len(series), dtype=np.int64) - np.repeat(first_of_series, n_of_series)
    if blocks is None:
        issue = place - place % block
        end = issue + block
        n_rows = before + np.bincount(series, minlength=len(before))
        return IssueSchedule(issue, end + lag, end <= n_rows[series])
    first = np.flatnonzero((np.diff(series, prepend=-1) != 0) | (np.diff(blocks, prepend=-1) != 0))
    lengths = np.diff(first, append=len(series))
    issue = np.repeat(place[first], lengths)
    return IssueSchedule(issue, issue + np.repeat(lengths, lengths) + lag, np.ones(len(series), dtype=np.bool_))
