"""Bandits for sparse losses: Algorithm 3 of the paper, which has long-term memory, and its master alone."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, NamedTuple

import numpy as np

from .._optional import import_kernel
from .._param_checks import check_count, check_horizon, check_number, check_option
from .._typing import Floats, State
from ._base import BanditAlgorithm, importance_weighted, kernel_applies
from ._hybrid_regularizer import hybrid_weights
from ._validation import Arms

kernel = import_kernel("_sparse_rounds", __package__)

#: Horizon that is assumed if none is given.
ASSUMED_HORIZON = 2**20

#: Limits that keep the products of rates and barriers in the range of floats.
LARGEST_HYBRID_RATE, LARGEST_BARRIER = 1e6, 1e100

#: Limit of the rate in the input line of Algorithm 3.
LARGEST_RATE = 1 / 500


class HybridConstants(NamedTuple):
    """Constants of Algorithm 3; without memory the floor is 1, and bias and exploration are 0."""

    rate: Any  #: η; one number, or one for each round
    barrier: float  #: γ
    floor: float  #: δ
    bias: float  #: η in the master's losses ``-z r - η z ℓ̂²``
    exploration: float  #: η as the share of the draws that is uniform


class HybridBandit(BanditAlgorithm):
    """Base class of the sparse bandits: a master that follows the regularised leader, and confidences of the arms."""

    @abstractmethod
    def _constants(self, n_arms: int, rounds: Any) -> HybridConstants:
        """Return the constants of the round that follows so many rounds, a number or an array."""

    def _initial_state(self, n_arms: int) -> State:
        return {
            "losses": np.zeros(n_arms),  # of the master, Σ c; a sleeping arm has c = 0
            "weights": np.full(n_arms, 1.0 / n_arms),
            "confidence": np.ones(n_arms),
            "multiplier": 0.0,
        }

    def _distribution(self, state: State) -> Floats:
        p = _confident_weights(state)
        exploration = self._constants(len(p), state["rounds"]).exploration
        return (1.0 - exploration) * p + exploration / len(p)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        z, p = state["confidence"], _confident_weights(state)
        constants = self._constants(len(p), state["rounds"])
        estimates = importance_weighted(len(p), arms, losses, chances)
        regret = p @ estimates - estimates
        master_losses = -z * regret - constants.bias * z * estimates**2
        after = {
            **state,
            "losses": state["losses"] + master_losses,
            "confidence": next_confidence(z, regret, constants.rate, constants.floor),
        }
        return with_leader_weights(after, constants)

    def _with_newcomer(self, state: State) -> State:
        return self._after_pool_change(super()._with_newcomer(state))

    def _without(self, state: State, arm: int) -> State:
        return self._after_pool_change(super()._without(state, arm))

    def _after_pool_change(self, state: State) -> State:
        """Return the state with the weights of its new arms, by the constants of the last round."""
        return with_leader_weights(state, self._constants(len(state["losses"]), max(state["rounds"] - 1, 0)))

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not kernel_applies(self):
            return super()._play_rounds(state, losses, uniforms)
        n_rounds, n_arms = losses.shape
        constants = self._constants(n_arms, state["rounds"] + np.arange(n_rounds))
        after = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        played = np.empty(n_rounds, dtype=np.intp)
        arrays = after["losses"], after["weights"], after["confidence"]
        rates = np.array(np.broadcast_to(constants.rate, n_rounds), dtype=np.float64)
        limits = constants.barrier, constants.floor, constants.bias, constants.exploration
        after["multiplier"] = kernel.play(losses, uniforms, played, *arrays, after["multiplier"], rates, *limits)
        after["rounds"] = state["rounds"] + n_rounds
        return played, after


def next_confidence(confidence: Floats, regret: Floats, rate: float, floor: float) -> Floats:
    """Return the confidences after a step of mirror descent on ``-r z`` with the barrier ``(1/η) ln(1/z)`` over [δ, 1].

    The step is ``1/(1/z - η r)``, clipped to [δ, 1]; it is 1 if the denominator is negative.
    """
    with np.errstate(over="ignore"):
        inverse = 1.0 / confidence - rate * regret
    return np.maximum(1.0 / np.maximum(inverse, 1.0), floor)


def _confident_weights(state: State) -> Floats:
    """Return ``p ∝ z w``."""
    shares = state["confidence"] * state["weights"]
    return np.asarray(shares / shares.sum())


def with_leader_weights(state: State, constants: HybridConstants) -> State:
    """Return the state with the weights of the regularised leader on its losses."""
    weights, multiplier = hybrid_weights(state["losses"], constants.rate, constants.barrier, state["multiplier"])
    return {**state, "weights": weights, "multiplier": multiplier}


class SparseLongTermMemory(HybridBandit):
    """Algorithm 3 of the paper, "A Sparse MAB Algorithm with Long-term Memory".

    It is made for losses of which only a few per round are not 0, and for good arms that return. A master with weights
    w follows the leader, regularised by entropy and a log barrier. Each arm has a confidence z, which is high while the
    arm is good. Arms are drawn from ``p ∝ z w``, and with a small probability uniformly.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T. Further rounds raise a ValueError. None: no limit; the constants are those of 2^20
        (a million) rounds.
    n_segments : int, optional
        Largest number S of segments in each of which one arm is good. None: the cube root of T.
    n_distinct : int, default=2
        Largest number n of arms that are good in some segment.
    sparsity : int, default=1
        Largest number ρ of losses of a round that are not 0.
    constants : {"paper", "free"}, default="paper"
        "paper": those of the theorem, with ``η <= 1/500`` as in its proof. They suit few arms and horizons of a
        million; otherwise the algorithm learns very slowly.
        "free": ``rate``, ``barrier`` and ``floor``; those that are None follow the theorem, but with ``η <= 1/10`` and
        ``γ = 10``. The theorem does not hold for them, but the algorithm learns.
    rate : float, optional
        η in (0, 1], for constants "free": rate of the master and of the confidences, bias, and share of uniform draws.
    barrier : float, optional
        γ >= 0, for constants "free": weight of the log barrier.
    floor : float, optional
        δ in (0, 1], for constants "free": least confidence. 1: no memory.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Notes
    -----
    The theorem's constants are ``η = max{S^(1/3) ρ^(-2/3) (nT)^(-1/3), sqrt(ln K/(Tρ))}``, ``δ = sqrt(S/(Tηn))`` and
    ``γ = 200 K²``. S, n and ρ are lowered to possible values, such as n <= S. If δ exceeds 1, it is set to 1; the
    theorem does not cover so many switches. The mean regret against S segments over n distinct arms is of order
    ``(ρS)^(1/3) (nT)^(2/3) + n sqrt(Tρ ln K) + n K³ ln T``. The theory page gives all constants.

    A draw of several arms is one round with estimates ``ℓ(i)/chance(i)``. A new arm starts as if it had slept so far,
    with confidence 1 and master loss 0. K in the constants is the current number of arms.

    References
    ----------
    Zheng, Luo, Diakonikolas and Wang, "Equipping Experts/Bandits with Long-term Memory", NeurIPS 2019, Section 4.

    Examples
    --------
    Two of ten arms are good alternately.

    >>> import numpy as np
    >>> from ltm_sklearn.bandits import SparseHybrid, SparseLongTermMemory
    >>> good = 3 + np.arange(20_000) // 2_000 % 2
    >>> losses = -np.eye(10)[good]
    >>> remembering = SparseLongTermMemory(horizon=20_000, n_segments=10, constants="free", random_state=0)
    >>> float(np.mean(remembering.run(losses, n_seeds=5) == good).round(1))
    0.8
    >>> float(np.mean(SparseHybrid(barrier=1.0, random_state=0).run(losses, n_seeds=5) == good).round(1))
    0.6
    """

    def __init__(
        self,
        *,
        horizon: int | None = None,
        n_segments: int | None = None,
        n_distinct: int = 2,
        sparsity: int = 1,
        constants: str = "paper",
        rate: float | None = None,
        barrier: float | None = None,
        floor: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.horizon = horizon
        self.n_segments = n_segments
        self.n_distinct = n_distinct
        self.sparsity = sparsity
        self.constants = constants
        self.rate = rate
        self.barrier = barrier
        self.floor = floor
        self.random_state = random_state

    def check_parameters(self) -> None:
        check_horizon(self.horizon)
        if self.n_segments is not None:
            check_count("n_segments", self.n_segments)
        check_count("n_distinct", self.n_distinct)
        check_count("sparsity", self.sparsity)
        check_option("constants", self.constants, ("paper", "free"))
        if self.constants == "paper":
            for name in ("rate", "barrier", "floor"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}={getattr(self, name)!r} needs constants='free': 'paper' computes its own")
        check_number("rate", self.rate, 0.0, 1.0, low_open=True)
        check_number("barrier", self.barrier, 0.0, LARGEST_BARRIER)
        check_number("floor", self.floor, 0.0, 1.0, low_open=True)

    def _constants(self, n_arms: int, rounds: Any) -> HybridConstants:
        paper = self.constants == "paper"
        T = self.horizon or ASSUMED_HORIZON
        S = min(self.n_segments or round(T ** (1 / 3)), T)
        n, rho = min(self.n_distinct, S, n_arms), min(self.sparsity, n_arms)
        rate, barrier, floor = self.rate, self.barrier, self.floor
        if rate is None:
            rate = max((S / (rho**2 * n * T)) ** (1 / 3), np.sqrt(np.log(max(n_arms, 2)) / (T * rho)))
            rate = min(rate, LARGEST_RATE if paper else 0.1)
        if barrier is None:
            barrier = 200.0 * n_arms**2 if paper else 10.0
        if floor is None:
            floor = min(1.0, np.sqrt(S / (T * rate * n)))
        return HybridConstants(float(rate), float(barrier), float(floor), bias=float(rate), exploration=float(rate))


class SparseHybrid(HybridBandit):
    """Regularised leader with entropy and log barrier on importance-weighted losses, without memory.

    This is the algorithm of Bubeck, Cohen and Li for losses of which only a few per round are not 0. It is the master
    of :class:`SparseLongTermMemory` alone.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T. Further rounds raise a ValueError. None: the rate decreases over time.
    sparsity : int, default=1
        Largest number ρ of losses of a round that are not 0.
    rate : float, optional
        η > 0. None: ``sqrt(ln K/(ρT))``, without a horizon ``sqrt(ln K/(ρt))`` in round t.
    barrier : float, default=25.0
        γ >= 0: weight of the log barrier. From 25 on, no weight changes by more than a tenth per round, as the bound
        requires.
    random_state : int, RandomState instance or None, default=None
        Seed of the draws.

    Notes
    -----
    With a barrier γ >= 25 and a horizon, the mean regret against any arm is at most
    ``1.605 sqrt(Tρ ln K) + γ (K - 1) ln T + 2``. Without a horizon the factor is 2.21. A new arm starts as if it had
    slept so far, with regret 0. K in the rate is the current number of arms.

    References
    ----------
    Bubeck, Cohen and Li, "Sparsity, variance and curvature in multi-armed bandits", ALT 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits import SparseHybrid
    >>> losses = np.zeros((5_000, 10))
    >>> losses[:, 3] = -1.0
    >>> bandit = SparseHybrid(barrier=1.0, random_state=0)
    >>> float(np.mean(bandit.run(losses) == 3).round(2))
    0.99
    >>> int(bandit.probabilities.argmax())
    3
    """

    def __init__(
        self,
        *,
        horizon: int | None = None,
        sparsity: int = 1,
        rate: float | None = None,
        barrier: float = 25.0,
        random_state: Any = None,
    ) -> None:
        self.horizon = horizon
        self.sparsity = sparsity
        self.rate = rate
        self.barrier = barrier
        self.random_state = random_state

    def check_parameters(self) -> None:
        check_horizon(self.horizon)
        check_count("sparsity", self.sparsity)
        check_number("rate", self.rate, 0.0, LARGEST_HYBRID_RATE, low_open=True)
        if self.barrier is None:
            raise ValueError("barrier=None must be a number in [0, inf)")
        check_number("barrier", self.barrier, 0.0, LARGEST_BARRIER)

    def _constants(self, n_arms: int, rounds: Any) -> HybridConstants:
        rate: Any = self.rate
        if rate is None:  # rate of the next round, whose weights this round's losses determine
            n_rounds = self.horizon or rounds + 2
            rate = np.sqrt(np.log(max(n_arms, 2)) / (min(self.sparsity, n_arms) * n_rounds))
        return HybridConstants(rate, float(self.barrier), floor=1.0, bias=0.0, exploration=0.0)
