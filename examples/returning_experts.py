"""
Experts that return: what a meeting costs, and what a return costs
==================================================================

Below the estimators are algorithms that know no models: losses go in, weights come out. Here two of six experts are
good in turn. The point: an algorithm that competes with the best single expert is lost at every change; one that can
switch pays the same price at each; one with a long-term memory pays for learning each expert once, and little when it
returns.
"""

import matplotlib.pyplot as plt
import numpy as np

from ltm_sklearn.experts import FixedShare, Hedge, LongTermMemory

# %%
# Losses
# ------
#
# Ten phases of 300 rounds. Experts 1 and 4 take turns; all losses are noisy and in [0, 1].

rng = np.random.default_rng(0)
n_phases, length, n_experts = 10, 300, 6
good = np.repeat(np.tile([1, 4], n_phases // 2), length)
losses = rng.random((len(good), n_experts))
losses[np.arange(len(good)), good] *= 0.4

# %%
# Weights
# -------
#
# ``run`` takes all rounds at compiled speed. A row of what it returns was played *before* that row's losses were
# seen.

algorithms = {"Hedge": Hedge(), "Fixed Share": FixedShare(1.0, 0.01), "LongTermMemory": LongTermMemory()}
played = {name: algorithm.run(losses) for name, algorithm in algorithms.items()}

figure, axes = plt.subplots(3, 1, figsize=(9, 5.5), layout="constrained", sharex=True, sharey=True)
for ax, (name, weights) in zip(axes, played.items(), strict=True):
    others = np.delete(weights, [1, 4], axis=1).sum(axis=1)
    ax.stackplot(
        np.arange(len(good)),
        weights[:, 1],
        weights[:, 4],
        others,
        labels=["expert 1", "expert 4", "the others"],
        colors=["tab:blue", "tab:orange", "0.85"],
    )
    ax.set(title=name, ylabel="weight", xlim=(0, len(good)), ylim=(0, 1))
axes[-1].set_xlabel("round")
figure.legend(*axes[0].get_legend_handles_labels(), loc="outside right center", frameon=False)

# %%
# Regret
# ------
#
# What was lost in each phase beyond the expert that is good in it.

least = losses[np.arange(len(good)), good]
regrets = {
    name: ((weights * losses).sum(axis=1) - least).reshape(n_phases, length).sum(axis=1)
    for name, weights in played.items()
}
for name, regret in regrets.items():
    print(f"{name:15}", " ".join(f"{cost:6.1f}" for cost in regret))

figure, ax = plt.subplots(figsize=(8, 3.5), layout="constrained")
for at, (name, regret) in enumerate(regrets.items()):
    ax.bar(np.arange(1, n_phases + 1) + 0.27 * (at - 1), regret, width=0.27, label=name)
ax.set(xlabel="phase", ylabel="regret in the phase", yscale="log", xticks=range(1, n_phases + 1))
ax.legend(frameon=False, ncols=3, loc="lower center", bbox_to_anchor=(0.5, 1.0))
plt.show()

# %%
# Hedge cannot leave the expert of the first phase in time. Fixed Share pays the same for each change. The default
# pays most when it meets expert 4 for the first time, in phase 2, and less when either of them returns.
