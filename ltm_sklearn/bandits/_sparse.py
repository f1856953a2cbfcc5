"""Bandits for sparse losses: Algorithm 3 of the paper, with long-term memory, and the hybrid alone, without."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._optional import compiled
from .._param_checks import check_count, check_horizon, check_number, check_option
from .._typing import Floats, State
from ._base import BanditAlgorithm, importance_weighted
from ._hybrid import hybrid_weights
from ._validation import Arms

kernel = compiled("_sparse_rounds", __package__)

#: Without a horizon the constants are those of this one.
ASSUMED_HORIZON = 2**20

#: Products of larger ones with any barrier would leave the range of floats.
LARGEST_HYBRID_RATE, LARGEST_BARRIER = 1e6, 1e100

#: What the input line of Algorithm 3 demands of its rate.
LARGEST_RATE = 1 / 500


class Constants(NamedTuple):
    """What Algorithm 3 is run with; without memory it has floor 1, no bias and no exploration."""

    rate: Any  #: η; one number, or one for each round asked about
    barrier: float  #: γ
    floor: float  #: δ
    bias: float  #: η again: the master's losses are ``-z r - η z ℓ̂²``
    exploration: float  #: and again: this part of the draws is uniform


class HybridBandit(BanditAlgorithm):
    """A master that follows the regularised leader over arms whose confidences are learned.

    A subclass says in ``_constants(n_arms, rounds)`` what a round is learned with that comes after so many.
    """

    def _constants(self, n_arms: int, rounds: Any) -> Constants:
        raise NotImplementedError

    def _initial_state(self, n_arms: int) -> State:
        return {
            "losses": np.zeros(n_arms),  # the master's, Σ c; an arm that sleeps has c = 0
            "weights": np.full(n_arms, 1.0 / n_arms),
            "confidence": np.ones(n_arms),
            "multiplier": 0.0,
        }

    def _distribution(self, state: State) -> Floats:
        played = _confident(state)
        exploration = self._constants(len(played), state["rounds"]).exploration
        return (1.0 - exploration) * played + exploration / len(played)

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        z, p = state["confidence"], _confident(state)
        constants = self._constants(len(p), state["rounds"])
        estimates = importance_weighted(len(p), arms, losses, chances)
        regret = p @ estimates - estimates
        master = -z * regret - constants.bias * z * estimates**2
        after = {
            **state,
            "losses": state["losses"] + master,
            "confidence": next_confidence(z, regret, constants.rate, constants.floor),
        }
        return _led(after, constants)

    def _with_newcomer(self, state: State) -> State:
        return self._led_again(super()._with_newcomer(state))

    def _without(self, state: State, arm: int) -> State:
        return self._led_again(super()._without(state, arm))

    def _led_again(self, state: State) -> State:
        """With the weights of another pool, at the constants of the last round."""
        return _led(state, self._constants(len(state["losses"]), max(state["rounds"] - 1, 0)))

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not self._own_rule():
            return super()._play_rounds(state, losses, uniforms)
        n_rounds, n_arms = losses.shape
        constants = self._constants(n_arms, state["rounds"] + np.arange(n_rounds))
        after = {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in state.items()}
        played = np.empty(n_rounds, dtype=np.intp)
        after["multiplier"] = kernel.play(
            losses,
            uniforms,
            played,
            after["losses"],
            after["weights"],
            after["confidence"],
            after["multiplier"],
            np.array(np.broadcast_to(constants.rate, n_rounds), dtype=np.float64),
            *constants[1:],
        )
        after["rounds"] = state["rounds"] + n_rounds
        return played, after


def next_confidence(confidence: Floats, regret: Floats, rate: float, floor: float) -> Floats:
    """Mirror descent on ``-r z`` with the one-sided log barrier ``(1/η) ln(1/z)`` over [δ, 1].

    Without the ends the next is ``1/(1/z - η r)``; where the bracket is below 1, and be it negative, it is 1.
    """
    with np.errstate(over="ignore"):
        inverse = 1.0 / confidence - rate * regret
    return np.maximum(1.0 / np.maximum(inverse, 1.0), floor)


def _confident(state: State) -> Floats:
    """``p ∝ z w``."""
    shares = state["confidence"] * state["weights"]
    return np.asarray(shares / shares.sum())


def _led(state: State, constants: Constants) -> State:
    """The state with the weights that its losses call for."""
    weights, multiplier = hybrid_weights(state["losses"], constants.rate, constants.barrier, state["multiplier"])
    return {**state, "weights": weights, "multiplier": multiplier}


class SparseLongTermMemory(HybridBandit):
    """Algorithm 3 of the paper, "A Sparse MAB Algorithm with Long-term Memory".

    For losses of which in each round only a few are not 0, and arms that are good again and again. A master with
    weights ``w``, held back by entropy and a log barrier, decides between arms; each arm has a confidence ``z`` of its
    own that says whether it is good *now*; drawn is from ``p ∝ z w``, and a little evenly.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T; more raise a ValueError. None: the constants are those of a million (2^20) rounds, and
        there is no end.
    n_segments : int, optional
        In at most how many segments S one arm at a time is good. None: the cube root of T.
    n_distinct : int, default=2
        At most how many arms n are ever good.
    sparsity : int, default=1
        How many losses ρ of a round at most are not 0.
    constants : {"paper", "free"}, default="paper"
        "paper": those of the theorem, with ``η <= 1/500`` as its proof needs. They are made for few arms and horizons
        of a million; elsewhere hardly anything is learned.
        "free": those given as ``rate``, ``barrier`` and ``floor``, and for each that is None the theorem's with other
        limits: ``η <= 1/10`` and ``γ = 10``. No theorem, but it learns.
    rate : float, optional
        η in (0, 1], with constants "free": of the master, the confidences, the bias term and the even draws alike.
    barrier : float, optional
        γ >= 0, with constants "free": how much the log barrier counts.
    floor : float, optional
        δ in (0, 1], with constants "free": the least confidence. 1: no memory.
    random_state : int, RandomState instance or None, default=None
        Of the draws.

    Notes
    -----
    The theorem's constants are ``η = max{S^(1/3) ρ^(-2/3) (nT)^(-1/3), sqrt(ln K/(Tρ))}``, ``δ = sqrt(S/(Tηn))`` and
    ``γ = 200 K²``, with S, n and ρ lowered to what is possible (n <= S, say). Where δ would exceed 1 it is 1: so many
    switches are beyond the theorem. The mean regret against S segments over n distinct arms is then of order
    ``(ρS)^(1/3) (nT)^(2/3) + n sqrt(Tρ ln K) + n K³ ln T``; the theory page has it with all constants.

    Losses of a draw of several arms count as one round of estimates ``ℓ(i)/chance(i)``. An arm that is added starts as
    if it had slept so far, with confidence 1 and the master's loss 0; K in the constants is the number of arms there
    are.

    References
    ----------
    Zheng, Luo, Diakonikolas and Wang, "Equipping Experts/Bandits with Long-term Memory", NeurIPS 2019, Section 4.

    Examples
    --------
    Two of ten arms are good in turns.

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

    def _check_parameters(self) -> None:
        check_horizon(self.horizon)
        if self.n_segments is not None:
            check_count("n_segments", self.n_segments)
        check_count("n_distinct", self.n_distinct)
        check_count("sparsity", self.sparsity)
        check_option("constants", self.constants, ("paper", "free"))
        if self.constants == "paper":
            for name in ("rate", "barrier", "floor"):
                if getattr(self, name) is not None:
                    raise ValueError(f"{name}={getattr(self, name)!r} needs constants='free': the paper sets its own")
        check_number("rate", self.rate, 0.0, 1.0, low_open=True)
        check_number("barrier", self.barrier, 0.0, LARGEST_BARRIER)
        check_number("floor", self.floor, 0.0, 1.0, low_open=True)

    def _constants(self, n_arms: int, rounds: Any) -> Constants:
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
        return Constants(float(rate), float(barrier), float(floor), bias=float(rate), exploration=float(rate))


class SparseHybrid(HybridBandit):
    """Follow the regularised leader with entropy and log barrier on importance-weighted losses; no memory.

    The algorithm of Bubeck, Cohen and Li for losses of which only a few of a round are not 0, which is what is left of
    :class:`SparseLongTermMemory` when nothing has to return.

    Parameters
    ----------
    horizon : int, optional
        Number of rounds T; more raise a ValueError. None: the rate falls over time.
    sparsity : int, default=1
        How many losses ρ of a round at most are not 0.
    rate : float, optional
        η > 0. None: ``sqrt(ln K/(ρT))``, without a horizon ``sqrt(ln K/(ρt))`` in round t.
    barrier : float, default=25.0
        γ >= 0: how much the log barrier counts. From 25 on it keeps weights from moving by more than a tenth a round,
        which the bound needs.
    random_state : int, RandomState instance or None, default=None
        Of the draws.

    Notes
    -----
    With a barrier γ >= 25 and a horizon, the mean regret against any arm is at most
    ``1.605 sqrt(Tρ ln K) + γ (K - 1) ln T + 2``; without a horizon, with 2.21 for 1.605. An arm that is added starts as
    if it had slept so far, at zero regret; K in the rate is the number of arms there are.

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

    def _check_parameters(self) -> None:
        check_horizon(self.horizon)
        check_count("sparsity", self.sparsity)
        check_number("rate", self.rate, 0.0, LARGEST_HYBRID_RATE, low_open=True)
        if self.barrier is None:
            raise ValueError("barrier=None must be a number in [0, inf)")
        check_number("barrier", self.barrier, 0.0, LARGEST_BARRIER)

    def _constants(self, n_arms: int, rounds: Any) -> Constants:
        rate: Any = self.rate
        if rate is None:  # of the round to come, for which this one's losses move the weights
            n_rounds = self.horizon or rounds + 2
            rate = np.sqrt(np.log(max(n_arms, 2)) / (min(self.sparsity, n_arms) * n_rounds))
        return Constants(rate, float(self.barrier), floor=1.0, bias=0.0, exploration=0.0)
