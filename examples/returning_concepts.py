"""Concepts that return: what a memory is worth to a classifier that is trained on a stream.

A reader's taste changes every 500 messages and comes back. Naive Bayes blurs the two tastes into one; restarted when it
fails it would learn each of them again and again. With snapshots the ensemble finds the old model at once.
"""

import numpy as np
from sklearn.linear_model import SGDClassifier
from sklearn.naive_bayes import GaussianNB

from ltm_sklearn import LongTermMemoryClassifier

N_PHASES, N_BATCHES, BATCH = 8, 50, 10


def messages(phase, rng):
    """A batch of rows, and whether the reader likes them."""
    X = rng.normal(size=(BATCH, 5))
    liked = X[:, 0] + X[:, 1] > 0 if phase % 2 == 0 else X[:, 2] - X[:, 0] - X[:, 1] > 0
    return X, liked.astype(int)


experts = [("bayes", GaussianNB()), ("linear", SGDClassifier(loss="log_loss", random_state=0))]
models = {
    "with memory": LongTermMemoryClassifier(experts, record=400),
    "without memory": LongTermMemoryClassifier(experts, memory=None),
}
print("share of messages judged rightly, phase by phase; two tastes take turns")
for name, model in models.items():
    rng = np.random.default_rng(0)
    shares = []
    for phase in range(N_PHASES):
        right = []
        for _ in range(N_BATCHES):
            X, y = messages(phase, rng)
            if model.__sklearn_is_fitted__():
                right.append((model.predict(X) == y).mean())
            model.partial_fit(X, y, classes=[0, 1])
        shares.append(np.mean(right))
    print(f"{name:15}", " ".join(f"{share:.2f}" for share in shares))

model = models["with memory"]
print(f"\n{len(model.experts_)} experts after {model.n_rounds_} rounds; the five with the largest mean weight:")
for expert in sorted(model.experts_, key=lambda expert: -expert.long_term_weight)[:5]:
    print(f"{expert.name:15}{expert.kind:10} now {expert.weight:.2f}, on the whole {expert.long_term_weight:.2f}")
