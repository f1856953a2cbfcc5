"""Two more experts, above and below the plain mean, so that mixtures can correct what all experts have in common."""

from __future__ import annotations

import numpy as np

from .._typing import Floats, Integers
from ..losses import FADING

#: They stand so many mean absolute errors of the plain mean from it.
DISTANCE = 2.0


class BiasScale:
    """The mean absolute error of the plain mean, which fades by a factor e in 100 rounds.

    Parameters
    ----------
    n_outputs : int
    """

    def __init__(self, n_outputs: int) -> None:
        self._sum, self._count = np.zeros(n_outputs), 0.0
        self._book = [(0, np.full(n_outputs, np.nan))]  #: from how many known rows on; nothing is known at first

    def now(self) -> Floats:
        """What is issued with now, (n_outputs,); NaN if no target is known."""
        return self._book[-1][1]

    def run(self, errors: Floats, issue: Integers, known_at: Integers, learned: Floats) -> Floats:
        """What each round was issued with, (n_rounds, n_outputs).

        ``errors`` (n_rounds, n_outputs) are the rounds' mean absolute errors; ``learned`` (n_rounds,) says in how far
        each counts.
        """
        issued = np.empty_like(errors)
        for at, (begin, known, part) in enumerate(
            zip(issue.tolist(), known_at.tolist(), learned.tolist(), strict=True)
        ):
            while len(self._book) > 1 and self._book[1][0] <= begin:
                self._book.pop(0)
            issued[at] = self._book[0][1]
            if part > 0.0:
                self._sum, self._count = FADING * self._sum + part * errors[at], FADING * self._count + part
                self._book.append((known, DISTANCE * self._sum / self._count))
        return issued
