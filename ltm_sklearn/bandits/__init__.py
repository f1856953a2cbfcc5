"""Bandit algorithms, which observe only the loss of the arm that they draw.

Every algorithm has ``draw(n_arms)``, ``update(arm, loss)``, ``run(losses, n_seeds)`` for many rounds at once,
``add_arm()`` and ``drop_arm(i)``. Losses lie in [-1, 1].
"""

from ._base import BanditAlgorithm
from ._exp3 import Exp3, Exp3IX, Exp3S
from ._long_term_memory_bandit import LongTermMemoryBandit
from ._lower_bound import LowerBoundAdversary
from ._sparse import SparseHybrid, SparseLongTermMemory
from ._ucb import DiscountedUCB, SlidingWindowUCB

__all__ = [
    "BanditAlgorithm",
    "DiscountedUCB",
    "Exp3",
    "Exp3IX",
    "Exp3S",
    "LongTermMemoryBandit",
    "LowerBoundAdversary",
    "SlidingWindowUCB",
    "SparseHybrid",
    "SparseLongTermMemory",
]

# for the other packages
from ._base import add_other_arms as add_other_arms
from ._base import draw_from as draw_from
from ._names import bandit_algorithm as bandit_algorithm
