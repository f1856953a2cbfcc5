"""The expert algorithms as bandit policies of River."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._param_checks import check_number
from .._typing import Floats
from ..experts import ExpertAlgorithm, LongTermMemory
from ._policy_base import PolicyByWeight


class _Pull(NamedTuple):
    """A draw whose reward has not come."""

    chance: float
    offered: frozenset[Any]


class ExpertPolicy(PolicyByWeight):
    """Pulls arms by the weights of an expert algorithm, which is told the reward of the pulled arm only.

    What the other arms would have brought is not known, so losses are estimated: that of the pulled arm is divided by
    the probability p with which it was drawn, and the others' are 0, which is right in the mean. With exploration γ and
    K arms p is at least γ/K, so that γ/K times the estimate is in [0, 1]: that is what the algorithm learns from.
    :class:`BanditPolicy` has algorithms that are made for this.

    Rewards may be on any scale: losses are measured by the range of the rewards of late. In River's `BanditClassifier`
    and `BanditRegressor` the model of the largest weight predicts, whatever the metric.

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

    def _drawn(self, arms: list[Any]) -> tuple[Any, _Pull]:
        weights = self._weights()
        total, even = sum(weights[arm] for arm in arms), 1.0 / len(arms)
        played = [weights[arm] / total if total > 0.0 else even for arm in arms]
        chances = [(1.0 - self.exploration) * share + self.exploration * even for share in played]
        levels = np.cumsum(chances)
        at = int((levels <= self._rng.random() * levels[-1]).sum())
        return arms[at], _Pull(chances[at], frozenset(arms))

    def _meet(self) -> None:
        if hasattr(self._weighting, "n_experts_"):
            self._weighting.add_expert()

    def _learn(self, arm: Any, drawn: _Pull, gain: float) -> None:
        losses = np.array([0.0 if each in drawn.offered else np.nan for each in self._arms])
        least = self.exploration / len(drawn.offered)
        losses[self._arms.index(arm)] = min((1.0 - gain) * least / drawn.chance, 1.0)
        self._weighting.update(losses)

    def _weights_now(self) -> Floats:
        return self._weighting.weights(len(self._arms))
