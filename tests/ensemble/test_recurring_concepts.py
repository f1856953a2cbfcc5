"""Streams whose concepts recur: each return costs less."""

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.naive_bayes import GaussianNB
from support.ensemble_streams import CLASSES

from ltm_sklearn import LongTermMemoryClassifier, LongTermMemoryRegressor, Snapshots

pytestmark = pytest.mark.fast_cases(1)


def phase_costs(model, constant, n_phases=6, n_rounds=500, **first):
    """Squared loss of each phase; the truth is 0 and 1 in turn, one row a round."""
    X, costs = np.zeros((1, 1)), []
    for phase in range(n_phases):
        truth, cost = phase % 2, 0.0
        for _ in range(n_rounds):
            if model.__sklearn_is_fitted__():
                cost += (constant(model, X) - truth) ** 2
            model.partial_fit(X, [truth], **first)
        costs.append(cost)
    return costs


def two_constants(dummy, **parameters):
    rows = np.zeros((2, 1))
    said = [dummy(strategy="constant", constant=value, **parameters).fit(rows, [0, 1]) for value in (0, 1)]
    return [(f"says{value}", FrozenEstimator(model)) for value, model in enumerate(said)]


def assert_cheaper_as_they_recur(costs):
    assert costs[3] < costs[1]
    assert costs[5] < costs[3]
    assert costs[4] < costs[2]
    assert max(costs[2:]) < 12  # the best of what existed pays 26, again and again


def test_each_return_of_a_concept_costs_the_classifier_less():
    model = LongTermMemoryClassifier(two_constants(DummyClassifier))
    costs = phase_costs(model, lambda model, X: model.predict_proba(X)[0, 1], classes=CLASSES)
    assert_cheaper_as_they_recur(costs)


def test_each_return_of_a_concept_costs_the_regressor_less():
    model = LongTermMemoryRegressor(two_constants(DummyRegressor))
    assert_cheaper_as_they_recur(phase_costs(model, lambda model, X: model.predict(X)[0]))


def switching(n_batches, seed=0):
    """Two concepts in turn, in batches of 10; the second turns the first round."""
    rng = np.random.default_rng(seed)
    for at in range(n_batches):
        X = rng.normal(size=(10, 2))
        yield X, X[:, 0] * (-1.0 if at // 40 % 2 else 1.0)


def mistakes_by_phase(model, n_phases):
    lost = np.zeros(n_phases)
    for at, (X, y) in enumerate(switching(40 * n_phases)):
        if isinstance(model, LongTermMemoryClassifier):
            if at:
                lost[at // 40] += np.mean(model.predict(X) != (y > 0))
            model.partial_fit(X, y > 0, classes=[False, True])
        else:
            if at:
                lost[at // 40] += np.mean((model.predict(X) - y) ** 2)
            model.partial_fit(X, y)
    return lost


@pytest.mark.parametrize(
    ("ensemble", "learner"),
    [
        (LongTermMemoryClassifier, GaussianNB()),
        (LongTermMemoryClassifier, SGDClassifier(loss="log_loss", random_state=0)),
        (LongTermMemoryRegressor, SGDRegressor(learning_rate="constant", eta0=0.01, random_state=0)),
    ],
)
def test_memory_reduces_the_loss_of_recurring_concepts(ensemble, learner):
    with_memory = mistakes_by_phase(ensemble([("learner", learner)], memory=Snapshots(every=100)), 8)
    without = mistakes_by_phase(ensemble([("learner", learner)], memory=None), 8)
    assert with_memory[-2:].sum() < 0.7 * with_memory[1:3].sum()
    assert with_memory[-2:].sum() < 0.6 * without[-2:].sum()
