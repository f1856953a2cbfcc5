"""
Quick start: what a memory is worth
===================================

Several models learn from a stream whose rules change, and then change back. Here the same two models run twice: once
weighted only, and once with a memory of what they knew before. The point: when an old rule returns, the memory has
the old model at hand, and the other ensemble must learn everything again.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier
from ltm_sklearn.display import WeightStackDisplay
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.streams import stagger

# %%
# A stream that returns
# ---------------------
#
# STAGGER is a classic: things of some size, colour and shape are liked or not, by one of three rules. Every 400 rows
# another rule comes into force. One label in twenty is wrong.

stream = stagger(order="random", length=400, n_segments=8, noise=0.05, seed=0)
print("changes at rows", stream.changes())

# %%
# Two ensembles
# -------------
#
# Any scikit-learn classifiers are experts. A call of ``partial_fit`` is a round: the experts predict the rows, are
# scored, and then learn the rows. With ``record=`` the ensemble keeps what its pictures need.

experts = [("bayes", GaussianNB()), ("sgd", SGDClassifier(loss="log_loss", random_state=0))]
models = {
    "with memory": LongTermMemoryClassifier(experts, record=500),
    "without memory": LongTermMemoryClassifier(experts, memory=None),
}

# %%
# ``prequential`` runs them side by side. Each predicts the next 10 rows, is scored, and then learns them. The column
# ``after_return`` is the accuracy in the first 50 rows after an old rule has come back.

result = prequential(models, stream, batch_size=10)
print(result.frame()[["accuracy", "after_change", "after_return"]].round(3))
result.plot()

# %%
# Weights of the ensemble
# -----------------------
#
# A name with a number, such as ``bayes@400``, is a snapshot: a copy of that model as it was after so many rows, which
# is never trained again. When a rule returns, so does the weight of a snapshot that knows it.

WeightStackDisplay.from_result(result)

# %%
# In a program of your own
# ------------------------
#
# There is no more to it than ``predict`` and ``partial_fit``. The models of ``prequential`` were trained in place, so
# they can go on. Let the stream begin again: its first rule is back.

model = models["with memory"]
for batch, _ in zip(stream.batches(10), range(6), strict=False):
    right = (model.predict(batch.X) == batch.y).sum()
    model.partial_fit(batch.X, batch.y)
    print(f"{right} of 10 right; now led by {model.leader_}")
plt.show()

# %%
# With the memory, accuracy drops at a change and is back within a few batches once the rule is an old one. Without
# it, the models that are there have blurred all three rules into one, or are busy forgetting the last.
