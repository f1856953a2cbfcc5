"""Names of bandit algorithms: the value of an ``algorithm`` parameter, turned into an algorithm."""

from __future__ import annotations

from ..experts import fresh_algorithm, named
from ._base import BanditAlgorithm
from ._exp3 import Exp3, Exp3IX, Exp3S
from ._long_term_memory_bandit import LongTermMemoryBandit
from ._sparse import SparseHybrid, SparseLongTermMemory
from ._ucb import DiscountedUCB, SlidingWindowUCB

BANDIT_ALGORITHMS = named(
    DiscountedUCB,
    Exp3,
    Exp3IX,
    Exp3S,
    LongTermMemoryBandit,
    SlidingWindowUCB,
    SparseHybrid,
    SparseLongTermMemory,
)


def bandit_algorithm(algorithm: BanditAlgorithm | str | None) -> BanditAlgorithm:
    """Return a fresh bandit algorithm for the value of an ``algorithm`` parameter; None is the default."""
    if algorithm is None:
        return LongTermMemoryBandit()
    return fresh_algorithm(algorithm, BanditAlgorithm, BANDIT_ALGORITHMS, "ltm_sklearn.bandits")  # type: ignore[type-abstract]
