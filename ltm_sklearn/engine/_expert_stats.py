"""How the experts have fared."""

from __future__ import annotations

import numpy as np

from .._typing import Floats

_ROUNDS, _LOSS, _WEIGHT, _ROUNDS_LATELY, _LOSS_LATELY, _ROUNDS_UNASKED, _WEIGHT_UNASKED = range(7)


class ExpertStats:
    """One column an expert, in the order of their seats.

    Parameters
    ----------
    n_experts : int
    """

    def __init__(self, n_experts: int) -> None:
        #: rounds in which each took part, parts of a round included; the sums over them of its loss and of its weight;
        #: rounds and loss since its learner's last snapshot; rounds in which it was not asked, and its weight in them
        self.table = np.zeros((7, n_experts))

    def open(self) -> None:
        """For an expert that takes the last seat."""
        self.table = np.hstack([self.table, np.zeros((len(self.table), 1))])

    def close(self, seat: int) -> None:
        """Of an expert that goes; those behind it move up by one."""
        self.table = np.delete(self.table, seat, axis=1)

    def charge(self, losses: Floats, weights: Floats, rounds: Floats) -> None:
        """For so many rounds, or parts of one, a mean loss and a mean weight."""
        lost = rounds * losses
        lost[rounds == 0.0] = 0.0  # its loss is NaN
        for total, share in zip(self.table, (rounds, lost, rounds * weights, rounds, lost), strict=False):
            total += share

    def pass_over(self, weights: Floats, rounds: Floats) -> None:
        """For so many rounds, or parts of one, they were there with a mean weight, and were not asked."""
        self.table[_ROUNDS_UNASKED] += rounds
        self.table[_WEIGHT_UNASKED] += rounds * weights

    def begin_lately(self) -> None:
        """Count what is lately from here."""
        self.table[_ROUNDS_LATELY : _LOSS_LATELY + 1] = 0.0

    def mean_losses(self) -> Floats:
        """Mean loss of each since it joined; NaN before its first round."""
        return _means(self.table[_LOSS], self.table[_ROUNDS], np.nan)

    def mean_losses_lately(self) -> Floats:
        """Mean loss of each since the last snapshot; infinite before its first round."""
        return _means(self.table[_LOSS_LATELY], self.table[_ROUNDS_LATELY], np.inf)

    def mean_weights(self) -> Floats:
        """Mean weight of each since it joined."""
        weight, rounds = self.table[[_WEIGHT, _ROUNDS]] + self.table[[_WEIGHT_UNASKED, _ROUNDS_UNASKED]]
        return _means(weight, rounds, 0.0)


def _means(totals: Floats, rounds: Floats, before: float) -> Floats:
    return np.divide(totals, rounds, out=np.full(len(totals), before), where=rounds > 0.0)
