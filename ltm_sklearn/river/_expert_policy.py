"""A bandit policy for River that pulls arms with an expert algorithm."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._param_checks import check_number
from .._typing import Floats
from ..experts import ExpertAlgorithm, expert_algorithm
from ._weighted_arms import WeightedArmsPolicy


class _Pull(NamedTuple):
    """Probability of a pull, and the arms it was drawn from."""

    probability: float
    arms: frozenset[Any]


class ExpertPolicy(WeightedArmsPolicy):
    """Bandit policy that pulls arms with the weights of an expert algorithm.

    Only the reward of the pulled arm is known, so losses are estimated without bias: the loss of the pulled arm is
    divided by its probability p, and the losses of the others are 0. With exploration γ and K arms p is at least γ/K,
    so the algorithm learns γ/K times the estimate, which lies in [0, 1]. :class:`BanditPolicy` has algorithms that are
    made for this feedback.

    Rewards may be on any scale: they are mapped to [0, 1] by the range of the recent rewards. In River's
    `BanditClassifier` and `BanditRegressor` the model with the largest weight predicts, whatever the metric.

    Parameters
    ----------
    algorithm
        Any of `ltm_sklearn.experts`, or its name in snake case, such as `"fixed_share"`. None: `LongTermMemory()`.
    exploration
        The share of pulls in which all arms are equally likely.
    reward_obj
        The same as in River's policies. The reward of a metric is its value for one row.
    reward_scaler
        The same as in River's policies.
    burn_in
        The same as in River's policies.
    seed
        Seed of the draws.

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
        algorithm: ExpertAlgorithm | str | None = None,
        exploration: float = 0.1,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj, reward_scaler, burn_in)
        check_number("exploration", exploration, 0.0, 1.0, low_open=True)
        self.algorithm = algorithm
        self.exploration = exploration
        self.seed = seed
        self._weighting = expert_algorithm(algorithm)
        self._rng = np.random.default_rng(seed)

    def _drawn(self, arms: list[Any]) -> tuple[Any, _Pull]:
        weights = self._weights()
        total, even = sum(weights[arm] for arm in arms), 1.0 / len(arms)
        shares = [weights[arm] / total if total > 0.0 else even for arm in arms]
        probabilities = [(1.0 - self.exploration) * share + self.exploration * even for share in shares]
        levels = np.cumsum(probabilities)
        at = int((levels <= self._rng.random() * levels[-1]).sum())
        return arms[at], _Pull(probabilities[at], frozenset(arms))

    def _add_arm(self) -> None:
        if hasattr(self._weighting, "n_experts_"):
            self._weighting.add_expert()

    def _learn(self, arm: Any, drawn: _Pull, gain: float) -> None:
        losses = np.array([0.0 if each in drawn.arms else np.nan for each in self._arms])
        least = self.exploration / len(drawn.arms)
        losses[self._arms.index(arm)] = min((1.0 - gain) * least / drawn.probability, 1.0)
        self._weighting.update(losses)

    def _weights_now(self) -> Floats:
        return self._weighting.weights(len(self._arms))
