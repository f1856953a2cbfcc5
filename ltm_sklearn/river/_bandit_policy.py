"""A bandit policy for River that pulls arms with a bandit algorithm."""

from __future__ import annotations

from typing import Any

from .._param_checks import ROUNDING
from .._typing import Floats
from ..bandits import BanditAlgorithm, bandit_algorithm
from ._weighted_arms import WeightedArmsPolicy


class BanditPolicy(WeightedArmsPolicy):
    """Bandit policy with long-term memory: an arm that was good earlier is soon found again.

    Rewards may be on any scale: they are mapped to [0, 1] by the range of the recent rewards. Arms may come, go and
    return, and a pull may be limited to some of them. In River's `BanditClassifier` and `BanditRegressor` the model
    with the largest probability predicts, whatever the metric.

    Parameters
    ----------
    algorithm
        Any of `ltm_sklearn.bandits`, or its name in snake case, such as `"exp3"`. None: `LongTermMemoryBandit()`.
    reward_obj
        The same as in River's policies. The reward of a metric is its value for one row.
    reward_scaler
        The same as in River's policies.
    burn_in
        The same as in River's policies. These pulls are not drawn by the algorithm: only the range of the rewards is
        learned from them.
    seed
        Seed of the draws. None: the algorithm's own `random_state`.

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
        algorithm: BanditAlgorithm | str | None = None,
        reward_obj: Any = None,
        reward_scaler: Any = None,
        burn_in: int = 0,
        seed: int | None = None,
    ) -> None:
        super().__init__(reward_obj, reward_scaler, burn_in)
        self.algorithm = algorithm
        self.seed = seed
        self._bandit = bandit_algorithm(algorithm)
        if seed is not None:
            self._bandit.set_params(random_state=seed)
        self._bandit.check_parameters()
        low, high = self._bandit.known_loss_range()
        if low > ROUNDING - 1.0 or high < -ROUNDING:
            raise ValueError(
                f"algorithm={algorithm!r} takes losses from {low:g} to {high:g}; this policy needs losses from -1 to "
                "0, which are minus the scaled rewards. Set loss_range so that it contains them."
            )

    def _drawn(self, arms: list[Any]) -> tuple[Any, float]:
        offered = {*arms}
        drawn = self._bandit.draw(len(self._arms), awake=[arm in offered for arm in self._arms])
        return self._arms[drawn], float(self._bandit.drawn_.chances[0])

    def _add_arm(self) -> None:
        if hasattr(self._bandit, "n_arms_"):
            self._bandit.add_arm()

    def _learn(self, arm: Any, drawn: float, gain: float) -> None:
        self._bandit.update(self._arms.index(arm), reward=gain, probability=drawn)

    def _weights_now(self) -> Floats:
        return self._bandit.probabilities
