"""The default bandit: three rules that propose arms, and a master that learns their weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import TINY, normalise
from .._optional import import_kernel
from .._typing import Floats, State
from . import _bayes_filter
from ._base import BanditAlgorithm, importance_weighted, kernel_applies
from ._bayes_filter import initial_filter, levels, next_filter, range_is_known, shared, switching, widened
from ._validation import Arms

kernel = import_kernel("_memory_rounds", __package__)

#: Power to which the filter's posterior is raised before draws; the best action for a linear loss is the mode. (The
#: compiled rounds contain it as a square.)
SHARPNESS = 2
#: Draws of other arms by the filter: so many per expected change, plus so many over sqrt(t), up to this share of all.
PULLS_A_CHANGE, LEAST_PULLS, MOST_PULLS = 0.3, 0.1, 0.1
#: Share of these draws that is uniform; the others go to arms that were good before.
EVEN_PULLS = 0.2
#: Largest share of uniform draws that search for an arm better than the good one.
SEARCH = 0.003

#: Learning rate, switching rate, memory rate and exploration of Share-θ on importance-weighted gains.
RATE, SWITCHING, MEMORY, EXPLORATION = 0.03, 1e-3, 1e-4, 1e-3
#: Implicit exploration: added to the probability by which a gain is divided, to limit the estimates.
IMPLICIT = 1e-3

#: ξ in the width ``sqrt(ξ ln(t)/pulls)`` of the confidence bounds.
CONFIDENCE = 0.1

#: Learning rate of the master, its switching rate, and the prior weights of the three rules.
MASTER_RATE, MASTER_SHARING = 0.05, 5e-4
TRUST = np.array([0.8, 0.1, 0.1])
#: Implicit exploration of the master. It is larger, so that a few lucky draws do not mislead the master.
MASTER_IMPLICIT = 0.01

_FILTER_CONSTANTS = {
    name: getattr(_bayes_filter, name.upper())
    for name in (
        "belief_sharing", "memory", "novelty", "fading", "first_count", "first_good", "first_bad", "least_distance",
        "margin", "least_dispersion", "largest_ratio", "same", "growth", "shrinking",
    )
} | {"tiny": TINY}  # fmt: skip
_CONSTANTS = {
    name.lower(): globals()[name]
    for name in (
        "PULLS_A_CHANGE", "LEAST_PULLS", "MOST_PULLS", "EVEN_PULLS", "SEARCH", "RATE", "SWITCHING", "MEMORY",
        "EXPLORATION", "IMPLICIT", "CONFIDENCE", "MASTER_RATE", "MASTER_SHARING", "MASTER_IMPLICIT",
    )
}  # fmt: skip

#: Entries of the state that are distributions over the arms.
_DISTRIBUTIONS = ("tracked", "remembered", "weights", "memory")


class LongTermMemoryBandit(BanditAlgorithm):
    """Default bandit with long-term memory: returns quickly to arms that were good before, without tuning.

    Losses may have any sign and scale within [-1, 1]. Only their position in the range of recent losses is used.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seed of the draws.

    Notes
    -----
    Three rules propose distributions over the arms:

    - a *Bayesian filter*: the posterior probability that each arm is the good one, if good arms change and return. It
      learns the levels of good and bad losses and the rate of changes (see the theory page);
    - *Share-θ* on importance-weighted gains with implicit exploration, which makes no assumption about the losses;
    - *upper confidence bounds* on the mean losses of all rounds.

    A master draws from their mixture. Its weights of the rules are exponential weights with a fixed share on the
    estimated gain ``p_k(I) x / (p(I) + 0.01)`` of each rule. No regret bound is proved: learning rates that suit
    returning arms are too large for one. The results are measured in benchmarks. :class:`SparseLongTermMemory` and
    :class:`Exp3S` have bounds.

    Examples
    --------
    Two of ten arms are good alternately. When they return, they are found sooner than at first:

    >>> import numpy as np
    >>> from ltm_sklearn.bandits import LongTermMemoryBandit
    >>> bandit = LongTermMemoryBandit(random_state=0)
    >>> for good in [3, 8, 3, 8, 3]:
    ...     losses = np.ones((1000, 10))
    ...     losses[:, good] = 0.1
    ...     played = bandit.run(losses, n_seeds=20)
    ...     print(f"{(played != good).sum(axis=1).mean():.0f}")  # draws of other arms
    16
    14
    7
    5
    6
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    # Prior weights of the three rules; a benchmark removes some of them by changing it.
    _trust = TRUST

    def _initial_state(self, n_arms: int) -> State:
        even = np.full(n_arms, 1.0 / n_arms)
        zeros = np.zeros(n_arms)
        distributions = {**initial_filter(n_arms), "weights": even, "memory": even}
        return {**distributions, "pulls": zeros, "sums": zeros, "trust": self._trust}

    def _distribution(self, state: State) -> Floats:
        return normalise(state["trust"] @ self._proposals(state))

    def _proposals(self, state: State) -> Floats:
        """Return the distributions of the three rules, (3, n_arms)."""
        return np.stack([_filter_distribution(state), _share_distribution(state), _ucb_distribution(state)])

    def _next_state(self, state: State, arms: Arms, losses: Floats, chances: Floats) -> State:
        pulls, sums = state["pulls"].copy(), state["sums"].copy()
        pulls[arms] += 1.0
        sums[arms] += losses
        after = {**state, "pulls": pulls, "sums": sums, **widened(state, losses)}
        lowest, highest = after["lowest"], after["highest"]
        losses, gains = np.clip(losses, lowest, highest), np.zeros(len(arms))
        if range_is_known(after):
            gains = (highest - losses) / (highest - lowest)
        estimates = importance_weighted(len(pulls), arms, gains, chances + MASTER_IMPLICIT)
        grown = state["trust"] * np.exp(MASTER_RATE * (self._proposals(state) @ estimates))
        return {
            **next_filter(after, arms, losses, gains),
            **_next_share_state(state, importance_weighted(len(pulls), arms, gains, chances + IMPLICIT)),
            "trust": (1.0 - MASTER_SHARING) * normalise(grown) + MASTER_SHARING * self._trust,
        }

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not kernel_applies(self):
            return super()._play_rounds(state, losses, uniforms)
        played = np.empty(len(losses), dtype=np.intp)
        priors = _bayes_filter.SWITCHING, _bayes_filter.BELIEF, self._trust
        after = kernel.memory_rounds(losses, uniforms, played, state, *priors, _FILTER_CONSTANTS, _CONSTANTS)
        return played, after

    def _with_newcomer(self, state: State) -> State:
        after = dict(state)
        for name in _DISTRIBUTIONS:
            share = 1.0 / (self.n_arms_ + 1)
            newcomer = np.full((*state[name].shape[:-1], 1), share)
            after[name] = np.concatenate([(1.0 - share) * state[name], newcomer], axis=-1)
        return after | {name: np.append(state[name], 0.0) for name in ("pulls", "sums")}

    def _without(self, state: State, arm: int) -> State:
        after = state | {name: normalise(np.delete(state[name], arm, axis=-1)) for name in _DISTRIBUTIONS}
        return after | {name: np.delete(state[name], arm) for name in ("pulls", "sums")}


def _filter_distribution(state: State) -> Floats:
    """Return the sharpened posterior of the filter, mixed with draws of other arms that detect changes."""
    if not range_is_known(state):
        return _ucb_distribution(state)
    belief, rounds = state["belief"], state["rounds"]
    mode = normalise((belief @ state["tracked"]) ** SHARPNESS)
    before = normalise((belief @ state["remembered"]) * (1.0 - mode))
    others = min(PULLS_A_CHANGE * float(belief @ switching(rounds)) + LEAST_PULLS / np.sqrt(rounds + 1.0), MOST_PULLS)
    good, bad, _ = levels(state)
    search = SEARCH * min((1.0 - good) / (good - bad), 1.0) ** 2
    recalled = (1.0 - EVEN_PULLS) * before + EVEN_PULLS / len(before)
    return (1.0 - others - search) * mode + others * recalled + search / len(before)


def _share_distribution(state: State) -> Floats:
    """Return the weights of Share-θ, mixed with uniform exploration."""
    weights: Floats = (1.0 - EXPLORATION) * state["weights"] + EXPLORATION / len(state["weights"])
    return weights


def _next_share_state(state: State, estimates: Floats) -> State:
    """Return the weights and the memory of Share-θ after a round with these estimated gains."""
    posterior = normalise(state["weights"] * np.exp(RATE * estimates))
    weights, memory = shared(posterior, state["memory"], SWITCHING, MEMORY)
    return {"weights": weights, "memory": memory}


def _ucb_distribution(state: State) -> Floats:
    """Return the uniform distribution over the arms with the best upper confidence bound; arms without draws first."""
    pulls = state["pulls"]
    if (pulls == 0.0).any() or not range_is_known(state):
        best = pulls == pulls.min()
    else:
        gains = (state["highest"] - state["sums"] / pulls) / (state["highest"] - state["lowest"])
        bounds = gains + np.sqrt(CONFIDENCE * np.log(pulls.sum()) / pulls)
        best = bounds == bounds.max()
    return normalise(best.astype(np.float64))
