"""The base of the bandit policies: arms with weights that come and go, and rewards on any scale."""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import bandit, metrics, stats, utils

from .._frames import is_known
from .._param_checks import check_hashable, named_value_errors
from .._typing import Floats
from ..losses import ObservedRange, clip_large

#: Number of pulls that may wait for their rewards; beyond it the oldest are discarded.
MAX_WAITING = 1000
#: After so many rewards their range is set without the largest and the smallest, so that no early outlier decides it.
N_FIRST = 10


class ArmReward:
    """Reward object of an arm whose ``get()`` is the weight of the arm.

    River's bandit models predict with the arm whose ``get()`` is largest. With River's own object, which is kept as
    ``own``, they would take a large error for a good reward.
    """

    def __init__(self, policy: WeightedArmsPolicy, arm: Any, own: Any) -> None:
        self.policy, self.arm, self.own = policy, arm, own

    def get(self) -> float:
        """Return the weight of the arm, or its mean reward before anything was learned."""
        return self.policy._standings()[self.arm]

    def update(self, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Update River's reward object."""
        self.own.update(*reward_args, **reward_kwargs)

    def __repr__(self) -> str:
        return str(self.own)


class WeightedArmsPolicy(bandit.base.Policy):
    """Base class of policies with a weight for each arm."""

    _rewards: dict[Any, Any]  # type: ignore[assignment]

    def __init__(self, reward_obj: Any, reward_scaler: Any, burn_in: int) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        if reward_scaler is not None and self._has_metric:
            raise ValueError("a metric's reward cannot be scaled: reward_scaler must be None, or reward_obj no metric")
        self._rewards = {}  #: reward objects of all arms that were offered or rewarded
        self._arms: list[Any] = []  #: arms in the order of the weights
        self._seen = ObservedRange()  #: range of minus the recent rewards
        self._first: list[float] = []  #: minus the first rewards, while there are fewer than N_FIRST
        self._waiting: deque[tuple[Any, Any]] = deque(maxlen=MAX_WAITING)  #: pulled arms and their draws
        self._means: dict[Any, stats.Mean] = {}  #: mean rewards until the first that is learned
        self._has_learned = False
        self._cached_standings: dict[Any, float] | None = None  #: None: to be computed

    @abstractmethod
    def _add_arm(self) -> None:
        """Add a weight for a new arm, behind those of the others."""

    @abstractmethod
    def _drawn(self, arms: list[Any]) -> tuple[Any, Any]:
        """Draw one of these known arms; return it, and what learning its reward will need."""

    @abstractmethod
    def _learn(self, arm: Any, drawn: Any, gain: float) -> None:
        """Learn the reward of a pull, scaled to [0, 1], or raise an error and change nothing."""

    @abstractmethod
    def _weights_now(self) -> Floats:
        """Return the weights of all arms."""

    # River's interface -------------------------------------------------------------------------------------------

    def _pull(self, arm_ids: Any) -> Any:
        arms = list(arm_ids)
        if not arms:
            raise ValueError("there are no arms to pull")
        _check_arms(arms)
        with named_value_errors("arms"):  # some arms cannot be compared
            new = dict.fromkeys(arm for arm in arms if arm not in self._arms)
        for arm in new:
            self._add_arm()
            self._arms.append(arm)
            self._register(arm)
        arm, drawn = self._drawn(arms)
        self._waiting.append((arm, drawn))
        return arm

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Learn the reward of the last pull of an arm that has none yet.

        The reward of an arm that was not drawn, as in the burn-in, changes no weights.
        """
        _check_arms([arm_id])
        with named_value_errors("the reward"):
            reward = self._reward(*reward_args, **reward_kwargs)
        losses = clip_large(np.array([-reward]))
        first = [*self._first, float(losses[0])] if self._n < N_FIRST else []
        seen = _without_ends(first) if len(first) == N_FIRST else None
        seen = seen or self._seen.widened(losses)
        at = self._pull_of(arm_id)
        informative = at is not None and seen.high > seen.low
        if at is not None and informative:  # first, since the algorithm may raise an error
            self._learn(arm_id, self._waiting[at][1], 1.0 - float(seen.rescaled(losses)[0]))
        if at is not None:
            del self._waiting[at]
        self._register(arm_id)
        super().update(arm_id, *reward_args, **reward_kwargs)
        self._seen, self._first, self._cached_standings = seen, first, None
        self._has_learned |= informative
        if not self._has_learned:
            self._means.setdefault(arm_id, stats.Mean()).update(-float(losses[0]))

    @property
    def ranking(self) -> list[Any]:
        """The arms by decreasing weight; before anything was learned, by decreasing mean reward."""
        standings = self._standings()
        return sorted(standings, key=standings.__getitem__, reverse=True)

    def __repr__(self) -> str:
        return super().__repr__() if self._rewards else f"{type(self).__name__} without arms"

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}

    @property
    def _has_metric(self) -> bool:
        given: Any = self.reward_obj
        while isinstance(given, utils.Rolling | utils.TimeRolling):
            given = given.obj
        return isinstance(given, metrics.base.Metric)

    def _register(self, arm: Any) -> None:
        """Give an arm a reward object, by which River knows it."""
        if arm not in self._rewards:
            self._rewards[arm] = ArmReward(self, arm, self.reward_obj.clone())
            self._cached_standings = None

    def _standings(self) -> dict[Any, float]:
        """Return the weight of each arm, or its mean reward before anything was learned."""
        if self._cached_standings is None:
            if self._has_learned:
                weights = self._weights()
                self._cached_standings = {arm: weights.get(arm, 0.0) for arm in self._rewards}
            else:
                means = {arm: mean.get() for arm, mean in self._means.items()}
                self._cached_standings = {arm: means.get(arm, -np.inf) for arm in self._rewards}
        return self._cached_standings

    def _weights(self) -> dict[Any, float]:
        return dict(zip(self._arms, self._weights_now().tolist(), strict=True))

    def _pull_of(self, arm: Any) -> int | None:
        """Return the index of the last pull of an arm that waits; earlier ones may never get a reward, as in a log."""
        return next((at for at in reversed(range(len(self._waiting))) if self._waiting[at][0] == arm), None)

    def _reward(self, *reward_args: Any, **reward_kwargs: Any) -> float:
        """Return the reward as a number, and change nothing."""
        if not self._has_metric:
            if len(reward_args) != 1:
                raise ValueError(f"one reward is needed, got {len(reward_args)}: {self.reward_obj!r} is no metric")
            if self.reward_scaler is not None:  # scaling learns the reward: use a copy
                scaler = copy.deepcopy(self.reward_scaler)
                scaler._update(y=reward_args[0])
                reward_args = (scaler.func(reward_args[0]),)
        of_row: Any = self.reward_obj.clone()
        of_row.update(*reward_args, **reward_kwargs)  # with any object, as it may raise an error
        reward = reward_args[0]
        if self._has_metric:
            reward = of_row.get() if of_row.bigger_is_better else -of_row.get()
        if np.ndim(reward) or not np.isfinite(reward):
            raise ValueError(f"the reward is {reward!r}")
        return float(reward)


def _check_arms(arms: list[Any]) -> None:
    """Raise a ValueError that names an arm that could not be found again: not hashable, or unequal to itself."""
    check_hashable(arms, "the arm")
    for arm in arms:
        if arm is not None and not is_known(arm):
            raise ValueError(f"the arm is {arm!r}, which does not equal itself")


def _without_ends(losses: list[float]) -> ObservedRange | None:
    """Return the range of the losses without the lowest and the highest; None if it has no width."""
    _, low, *_, high, _ = sorted(losses)
    return ObservedRange(low, high) if high > low else None
