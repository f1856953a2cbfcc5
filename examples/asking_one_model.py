"""Eight models behind an API, of which one is asked a round: how close to asking all of them?

Four kinds of customers take turns, and for each kind there are a good model and a poor one. Nobody tells when the kind
changes. Prints the share of right answers, and how many calls each way of asking took.
"""

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier

rng = np.random.default_rng(0)
n_kinds, length, n_visits = 4, 125, 12
rules = rng.normal(size=(n_kinds, 5))


def customers(kind, n):
    X = rng.normal(size=(n, 5))
    return X, (X @ rules[kind] > 0) ^ (rng.random(n) < 0.05)


models = []
for kind in range(n_kinds):
    X, y = customers(kind, 300)
    models.append((f"good{kind}", FrozenEstimator(LogisticRegression().fit(X, y))))
    models.append((f"poor{kind}", FrozenEstimator(DecisionTreeClassifier(max_depth=1).fit(X, y))))

visits = rng.permuted(np.tile(np.arange(n_kinds), (n_visits // n_kinds, 1)), axis=1).ravel()
batches = [customers(kind, length) for kind in visits]
X, y = np.concatenate([X for X, _ in batches]), np.concatenate([y for _, y in batches])

ways = {
    "one of eight": {"feedback": "bandit"},
    "two of eight": {"feedback": "bandit", "query": 2},
    "all eight": {"loss": "zero_one", "memory": None},
}
for name, settings in ways.items():
    ensemble = LongTermMemoryClassifier(models, random_state=0, **settings)
    ensemble.partial_fit(X[:1], y[:1], classes=[False, True])
    right = []
    for at in range(1, len(X)):
        (answer,) = ensemble.issue(X[[at]], ids=[at])  # this is when models are asked
        right.append(answer == y[at])
        ensemble.learn([at], y[[at]])
    calls = settings.get("query", 1) if "feedback" in settings else 8
    print(f"{name:13} {np.mean(right):.3f} right, {calls * len(X)} calls")

right = {name: model.score(X, y) for name, model in models}
best = max(right, key=right.get)
print(f"best model alone ({best}) {right[best]:.3f}; one at random {np.mean(list(right.values())):.3f}")
in_force = np.mean([models[2 * kind][1].score(*batch) for kind, batch in zip(visits, batches, strict=True)])
print(f"the good model of the kind that is there {in_force:.3f}")
