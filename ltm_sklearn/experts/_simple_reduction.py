"""Algorithm 1 of the paper, from static and switching algorithms to long-term memory at one learning rate."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import check_count, check_number, check_required_number
from .._typing import Floats
from ._base import ExpertAlgorithm
from ._fixed_share import FixedShare
from ._hedge import Hedge
from ._learned_confidence import LearnedConfidence


class SimpleReduction(LearnedConfidence):
    """Algorithm 1 of the paper, "A Simple Reduction for Long-term Memory", with any plug-ins.

    :func:`ltm_sklearn.experts.reference.simple_reduction` is the pseudocode line by line.

    Parameters
    ----------
    static : ExpertAlgorithm, optional
        Algorithm over the experts with a static regret bound. None: ``Hedge(variant=1)``.
    switching : ExpertAlgorithm, optional
        Algorithm over two actions with a switching regret bound, one copy for each expert. None:
        ``FixedShare(rule="second_order")``.
    rate : float, optional
        Learning rate η <= 1/5. None: ``min(1/5, sqrt((S ln T + n ln K)/T))`` from ``n_segments``, ``n_distinct`` and
        ``horizon`` as in Theorem 1; 1/5 if there is no horizon.
    bias : float, default=5.0
        The loss of action "awake" is ``bias·η - r``, with a bias of at most 5. 0 gives the weaker variant of the
        paper's Appendix B.2.
    n_segments, n_distinct : int, default=1
        Number S of segments and number n of distinct experts of the comparator; they set the rate.
    horizon : int, optional
        Number of rounds T, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Losses in [0, 1] are mapped to [-1, 1], as in the paper. Then ``r`` lies in [-2, 2], and the loss of action "awake"
    is at most ``2 + bias/5``. The plug-ins that the paper prints get these losses and η unchanged. Other plug-ins get
    the losses divided by their ranges, which their bounds need.

    Examples
    --------
    >>> from ltm_sklearn.experts import AdaNormalHedge, FixedShare, SimpleReduction
    >>> SimpleReduction(AdaNormalHedge(), FixedShare(), rate=0.1).update([0.0, 1.0]).weights().round(3)
    array([0.766, 0.234])
    """

    def __init__(
        self,
        static: ExpertAlgorithm | None = None,
        switching: ExpertAlgorithm | None = None,
        *,
        rate: float | None = None,
        bias: float = 5.0,
        n_segments: int = 1,
        n_distinct: int = 1,
        horizon: int | None = None,
        prior: ArrayLike | None = None,
    ) -> None:
        self.static = static
        self.switching = switching
        self.rate = rate
        self.bias = bias
        self.n_segments = n_segments
        self.n_distinct = n_distinct
        self.horizon = horizon
        self.prior = prior

    def check_parameters(self) -> None:
        super().check_parameters()
        check_number("rate", self.rate, 0.0, 0.2, low_open=True)
        check_required_number("bias", self.bias, 0.0, 5.0)
        check_count("n_segments", self.n_segments)
        check_count("n_distinct", self.n_distinct, self.n_segments)

    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        static = Hedge(variant=1) if self.static is None else self.static
        return static, FixedShare(rule="second_order") if self.switching is None else self.switching

    def _rates(self, n_experts: int, horizon: int | None) -> Floats:
        if self.rate is not None:
            return np.array([float(self.rate)])
        if horizon is None:
            return np.array([0.2])
        n_rounds = float(horizon)  # NumPy cannot handle integers beyond 64 bits
        complexity = float(self.n_segments) * np.log(n_rounds) + float(self.n_distinct) * np.log(n_experts)
        return np.clip([np.sqrt(complexity / n_rounds)], 1.0 / n_rounds, 0.2)  # not 0 if K = T = 1

    def _ranges(self) -> tuple[float, float]:
        return 2.0, 2.0 + float(self.bias) / 5.0

    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        regret = 2.0 * regret  # of the losses mapped to [-1, 1]
        return -confidence * regret, float(self.bias) * rates - regret  # Alg. 1, lines 6 and 7
