"""Sparse losses do not help contextual bandits: a problem of switching arms, read as one of contexts.

Let the context of round t be the number t, and let the policies be all maps from t to arms that change at most S - 1
times. A policy is then a sequence of S segments, and the regret against one fixed policy is the switching regret. The
adversary of the lower-bound theorem makes that of order √(TKS) with at most two losses that are not zero in a round.
If sparsity helped as it helps when one fixed arm is the benchmark, the regret would be of order √(2 T ln |policies|):
no K beyond the logarithm. The last column shows that it is not.
"""

from math import comb, log, sqrt

import numpy as np

from ltm_sklearn.bandits import Exp3S, LowerBoundAdversary

T, S = 20_000, 8


def log_number_of_policies(n_rounds, n_segments, n_arms):
    """Where the policy changes, and which arm each segment has."""
    changes = sum(comb(n_rounds - 1, s) * n_arms * (n_arms - 1) ** s for s in range(n_segments))
    return log(changes)


def static_regret(policy, contexts, losses, arms):
    """Of a contextual bandit: its losses less those of one policy, which maps contexts to arms."""
    return sum(row[arm] - row[policy(x)] for x, row, arm in zip(contexts, losses, arms, strict=True))


print(f"T = {T}, S = {S}; Exp3.S against the adversary, mean of 5 games")
print("  K   regret   proved   regret/√(TKS)   regret/√(2 T ln |policies|)")
for n_arms in (5, 20, 80):
    found = []
    for seed in range(5):
        bandit = Exp3S(n_segments=S, horizon=T, loss_range=(-1, 0), random_state=seed)
        adversary = LowerBoundAdversary(T, S, n_arms, n_simulations=20, random_state=seed)
        game = adversary.play(bandit)
        assert (np.count_nonzero(game.losses, axis=1) <= 2).all()
        assert np.count_nonzero(np.diff(game.benchmark)) <= S - 1  # so it is one of the policies
        found.append(static_regret(game.benchmark.__getitem__, range(T), game.losses, game.arms))
        assert abs(found[-1] - game.regret) < 1e-6  # the regret against a policy is the switching regret
    regret = np.mean(found)
    if_sparsity_helped = sqrt(2 * T * log_number_of_policies(T, S, n_arms))
    shares = regret / sqrt(T * n_arms * S), regret / if_sparsity_helped
    print(f"{n_arms:3} {regret:8.0f} {game.guarantee:8.0f} {shares[0]:15.2f} {shares[1]:29.2f}")
