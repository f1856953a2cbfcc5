"""Names of algorithms: the value of an ``algorithm`` parameter, turned into an algorithm."""

from __future__ import annotations

import re
from typing import Any, TypeVar

from sklearn.base import clone

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

Algorithm = TypeVar("Algorithm")


def named(*classes: type[Algorithm]) -> dict[str, type[Algorithm]]:
    """Return the classes by their names in snake case: ``MLPoly`` is "ml_poly"."""
    return {
        re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", each.__name__).lower(): each for each in classes
    }


EXPERT_ALGORITHMS = named(
    AdaNormalHedge,
    AdaNormalHedgeTV,
    AdaptMLProd,
    BOA,
    BestOfBothWorlds,
    ConfidenceRated,
    FixedShare,
    Hedge,
    LongTermMemory,
    MLPoly,
    MixingPastPosteriors,
    Prod,
    ShareTheta,
    SimpleReduction,
    Squint,
)


def fresh_algorithm(value: Any, base: type[Algorithm], names: dict[str, type[Algorithm]], where: str) -> Algorithm:
    """Return a fresh algorithm for a name or an instance of ``base``; a ValueError lists the names."""
    if isinstance(value, str) and value in names:
        return names[value]()
    if not isinstance(value, base):
        raise ValueError(
            f"algorithm={value!r} is neither an instance of {base.__name__} nor the name of an algorithm of {where}. "
            f"The names are {', '.join(names)}."
        )
    fresh: Algorithm = clone(value)
    return fresh


def expert_algorithm(algorithm: ExpertAlgorithm | str | None) -> ExpertAlgorithm:
    """Return a fresh expert algorithm for the value of an ``algorithm`` parameter; None is ``LongTermMemory()``."""
    if algorithm is None:
        return LongTermMemory()
    return fresh_algorithm(algorithm, ExpertAlgorithm, EXPERT_ALGORITHMS, "ltm_sklearn.experts")  # type: ignore[type-abstract]
