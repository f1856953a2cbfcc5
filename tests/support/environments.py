"""Loss sequences on which the theorems are tested: oblivious ones, and adversaries that see the weights."""

from __future__ import annotations

import numpy as np


class Environment:
    """Generate losses in [0, 1], one round at a time; ``kind`` selects the rule, ``seed`` fixes the numbers."""

    KINDS = (
        "uniform", "bernoulli", "sparse", "drifting", "switching", "phases", "returning", "alternate", "ties", "chase",
        "thermostat",
    )  # fmt: skip

    def __init__(self, kind, n_experts, n_rounds, seed=0):
        self.kind, self.n_experts, self.n_rounds = kind, n_experts, n_rounds
        self.rng = np.random.default_rng(seed)
        self.means = self.rng.random(n_experts)
        self.target = self.rng.choice([0.03, 0.1, 0.3])
        n_segments = int(self.rng.integers(1, 8))
        pool = self.rng.integers(n_experts, size=min(3, n_experts))
        #: A sequence that is good in "switching" and best in "returning"
        self.good = np.repeat(self.rng.choice(pool, n_segments), -(-n_rounds // n_segments))[:n_rounds]
        if kind == "returning":
            cycle = max(n_rounds // 5, 1)
            self.good = np.where(np.arange(n_rounds) % cycle >= 0.7 * cycle, n_experts - 1, 0)

    def losses(self, weights, t):
        return getattr(self, "_" + self.kind)(weights, t)

    def _uniform(self, weights, t):
        return self.rng.random(self.n_experts)

    def _bernoulli(self, weights, t):
        return (self.rng.random(self.n_experts) < self.means).astype(float)

    def _sparse(self, weights, t):
        losses = np.zeros(self.n_experts)
        losses[self.rng.integers(self.n_experts)] = self.rng.random() < 0.3
        return losses

    def _drifting(self, weights, t):
        """Means that wander slowly."""
        turn = 2 * np.pi * (t / self.n_rounds + np.arange(self.n_experts) / self.n_experts)
        return (self.rng.random(self.n_experts) < 0.5 + 0.4 * np.sin(turn)).astype(float)

    def _phases(self, weights, t):
        """Four long phases, each with one expert that never loses while the others always do."""
        return (np.arange(self.n_experts) != 4 * t // self.n_rounds % self.n_experts).astype(float)

    def _switching(self, weights, t):
        means = np.full(self.n_experts, 0.7)
        means[self.good[t]] = 0.2
        return (self.rng.random(self.n_experts) < means).astype(float)

    def _chase(self, weights, t):
        """The expert with the largest weight has loss 1; the last one is spared in three of ten such rounds."""
        losses = (weights >= weights.max() - 1e-12).astype(float)
        losses[-1] *= self.rng.random() < 0.7
        return losses

    def _thermostat(self, weights, t):
        """Hold the last expert's weight at a target: its regret swings by ±1, that of the others hardly moves.

        Rules without a second-order term have a large regret here.
        """
        rises = weights[-1] < self.target
        losses = np.full(self.n_experts, float(rises))
        losses[-1] = 1.0 - rises
        return losses

    def _alternate(self, weights, t):
        return (np.arange(self.n_experts) % 2 == t % 2).astype(float)

    def _returning(self, weights, t):
        """The last expert is good in the last three tenths of each of five cycles, and all others before."""
        losses = np.full(self.n_experts, float(self.good[t] == self.n_experts - 1))
        losses[-1] = 1.0 - losses[-1]
        return losses

    def _ties(self, weights, t):
        return np.full(self.n_experts, self.rng.random())


#: Kinds of long streams on which broken copies of the algorithms exceed their bounds.
HARD = ("thermostat", "alternate", "switching", "phases", "returning", "chase", "sparse")


def hard_environment(kind, n_rounds, n_experts=2):
    environment = Environment(kind, n_experts, n_rounds, seed=1)
    if kind == "thermostat":
        environment.target = 0.05
    return environment


def play(algorithm, environment, *, centred=False, watch=None):
    """Run an algorithm on an environment; return the weights and the losses, each (T, K).

    ``centred`` feeds ``ℓ - w·ℓ``, the signed losses with ``w·c = 0`` of the confidence-rated reduction.
    ``watch(state)`` is called before each round.
    """
    algorithm.check_parameters()
    prior = np.full(environment.n_experts, 1.0 / environment.n_experts)
    state = algorithm._start(prior, None, algorithm.horizon)
    played, fed = np.empty((2, environment.n_rounds, environment.n_experts))
    for t in range(environment.n_rounds):
        if watch is not None:
            watch(state)
        weights = algorithm._distribution(state)
        losses = environment.losses(weights, t)
        if centred:
            losses = losses - weights @ losses
        played[t], fed[t] = weights, losses
        state = algorithm._step(state, weights, losses)
    return played, fed


def regrets(played, losses):
    """Return the instantaneous regret against each expert, (T, K)."""
    return (played * losses).sum(axis=1, keepdims=True) - losses


def random_sequence(rng, n_rounds, n_experts, n_segments, n_distinct):
    """Return a comparator: an expert for each round."""
    pool = rng.choice(n_experts, size=min(n_distinct, n_experts), replace=False)
    cuts = np.sort(rng.integers(0, n_rounds, size=n_segments - 1))
    return np.concatenate([np.full(len(part), rng.choice(pool)) for part in np.split(np.arange(n_rounds), cuts)])


def best_sequence(losses, n_segments, n_distinct):
    """Return a strong comparator: in equal segments, the best of the experts that are best somewhere."""
    parts = np.array_split(np.arange(len(losses)), n_segments)
    totals = np.array([losses[part].sum(axis=0) for part in parts])
    leaders = np.bincount(totals.argmin(axis=1), minlength=losses.shape[1]).argsort()[::-1][:n_distinct]
    choice = leaders[totals[:, leaders].argmin(axis=1)]
    return np.concatenate([np.full(len(part), expert) for part, expert in zip(parts, choice, strict=True)])


def n_switches(sequence):
    return int((np.diff(sequence) != 0).sum())


def awake_segments(sequence, expert):
    """Return S_i of the paper: 1 plus the number of times the comparator comes to or leaves the expert."""
    return 1 + int((np.diff((sequence == expert).astype(int)) != 0).sum())


def stochastic_regret(algorithm, n_rounds, n_experts, n_segments, gap, seed):
    """Return the expected regret, and the best experts, if one of two experts in turn is better by the gap."""
    good = np.arange(n_rounds) * n_segments // n_rounds % 2
    means = np.full((n_rounds, n_experts), (1 + gap) / 2)
    means[np.arange(n_rounds), good] = (1 - gap) / 2
    losses = (np.random.default_rng(seed).random(means.shape) < means).astype(float)
    return gap * (1 - algorithm.run(losses)[np.arange(n_rounds), good]).sum(), good
