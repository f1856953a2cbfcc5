"""Experts that count how often they are asked, and bandit algorithms of which everything is known."""

from collections import Counter

import numpy as np
from sklearn.frozen import FrozenEstimator
from stream_experts import ReadsChance, ReadsNumber

from ltm_sklearn.bandits import BanditAlgorithm

#: How often each expert was asked, and about how many rows; all copies of an expert count together.
CALLS, ROWS = Counter(), Counter()


def asked(function, *arguments):
    """What a function returns, and how often each expert was asked meanwhile."""
    before = Counter(CALLS)
    result = function(*arguments)
    return result, CALLS - before


class SpyChance(ReadsChance):
    def predict_proba(self, X):
        CALLS[self.column] += 1
        ROWS[self.column] += len(X)
        return super().predict_proba(X)


class SpyNumber(ReadsNumber):
    def predict(self, X):
        CALLS[self.column] += 1
        ROWS[self.column] += len(X)
        return super().predict(X)


def frozen_spies(n_columns, spy=SpyChance):
    return [(f"column{at}", FrozenEstimator(spy(at))) for at in range(n_columns)]


class Told(BanditAlgorithm):
    """Draws with fixed probabilities, and keeps what it is told."""

    def __init__(self, shares=None, *, random_state=None):
        self.shares = shares
        self.random_state = random_state

    def _initial_state(self, n_arms):
        shares = np.ones(n_arms) if self.shares is None else np.array(self.shares, dtype=float)
        return {"shares": np.append(shares, np.ones(max(n_arms - len(shares), 0)))[:n_arms], "told": ()}

    def _distribution(self, state):
        return state["shares"] / state["shares"].sum()

    def _next_state(self, state, arms, losses, chances):
        told = (tuple(arms.tolist()), tuple(losses.tolist()), tuple(chances.tolist()))
        return {**state, "told": (*state["told"], told)}


class Keen(BanditAlgorithm):
    """Exponential weights on estimated gains over the worst loss, quick to move and quick to turn."""

    def __init__(self, rate=0.3, exploration=0.1, switching=0.01, worst=1.0, *, random_state=None):
        self.rate = rate
        self.exploration = exploration
        self.switching = switching
        self.worst = worst
        self.random_state = random_state

    def _initial_state(self, n_arms):
        return {"weights": np.full(n_arms, 1.0 / n_arms)}

    def _distribution(self, state):
        weights = state["weights"]
        return (1.0 - self.exploration) * weights + self.exploration / len(weights)

    def _next_state(self, state, arms, losses, chances):
        weights = state["weights"].copy()
        weights[arms] *= np.exp(np.minimum(self.rate * (self.worst - losses) / chances, 3.0))
        weights /= weights.sum()
        return {**state, "weights": (1.0 - self.switching) * weights + self.switching / len(weights)}

    def _with_newcomer(self, state):
        wider = super()._with_newcomer(state)
        return {**wider, "weights": wider["weights"] / wider["weights"].sum()}

    def _without(self, state, arm):
        narrower = super()._without(state, arm)
        return {**narrower, "weights": narrower["weights"] / narrower["weights"].sum()}


def told_by(model):
    """What the algorithm of an ensemble was told: (arms, losses, chances) for each round."""
    return model._engine.weighting.algorithm.state_["told"]
