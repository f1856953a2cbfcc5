"""When rows are issued, and when their targets are known."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Integers


class IssueSchedule(NamedTuple):
    """Of rows that are ordered by series, and in each by time; all numbers count the rows of a series."""

    issue: Integers  #: (n_rows,): the first row of the block that each row was issued with
    known_at: Integers  #: (n_rows,): how many rows there are when all targets of its block are known
    complete: NDArray[np.bool_]  #: (n_rows,): whether all targets of its block are there


def ranks(codes: Integers) -> Integers:
    """Of sorted codes, how many equal ones each has before it."""
    first = np.flatnonzero(np.diff(codes, prepend=-1))
    return np.arange(len(codes), dtype=np.int64) - np.repeat(first, np.diff(first, append=len(codes)))


def issue_schedule(series: Integers, before: Integers, blocks: Integers | None, block: int, lag: int) -> IssueSchedule:
    """Make one.

    Parameters
    ----------
    series : ndarray of shape (n_rows,)
        Codes, sorted.
    before : ndarray of shape (n_series,)
        Rows of each series before these.
    blocks : ndarray of shape (n_rows,) or None
        A number for each row, which changes where a block ends; None: every so many rows.
    block : int
        Rows of a block.
    lag : int
        Rows that come before a target is known.
    """
    place = before[series] + ranks(series)
    if blocks is None:
        issue = place - place % block
        end = issue + block
        there = before + np.bincount(series, minlength=len(before))
        return IssueSchedule(issue, end + lag, end <= there[series])
    begins = (np.diff(series, prepend=-1) != 0) | (np.diff(blocks, prepend=-1) != 0)
    first = np.flatnonzero(begins)
    lengths = np.diff(first, append=len(series))
    issue = np.repeat(place[first], lengths)
    return IssueSchedule(issue, issue + np.repeat(lengths, lengths) + lag, np.ones(len(series), dtype=np.bool_))
