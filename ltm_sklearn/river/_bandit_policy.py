"""The bandit algorithms as policies of River."""

from __future__ import annotations

from typing import Any

from .._param_checks import ROUNDING
from .._typing import Floats
from ..aggregation import new_bandit
from ..bandits import BanditAlgorithm
from ._policy_base import PolicyByWeight


class BanditPolicy(PolicyByWeight):
    """Pulls arms by a bandit algorithm with long-term memory: an arm that was good once is found again soon.

    Rewards may be on any scale: what the algorithm is told is how far up the range of the rewards of late one is, from
    0 to 1. Arms may come, go and return, and each pull may be among some of them only; the probabilities are then those
    of these arms. In River's `BanditClassifier` and `BanditRegressor` the model of the largest probability predicts,
    whatever the metric.

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
        self._bandit = new_bandit(algorithm)
        if seed is not None:
            self._bandit.set_params(random_state=seed)
        self._bandit.check_parameters()
        low, high = self._bandit.known_loss_range()
        if low > ROUNDING - 1.0 or high < -ROUNDING:
            raise ValueError(
                f"algorithm={algorithm!r} must take losses from -1 to 0, which are minus the rewards on their range; "
                f"it is for losses from {low:g} to {high:g} only (loss_range)"
            )

    def _drawn(self, arms: list[Any]) -> tuple[Any, float]:
        offered = {*arms}
        drawn = self._bandit.draw(len(self._arms), awake=[arm in offered for arm in self._arms])
        return self._arms[drawn], float(self._bandit.drawn_.chances[0])

    def _meet(self) -> None:
        if hasattr(self._bandit, "n_arms_"):
            self._bandit.add_arm()

    def _learn(self, arm: Any, drawn: float, gain: float) -> None:
        self._bandit.update(self._arms.index(arm), reward=gain, probability=drawn)

    def _weights_now(self) -> Floats:
        return self._bandit.probabilities
