"""Algorithms 1 and 2 of the paper: long-term memory from static and switching regret.

Each expert, or in Algorithm 2 each pair (i, j) of an expert and a learning rate, has a *confidence* ``z`` in [0, 1],
learned by an algorithm of its own over the two actions "asleep" and "awake". A *static* algorithm over all of them
gives ``w``; played is ``p(i) ∝ Σ_j z(i,j) w(i,j)``. The static algorithm is fed ``c = -z r``, the two-action ones
``(0, bias - r)``, with ``r = p·ℓ - ℓ``. As each switching algorithm has two actions only, switching costs ln T, and
ln K is paid once for each distinct expert: that is the memory.
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
    """What both algorithms share: cells (expert, rate), a static algorithm over them, a switching one in each."""

    horizon: int | None

    @abstractmethod
    def _plugins(self) -> tuple[ExpertAlgorithm, ExpertAlgorithm]:
        """The static and the switching algorithm."""

    @abstractmethod
    def _rates(self, n_experts: int, horizon: int | None) -> Floats:
        """The learning rates, one for each copy of an expert."""

    @abstractmethod
    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        """The losses of the static algorithm's cells and of being awake, shape (K, M)."""

    @abstractmethod
    def _ranges(self) -> tuple[float, float]:
        """Bounds on the absolute values of these losses; the algorithms get them divided by their bound."""

    def _plugin_rates(self, rates: Floats) -> tuple[Floats, Floats]:
        """The rates told to the static and to the switching algorithm.

        If both have second-order terms of their own, as those of the paper have, the rates make up for the division,
        so that they act as if they had been fed the losses as they are. Otherwise the conditions of the theorems
        hold for the divided losses only.
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
            raise ValueError(f"{type(self).__name__} cannot be the switching algorithm of a reduction")
        rates = self._rates(prior.shape[-1], horizon)
        return {"rates": rates, "horizon": horizon, **self._cells(prior, rates, horizon)}

    def _cells(self, prior: Floats, rates: Floats, horizon: int | None) -> State:
        """States of the plug-ins for some experts, the prior of each spread evenly over its rates."""
        static, switching = self._plugins()
        static_rates, switching_rates = self._plugin_rates(rates)
        shape = (len(prior), len(rates))
        cell_prior = np.repeat(prior / len(rates), len(rates))
        return {
            "static": static._start(cell_prior, np.tile(static_rates, len(prior)), horizon),
            "switching": switching._start(np.full((*shape, 2), 0.5), np.broadcast_to(switching_rates, shape), horizon),
        }

    def _confidence(self, state: State) -> tuple[Floats, Floats]:
        """Each two-action algorithm's distribution, and in it the probability of being awake, shape (K, M)."""
        distribution = self._plugins()[1]._distribution(state["switching"])
        return distribution, distribution[..., AWAKE]

    def _distribution(self, state: State) -> Floats:
        confidence = self._confidence(state)[1]
        cells = restrict(self._plugins()[0]._distribution(state["static"]), confidence.ravel())
        return cells.reshape(confidence.shape).sum(axis=-1)

    def _next_state(self, state: State, weights: Floats, losses: Floats) -> State:
        static, switching = self._plugins()
        distribution, confidence = self._confidence(state)
        regret = (weights @ losses - losses)[:, np.newaxis]
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
    """The axis of experts among copies of shape (K, M): arrays are (..., K, M, 2) with their actions, or (K, M)."""
    if value.ndim >= 3:
        return -3
    return 0 if value.ndim == 2 else None


class SimpleReduction(LearnedConfidence):
    """Algorithm 1 of the paper, "A Simple Reduction for Long-term Memory", with any plug-ins.

    Parameters
    ----------
    static : ExpertAlgorithm, optional
        Algorithm over the experts with static regret. None: ``Hedge(variant=1)``.
    switching : ExpertAlgorithm, optional
        Algorithm over two actions with switching regret, one copy for each expert. None:
        ``FixedShare(rule="second_order")``.
    rate : float, optional
        η <= 1/5. None: ``min(1/5, sqrt((S ln T + n ln K)/T))`` from ``n_segments``, ``n_distinct`` and
        ``horizon`` as in Theorem 1; 1/5 if there is no horizon.
    bias : float, default=5.0
        The loss of being awake is ``bias·η - r``, with a bias of at most 5. 0 gives the weaker variant of the paper's
        appendix.
    n_segments, n_distinct : int, default=1
        S and n, for the rate.
    horizon : int, optional
        Number of rounds T, if known.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Losses in [0, 1] are mapped to [-1, 1], as in the paper; so ``r`` is in [-2, 2] and being awake loses at most
    ``2 + bias/5``. The paper's own plug-ins get these losses and η as they are; others get the losses divided by
    their ranges, which is what their bounds need.

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
        n_rounds = float(horizon)  # NumPy takes no whole numbers beyond 64 bits
        complexity = float(self.n_segments) * np.log(n_rounds) + float(self.n_distinct) * np.log(n_experts)
        return np.clip([np.sqrt(complexity / n_rounds)], 1.0 / n_rounds, 0.2)  # K = T = 1 would give 0

    def _ranges(self) -> tuple[float, float]:
        return 2.0, 2.0 + float(self.bias) / 5.0

    def _losses(self, regret: Floats, confidence: Floats, rates: Floats) -> tuple[Floats, Floats]:
        regret = 2.0 * regret
        return -confidence * regret, float(self.bias) * rates - regret


@dataclass(frozen=True)
class Constants:
    """One way to run Algorithm 2."""

    span: float  #: losses in [0, 1] are stretched to this length: 2 for the paper's [-1, 1]
    bias: float  #: the loss of being awake is ``bias·η|r| - r``
    largest_rate: float
    awake_range: float  #: bound on that loss


CONSTANTS = {
    # The paper has awake losses in [-3, 3] (its Condition 2), but 5η|r| - r reaches 4 at r = -2, η = 1/5.
    "paper": Constants(span=2.0, bias=5.0, largest_rate=0.2, awake_range=4.0),
    "tight": Constants(span=1.0, bias=1.0, largest_rate=0.45, awake_range=1.45),
}

#: Without a horizon the rates are those of this one; beyond it, the bound's constant grows slowly.
_ASSUMED_HORIZON = 2**20


class BestOfBothWorlds(LearnedConfidence):
    """Algorithm 2 of the paper, "A Parameter-free Reduction for Best-of-both-worlds", with any plug-ins.

    Parameters
    ----------
    static : ExpertAlgorithm, optional
        Algorithm over the pairs (expert, rate) with static regret. None: ``Hedge(variant=2)`` with constants "paper",
        ``Prod()`` with "tight".
    switching : ExpertAlgorithm, optional
        Algorithm over two actions with switching regret, one copy for each pair. None: ``FixedShare`` with the rule
        "second_order" or "prod".
    constants : {"paper", "tight"}, default="paper"
        "paper": to the letter: losses mapped to [-1, 1], rates ``2^(j-1)/sqrt(T)`` up to 1/5, bias ``5η|r|``. Plug-ins
        other than the paper's get their losses divided by 2 and 4, which is what their bounds need.
        "tight": losses in [0, 1], rates ``0.45/2^j``, bias ``η|r|``; the same theorem with smaller constants.
    horizon : int, optional
        Number of rounds T, if known. None: rates for a million rounds, and switching shares ``1/(t + 2)``.
    prior : array-like of shape (n_experts,), optional
        Prior over the experts. None: uniform.

    Notes
    -----
    Against a sequence of S segments over n distinct experts the regret is of order ``sqrt(T (S ln T + n ln(K ln T)))``
    always, and of order ``Σ_i (S_i ln T + ln(K ln T))/gap_i`` when losses are stochastic within segments. The number of
    rates, ``floor(log2(sqrt(T)/5)) + 1``, is 0 or less for T < 25; there it is 1.

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
        regret = constants.span * regret
        return -confidence * regret, constants.bias * rates * np.abs(regret) - regret
