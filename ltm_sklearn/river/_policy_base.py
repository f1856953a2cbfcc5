"""What the bandit policies of River share: arms that come and go, and rewards on any scale."""

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

#: So many pulls wait for their rewards; beyond that the oldest are given up.
MOST_WAITING = 1000
#: After so many rewards their range is that without the largest and the smallest, lest a first outlier decides it.
N_FIRST = 10


class AggregatorWeights:
    """The reward object of one arm, as River's model selection looks at it.

    That predicts with the arm whose ``get()`` is the largest: here its weight now, so that the policy decides, and a
    large error is not taken for a good one. All else is River's own object, ``own``.
    """

    def __init__(self, policy: PolicyByWeight, arm: Any, own: Any) -> None:
        self.policy, self.arm, self.own = policy, arm, own

    def get(self) -> float:
        """How much the policy thinks of the arm."""
        return self.policy._standings()[self.arm]

    def update(self, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Tell River's object the reward."""
        self.own.update(*reward_args, **reward_kwargs)

    def __repr__(self) -> str:
        return str(self.own)


class PolicyByWeight(bandit.base.Policy):
    """A policy that weighs the arms; a subclass says how."""

    _rewards: dict[Any, Any]  # type: ignore[assignment]

    def __init__(self, reward_obj: Any, reward_scaler: Any, burn_in: int) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        if reward_scaler is not None and self._has_metric:
            raise ValueError("a metric's reward cannot be scaled: reward_scaler must be None, or reward_obj no metric")
        self._rewards = {}  #: of every arm that was offered or rewarded
        self._arms: list[Any] = []  #: in the order of the weights
        self._seen = ObservedRange()  #: of minus the rewards of late
        self._first: list[float] = []  #: minus the first rewards, while there are few
        self._waiting: deque[tuple[Any, Any]] = deque(maxlen=MOST_WAITING)  #: arms pulled, each with its draw
        self._means: dict[Any, stats.Mean] = {}  #: of rewards until the first one that teaches something
        self._taught = False
        self._known_standings: dict[Any, float] | None = None  #: None: to be found anew

    # What a policy defines ---------------------------------------------------------------------------------------

    @abstractmethod
    def _meet(self) -> None:
        """Make room for an arm that was not there before, and will be the last of the arms."""

    @abstractmethod
    def _drawn(self, arms: list[Any]) -> tuple[Any, Any]:
        """One of these arms, all of which are known, and what must be kept of the draw until its reward comes."""

    @abstractmethod
    def _learn(self, arm: Any, drawn: Any, gain: float) -> None:
        """Take in how far up the range of rewards that of a pull was, in [0, 1], or raise and change nothing."""

    @abstractmethod
    def _weights_now(self) -> Floats:
        """The weights of all arms."""

    # What River asks for -----------------------------------------------------------------------------------------

    def _pull(self, arm_ids: Any) -> Any:
        arms = list(arm_ids)
        if not arms:
            raise ValueError("there are no arms to pull")
        _check_arms(arms)
        with named_value_errors("arms"):  # some do not even compare
            new = dict.fromkeys(arm for arm in arms if arm not in self._arms)
        for arm in new:
            self._meet()
            self._arms.append(arm)
            self._show(arm)
        arm, drawn = self._drawn(arms)
        self._waiting.append((arm, drawn))
        return arm

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take in the reward of the last pull of an arm that waits for one.

        That of an arm which was not drawn, as in the burn-in, changes no weights.
        """
        _check_arms([arm_id])
        with named_value_errors("the reward"):
            reward = self._reward(*reward_args, **reward_kwargs)
        losses = clip_large(np.array([-reward]))
        first = [*self._first, float(losses[0])] if self._n < N_FIRST else []
        seen = _without_ends(first) if len(first) == N_FIRST else None
        seen = seen or self._seen.widened(losses)
        at = self._pull_of(arm_id)
        teaches = at is not None and seen.high > seen.low
        if at is not None and teaches:  # first, since an algorithm may refuse
            self._learn(arm_id, self._waiting[at][1], 1.0 - float(seen.rescaled(losses)[0]))
        if at is not None:
            del self._waiting[at]
        self._show(arm_id)
        super().update(arm_id, *reward_args, **reward_kwargs)
        self._seen, self._first, self._taught, self._known_standings = seen, first, self._taught or teaches, None
        if not self._taught:
            self._means.setdefault(arm_id, stats.Mean()).update(-float(losses[0]))

    @property
    def ranking(self) -> list[Any]:
        """The arms, those of the largest weights first; before anything was learned, of the largest rewards."""
        standings = self._standings()
        return sorted(standings, key=standings.__getitem__, reverse=True)

    def __repr__(self) -> str:
        return super().__repr__() if self._rewards else f"{type(self).__name__} without arms"

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}

    # Inside ------------------------------------------------------------------------------------------------------

    @property
    def _has_metric(self) -> bool:
        given: Any = self.reward_obj
        while isinstance(given, utils.Rolling | utils.TimeRolling):
            given = given.obj
        return isinstance(given, metrics.base.Metric)

    def _show(self, arm: Any) -> None:
        """Let River know of an arm."""
        if arm not in self._rewards:
            self._rewards[arm] = AggregatorWeights(self, arm, self.reward_obj.clone())
            self._known_standings = None

    def _standings(self) -> dict[Any, float]:
        """What is thought of each arm: its weight, and before anything was learned its mean reward."""
        if self._known_standings is None:
            if self._taught:
                weights = self._weights()
                self._known_standings = {arm: weights.get(arm, 0.0) for arm in self._rewards}
            else:
                means = {arm: mean.get() for arm, mean in self._means.items()}
                self._known_standings = {arm: means.get(arm, -np.inf) for arm in self._rewards}
        return self._known_standings

    def _weights(self) -> dict[Any, float]:
        return dict(zip(self._arms, self._weights_now().tolist(), strict=True))

    def _pull_of(self, arm: Any) -> int | None:
        """Where the last pull of an arm waits: earlier ones may never get a reward, as in a log of other pulls."""
        return next((at for at in reversed(range(len(self._waiting))) if self._waiting[at][0] == arm), None)

    def _reward(self, *reward_args: Any, **reward_kwargs: Any) -> float:
        """The reward as a number; changes nothing."""
        if not self._has_metric:
            if len(reward_args) != 1:
                raise ValueError(f"one reward is needed, got {len(reward_args)}: {self.reward_obj!r} is no metric")
            if self.reward_scaler is not None:  # which learns a reward before it scales it
                scaler = copy.deepcopy(self.reward_scaler)
                scaler._update(y=reward_args[0])
                reward_args = (scaler.func(reward_args[0]),)
        of_row: Any = self.reward_obj.clone()
        of_row.update(*reward_args, **reward_kwargs)  # of any object, since it may refuse
        reward = reward_args[0]
        if self._has_metric:
            reward = of_row.get() if of_row.bigger_is_better else -of_row.get()
        if np.ndim(reward) or not np.isfinite(reward):
            raise ValueError(f"the reward is {reward!r}")
        return float(reward)


def _check_arms(arms: list[Any]) -> None:
    """Raise a ValueError that names one that would not be found again."""
    check_hashable(arms, "the arm")
    for arm in arms:
        if arm is not None and not is_known(arm):
            raise ValueError(f"the arm is {arm!r}, which does not equal itself")


def _without_ends(losses: list[float]) -> ObservedRange | None:
    """The range of all losses but the lowest and the highest; None if it has no width."""
    _, low, *_, high, _ = sorted(losses)
    return ObservedRange(low, high) if high > low else None
