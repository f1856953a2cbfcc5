"""What the oracles found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


@dataclass(frozen=True, eq=False)
class Oracle:
    """Fixed weights.

    Attributes
    ----------
    loss : float
        Mean loss per row.
    weights : ndarray of shape (n_experts,)
        All 0 but one, which is 1, for a single expert.
    n_rows : int
        Rows that count.
    """

    loss: float
    weights: Floats
    n_rows: int

    @property
    def expert(self) -> int:
        """The column with the largest weight, the first of them at a tie."""
        return int(self.weights.argmax())


@dataclass(frozen=True, eq=False)
class ExpertSequence:
    """The best sequence of experts with few switches.

    Attributes
    ----------
    loss : float
        Mean loss per row, with as many switches as are allowed.
    losses : ndarray of shape (max_switches + 1,)
        The same with at most 0, 1, ... switches; infinite where so few leave rows in which the expert sleeps.
    path : ndarray of shape (n_rows,)
        Which expert is followed in each row. Of sequences that lose the same, it is one with the fewest switches.
    """

    loss: float
    losses: Floats
    path: NDArray[np.intp]

    @property
    def n_switches(self) -> int:
        """Switches of the path."""
        return int(np.count_nonzero(np.diff(self.path)))

    @property
    def n_distinct(self) -> int:
        """Distinct experts of the path."""
        return len(np.unique(self.path))


@dataclass(frozen=True, eq=False)
class SequenceAmong:
    """The best sequence with few switches among few experts, or bounds on it.

    Attributes
    ----------
    lower, upper : float
        The least mean loss per row lies between them.
    exact : bool
        Whether they are the same: the path is then the best.
    path : ndarray of shape (n_rows,)
        Which expert is followed in each row by a sequence that loses ``upper``.
    """

    lower: float
    upper: float
    exact: bool
    path: NDArray[np.intp]

    @property
    def experts(self) -> list[int]:
        """The columns that the path follows."""
        return [int(expert) for expert in np.unique(self.path)]
