"""The inequalities of Algorithm 2 with tight constants, which BestOfBothWorlds and LongTermMemory have in common.

The constants of LongTermMemory are written out here: imported from the code under test, a wrong one would go unnoticed.
"""

import numpy as np

RATES = 0.45 / 4.0 ** np.arange(5)  #: η_j
MODELS_SHARE = 0.1  #: prior probability of all models together; the trackers have the rest
POTENTIAL_FLOOR = 1e-9  #: lower limit of a potential, as a fraction of its prior


def tight_excess(confidence, regret, rates, complexity, sequences, shares):
    """Return the largest amount by which an inequality fails, over all experts, rates and sequences.

    Static algorithm: Σ z r <= complexity/η + η Σ z² r². Confidences: Σ_{i_t=i} (g - η g²) <= Σ z g + cost/η with
    g = r - η|r|. Their sum at each expert's best rate: Σ_{i_t=i} r <= (complexity + cost)/η + η Σ_{i_t=i} (|r| + g²).

    ``confidence`` is z, (T, K, rates); ``regret`` is r, (T, K); ``complexity`` is ln(1/prior of a cell), for all
    experts or one for each; ``shares`` is γ, (T - 1,).
    """
    z, r = confidence, regret[..., np.newaxis]
    g = r - rates * np.abs(r)
    complexity = np.broadcast_to(complexity, regret.shape[1:])
    excess = [((z * r).sum(axis=0) - complexity[:, np.newaxis] / rates - rates * (z**2 * r**2).sum(axis=0)).max()]
    for sequence in sequences:
        for expert in range(regret.shape[1]):
            chosen = sequence == expert
            along = (g[chosen, expert] - rates * g[chosen, expert] ** 2).sum(axis=0)
            cost = moving_cost(chosen, shares)
            excess.append((along - (z[:, expert] * g[:, expert]).sum(axis=0) - cost / rates).max())
        total = regret[np.arange(len(sequence)), sequence].sum()
        excess.append(total - sequence_bound(regret, rates, complexity, sequence, shares))
    return max(excess)


def sequence_bound(regret, rates, complexity, sequence, shares):
    """Return the bound on the regret against a sequence of experts: the third inequality, summed over experts."""
    bound = 0.0
    for expert in np.unique(sequence):
        chosen = sequence == expert
        r = regret[chosen, expert][:, np.newaxis]
        second = (np.abs(r) + (r - rates * np.abs(r)) ** 2).sum(axis=0)
        bound += ((complexity[expert] + moving_cost(chosen, shares)) / rates + rates * second).min()
    return bound


def memory_complexity(n_rounds, n_experts, prior=None):
    """Return ln(largest sum of the potentials / prior of a model's cell) of LongTermMemory."""
    prior = np.full(n_experts, 1 / n_experts) if prior is None else np.array(prior) / np.sum(prior)
    return np.log((1 + POTENTIAL_FLOOR * n_rounds) * len(RATES) / MODELS_SHARE / prior)


def anytime_shares(n_rounds):
    """Return γ after each round but the last, without a horizon."""
    return 1 / (np.arange(1, n_rounds) + 2.0)


def moving_cost(chosen, shares):
    """Return what it costs a confidence to follow ``chosen``: ln 2, ln(2/γ) at each move, -ln(1 - γ/2) elsewhere."""
    moves = np.diff(chosen.astype(int)) != 0
    return np.log(2) + np.where(moves, np.log(2 / shares), -np.log1p(-shares / 2)).sum()
