"""Base class of the bandit algorithms: parameters, a state, and methods that compute the next state."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from .._numerics import restrict_to_awake
from .._param_checks import check_count
from .._typing import Floats, State
from ..experts import leave, rule_is_changed
from ._validation import (
    Arms,
    check_arms,
    check_awake,
    check_distribution,
    check_probabilities,
    check_seen,
    check_table,
    seed_of,
)

#: Limit of ``n_seeds``, so that a mistyped number does not fill the memory.
MOST_SEEDS = 1_000_000

#: Estimates divide by no less, so that none is infinite whatever probability a log states.
SMALLEST_CHANCE = 1e-100


class Draw(NamedTuple):
    """Arms that were drawn and whose losses are not known yet."""

    arms: Arms  #: the first one is played
    chances: Floats  #: probability that each arm was among those drawn


class BanditAlgorithm(BaseEstimator, ABC):
    """Base class of all bandit algorithms, and the protocol for custom ones.

    A subclass defines ``__init__`` with its parameters, as any scikit-learn estimator, ``random_state`` among them, and
    three methods without side effects:

    ``_initial_state(n_arms)``
        Return the state before the first round, a dictionary.
    ``_distribution(state)``
        Return the probabilities with which an arm is drawn now, shape (n_arms,).
    ``_next_state(state, arms, losses, chances)``
        Return the state after a round in which the losses of some arms were observed, usually of one. Losses lie in
        [-1, 1]. ``chances`` are the probabilities that each of these arms was among those drawn, for importance
        weights.

    Arrays in the state have the arms on their last axis; all other entries belong to all arms together. The base class
    counts the rounds in ``state["rounds"]``. It provides sleeping arms, draws of several arms, ``run``, adding and
    dropping of arms, and pickling.
    """

    random_state: Any
    n_arms_: int
    state_: State
    random_: np.random.Generator

    # The protocol ------------------------------------------------------------------------------------------------

    @abstractmethod
    def _initial_state(self, n_arms: int) -> State: ...

    @abstractmethod
    def _distribution(self, state: State) -> Floats: ...

    @abstractmethod
    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State: ...

    def check_parameters(self) -> None:
        """Raise a ValueError that names a parameter outside its domain."""

    def known_loss_range(self) -> tuple[float, float]:
        """Return the lowest and the highest possible loss, within [-1, 1]."""
        return -1.0, 1.0

    def _awake_distribution(self, state: State, awake: NDArray[np.bool_]) -> Floats:
        """Return the probabilities if some arms sleep."""
        return restrict_to_awake(self._distribution(state), awake.astype(np.float64))

    def _with_newcomer(self, state: State) -> State:
        """Return the state with one more arm, the last, whose losses are unknown."""
        newcomer = self._initial_state(self.n_arms_ + 1)

        def joined(name: str, value: Any) -> Any:
            return np.concatenate([value, newcomer[name][..., -1:]], axis=-1) if _has_arms(value) else value

        return {name: joined(name, value) for name, value in state.items()}

    def _without(self, state: State, arm: int) -> State:
        """Return the state without an arm."""
        return leave(state, arm)

    # Public methods ----------------------------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """Number of rounds learned so far."""
        return int(self.state_["rounds"]) if self._has_started() else 0

    @property
    def probabilities(self) -> Floats:
        """Probabilities with which the next arm is drawn, shape (n_arms,)."""
        self._check_started("probabilities")
        return self._distribution(self.state_).copy()

    def draw(self, n_arms: int | None = None, *, awake: ArrayLike | None = None, n_queries: int | None = None) -> Any:
        """Draw the arm to play now. A second draw before :meth:`update` replaces the first.

        Parameters
        ----------
        n_arms : int, optional
            Number of arms; needed before the first round only.
        awake : array-like of bool of shape (n_arms,), optional
            Which arms can be drawn. None: all.
        n_queries : int, optional
            Number of arms whose losses will be observed. The first is drawn as usual; the others are drawn uniformly
            from the rest. None: one.

        Returns
        -------
        int, or ndarray of shape (n_queries,)
            The arm; with ``n_queries`` distinct arms, of which the first is the one to play.
        """
        if self._has_started():
            if n_arms is not None and (not isinstance(n_arms, int | np.integer) or n_arms != self.n_arms_):
                raise ValueError(f"n_arms={n_arms!r}, but this bandit has {self.n_arms_} arms")
            n_arms = self.n_arms_
        elif n_arms is None:
            raise ValueError("n_arms is needed before the first round: call draw(n_arms)")
        else:
            check_count("n_arms", n_arms)
        mask = check_awake(awake, n_arms)
        if n_queries is not None:
            check_count("n_queries", n_queries, n_arms if mask is None else int(mask.sum()))
        if not self._has_started():
            self._begin(int(n_arms))
        chances = self.draw_distribution(mask)
        first = draw_from(chances, self.random_.random())
        self.drawn_ = add_other_arms(first, chances, mask, n_queries or 1, self.random_)
        return first if n_queries is None else self.drawn_.arms.copy()

    def draw_distribution(self, awake: NDArray[np.bool_] | None) -> Floats:
        """Return the checked probabilities with which the first arm is drawn if only some arms are awake; None: all."""
        state = self.state_
        chances = self._distribution(state) if awake is None else self._awake_distribution(state, awake)
        check_distribution(chances, self.n_arms_, type(self).__name__)
        return chances

    def update(self, arm: Any, loss: Any = None, *, reward: Any = None, probability: Any = None) -> Self:
        """Learn the losses of the arms that were drawn.

        Parameters
        ----------
        arm : int, or array-like of int
            The arms returned by :meth:`draw`, in any order.
        loss : float, or array-like
            Loss in [-1, 1]; for several arms, one each.
        reward : float, or array-like
            Reward, given instead of the loss. The loss is then minus the reward.
        probability : float, or array-like, optional
            Probability with which the arm was drawn, if its draw was not the last one: for delayed losses and for logs.
            For several arms, the probability that each was among those drawn. A draw that waits for its loss keeps
            waiting.

        Returns
        -------
        self
        """
        self._check_started("update")
        if (loss is None) == (reward is None):
            raise ValueError("update takes either a loss or a reward")
        arms = check_arms(arm, self.n_arms_)
        given, name = (reward, "reward") if loss is None else (loss, "loss")
        seen = check_seen(given, name, arms, self.n_rounds_, _range_of(name, self.known_loss_range()))
        self._check_horizon(1)
        if probability is not None:
            chances = check_probabilities(probability, arms)
        elif (drawn := self.__dict__.get("drawn_")) is None:
            raise ValueError("no draw waits for a loss: call draw() first, or pass the probability of this arm")
        elif sorted(arms.tolist()) != sorted(drawn.arms.tolist()):
            raise ValueError(f"arm={arms.tolist()} was not drawn: the last draw is {drawn.arms.tolist()}")
        else:
            of_arm = dict(zip(drawn.arms.tolist(), drawn.chances.tolist(), strict=True))
            chances = np.array([of_arm[arm] for arm in arms.tolist()])
        self.state_ = self._step(self.state_, arms, seen if reward is None else -seen, chances)
        if probability is None:
            del self.drawn_
        return self

    def run(self, losses: ArrayLike | None = None, n_seeds: int = 1, *, rewards: ArrayLike | None = None) -> Arms:
        """Play many rounds whose losses are known in advance, starting from the current state.

        Parameters
        ----------
        losses : array-like of shape (n_rounds, n_arms)
            Losses in [-1, 1]. In each round only the loss of the drawn arm is used.
        n_seeds : int, default=1
            Number of runs. The bandit itself plays the first one and continues from its end. The others repeat it from
            the same start with other random numbers, and do not change the bandit.
        rewards : array-like of shape (n_rounds, n_arms)
            Rewards, given instead of the losses. The losses are then minus the rewards.

        Returns
        -------
        ndarray of shape (n_seeds, n_rounds)
            The arms played.
        """
        if (losses is None) == (rewards is None):
            raise ValueError("run takes either losses or rewards")
        check_count("n_seeds", n_seeds, high=MOST_SEEDS)
        if not self._has_started():
            self.check_parameters()
        given, name = (rewards, "rewards") if losses is None else (losses, "losses")
        known = _range_of(name, self.known_loss_range())
        table = check_table(given, name, getattr(self, "n_arms_", None), self.n_rounds_, known)
        self._check_horizon(len(table))
        if losses is None:
            table = -table
        if not self._has_started():
            self._begin(table.shape[1])
        self._check_state()
        played = np.empty((n_seeds, len(table)), dtype=np.intp)
        before, own = self.state_, copy.deepcopy(self.random_)
        repeats = own.bit_generator.seed_seq.spawn(n_seeds - 1)  # type: ignore[attr-defined]
        played[0], after = self._play_rounds(before, table, own.random(len(table)))
        for at, seed in enumerate(repeats, start=1):
            played[at], _ = self._play_rounds(before, table, np.random.default_rng(seed).random(len(table)))
        self.state_, self.random_ = after, own  # only now: an interrupted run changes nothing
        self.__dict__.pop("drawn_", None)
        return played

    def add_arm(self) -> int:
        """Add an arm and return its index, the last."""
        self._check_started("add_arm")
        self.state_ = self._with_newcomer(self.state_)
        self.n_arms_ += 1
        return self.n_arms_ - 1

    def drop_arm(self, arm: int) -> None:
        """Remove an arm. The indices behind it fall by one; a waiting draw that contains it is discarded."""
        self._check_started("drop_arm")
        if np.ndim(arm):
            raise ValueError(f"arm={arm!r}: arms are dropped one at a time")
        index = int(check_arms(arm, self.n_arms_)[0])
        if self.n_arms_ == 1:
            raise ValueError("the last arm cannot be dropped")
        self.state_ = self._without(self.state_, index)
        self.n_arms_ -= 1
        drawn = self.__dict__.pop("drawn_", None)
        if drawn is not None and index not in drawn.arms:
            self.drawn_ = Draw(drawn.arms - (drawn.arms > index), drawn.chances)

    def set_params(self, **params: Any) -> Self:
        """Set parameters, as in any scikit-learn estimator, before the first round."""
        if params and self._has_started():
            raise ValueError("parameters cannot change after the first round: use sklearn.base.clone for a fresh copy")
        super().set_params(**params)
        return self

    # Internals ---------------------------------------------------------------------------------------------------

    def _has_started(self) -> bool:
        return hasattr(self, "n_arms_")

    def _check_started(self, name: str) -> None:
        if not self._has_started():
            raise ValueError(f"{name} needs arms: call draw(n_arms) first")

    def _check_horizon(self, n_rounds: int) -> None:
        """Raise a ValueError if so many more rounds exceed the horizon."""
        horizon = getattr(self, "horizon", None)
        if horizon is not None and self.n_rounds_ + n_rounds > horizon:
            raise ValueError(f"round {horizon} would exceed the horizon of {horizon} rounds (counted from 0)")

    def _check_state(self) -> None:
        """Raise a ValueError if shapes in the state are wrong; compiled rounds would read beyond the arrays."""
        for name, value in self._initial_state(self.n_arms_).items():
            found = getattr(self.state_.get(name), "shape", None)
            if _has_arms(value) and found != value.shape:
                raise ValueError(f"state_[{name!r}] has shape {found}, not {value.shape}: it is damaged")

    def _begin(self, n_arms: int) -> None:
        """Check the parameters and create the state for so many arms."""
        self.check_parameters()
        seed = seed_of(self.random_state)
        self.state_ = {**self._initial_state(n_arms), "rounds": 0}
        self.random_ = np.random.default_rng(seed)
        self.n_arms_ = n_arms

    def _step(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        return {**self._next_state(state, arms, losses, chances), "rounds": state["rounds"] + 1}

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        """Return the arms played and the state afterwards; rules with a compiled kernel override this."""
        played = np.empty(len(losses), dtype=np.intp)
        for t, row in enumerate(losses):
            chances = self._distribution(state)
            check_distribution(chances, self.n_arms_, type(self).__name__)
            arm = draw_from(chances, uniforms[t])
            here = np.array([arm])
            state = self._step(state, here, row[here], chances[here])
            played[t] = arm
        return played, state


def draw_from(chances: Floats, uniform: float) -> int:
    """Return the arm at which the cumulative chances exceed a number drawn from [0, 1)."""
    levels = np.cumsum(chances)
    return min(int(np.searchsorted(levels, uniform * levels[-1], side="right")), len(levels) - 1)


def add_other_arms(
    first: int, chances: Floats, awake: NDArray[np.bool_] | None, n_queries: int, random: np.random.Generator
) -> Draw:
    """Add ``n_queries - 1`` other awake arms, drawn uniformly, to the first arm.

    An arm is in the draw if it is the first, or else with probability ``(n_queries - 1)/(n_awake - 1)``.
    """
    if n_queries == 1:
        return Draw(np.array([first]), chances[[first]])
    candidates = np.arange(len(chances)) if awake is None else np.flatnonzero(awake)
    others = random.choice(candidates[candidates != first], n_queries - 1, replace=False)
    arms = np.append(first, others)
    return Draw(arms, chances[arms] + (1.0 - chances[arms]) * (n_queries - 1) / (len(candidates) - 1))


def importance_weighted(n_arms: int, arms: Arms, losses: Floats, chances: Floats) -> Floats:
    """Return the unbiased estimates ``ℓ(i)/p(i)`` of the losses of all arms, 0 where no loss was observed."""
    estimates = np.zeros(n_arms)
    estimates[arms] = losses / np.maximum(chances, SMALLEST_CHANCE)
    return estimates


def kernel_applies(bandit: BanditAlgorithm) -> bool:
    """Return whether compiled rounds compute the rule of a bandit: no subclass outside this package changes it."""
    return not rule_is_changed(bandit, BanditAlgorithm)


def _has_arms(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def _range_of(name: str, loss_range: tuple[float, float]) -> tuple[float, float]:
    """Return the range of losses, or of rewards, which are minus the losses."""
    low, high = loss_range
    return (low, high) if name.startswith("loss") else (0.0 - high, 0.0 - low)  # no -0
