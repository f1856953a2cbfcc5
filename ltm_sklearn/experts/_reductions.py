"""Algorithms 1 and 2 of the paper: reductions from long-term memory to static and switching regret.

``reference.py`` has both algorithms exactly as the paper prints them, in a few lines each; read it first. The classes
here compute the same weights for any pair of sub-algorithms, and also handle sleeping experts, experts that join or
leave, priors and unknown horizons.

Each expert has a *confidence* ``z`` in [0, 1], and in Algorithm 2 each pair of an expert and a learning rate has one.
An expert algorithm over the two actions "asleep" and "awake" learns it (the *switching* algorithm). A *static*
algorithm over all experts, or pairs, provides weights ``w``, and the reduction uses ``p(i) ∝ Σ_j z(i, j) w(i, j)``.
With the instantaneous regret ``r = p·ℓ - ℓ`` the static algorithm is fed ``c = -z r``, and each switching algorithm
``(0, bias - r)``. A switching algorithm has two actions only, so a switch costs ln T instead of ln(KT), and ln K is
paid once for each distinct expert. This is what makes it cheap to return to an expert that was good before.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._numerics import restrict
from .._param_checks import check_count, check_horizon, check_number, check_option, check_real
from .._typing import Floats, State
from ._base import ExpertAlgorithm, check_plugin, join, leave
from ._exponential import Hedge, Prod
from ._sharing import FixedShare

ASLEEP, AWAKE = 0, 1


class LearnedConfidence(ExpertAlgorithm):
    """Base class of both reductions: one static algorithm over all cells and one switching algorithm in each cell.

    A cell is a pair of an expert and a learning rate; Algorithm 1 has one rate. Arrays of cells have shape (K, M).
    """

    horizon: int | None

    @abstractmethod
    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        """Return the static and the switching algorithm."""

    @abstractmethod
    def _rates(self, n_experts: int, horizon: int | None) -> Floats:
        """Return the M learning rates of the cells of an expert."""

    @abstractmethod
    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """Return the losses of the static algorithm and those of action "awake", both of shape (K, M)."""

    @abstractmethod
    def _ranges(self) -> tuple[float, float]:
        """Return bounds on the losses of the static and of the switching algorithms, by which they are divided."""

    def _plugin_rates(self, rates: Floats) -> tuple[Floats, Floats]:
        """Return the learning rates of the static and of the switching algorithm.

        If the second-order terms of both are the comparator's own, as in the plug-ins that the paper prints, their
        rates are multiplied by the ranges of the losses. This undoes the division of the losses by these ranges. For
        other plug-ins the conditions of the theorems hold for the divided losses only.
        """
        static, switching = self._plugins()
        if static._has_own_second_order() and switching._has_own_second_order():
            static_range, switching_range = self._ranges()
            return rates * static_range, rates * switching_range
        return rates, rates

    def _check_parameters(self) -> None:
        check_horizon(self.horizon)
        for name, plugin in zip(("static", "switching"), self._plugins(), strict=True):
            check_plugin(name, plugin, owned=("prior", "horizon"))

    def _initial_state(self, prior: Floats, rate: Any = None, horizon: int | None = None) -> State:
        if prior.ndim != 1:
            raise ValueError(f"{type(self).__name__} cannot be the switching algorithm of a reduction: use FixedShare")
        rates = self._rates(prior.shape[-1], horizon)
        return {"rates": rates, "horizon": horizon, **self._cells(prior, rates, horizon)}

    def _cells(self, prior: Floats, rates: Floats, horizon: int | None) -> State:
        """Return initial states of both plug-ins; the prior of an expert is spread evenly over its rates."""
        static, switching = self._plugins()
        static_rates, switching_rates = self._plugin_rates(rates)
        shape = (len(prior), len(rates))
        cell_prior = np.repeat(prior / len(rates), len(rates))
        return {
            "static": static._start(cell_prior, np.tile(static_rates, len(prior)), horizon),
            "switching": switching._start(np.full((*shape, 2), 0.5), np.broadcast_to(switching_rates, shape), horizon),
        }

    def _confidence(self, state: State) -> tuple[Floats, Floats]:
        """Return the switching algorithms' distributions, (K, M, 2), and the confidences z, (K, M)."""
        distribution = self._plugins()[1]._distribution(state["switching"])
        return distribution, distribution[..., AWAKE]

    def _distribution(self, state: State) -> Floats:
        confidence = self._confidence(state)[1]  # Alg. 2, line 5: z
        own = self._plugins()[0]._distribution(state["static"])  # Alg. 2, line 4: w
        cells = restrict(own, confidence.ravel())  # Alg. 2, line 6: p(i) ∝ Σ_j z(i, j) w(i, j)
        return cells.reshape(confidence.shape).sum(axis=-1)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        static, switching = self._plugins()
        distribution, confidence = self._confidence(state)
        regret = (weights @ losses - losses)[:, np.newaxis]  # Alg. 2, line 7: r = p·ℓ - ℓ
        static_range, awake_range = self._ranges()
        static_losses, awake_losses = self._losses(regret, confidence, state["rates"])
        awake_losses = awake_losses / awake_range
        own = static._distribution(state["static"])
        return {
            **state,
            "static": static._step(state["static"], own, static_losses.ravel() / static_range),
            "switching": switching._step(
                state["switching"],
                distribution,
                np.stack([np.zeros_like(awake_losses), awake_losses], axis=-1),
            ),
        }

    def _newcomer_state(self, state: State, prior: Floats, rate: Any = None) -> State:
        static, _ = self._plugins()
        rates = state["rates"]
        cells = self._cells(prior, rates, state["horizon"])
        cell_prior = np.repeat(prior / len(rates), len(rates))
        cell_rates = np.tile(self._plugin_rates(rates)[0], len(prior))
        return {**cells, "static": static._newcomer_state(state["static"], cell_prior, cell_rates)}

    def _with_newcomer(self, state: State, newcomer: State) -> State:
        static, _ = self._plugins()
        return {
            **state,
            "static": static._with_newcomer(state["static"], newcomer["static"]),
            "switching": join(state["switching"], newcomer["switching"], _copies_axis),
        }

    def _with_scaled_prior(self, state: State, factor: float) -> State:
        static, _ = self._plugins()
        return {**state, "static": static._with_scaled_prior(state["static"], factor)}

    def _without(self, state: State, index: int | slice) -> State:
        static, _ = self._plugins()
        shape = self._confidence(state)[1].shape
        cells = np.arange(np.prod(shape)).reshape(shape)[index].ravel()
        return {
            **state,
            "static": static._without(state["static"], slice(cells[0], cells[-1] + 1)),
            "switching": leave(state["switching"], index, _copies_axis),
        }


def _copies_axis(value: Floats) -> int | None:
    """Return the axis of the experts in the switching algorithms' states: (..., K, M, 2) with actions, or (K, M)."""
    if value.ndim >= 3:
        return -3
    return 0 if value.ndim == 2 else None


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

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_number("rate", self.rate, 0.0, 0.2, low_open=True)
        check_real("bias", self.bias, 0.0, 5.0)
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

    def _check_parameters(self) -> None:
        check_option("constants", self.constants, tuple(CONSTANTS))
        super()._check_parameters()

    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        paper = self.constants == "paper"
        static: ExpertAlgorithm = Hedge(variant=2) if paper else Prod()
        switching = FixedShare(rule="second_order" if paper else "prod")
        return (
            static if self.static is None else self.static,
            switching if self.switching is None else self.switching,
        )

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
