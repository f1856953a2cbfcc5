"""Algorithm 2 of the paper, the reduction that needs no parameters and adapts to stochastic losses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import check_option
from .._typing import Floats
from ._base import ExpertAlgorithm
from ._fixed_share import FixedShare
from ._hedge import Hedge
from ._learned_confidence import LearnedConfidence
from ._prod import Prod


@dataclass(frozen=True)
class ReductionConstants:
    """Constants of Algorithm 2: range of the losses, bias and largest learning rate."""

    span: float  #: length of the interval to which losses in [0, 1] are mapped: 2 for the paper's [-1, 1]
    bias: float  #: the loss of action "awake" is ``bias·η|r| - r``
    largest_rate: float
    awake_range: float  #: bound on the absolute value of this loss


CONSTANTS = {
    # Condition 2 of the paper asks for losses in [-3, 3], but 5η|r| - r reaches 4 at r = -2, η = 1/5.
    "paper": ReductionConstants(span=2.0, bias=5.0, largest_rate=0.2, awake_range=4.0),
    "tight": ReductionConstants(span=1.0, bias=1.0, largest_rate=0.45, awake_range=1.45),
}

#: Horizon that sets the rates if none is given; beyond it the constant of the bound grows slowly.
_ASSUMED_HORIZON = 2**20


class BestOfBothWorlds(LearnedConfidence):
    """Algorithm 2 of the paper, "A Parameter-free Reduction for Best-of-both-worlds", with any plug-ins.

    :func:`ltm_sklearn.experts.reference.best_of_both_worlds` is the pseudocode line by line.

    Parameters
    ----------
    static : ExpertAlgorithm, optional
        Algorithm over the pairs (expert, rate) with a static regret bound. None: ``Hedge(variant=2)`` with constants
        "paper", ``Prod()`` with "tight".
    switching : ExpertAlgorithm, optional
        Algorithm over two actions with a switching regret bound, one copy for each pair. None: ``FixedShare`` with
        rule "second_order" for constants "paper" and "prod" for "tight".
    constants : {"paper", "tight"}, default="paper"
        "paper": as printed: losses mapped to [-1, 1], rates ``2^(j-1)/sqrt(T)`` up to 1/5, bias ``5η|r|``. Plug-ins
        that the paper does not print get their losses divided by 2 (static) and 4 (switching), which their bounds need.
        "tight": losses in [0, 1], rates ``0.45/2^j``, bias ``η|r|``; the same theorem with smaller constants.
    horizon : int, optional
        Number of rounds T, if known. None: rates for a million rounds, and switching shares ``1/(t + 2)``.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    The regret against any sequence of S segments over n distinct experts is of order
    ``sqrt(T (S ln T + n ln(K ln T)))``, and of order ``Σ_i (S_i ln T + ln(K ln T))/gap_i`` if the losses are stochastic
    within segments. The paper's number of rates, ``floor(log2(sqrt(T)/5)) + 1``, is 0 or less for T < 25; one rate is
    used there.

    Examples
    --------
    >>> from ltm_sklearn.experts import BestOfBothWorlds, Squint
    >>> BestOfBothWorlds(constants="tight").update([0.0, 1.0]).weights().round(3)
    array([0.565, 0.435])
    >>> BestOfBothWorlds(static=Squint(), horizon=1000).update([0.0, 1.0]).weights().round(3)
    array([0.536, 0.464])
    """

    def __init__(
        self,
        static: ExpertAlgorithm | None = None,
        switching: ExpertAlgorithm | None = None,
        *,
        constants: str = "paper",
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.static = static
        self.switching = switching
        self.constants = constants
        self.horizon = horizon
        self.prior = prior

    def check_parameters(self) -> None:
        check_option("constants", self.constants, tuple(CONSTANTS))
        super().check_parameters()

    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        paper = self.constants == "paper"
        static: ExpertAlgorithm = Hedge(variant=2) if paper else Prod()
        switching = FixedShare(rule="second_order" if paper else "prod")
        return (static if self.static is None else self.static, switching if self.switching is None else self.switching)

    def _rates(self, n_experts: int, horizon: int | None) -> Floats:
        root = np.sqrt(float(horizon or _ASSUMED_HORIZON))
        largest = CONSTANTS[self.constants].largest_rate
        n_rates = max(1, int(np.floor(np.log2(largest * root))) + 1)
        if self.constants == "paper":
            return np.minimum(largest, 2.0 ** np.arange(n_rates) / root)
        return np.asarray(largest / 2.0 ** np.arange(n_rates))

    def _ranges(self) -> tuple[float, float]:
        constants = CONSTANTS[self.constants]
        return constants.span, constants.awake_range

    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        constants = CONSTANTS[self.constants]
        regret = constants.span * regret  # of the losses mapped to an interval of this length
        return -confidence * regret, constants.bias * rates * np.abs(regret) - regret  # Alg. 2, lines 7 and 8
