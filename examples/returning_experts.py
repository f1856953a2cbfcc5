"""Experts that return: what the first meeting costs, and what a return costs.

Two regimes take turns. The default pays for learning each of them once; Hedge, which competes with the best single
expert only, pays again and again.
"""

import numpy as np

from ltm_sklearn.experts import FixedShare, Hedge, LongTermMemory

rng = np.random.default_rng(0)
algorithms = {"LongTermMemory": LongTermMemory(), "FixedShare": FixedShare(1.0, 0.01), "Hedge": Hedge()}

print("regret in each phase of 300 rounds; expert 1 and expert 4 are good in turn")
for name, algorithm in algorithms.items():
    costs = []
    for phase in range(8):
        good = (1, 4)[phase % 2]
        losses = rng.random((300, 6))
        losses[:, good] *= 0.4
        played = algorithm.run(losses)  # goes on where the last phase ended
        costs.append((played * losses).sum() - losses[:, good].sum())
    print(f"{name:15}", " ".join(f"{cost:6.1f}" for cost in costs))
