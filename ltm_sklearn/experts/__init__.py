"""Expert algorithms: the losses of K experts in, weights over the experts out.

Every algorithm has the same methods: ``weights(n_experts)`` returns the weights of the coming round, ``update(losses)``
learns from one round, ``run(losses)`` from many rounds at once; ``add_expert()`` and ``drop_expert(i)`` change the
pool. Losses lie in [0, 1]; NaN means that an expert was asleep.

:mod:`ltm_sklearn.experts.reference` has the paper's algorithms as printed, one line of code for one line of pseudocode.
"""

from ._ada_normal_hedge import AdaNormalHedge
from ._ada_normal_hedge_tv import AdaNormalHedgeTV
from ._adapt_ml_prod import AdaptMLProd
from ._base import ExpertAlgorithm
from ._best_of_both_worlds import BestOfBothWorlds
from ._boa import BOA
from ._confidence_rated import ConfidenceRated
from ._fixed_share import FixedShare
from ._hedge import Hedge
from ._long_term_memory import LongTermMemory
from ._mixing_past_posteriors import MixingPastPosteriors
from ._ml_poly import MLPoly
from ._prod import Prod
from ._share_theta import ShareTheta
from ._simple_reduction import SimpleReduction
from ._squint import Squint

__all__ = [
    "BOA",
    "AdaNormalHedge",
    "AdaNormalHedgeTV",
    "AdaptMLProd",
    "BestOfBothWorlds",
    "ConfidenceRated",
    "ExpertAlgorithm",
    "FixedShare",
    "Hedge",
    "LongTermMemory",
    "MLPoly",
    "MixingPastPosteriors",
    "Prod",
    "ShareTheta",
    "SimpleReduction",
    "Squint",
]

# for the other packages
from ._compiled import rule_is_changed as rule_is_changed
from ._long_term_memory import PatientMemory as PatientMemory
from ._long_term_memory import SteadyMemory as SteadyMemory
from ._names import expert_algorithm as expert_algorithm
from ._names import fresh_algorithm as fresh_algorithm
from ._names import named as named
from ._pool_state import leave as leave
