"""
Choosing among paid models with bandit feedback
===============================================

Eight models stand behind an API, and each call costs a cent. Four kinds of customers take turns; for each kind there
is a good model and a poor one, and nobody knows when the kind changes. To query all eight each time is expensive.
With ``feedback="bandit"`` one model is queried, and only its mistake is observed. Calls and mistakes together then cost
far less than to query all models, or always the same one, since the model that was good for a kind of customers is
found again when they return.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.display import WeightStackDisplay

CALL, MISTAKE = 0.01, 0.20  # EUR

# %%
# Customers and models
# --------------------
#
# The models were trained elsewhere: a ``FrozenEstimator`` takes part and is never trained.

rng = np.random.default_rng(0)
n_kinds, length, n_visits = 4, 100, 12
rules = rng.normal(size=(n_kinds, 5))


def customers(kind, n):
    X = rng.normal(size=(n, 5))
    return X, (X @ rules[kind] > 0) ^ (rng.random(n) < 0.05)


models = []
for kind in range(n_kinds):
    X, y = customers(kind, 300)
    models.append((f"good {kind}", FrozenEstimator(LogisticRegression().fit(X, y))))
    models.append((f"poor {kind}", FrozenEstimator(DecisionTreeClassifier(max_depth=1).fit(X, y))))

visits = rng.permuted(np.tile(np.arange(n_kinds), (n_visits // n_kinds, 1)), axis=1).ravel()
batches = [customers(kind, length) for kind in visits]
X, y = np.concatenate([X for X, _ in batches]), np.concatenate([y for _, y in batches])

# %%
# One, two or all of them
# -----------------------
#
# ``issue`` queries the models; ``learn`` passes the true labels under the same ids. ``n_queries=2`` queries two models.

ways = {
    "ask one": {"feedback": "bandit"},
    "ask two": {"feedback": "bandit", "n_queries": 2},
    "ask all eight": {"loss": "zero_one", "memory": None},
}
calls = {"ask one": 1, "ask two": 2, "ask all eight": 8}
wrong, ensembles = {}, {}
for name, settings in ways.items():
    ensemble = LongTermMemoryClassifier(models, random_state=0, record=750, **settings)
    ensemble.partial_fit(X[:1], y[:1], classes=[False, True])
    mistakes = []
    for at in range(1, len(X)):
        (answer,) = ensemble.issue(X[[at]], ids=[at])
        mistakes.append(answer != y[at])
        ensemble.learn([at], y[[at]])
    wrong[name], ensembles[name] = np.array(mistakes), ensemble

# %%
# For comparison: the one model that is best on the whole, which nobody knows beforehand; a model at random; and the
# good model for the customers who are there, which only an oracle could tell.

alone = {name: model.predict(X[1:]) != y[1:] for name, model in models}
wrong["best model alone"] = min(alone.values(), key=np.mean)
wrong["one at random"] = np.mean(list(alone.values()), axis=0)
kinds = np.repeat(visits, length)[1:]
wrong["oracle"] = np.select(
    [kinds == kind for kind in range(n_kinds)], [alone[f"good {kind}"] for kind in range(n_kinds)]
)

# %%
# In money
# --------
#
# A wrong answer costs 20 cents.

bill = {name: np.cumsum(CALL * calls.get(name, 1) + MISTAKE * mistakes) for name, mistakes in wrong.items()}
print(f"{'':18}{'right':>8}{'calls':>8}{'EUR':>8}")
for name, mistakes in wrong.items():
    n_calls = calls.get(name, 1) * len(mistakes)
    print(f"{name:18}{1.0 - mistakes.mean():8.3f}{n_calls:8}{bill[name][-1]:8.2f}")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", width_ratios=[3, 2])
for name in bill:
    left.plot(bill[name], label=name, ls="-" if name in ways else "--")
left.set(xlabel="customers", ylabel="EUR", title="Cumulative cost of calls and mistakes", xlim=(0, len(X)), ylim=0)
left.legend(frameon=False)
spent = [CALL * calls.get(name, 1) * len(X) for name in bill]
lost = [bill[name][-1] - paid for name, paid in zip(bill, spent, strict=True)]
right.barh(list(bill), spent, color="tab:grey", label="calls")
right.barh(list(bill), lost, left=spent, color="tab:red", alpha=0.6, label="mistakes")
right.invert_yaxis()
right.set(xlabel="EUR", title="Cost by kind")
right.legend(frameon=False)

# %%
# Queried models
# --------------
#
# The probabilities with which each model was queried. Above, the kind of customers in that time.

display = WeightStackDisplay.from_estimator(ensembles["ask one"])
for at, kind in enumerate(visits):
    display.ax_.text((at + 0.5) * length, 1.01, f"kind {kind}", ha="center", va="bottom", fontsize="x-small")
    display.ax_.axvline(at * length, color="white", lw=0.8)
display.ax_.set(ylabel="probability")
display.ax_.set_title("Probability that an expert is queried", pad=16)
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# To ask one or two models is the cheapest of the ways that are open. Which of the two depends on what a mistake
# costs: a second opinion buys fewer mistakes, and all eight fewer still, which pays only if mistakes are much dearer
# than calls.
