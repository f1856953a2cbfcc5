"""Experts that count their queries, and bandit algorithms with known behaviour."""

from collections import Counter

import numpy as np
from sklearn.frozen import FrozenEstimator
from support.stream_experts import ReadsChance, ReadsNumber

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor
from ltm_sklearn.bandits import BanditAlgorithm

#: Number of queries and of queried rows of each expert; copies of an expert count together.
CALLS, ROWS = Counter(), Counter()

CLASSES = [0, 1]


def asked(function, *arguments):
    """Return the result of a function and the number of queries of each expert during the call."""
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


class RecordingBandit(BanditAlgorithm):
    """Bandit with fixed probabilities that records its updates."""

    def __init__(self, shares=None, *, random_state=None):
        self.shares = shares
        self.random_state = random_state

    def _initial_state(self, n_arms):
        shares = np.ones(n_arms) if self.shares is None else np.array(self.shares, dtype=float)
        return {"shares": np.append(shares, np.ones(max(n_arms - len(shares), 0)))[:n_arms], "updates": ()}

    def _distribution(self, state):
        return state["shares"] / state["shares"].sum()

    def _next_state(self, state, arms, losses, chances):
        update = (tuple(arms.tolist()), tuple(losses.tolist()), tuple(chances.tolist()))
        return {**state, "updates": (*state["updates"], update)}


class Keen(BanditAlgorithm):
    """Exponential weights on estimated gains over the worst loss, with fast learning and switching."""

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


def updates_of(model):
    """Return the updates of an ensemble's algorithm: (arms, losses, probabilities) for each round."""
    return model._engine.pool.weighting.algorithm.state_["updates"]


def classifier(n_experts=4, experts=None, algorithm=None, **parameters):
    experts = frozen_spies(n_experts) if experts is None else experts
    parameters = {"random_state": 0, **parameters}
    return LongTermMemoryClassifier(experts, feedback="bandit", algorithm=algorithm, **parameters)


def regressor(n_experts=4, experts=None, algorithm=None, **parameters):
    experts = frozen_spies(n_experts, SpyNumber) if experts is None else experts
    parameters = {"random_state": 0, **parameters}
    return LongTermMemoryRegressor(experts, feedback="bandit", algorithm=algorithm, **parameters)


def random_rows(n_rows, n_columns=4, seed=0):
    """Return probabilities of class 1 without ties, and classes."""
    rng = np.random.default_rng(seed)
    return rng.uniform(0.01, 0.99, (n_rows, n_columns)), rng.integers(0, 2, n_rows)


def first_of(model):
    """Return the expert that is queried in this round."""
    row = np.full((1, model.n_features_in_), 0.5)
    outputs = model.transform(row)[0].reshape(len(model.experts_), -1)[:, 0]
    (index,) = np.flatnonzero(~np.isnan(outputs))
    return int(index)
