"""What every bandit algorithm is: parameters, a state, and three methods that say how the state moves."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from .._numerics import restrict
from .._param_checks import check_count
from .._typing import Floats, State
from ..experts import leave, rule_is_changed
from ._validation import Arms, check_arms, check_awake, check_probabilities, check_seen, check_table, seed_of


class Draw(NamedTuple):
    """Arms that were drawn and whose losses have not come yet."""

    arms: Arms  #: the first is the one that is played
    chances: Floats  #: the probability that an arm was among them


class BanditAlgorithm(BaseEstimator, ABC):
    """Base class of all bandit algorithms, and the protocol for one's own.

    A subclass defines ``__init__`` with its parameters, as any scikit-learn estimator, ``random_state`` among them, and
    three methods that neither keep nor change anything:

    ``_initial_state(n_arms)``
        The state before the first round, a dictionary.
    ``_distribution(state)``
        The probabilities with which an arm is drawn now, shape (n_arms,).
    ``_next_state(state, arms, losses, chances)``
        The state after a round in which the losses of some arms were seen, each in [-1, 1]: usually of one. ``chances``
        are the probabilities with which each was among those drawn, for importance weights.

    Arrays in the state have the arms on their last axis; everything else belongs to all arms together.
    ``state["rounds"]``, the number of rounds learned, is kept for you. With that, sleeping arms, draws of several arms,
    ``run``, adding and dropping arms and pickling all work.
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

    def _check_parameters(self) -> None:
        """Raise a ValueError that names a parameter outside its domain."""

    def _known_range(self) -> tuple[float, float]:
        """The lowest and the highest loss that can come, within [-1, 1]."""
        return -1.0, 1.0

    def _awake_distribution(self, state: State, awake: NDArray[np.bool_]) -> Floats:
        """The probabilities when some arms sleep."""
        return restrict(self._distribution(state), awake.astype(np.float64))

    def _with_newcomer(self, state: State) -> State:
        """The state with one arm more, the last, of which nothing is known."""
        newcomer = self._initial_state(self.n_arms_ + 1)

        def joined(name: str, value: Any) -> Any:
            return np.concatenate([value, newcomer[name][..., -1:]], axis=-1) if _has_arms(value) else value

        return {name: joined(name, value) for name, value in state.items()}

    def _without(self, state: State, arm: int) -> State:
        """The state without an arm."""
        return leave(state, arm, lambda value: -1 if value.ndim else None)

    # What the protocol gives ---------------------------------------------------------------------------------------

    @property
    def n_rounds_(self) -> int:
        """Rounds learned so far."""
        return int(self.state_["rounds"]) if self._has_started() else 0

    @property
    def probabilities(self) -> Floats:
        """The probabilities with which the next arm is drawn, shape (n_arms,)."""
        self._check_started("probabilities")
        return self._distribution(self.state_).copy()

    def draw(self, n_arms: int | None = None, *, awake: ArrayLike | None = None, n_queries: int | None = None) -> Any:
        """Draw the arm to play now; drawing again before :meth:`update` takes the first draw back.

        Parameters
        ----------
        n_arms : int, optional
            Number of arms; needed before the first round only.
        awake : array-like of bool of shape (n_arms,), optional
            Which arms can be drawn. None: all.
        n_queries : int, optional
            Ask about so many arms at once: the first is drawn as ever, the others are any of the rest with equal
            chances. None: one.

        Returns
        -------
        int, or ndarray of shape (n_queries,)
            The arm; with ``n_queries`` several that differ, the first being the one to play.
        """
        n_arms = self._known_arms(n_arms)
        mask = check_awake(awake, n_arms)
        if n_queries is not None:
            check_count("n_queries", n_queries, n_arms if mask is None else int(mask.sum()))
        if not self._has_started():
            self._begin(n_arms)
        self.drawn_ = self._draw_with(self.random_, mask, n_queries or 1)
        return int(self.drawn_.arms[0]) if n_queries is None else self.drawn_.arms.copy()

    def update(self, arm: Any, loss: Any = None, *, reward: Any = None, probability: Any = None) -> Self:
        """Learn the loss of the arm that was drawn, or of all that were.

        Parameters
        ----------
        arm : int, or array-like of int
            As drawn.
        loss : float, or array-like
            In [-1, 1]; for several arms one for each.
        reward : float, or array-like
            Instead of the loss, which is then minus the reward.
        probability : float, or array-like, optional
            The probability with which the arm was drawn, if that was not the last :meth:`draw`: of a loss that comes
            late, or of a log. With several arms, that with which each was among those drawn. A draw that waits for its
            loss goes on waiting.

        Returns
        -------
        self
        """
        self._check_started("update")
        if (loss is None) == (reward is None):
            raise ValueError("update takes either a loss or a reward")
        arms = check_arms(arm, self.n_arms_)
        given, name = (reward, "reward") if loss is None else (loss, "loss")
        seen = check_seen(given, name, arms, self.n_rounds_, self._range_of(name))
        self._check_horizon(1)
        chances = self._chances_of_draw(arms) if probability is None else check_probabilities(probability, arms)
        self.state_ = self._step(self.state_, arms, seen if reward is None else -seen, chances)
        if probability is None:
            del self.drawn_
        return self

    def run(self, losses: ArrayLike | None = None, n_seeds: int = 1, *, rewards: ArrayLike | None = None) -> Arms:
        """Play many rounds whose losses are known beforehand, going on from the current state.

        Parameters
        ----------
        losses : array-like of shape (n_rounds, n_arms)
            In [-1, 1]; in each round only that of the arm that is drawn is looked at.
        n_seeds : int, default=1
            How often. The bandit itself plays the first run, and goes on from its end; the others are repeats with
            other random numbers from where it was, and leave no run_record.
        rewards : array-like of shape (n_rounds, n_arms)
            Instead of the losses, which are then minus the rewards.

        Returns
        -------
        ndarray of shape (n_seeds, n_rounds)
            The arms played.
        """
        if (losses is None) == (rewards is None):
            raise ValueError("run takes either losses or rewards")
        check_count("n_seeds", n_seeds, high=MOST_SEEDS)
        if not self._has_started():
            self._check_parameters()
        given, name = (rewards, "rewards") if losses is None else (losses, "losses")
        table = check_table(given, name, getattr(self, "n_arms_", None), self.n_rounds_, self._range_of(name))
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
        self.state_, self.random_ = after, own  # only now: an interrupted run leaves all as it was
        self.__dict__.pop("drawn_", None)
        return played

    def add_arm(self) -> int:
        """Let a new arm join; returns its index, the last."""
        self._check_started("add_arm")
        self.state_ = self._with_newcomer(self.state_)
        self.n_arms_ += 1
        return self.n_arms_ - 1

    def drop_arm(self, arm: int) -> None:
        """Remove an arm; those behind it move up by one. A draw that it is part of is taken back."""
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
        """Set parameters, as in any scikit-learn estimator, but not in the middle of a run."""
        if params and self._has_started():
            raise ValueError("parameters cannot change in the middle of a run: sklearn.base.clone gives a fresh copy")
        super().set_params(**params)
        return self

    # Inside -----------------------------------------------------------------------------------------------------

    def _draw_with(self, random: np.random.Generator, awake: NDArray[np.bool_] | None, n_queries: int) -> Draw:
        """A draw with these random numbers; changes nothing else."""
        state = self.state_
        played = self._distribution(state) if awake is None else self._awake_distribution(state, awake)
        self._check_distribution(played)
        return add_other_arms(draw_from(played, random.random()), played, awake, n_queries, random)

    def _has_started(self) -> bool:
        return hasattr(self, "n_arms_")

    def _check_started(self, name: str) -> None:
        if not self._has_started():
            raise ValueError(f"{name} needs arms: call draw(n_arms) first")

    def _check_horizon(self, n_rounds: int) -> None:
        """That many more rounds must not exceed it, where there is one."""
        horizon = getattr(self, "horizon", None)
        if horizon is not None and self.n_rounds_ + n_rounds > horizon:
            raise ValueError(f"round {horizon} would exceed the horizon of {horizon} rounds (counted from 0)")

    def _known_arms(self, n_arms: int | None) -> int:
        if self._has_started():
            if n_arms is not None and (not isinstance(n_arms, int | np.integer) or n_arms != self.n_arms_):
                raise ValueError(f"n_arms={n_arms!r}, but this bandit runs over {self.n_arms_}")
            return self.n_arms_
        if n_arms is None:
            raise ValueError("n_arms is needed before the first round")
        check_count("n_arms", n_arms)
        return int(n_arms)

    def _range_of(self, name: str) -> tuple[float, float]:
        low, high = self._known_range()
        return (low, high) if name.startswith("loss") else (0.0 - high, 0.0 - low)  # no -0

    def _check_state(self) -> None:
        """Compiled rounds trust the shapes of a state, which may come from a file of another version."""
        for name, value in self._initial_state(self.n_arms_).items():
            found = getattr(self.state_.get(name), "shape", None)
            if _has_arms(value) and found != value.shape:
                raise ValueError(f"state_[{name!r}] has shape {found}, not {value.shape}: it is damaged")

    def _own_rule(self) -> bool:
        """Whether the rule is the package's, which compiled rounds follow, and not one that a subclass changed."""
        return not rule_is_changed(self, BanditAlgorithm, __package__)

    def _begin(self, n_arms: int) -> None:
        self._check_parameters()
        seed = seed_of(self.random_state)
        self.state_ = {**self._initial_state(n_arms), "rounds": 0}
        self.random_ = np.random.default_rng(seed)
        self.n_arms_ = n_arms

    def _chances_of_draw(self, arms: Arms) -> Floats:
        drawn: Draw | None = self.__dict__.get("drawn_")
        if drawn is None:
            raise ValueError("there is no draw to update: call draw() first, or give the probability of this one")
        if sorted(arms.tolist()) != sorted(drawn.arms.tolist()):
            raise ValueError(f"arm {arms.tolist()} is not what was drawn, which is {drawn.arms.tolist()}")
        of_arm = dict(zip(drawn.arms.tolist(), drawn.chances.tolist(), strict=True))
        return np.array([of_arm[arm] for arm in arms.tolist()])

    def _step(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        return {**self._next_state(state, arms, losses, chances), "rounds": state["rounds"] + 1}

    def _check_distribution(self, chances: Floats) -> None:
        """A rule of one's own may go wrong; nothing is drawn then."""
        if chances.shape != (self.n_arms_,) or not (chances >= 0.0).all() or not 0.0 < chances.sum() < np.inf:
            raise ValueError(f"{type(self).__name__} gave no distribution over {self.n_arms_} arms: {chances!r}")

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        """The arms played, and the state after it; where there is a kernel for the rule, it does this."""
        played = np.empty(len(losses), dtype=np.intp)
        for t, row in enumerate(losses):
            chances = self._distribution(state)
            self._check_distribution(chances)
            arm = draw_from(chances, uniforms[t])
            here = np.array([arm])
            state = self._step(state, here, row[here], chances[here])
            played[t] = arm
        return played, state


def draw_from(chances: Floats, uniform: float) -> int:
    """The arm at which the sum of the chances passes a number drawn from [0, 1)."""
    levels = np.cumsum(chances)
    return min(int(np.searchsorted(levels, uniform * levels[-1], side="right")), len(levels) - 1)


#: Repeats of one run: a slip of the hand should not fill the memory.
MOST_SEEDS = 1_000_000

#: No estimate divides by less, so that none is infinite whatever probability a log states.
SMALLEST_CHANCE = 1e-100


def importance_weighted(n_arms: int, arms: Arms, losses: Floats, chances: Floats) -> Floats:
    """Estimates ``ℓ(i)/p(i)`` of the losses of all arms, 0 where nothing was seen: right in the mean."""
    estimates = np.zeros(n_arms)
    estimates[arms] = losses / np.maximum(chances, SMALLEST_CHANCE)
    return estimates


def _has_arms(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim > 0


def add_other_arms(
    first: int, played: Floats, awake: NDArray[np.bool_] | None, n_queries: int, random: np.random.Generator
) -> Draw:
    """The first arm and ``n_queries - 1`` of the others that are awake, all of these alike.

    An arm is among them if it is the first, or else with probability ``(n_queries - 1)/(awake arms - 1)``.
    """
    if n_queries == 1:
        return Draw(np.array([first]), played[[first]])
    candidates = np.arange(len(played)) if awake is None else np.flatnonzero(awake)
    others = random.choice(candidates[candidates != first], n_queries - 1, replace=False)
    arms = np.append(first, others)
    return Draw(arms, played[arms] + (1.0 - played[arms]) * (n_queries - 1) / (len(candidates) - 1))
