"""How the experts have fared."""

from __future__ import annotations

import numpy as np

from .experts._validation import Floats

_ROUNDS, _LOSS, _WEIGHT, _ROUNDS_LATELY, _LOSS_LATELY = range(5)


class Accounts:
    """One column an expert, in the order of their seats.

    Parameters
    ----------
    n_experts : int
    """

    def __init__(self, n_experts: int) -> None:
        #: rounds in which each took part, parts of a round included; the sums over them of its loss and of its weight;
        #: rounds and loss since its learner's last snapshot
        self.table = np.zeros((5, n_experts))

    def open(self) -> None:
        """For an expert that takes the last seat."""
        self.table = np.hstack([self.table, np.zeros((5, 1))])

    def close(self, seat: int) -> None:
        """Of an expert that goes; those behind it move up by one."""
        self.table = np.delete(self.table, seat, axis=1)

    def charge(self, losses: Floats, weights: Floats, rounds: Floats) -> None:
        """For so many rounds, or parts of one, a mean loss and a mean weight."""
        lost = rounds * losses
        lost[rounds == 0.0] = 0.0  # its loss is NaN
        for total, share in zip(self.table, (rounds, lost, rounds * weights, rounds, lost), strict=True):
            total += share

    def begin_lately(self) -> None:
        """Count what is lately from here."""
        self.table[_ROUNDS_LATELY:] = 0.0

    def mean_losses(self) -> Floats:
        """Mean loss of each since it joined; NaN before its first round."""
        return self._means(_LOSS, _ROUNDS, np.nan)

    def mean_losses_lately(self) -> Floats:
        """Mean loss of each since the last snapshot; infinite before its first round."""
        return self._means(_LOSS_LATELY, _ROUNDS_LATELY, np.inf)

    def mean_weights(self) -> Floats:
        """Mean weight of each since it joined."""
        return self._means(_WEIGHT, _ROUNDS, 0.0)

    def _means(self, total: int, rounds: int, before: float) -> Floats:
        means = np.full(self.table.shape[1], before)
        return np.divide(self.table[total], self.table[rounds], out=means, where=self.table[rounds] > 0.0)
