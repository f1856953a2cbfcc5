"""
Plugging in an algorithm of your own
====================================

An expert algorithm is three small methods: what to begin with, what to play, and what to learn from a round. All else
works then: many rounds at once, experts that sleep, join and leave, pickling, ensembles. The point: the paper's
reductions take *any* algorithm that competes with the best single expert, and make one of it that remembers. So will
they with yours.
"""

import matplotlib.pyplot as plt
import numpy as np

from ltm_sklearn import ExpertMixture
from ltm_sklearn.experts import BestOfBothWorlds, ExpertAlgorithm, LongTermMemory

# %%
# Three methods
# -------------
#
# Polynomial weights: an expert's weight is a power of the regret against it, and those that the mixture is not behind
# have none. There is no learning rate to set. The methods neither keep nor change anything; the last axis of every
# array is the experts, and axes before it are copies that a reduction runs side by side.


class PolynomialWeights(ExpertAlgorithm):
    """Weights in proportion to a power of the positive regret."""

    def __init__(self, power=3.0, *, prior=None):
        self.power = power
        self.prior = prior

    def _initial_state(self, prior, rate=None, horizon=None):
        return {"prior": prior, "regret": np.zeros_like(prior)}

    def _distribution(self, state):
        ahead = np.maximum(state["regret"], 0.0)
        ahead = ahead / np.maximum(ahead.max(axis=-1, keepdims=True), 1e-300)  # so that no power is too large
        weights = state["prior"] * ahead**self.power
        total = weights.sum(axis=-1, keepdims=True)
        return np.divide(weights, total, out=state["prior"].copy(), where=total > 0.0)

    def _next_state(self, state, weights, losses):
        mixture = (weights * losses).sum(axis=-1, keepdims=True)
        return {**state, "regret": state["regret"] + mixture - losses}


print(PolynomialWeights().update([0.0, 1.0, 0.5]).weights())

# %%
# Alone, and inside a reduction
# -----------------------------
#
# Three of eight experts are good in turn, 500 rounds each. Algorithm 2 of the paper, ``BestOfBothWorlds``, gives
# every expert a confidence that is learned on the way, and leaves it to yours to weight those that are confident.

rng = np.random.default_rng(0)
n_phases, length = 12, 500
good = np.repeat(np.arange(n_phases) % 3 * 2 + 1, length)
losses = rng.random((len(good), 8))
losses[np.arange(len(good)), good] *= 0.4

algorithms = {
    "PolynomialWeights": PolynomialWeights(),
    "PolynomialWeights in Algorithm 2": BestOfBothWorlds(static=PolynomialWeights(), constants="tight"),
    "Prod in Algorithm 2": BestOfBothWorlds(constants="tight"),
    "LongTermMemory, the default": LongTermMemory(),
}
least = losses[np.arange(len(good)), good]
figure, ax = plt.subplots(figsize=(9, 4), layout="constrained")
for name, algorithm in algorithms.items():
    regret = (algorithm.run(losses) * losses).sum(axis=1) - least
    ax.plot(regret.cumsum(), label=name)
    print(f"{name:33} regret {regret.sum():7.1f}")
for at in range(0, len(good), length):
    ax.axvline(at, color="0.9", lw=0.8, zorder=0)
ax.set(xlabel="round", ylabel="regret against the good expert", xlim=(0, len(good)), ylim=0)
ax.legend(frameon=False)

# %%
# In an ensemble
# --------------
#
# ``algorithm=`` of the estimators takes it, too, alone or in a reduction. Here five forecasters are combined, of
# which three are good in turn. (``gradient=False`` scores each by its own error, so that the best single
# forecaster is found, and not the best blend.) An algorithm of your own runs in Python, which takes a fraction of a
# millisecond a round.

truth = rng.normal(size=2400).cumsum()
turn = np.repeat(np.arange(12) % 3, 200)
spread = np.where(turn[:, np.newaxis] == np.arange(5), 0.2, 1.0)
forecasts = truth[:, np.newaxis] + spread * rng.normal(size=(len(truth), 5))
for name in ("PolynomialWeights", "PolynomialWeights in Algorithm 2", "LongTermMemory, the default"):
    mixture = ExpertMixture(algorithms[name], loss="absolute_error", gradient=False).fit(forecasts, truth)
    print(f"{name:33} mean absolute error {mixture.mixture_loss_:.3f}")
print(f"{'the best forecaster alone':33} mean absolute error {mixture.loss_.min():.3f}")
plt.show()

# %%
# Alone, the algorithm loses at nearly every change. In the reduction it loses a good deal less, without a word about
# memory in its own code. The default, which has trackers besides and constants made for it, remains the one to begin
# with.
