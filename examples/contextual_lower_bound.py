"""
What sparse losses cannot do: a lower bound, counted out
========================================================

For experts on theory. If few losses of a round are not zero, a bandit's regret against one fixed arm hardly depends
on the number of arms K. The paper shows that this is over once the benchmark may switch. The point: against the
adversary of its proof the regret grows like √(TKS) with K, though at most two losses of a round are not zero; and,
read with the number of the round as context, the same game shows that sparsity does not help contextual bandits
either.
"""

from math import comb, log, sqrt

import matplotlib.pyplot as plt
import numpy as np

from ltm_sklearn.bandits import Exp3S, LowerBoundAdversary

T, S = 5_000, 4

# %%
# The same game with contexts
# ---------------------------
#
# Let the context of round t be the number t, and let the policies be all maps from t to arms that change at most S -
# 1 times. A policy is then a sequence of S segments, and the regret against one fixed policy is the switching regret.
# If sparsity helped as it helps against one fixed arm, this regret would be of order √(2 T ln \|policies\|): no K
# beyond the logarithm.


def log_number_of_policies(n_rounds, n_segments, n_arms):
    """Where the policy changes, and which arm each segment has."""
    return log(sum(comb(n_rounds - 1, s) * n_arms * (n_arms - 1) ** s for s in range(n_segments)))


def static_regret(policy, contexts, losses, arms):
    """Of a contextual bandit: its losses less those of one policy, which maps contexts to arms."""
    return sum(row[arm] - row[policy(x)] for x, row, arm in zip(contexts, losses, arms, strict=True))


# %%
# The adversary against Exp3.S
# ----------------------------
#
# It watches copies of the bandit, and makes an arm good just where they look away. Exp3.S is made for switching
# benchmarks, and gets S, T and the range of the losses.

numbers_of_arms = (5, 10, 20, 40, 80)
regrets, guarantees = [], []
for n_arms in numbers_of_arms:
    found = []
    for seed in range(5):
        bandit = Exp3S(n_segments=S, horizon=T, loss_range=(-1, 0), random_state=seed)
        game = LowerBoundAdversary(T, S, n_arms, n_simulations=20, random_state=seed).play(bandit)
        assert (np.count_nonzero(game.losses, axis=1) <= 2).all()
        assert np.count_nonzero(np.diff(game.benchmark)) <= S - 1  # so it is one of the policies
        found.append(static_regret(game.benchmark.__getitem__, range(T), game.losses, game.arms))
        assert abs(found[-1] - game.regret) < 1e-6  # the regret against a policy is the switching regret
    regrets.append(np.mean(found))
    guarantees.append(game.guarantee)

switching = np.array([sqrt(T * n_arms * S) for n_arms in numbers_of_arms])
if_sparsity_helped = np.array([sqrt(2 * T * log_number_of_policies(T, S, n_arms)) for n_arms in numbers_of_arms])
print(f"T = {T}, S = {S}; mean of 5 games")
print("  K   regret   proved   regret/√(TKS)   regret/√(2 T ln |policies|)")
for row in zip(numbers_of_arms, regrets, guarantees, regrets / switching, regrets / if_sparsity_helped, strict=True):
    print("{:3} {:8.0f} {:8.0f} {:15.2f} {:29.2f}".format(*row))

# %%
# On logarithmic axes the regret runs beside √(TKS), with slope 1/2, and leaves the flat line behind.

figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
ax.loglog(numbers_of_arms, regrets, "o-", color="black", label="regret of Exp3.S")
ax.loglog(numbers_of_arms, switching, "--", label="√(TKS)")
ax.loglog(numbers_of_arms, if_sparsity_helped, "-.", label="√(2 T ln |policies|), if sparsity helped")
ax.loglog(numbers_of_arms, guarantees, ":", label="proved for every bandit")
ax.set(xlabel="arms K", ylabel="regret", title=f"At most two losses of a round are not zero; T = {T:,}, S = {S}")
ax.set_xticks(numbers_of_arms, [str(n_arms) for n_arms in numbers_of_arms])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# In units of √(TKS) the regret hardly moves; in the other ones it grows and grows. The number of arms costs its root,
# sparse or not.
