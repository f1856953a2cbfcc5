"""Bias experts: two further experts, above and below the plain mean, that correct an error common to all experts."""

from __future__ import annotations

import numpy as np

from .._typing import Floats, Integers
from ..losses import FADING

#: Distance of the bias experts from the plain mean, in mean absolute errors of the plain mean.
DISTANCE = 2.0


class BiasScale:
    """Distance of the bias experts from the plain mean: its mean absolute error, which fades by e in 100 rounds.

    Parameters
    ----------
    n_outputs : int
    """

    def __init__(self, n_outputs: int) -> None:
        self._sum, self._count = np.zeros(n_outputs), 0.0
        self._versions = [(0, np.full(n_outputs, np.nan))]  #: (number of known rows from which on, distance)

    def now(self) -> Floats:
        """Distance with which forecasts are issued now, (n_outputs,); NaN if no target is known."""
        return self._versions[-1][1]

    def run(self, errors: Floats, issue: Integers, known_at: Integers, part: Floats) -> Floats:
        """Return the distance with which each round was issued, (n_rounds, n_outputs), and learn the rounds.

        ``errors`` (n_rounds, n_outputs) are the rounds' mean absolute errors; ``part`` (n_rounds,) is the weight of
        each round.
        """
        issued = np.empty_like(errors)
        rounds = zip(errors, issue.tolist(), known_at.tolist(), part.tolist(), strict=True)
        for at, (error, issued_at, known, weight) in enumerate(rounds):
            while len(self._versions) > 1 and self._versions[1][0] <= issued_at:
                self._versions.pop(0)
            issued[at] = self._versions[0][1]
            if weight > 0.0:
                self._sum, self._count = FADING * self._sum + weight * error, FADING * self._count + weight
                self._versions.append((known, DISTANCE * self._sum / self._count))
        return issued
