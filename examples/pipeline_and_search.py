"""
A Pipeline and a search
=======================

The ensembles are scikit-learn estimators: they stand at the end of a pipeline, and their settings and those of their
experts can be searched. On a stream there is one catch. A search scores a model on the rows *after* those that it was
fitted on, and the model stands still meanwhile, as it never would in use. The point: score it while it goes on
learning, or the search cannot tell good settings from bad ones.
"""

from copy import deepcopy

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.preprocessing import StandardScaler

from ltm_sklearn import LongTermMemoryClassifier, Snapshots
from ltm_sklearn.ensemble import IncrementalPipeline
from ltm_sklearn.evaluation import prequential

# %%
# Rows of any scale
# -----------------
#
# Four features, in units as different as grams and kilometres. Two rules take turns, 200 rows each.

rng = np.random.default_rng(0)
n_rows, batch_size = 2000, 20
X = rng.normal(size=(n_rows, 4))
rules = np.array([[1.0, 1.0, 0.0, 0.5], [-1.0, 0.5, 1.0, 0.0]])
y = ((X * rules[np.arange(n_rows) // 200 % 2]).sum(axis=1) > 0).astype(int)
X = X * [1000.0, 0.01, 1.0, 50.0] + [5000.0, 0.0, 20.0, 100.0]

# %%
# A pipeline that learns from a stream
# ------------------------------------
#
# scikit-learn's own Pipeline has no ``partial_fit``; ``IncrementalPipeline`` is the same with one. Around the
# ensemble, as here, one scaler serves all experts. (Inside an expert, a snapshot keeps the scaler as it was.)


def pipeline(*steps):
    sgd = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=0.01, random_state=0)
    ensemble = LongTermMemoryClassifier([("sgd", sgd)], memory=Snapshots(), batch_size=batch_size)
    return IncrementalPipeline([*steps, ("ensemble", ensemble)])


models = {"with a scaler": pipeline(("scale", StandardScaler())), "without": pipeline()}
result = prequential(models, (X, y), batch_size=batch_size, n_samples=1000)
print(result.frame()["accuracy"].round(3).to_string())

# %%
# Two ways to score
# -----------------
#
# ``TimeSeriesSplit`` fits on the past and scores on what follows; ``fit`` is one pass over the rows, in rounds of
# ``batch_size``. The usual score leaves the model as it is through all 600 rows of a test, over which the rule
# changes several times. The second one lets a copy of it go on: each batch is predicted, scored, and then learned.


def while_learning(model, X, y):
    """Accuracy of a model that learns each batch after it was scored on it."""
    model = deepcopy(model)
    shares = []
    for start in range(0, len(X), batch_size):
        rows = slice(start, start + batch_size)
        shares.append(model.score(X[rows], y[rows]))
        model.partial_fit(X[rows], y[rows])
    return np.mean(shares)


rates, memories = [0.01, 0.1], [None, Snapshots(every=100), Snapshots(every=200), Snapshots(every=400)]
search = GridSearchCV(
    pipeline(("scale", StandardScaler())),
    {"ensemble__memory": memories, "ensemble__sgd__eta0": rates},  # of the ensemble, and of an expert in it
    cv=TimeSeriesSplit(2, test_size=600),
    scoring={"current_weights still": "accuracy", "while learning": while_learning},
    refit="while learning",
)
search.fit(X, y)
print("found:", search.best_params_)

# %%
# What each of the two saw
# ------------------------

names = ["no memory" if memory is None else f"every {memory.every} rows" for memory in memories]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained", sharey=True)
for ax, scorer in zip(axes, search.scorer_, strict=True):
    scores = search.cv_results_[f"mean_test_{scorer}"].reshape(len(memories), len(rates))
    image = ax.imshow(scores, vmin=0.5, vmax=1.0, cmap="viridis", aspect="auto")
    for (row, column), score in np.ndenumerate(scores):
        look = {"color": "white" if score < 0.8 else "black", "weight": "bold" if score == scores.max() else "normal"}
        ax.text(column, row, f"{score:.3f}", ha="center", va="center", **look)
    ax.set_xticks(range(len(rates)), [f"{rate:g}" for rate in rates])
    ax.set_yticks(range(len(memories)), names)
    ax.set(title=f"scored {scorer}", xlabel="eta0 of the SGD expert")
axes[0].set_ylabel("snapshots")
figure.colorbar(image, ax=axes, label="accuracy")

# %%
# The model that was found has learned all rows, and goes on with the stream.

model = search.best_estimator_
model.partial_fit(X[:batch_size], y[:batch_size])
print(f"{len(model[-1].experts_)} experts, led by {model[-1].leader_}")
plt.show()

# %%
# Standing still, the settings look much alike: whatever a model believes at the end of the fit, it meets both rules.
# Scored while it learns, memory is worth a lot, and snapshots must come at least as often as the rule changes.
