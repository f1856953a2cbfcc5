"""
Recurring drift: what is remembered, and when
=============================================

A reader's taste changes every 400 messages and comes back. Weights alone cannot help here: one learner that never
forgets blurs all tastes into one. ``Snapshots`` keeps frozen copies of the learner, and starts a young learner beside
it after each copy. The point: copies must be taken at the right time, of a model that is not blurred, and must then
be left alone.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier, Snapshots
from ltm_sklearn.display import RecurrenceDisplay
from ltm_sklearn.evaluation import prequential
from ltm_sklearn.streams import RecurringConcepts

# %%
# Three tastes that take turns
# ----------------------------
#
# A concept is a function of a random generator and a number of rows. ``RecurringConcepts`` puts a stream together
# from several of them. Nobody tells the models when the taste changes.


def taste(liking):
    """Messages with five features, and whether the reader likes them."""

    def messages(rng, n_rows):
        X = rng.normal(size=(n_rows, 5))
        return X, (X @ liking > 0).astype(int)

    return messages


tastes = {"sports": taste([1, 1, 0, 0, 0]), "music": taste([-1, 0, 1, 0, 1]), "travel": taste([0, -1, 0, 1, -1])}
order = ["sports", "music", "sports", "travel", "music", "sports", "travel", "music"]
stream = RecurringConcepts(tastes, order=order, length=400, noise=0.05, classes=[0, 1], seed=0)

# %%
# Four memories
# -------------
#
# The expert is the same naive Bayes each time; only the memory differs. By default a copy is taken every 200 rows
# *and* when the learners' loss rises; a copy that says the same as an old one takes its place if it is better.

memories = {
    "no memory": None,
    "never starts afresh": Snapshots(restart=False),
    "only at alarms": Snapshots(every=None),
    "default": Snapshots(),
}
models = {
    name: LongTermMemoryClassifier([("bayes", GaussianNB())], memory=memory, record=500)
    for name, memory in memories.items()
}
result = prequential(models, stream, batch_size=10, probabilities=False)
scores = result.frame()[["accuracy", "after_change", "after_return"]]
scores["snapshots"] = [sum(expert.kind == "snapshot" for expert in model.experts_) for model in models.values()]
print(scores.round(3))

# %%
# ``after_return`` is the accuracy in the first 50 rows after an old taste has come back: that is what memory is for.

figure, ax = plt.subplots(figsize=(8, 3.2), layout="constrained")
at = np.arange(len(scores))
ax.barh(at - 0.2, scores["accuracy"], height=0.4, label="all rows")
ax.barh(at + 0.2, scores["after_return"], height=0.4, label="50 rows after a return")
ax.set_yticks(at, scores.index)
ax.invert_yaxis()
ax.set(xlim=(0.5, 1.0), xlabel="accuracy (0.5: chance)", title="The same learner with four memories")
ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)

# %%
# Who leads when
# --------------
#
# A row for each expert that ever leads, in the order of their first leads; the changes of taste are drawn as lines.
# The number of a snapshot is the row after which it was taken. A row that is filled several times is a memory at
# work.

display = RecurrenceDisplay.from_result(result, model="default")
for segment in stream.segments():
    display.ax_.axvline(segment.start, color="0.3", lw=0.8, ls=":")
    name = stream.concept_names[segment.concept]
    display.ax_.text(segment.start + 200, -0.75, name, ha="center", va="bottom", fontsize="small")
display.ax_.set_title("Leading expert over time", pad=18)

# %%
# What is in the memory at the end
# --------------------------------
#
# ``experts_`` tells of each expert when it was born, its weight now and its mean weight since. When there are more
# than ``max_size`` snapshots, the one with the lowest mean weight is given up.

for expert in sorted(models["default"].experts_, key=lambda expert: -expert.long_term_weight)[:6]:
    print(f"{expert.name:12} {expert.kind:9} now {expert.weight:.2f}, on the whole {expert.long_term_weight:.2f}")
plt.show()
# sphinx_gallery_thumbnail_number = 2

# %%
# Without fresh starts all copies are copies of a blur. With alarms only, few copies are taken: a learner that is poor
# already need not become worse when the taste changes. With a schedule besides, some snapshots lead again and again,
# each of them while its taste is in force.
