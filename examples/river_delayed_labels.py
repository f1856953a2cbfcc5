"""
River: progressive validation with labels that come late
========================================================

Whether a payment was a fraud is known only hours later. River's evaluators can act this out: each row is predicted
when it comes, and learned when its label does. ``ltm_sklearn.river`` has the ensembles in River's idiom, so they run
there beside River's own. The point: a change is then noticed late by everybody, so it matters even more how fast one
is back once it is noticed; and an ensemble that remembers need not learn the old pattern anew.
"""

import datetime as dt

import matplotlib.pyplot as plt
import numpy as np
from river import compose, ensemble, evaluate, forest, linear_model, metrics, naive_bayes, preprocessing, utils

from ltm_sklearn.river import LongTermMemoryClassifier
from ltm_sklearn.streams import stagger

# %%
# Rows with a time
# ----------------
#
# A row every ten minutes, by one of three patterns (STAGGER), which take turns: another one after 300 rows, which is
# about two days. One label in twenty is wrong.

patterns = stagger(order="random", length=300, n_segments=8, noise=0.05, seed=0)


def payments():
    start, pace = dt.datetime(2026, 1, 1), dt.timedelta(minutes=10)
    for at, (x, y) in enumerate(patterns):
        yield {**x, "when": start + at * pace}, y


# %%
# Models
# ------
#
# The same two models in each ensemble, and an adaptive random forest, which replaces trees when they fail. Time tells
# when labels come; it is no feature, so it is discarded first.


def pool():
    return [naive_bayes.GaussianNB(), preprocessing.StandardScaler() | linear_model.LogisticRegression()]


def named_pool():
    return dict(zip(["bayes", "logistic"], pool(), strict=True))


models = {
    "with memory": LongTermMemoryClassifier(named_pool()),
    "without memory": LongTermMemoryClassifier(named_pool(), memory=None),
    "River's stacking": ensemble.StackingClassifier(pool(), linear_model.LogisticRegression()),
    "River's random forest": forest.ARFClassifier(n_models=5, seed=0),
}

# %%
# Labels eight hours late
# -----------------------
#
# ``moment`` names the time of a row, ``delay`` says how long its label takes. Each row is judged by what was said
# when it came; the accuracy is taken over 50 rows at a time.

curves = {}
for name, model in models.items():
    steps = evaluate.iter_progressive_val_score(
        payments(),
        compose.Discard("when") | model,
        utils.Rolling(metrics.Accuracy, window_size=50),
        moment="when",
        delay=dt.timedelta(hours=8),
        step=50,
    )
    curves[name] = [(step["Step"], step["Rolling"].get()) for step in steps]
    print(f"{name:22} {np.mean([accuracy for _, accuracy in curves[name]]):.3f} right")

# %%
# Behind the lines are the patterns. Hatched are the eight hours after each change in which no label of the new
# pattern has come yet: nobody can know of it.

figure, ax = plt.subplots(figsize=(10, 4.5), layout="constrained")
for concept, start, length in patterns.segments():
    ax.axvspan(start, start + length, color=plt.get_cmap("Pastel1")(concept), alpha=0.6, lw=0)
    if start:
        ax.axvspan(start, start + 48, facecolor="none", edgecolor="0.55", hatch="////", lw=0)
for at, (name, curve) in enumerate(curves.items()):
    rows, accuracy = np.transpose(curve)
    ax.plot(rows - 25, accuracy, lw=2.2 if at == 0 else 1.2, zorder=3 - at / 10, label=name)
ax.set(xlim=(0, patterns.n_samples), ylim=(0, 1.02), xlabel="row", ylabel="accuracy of 50 rows")
ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.01), ncols=4, frameon=False)

# %%
# Ids
# ---
#
# River's evaluators do not tell a model which label belongs to which prediction. Without that, experts are scored
# by what they predict when the label comes. In your own loop, pass ids, and they are scored by what they predicted at
# the time of the row:

model = models["with memory"]
x, y = next(iter(patterns))
print("predicted", model.predict_one(x, id="payment 17"))
model.learn_one(x, y, id="payment 17")  # eight hours later
plt.show()

# %%
# All fall in the hatched hours. A pattern that is new must be learned by everybody. One that returns is found in the
# memory with the first labels, while the forest must grow its trees again, and those that only learn on are lost
# between the patterns.
