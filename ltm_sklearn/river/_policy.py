"""The algorithms as bandit policies of River."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import bandit, metrics
from sklearn.base import clone

from .._drawing import fresh_bandit
from ..bandits import BanditAlgorithm
from ..experts import ExpertAlgorithm, LongTermMemory
from ..experts._validation import Floats, check_number


class _PolicyByWeight(bandit.base.Policy):
    """What the policies share: arms that come and go, and rewards on any scale."""

    def __init__(self, reward_obj: Any, reward_scaler: Any, burn_in: int) -> None:
        super().__init__(reward_obj=reward_obj, reward_scaler=reward_scaler, burn_in=burn_in)
        self._arms: list[Any] = []  #: in the order of the weights
        self._lowest, self._highest = np.inf, -np.inf  #: rewards so far

    # What the two define -----------------------------------------------------------------------------------------

    @abstractmethod
    def _meet(self, arm: Any) -> None:
        """Make room for an arm that was not there before, and will be the last of the arms."""

    @abstractmethod
    def _drawn(self, arms: list[Any]) -> Any:
        """One of these arms, all of which are known."""

    @abstractmethod
    def _learn(self, arm: Any, gain: float | None) -> None:
        """Take in how far up the range of rewards that of an arm is, in [0, 1]; None while there is no range."""

    @abstractmethod
    def _weights_now(self) -> Floats:
        """The weights of all arms."""

    # What River asks for -----------------------------------------------------------------------------------------

    def _pull(self, arm_ids: Any) -> Any:
        arms = list(arm_ids)
        for arm in arms:
            if arm not in self._arms:
                self._meet(arm)
                self._arms.append(arm)
        return self._drawn(arms)

    def update(self, arm_id: Any, *reward_args: Any, **reward_kwargs: Any) -> None:
        """Take in the reward of an arm; one that was not drawn, as in the burn-in, changes no weights."""
        reward = self._reward(*reward_args, **reward_kwargs)
        super().update(arm_id, *reward_args, **reward_kwargs)
        self._lowest, self._highest = min(self._lowest, reward), max(self._highest, reward)
        width = self._highest - self._lowest
        self._learn(arm_id, (reward - self._lowest) / width if width > 0.0 else None)

    @property
    def ranking(self) -> list[Any]:
        """The arms, those of the largest weights first; River's would take a large error for a good one."""
        return sorted(self._arms, key=self._weights().__getitem__, reverse=True) if self._arms else []

    def _weights(self) -> dict[Any, float]:
        return dict(zip(self._arms, self._weights_now().tolist(), strict=True))

    def _reward(self, *reward_args: Any, **reward_kwargs: Any) -> float:
        """The reward as a number."""
        if isinstance(self.reward_obj, metrics.base.Metric):
            of_row = self.reward_obj.clone()
            of_row.update(*reward_args, **reward_kwargs)
            reward = of_row.get() if of_row.bigger_is_better else -of_row.get()
        else:
            reward = reward_args[0] if self.reward_scaler is None else self.reward_scaler.func(reward_args[0])
        if not np.isfinite(reward):
            raise ValueError(f"the reward is {reward!r}")
        return float(reward)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"seed": 0}


class ExpertPolicy(_PolicyByWeight):
    """Pulls arms by the weights of an expert algorithm, which is told the reward of the pulled arm only.

    What the other arms would have brought is not known, so losses are estimated: that of the pulled arm is divided by
    the probability p with which it was drawn, and the others' are 0, which is right in the mean. With exploration γ and
    K arms p is at least γ/K, so that γ/K times the estimate is in [0, 1]: that is what the algorithm learns from.
    :class:`BanditPolicy` has algorithms that are made for this.

    Rewards may be on any scale: losses are measured by the range of the rewards so far.

    Parameters
    ----------
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`.
    exploration
        The share of pulls in which all arms are equally likely.
    reward_obj
        As in River; of a metric, what it says of one row is the reward.
    reward_scaler
        As in River.
    burn_in
        As in River.
    seed
        Of the draws.

    Examples
    --------
    >>> import random
    >>> from ltm_sklearn.river import ExpertPolicy
    >>> policy, rng = ExpertPolicy(seed=0), random.Random(1)
    >>> pulls = []
    >>> for _ in range(2000):
    ...     pulls.append(policy.pull(["a", "b", "c"]))
    ...     policy.update(pulls[-1], float(rng.random() < (0.8 if pulls[-1] == "b" else 0.3)))
    >>> pulls[-500:].count("b") > 400
    True
    """

    def __init__(
        self,
        algorithm: ExpertAlgorithm | None = None,
        exploration: float = 0.1,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj, reward_scaler, burn_in)
        if not (algorithm is None or isinstance(algorithm, ExpertAlgorithm)):
            raise ValueError(f"algorithm={algorithm!r} is no expert algorithm of ltm_sklearn.experts")
        check_number("exploration", exploration, 0.0, 1.0, low_open=True)
        self.algorithm = algorithm
        self.exploration = exploration
        self.seed = seed
        self._weighting = LongTermMemory() if algorithm is None else clone(algorithm)
        self._rng = np.random.default_rng(seed)
        self._chances: dict[Any, float] = {}  #: of the arms among which the last one was drawn

    def _drawn(self, arms: list[Any]) -> Any:
        weights = self._weights()
        total, even = sum(weights[arm] for arm in arms), 1.0 / len(arms)
        played = {arm: weights[arm] / total if total > 0.0 else even for arm in arms}
        self._chances = {
            arm: (1.0 - self.exploration) * share + self.exploration * even for arm, share in played.items()
        }
        levels = np.cumsum(list(self._chances.values()))
        return arms[int((levels <= self._rng.random() * levels[-1]).sum())]

    def _meet(self, arm: Any) -> None:
        if self._arms and self._n:
            self._weighting.weights(len(self._arms))
            self._weighting.add_expert()

    def _learn(self, arm: Any, gain: float | None) -> None:
        chances, self._chances = self._chances, {}
        if arm in chances and gain is not None:
            losses = np.array([0.0 if each in chances else np.nan for each in self._arms])
            least = self.exploration / len(chances)
            losses[self._arms.index(arm)] = (1.0 - gain) * least / chances[arm]
            self._weighting.update(np.minimum(losses, 1.0))

    def _weights_now(self) -> Floats:
        return self._weighting.weights(len(self._arms))


class BanditPolicy(_PolicyByWeight):
    """Pulls arms by a bandit algorithm with long-term memory: an arm that was good once is found again soon.

    Rewards may be on any scale: what the algorithm is told is how far up the range of the rewards so far one is, from
    0 to 1. Arms may come, go and return, and each pull may be among some of them only; the probabilities are then those
    of these arms.

    Parameters
    ----------
    algorithm
        Any of `ltm_sklearn.bandits`. None: `LongTermMemoryBandit()`.
    reward_obj
        As in River; of a metric, what it says of one row is the reward.
    reward_scaler
        As in River.
    burn_in
        As in River. These pulls are not drawn, so nothing is learned from them but the range of the rewards.
    seed
        Of the draws. None: the algorithm's own `random_state`.

    Examples
    --------
    >>> import random
    >>> from ltm_sklearn.river import BanditPolicy
    >>> policy, rng = BanditPolicy(seed=0), random.Random(1)
    >>> pulls = []
    >>> for _ in range(2000):
    ...     pulls.append(policy.pull(["a", "b", "c"]))
    ...     policy.update(pulls[-1], float(rng.random() < (0.8 if pulls[-1] == "b" else 0.3)))
    >>> pulls[-500:].count("b") > 250
    True
    """

    def __init__(
        self,
        algorithm: BanditAlgorithm | None = None,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj, reward_scaler, burn_in)
        if not (algorithm is None or isinstance(algorithm, BanditAlgorithm)):
            raise ValueError(f"algorithm={algorithm!r} is no bandit algorithm of ltm_sklearn.bandits")
        self.algorithm = algorithm
        self.seed = seed
        self._bandit = fresh_bandit(algorithm)
        if seed is not None:
            self._bandit.set_params(random_state=seed)
        self._bandit._check_parameters()
        self._chances: dict[Any, float] = {}  #: with which each arm was drawn whose reward has not come

    def _drawn(self, arms: list[Any]) -> Any:
        offered = {*arms}
        drawn = self._bandit.draw(len(self._arms), awake=[arm in offered for arm in self._arms])
        arm = self._arms[drawn]
        self._chances[arm] = float(self._bandit.drawn_.chances[0])
        return arm

    def _meet(self, arm: Any) -> None:
        if self._bandit._has_started():
            self._bandit.add_arm()

    def _learn(self, arm: Any, gain: float | None) -> None:
        chance = self._chances.pop(arm, None)
        if chance is not None and gain is not None:
            self._bandit.update(self._arms.index(arm), reward=gain, probability=chance)

    def _weights_now(self) -> Floats:
        return self._bandit.probabilities
