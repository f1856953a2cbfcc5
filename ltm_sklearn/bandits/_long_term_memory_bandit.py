"""The default bandit: three ways to choose an arm, and a master that learns which of them to trust."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._numerics import TINY, normalise
from .._optional import compiled
from .._typing import Floats, State
from . import _filter
from ._base import BanditAlgorithm, importance_weighted
from ._filter import initial_filter, levels, next_filter, range_is_known, shared, switching, widened
from ._validation import Arms

kernel = compiled("_memory_rounds", __package__)

#: The power of the filter's weights that is played: the best answer to a belief is its mode, not a draw from it. (The
#: compiled rounds square.)
SHARPNESS = 2
#: Pulls of other arms that the filter makes for each change that it expects, and in any case this over sqrt(t); but
#: not more than this part of all.
PULLS_A_CHANGE, LEAST_PULLS, MOST_PULLS = 0.3, 0.1, 0.1
#: Part of these that goes to all arms alike; the rest goes to those that were good before.
EVEN_PULLS = 0.2
#: Pulls of any arm, in case one is better than the good one by now: where that could be by as much as a pull costs.
SEARCH = 0.003

#: Learning rate, switching rate, memory rate and exploration of Share-θ on importance-weighted gains.
RATE, SWITCHING, MEMORY, EXPLORATION = 0.03, 1e-3, 1e-4, 1e-3
#: Added to probabilities that gains are divided by (implicit exploration): estimates are then never huge.
IMPLICIT = 1e-3

#: The width of the confidence bounds: ``sqrt(ξ ln(t)/pulls)``.
CONFIDENCE = 0.1

#: The master's learning rate, how much of the trust it shares after each round, and with which prior.
MASTER_RATE, MASTER_SHARING = 0.05, 5e-4
TRUST = np.array([0.8, 0.1, 0.1])
#: Its own implicit exploration; larger, as it must not be led by a few lucky pulls.
MASTER_IMPLICIT = 0.01

_FILTER_CONSTANTS = {
    name: getattr(_filter, name.upper())
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

_SHARED = ("tracked", "remembered", "weights", "memory")  #: distributions over the arms


class LongTermMemoryBandit(BanditAlgorithm):
    """The default: finds arms again that were good before, seeing only the losses of those it pulls. Nothing to set.

    Losses may be anywhere in [-1, 1], of either sign: what counts is where they lie in the range of those seen so far.

    Parameters
    ----------
    random_state : int, RandomState or None, default=None
        Seeds the draws.

    Notes
    -----
    Three trackers propose distributions over the arms:

    - a *filter*: the posterior probability that an arm is the good one now, if good arms change and return, with levels
      of good and bad losses and a pace of changes that are learned on the way (see the theory page);
    - *Share-θ* on importance-weighted gains with implicit exploration, which makes no assumption about the losses;
    - *upper confidence bounds* on the mean losses of the whole past.

    A master plays their mixture by its trust in them: exponential weights with a fixed share on the gain that each
    would have made, ``p_k(I) x / (p(I) + 0.01)``. It has no regret bound of its own: rates that are right for returning
    arms are too hot for one. What it achieves is measured; :class:`SparseLongTermMemory` and :class:`Exp3S` have
    bounds.

    Examples
    --------
    Two of ten arms take turns, and are found again sooner than at first:

    >>> import numpy as np
    >>> from ltm_sklearn.bandits import LongTermMemoryBandit
    >>> bandit = LongTermMemoryBandit(random_state=0)
    >>> for good in [3, 8, 3, 8, 3]:
    ...     losses = np.ones((1000, 10))
    ...     losses[:, good] = 0.1
    ...     played = bandit.run(losses, n_seeds=20)
    ...     print(f"{(played != good).sum(axis=1).mean():.0f}")  # pulls of other arms
    16
    14
    7
    5
    6
    """

    def __init__(self, *, random_state: Any = None) -> None:
        self.random_state = random_state

    # Prior trust in the three; the benchmark takes some away, to see what each is good for.
    _trust = TRUST

    def _initial_state(self, n_arms: int) -> State:
        even = np.full(n_arms, 1.0 / n_arms)
        nothing = np.zeros(n_arms)
        ledger = {"pulls": nothing, "sums": nothing}
        return {**initial_filter(n_arms), "weights": even, "memory": even, **ledger, "trust": self._trust}

    def _distribution(self, state: State) -> Floats:
        return normalise(state["trust"] @ self._proposals(state))

    def _proposals(self, state: State) -> Floats:
        """What the three would play, (3, n_arms)."""
        return np.stack([_filtered(state), _shared(state), _most_promising(state)])

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
            **_next_shared(state, importance_weighted(len(pulls), arms, gains, chances + IMPLICIT)),
            "trust": (1.0 - MASTER_SHARING) * normalise(grown) + MASTER_SHARING * self._trust,
        }

    def _play_rounds(self, state: State, losses: Floats, uniforms: Floats) -> tuple[Arms, State]:
        if kernel is None or not self._own_rule():
            return super()._play_rounds(state, losses, uniforms)
        played = np.empty(len(losses), dtype=np.intp)
        priors = _filter.SWITCHING, _filter.BELIEF, self._trust
        after = kernel.memory_rounds(losses, uniforms, played, state, *priors, _FILTER_CONSTANTS, _CONSTANTS)
        return played, after

    def _with_newcomer(self, state: State) -> State:
        after = dict(state)
        for name in _SHARED:
            share = 1.0 / (self.n_arms_ + 1)
            newcomer = np.full((*state[name].shape[:-1], 1), share)
            after[name] = np.concatenate([(1.0 - share) * state[name], newcomer], axis=-1)
        return after | {name: np.append(state[name], 0.0) for name in ("pulls", "sums")}

    def _without(self, state: State, arm: int) -> State:
        after = state | {name: normalise(np.delete(state[name], arm, axis=-1)) for name in _SHARED}
        return after | {name: np.delete(state[name], arm) for name in ("pulls", "sums")}


def _filtered(state: State) -> Floats:
    """The filter's belief, sharpened, and pulls of other arms, in which a change would show."""
    if not range_is_known(state):
        return _most_promising(state)
    belief, rounds = state["belief"], state["rounds"]
    mode = normalise((belief @ state["tracked"]) ** SHARPNESS)
    before = normalise((belief @ state["remembered"]) * (1.0 - mode))
    others = min(PULLS_A_CHANGE * float(belief @ switching(rounds)) + LEAST_PULLS / np.sqrt(rounds + 1.0), MOST_PULLS)
    good, bad, _ = levels(state)
    search = SEARCH * min((1.0 - good) / (good - bad), 1.0) ** 2
    recalled = (1.0 - EVEN_PULLS) * before + EVEN_PULLS / len(before)
    return (1.0 - others - search) * mode + others * recalled + search / len(before)


def _shared(state: State) -> Floats:
    weights: Floats = (1.0 - EXPLORATION) * state["weights"] + EXPLORATION / len(state["weights"])
    return weights


def _next_shared(state: State, estimates: Floats) -> State:
    """A round of Share-θ on estimated gains."""
    posterior = normalise(state["weights"] * np.exp(RATE * estimates))
    weights, memory = shared(posterior, state["memory"], SWITCHING, MEMORY)
    return {"weights": weights, "memory": memory}


def _most_promising(state: State) -> Floats:
    """All on the arm with the best upper confidence bound; ties share it, and arms never pulled come first."""
    pulls = state["pulls"]
    if (pulls == 0.0).any() or not range_is_known(state):
        best = pulls == pulls.min()
    else:
        gains = (state["highest"] - state["sums"] / pulls) / (state["highest"] - state["lowest"])
        bounds = gains + np.sqrt(CONFIDENCE * np.log(pulls.sum()) / pulls)
        best = bounds == bounds.max()
    return normalise(best.astype(np.float64))
