"""Expert algorithms as the paper prints them: one line of code for one line of pseudocode.

Read this module beside "Equipping Experts/Bandits with Long-term Memory" (NeurIPS 2019). K models are the experts,
their losses in a round are the loss vector, and :func:`best_of_both_worlds` (Algorithm 2) turns losses into weights.
The comments give the line in the printed algorithm; all lines count, including "Input", "Define" and "Initialize".
Symbols are those of the paper, and all losses lie in [-1, 1].

The functions here are short and slow. They exist to be read and to be tested against:
:class:`~ltm_sklearn.experts.SimpleReduction`, :class:`~ltm_sklearn.experts.BestOfBothWorlds`,
:class:`~ltm_sklearn.experts.ConfidenceRated` and :class:`~ltm_sklearn.experts.MixingPastPosteriors` compute the same
weights, and also handle sleeping experts, experts that join or leave, and unknown horizons. Algorithm 3 is in
:mod:`ltm_sklearn.bandits.reference`.

An algorithm that is passed to a reduction has two methods: ``distribution()`` returns its weights over its actions,
and ``feed(loss)`` updates it with one loss vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "FixedShareVariant",
    "HedgeVariant1",
    "HedgeVariant2",
    "best_of_both_worlds",
    "confidence_rated",
    "learning_rates",
    "mixing_past_posteriors",
    "simple_reduction",
]

Floats = NDArray[np.float64]


class HedgeVariant1:
    """Algorithm 4 of the paper, "Hedge Variant 1": static regret with a second-order term in the losses.

    Parameters
    ----------
    n_actions : int
        Number of actions K.
    eta : float
        Learning rate η, at most 1/5.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import HedgeVariant1
    >>> hedge = HedgeVariant1(2, 0.2)
    >>> hedge.feed([-1.0, 1.0])
    >>> hedge.distribution().round(3)
    array([0.599, 0.401])
    """

    def __init__(self, n_actions: int, eta: float) -> None:
        self.eta = eta
        self.total: Floats = np.zeros(n_actions)  # Σ (η c + η² c²)

    def distribution(self) -> Floats:
        """Return the sampling distribution w."""
        w = np.exp(-self.total)  # Alg. 4, line 3
        return w / w.sum()

    def feed(self, loss: ArrayLike) -> None:
        """Update with one loss vector c."""
        c = np.asarray(loss)  # Alg. 4, line 4
        self.total = self.total + self.eta * c + self.eta**2 * c**2  # Alg. 4, line 3: the sum


class HedgeVariant2:
    """Algorithm 6 of the paper, "Hedge Variant 2": static regret with one learning rate for each action.

    Parameters
    ----------
    n_actions : int
        Number of actions K.
    eta : array-like of shape (n_actions,)
        Learning rates η(i), at most 1/5.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import HedgeVariant2
    >>> hedge = HedgeVariant2(2, [0.1, 0.2])
    >>> hedge.feed([-1.0, 1.0])
    >>> hedge.distribution().round(3)
    array([0.395, 0.605])
    """

    def __init__(self, n_actions: int, eta: ArrayLike) -> None:
        self.eta: Floats = np.broadcast_to(np.asarray(eta, dtype=np.float64), (n_actions,))
        self.total: Floats = np.zeros(n_actions)  # Σ (η r - η² r²)

    def distribution(self) -> Floats:
        """Return the sampling distribution w."""
        w = self.eta * np.exp(self.total)  # Alg. 6, line 3
        return np.asarray(w / w.sum())

    def feed(self, loss: ArrayLike) -> None:
        """Update with one loss vector c."""
        c = np.asarray(loss)  # Alg. 6, line 4
        r = self.distribution() @ c - c  # Alg. 6, line 3: r = w·c - c
        self.total = self.total + self.eta * r - self.eta**2 * r**2  # Alg. 6, line 3: the sum


class FixedShareVariant:
    """Algorithm 5 of the paper, "Fixed-share Variant": switching regret with a second-order term.

    Parameters
    ----------
    n_actions : int
        Number of actions K; two inside the reductions.
    eta : float
        Learning rate η, at most 1/5.
    gamma : float
        Share γ of the weight that is spread evenly; 1/T in the paper.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import FixedShareVariant
    >>> share = FixedShareVariant(2, 0.2, 0.1)
    >>> share.feed([-1.0, 1.0])
    >>> share.distribution().round(3)
    array([0.589, 0.411])
    """

    def __init__(self, n_actions: int, eta: float, gamma: float) -> None:
        self.n_actions, self.eta, self.gamma = n_actions, eta, gamma  # Alg. 5, line 1
        self.q_tilde: Floats = np.full(n_actions, 1 / n_actions)  # Alg. 5, line 2

    def distribution(self) -> Floats:
        """Return the sampling distribution q."""
        return (1 - self.gamma) * self.q_tilde + self.gamma / self.n_actions  # Alg. 5, line 4

    def feed(self, loss: ArrayLike) -> None:
        """Update with one loss vector h."""
        h = np.asarray(loss)  # Alg. 5, line 5
        q = self.distribution() * np.exp(-self.eta * h - self.eta**2 * h**2)  # Alg. 5, line 6
        self.q_tilde = q / q.sum()


def confidence_rated(losses: ArrayLike, confidences: ArrayLike, algorithm: Any) -> Floats:
    """Run the reduction of the paper's Section 2 from confidence-rated experts to plain experts.

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_experts)
        Losses in [-1, 1].
    confidences : array-like of shape (n_rounds, n_experts)
        Confidence scores z in [0, 1]; in each round at least one is positive.
    algorithm : object
        Expert algorithm over the K experts with ``distribution()`` and ``feed(loss)``.

    Returns
    -------
    ndarray of shape (n_rounds, n_experts)
        Weights p used in each round.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import HedgeVariant1, confidence_rated
    >>> confidence_rated([[-1, 1], [-1, 1]], [[1, 0.5], [1, 0.5]], HedgeVariant1(2, 0.2)).round(3)
    array([[0.667, 0.333],
           [0.723, 0.277]])
    """
    played = []
    for ell, z in zip(np.asarray(losses), np.asarray(confidences), strict=True):
        w = algorithm.distribution()
        p = z * w / (z * w).sum()
        r = p @ ell - ell
        c = -z * r  # fed to A
        algorithm.feed(c)
        played.append(p)
    return np.array(played)


def simple_reduction(
    losses: ArrayLike,
    eta: float,
    horizon: int,
    static: Callable[..., Any] = HedgeVariant1,
    switching: Callable[..., Any] = FixedShareVariant,
) -> Floats:
    """Run Algorithm 1 of the paper, "A Simple Reduction for Long-term Memory".

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_experts)
        Losses in [-1, 1].
    eta : float
        Learning rate η, at most 1/5.
    horizon : int
        Number of rounds T, for the share γ = 1/T of the switching algorithms.
    static : callable, default=HedgeVariant1
        ``static(n_actions, eta)`` makes the paper's A, an expert algorithm over the K experts.
    switching : callable, default=FixedShareVariant
        ``switching(2, eta, gamma)`` makes one of the paper's A_i, an expert algorithm over the actions {0, 1}.

    Returns
    -------
    ndarray of shape (n_rounds, n_experts)
        Weights p used in each round.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import simple_reduction
    >>> simple_reduction([[-1, 1], [-1, 1], [1, -1]], eta=0.2, horizon=30).round(3)
    array([[0.5  , 0.5  ],
           [0.624, 0.376],
           [0.745, 0.255]])
    """
    losses = np.asarray(losses, dtype=np.float64)
    K = losses.shape[1]
    A, A_i = static(K, eta), [switching(2, eta, 1 / horizon) for _ in range(K)]  # Alg. 1, line 1
    played = []
    for ell in losses:  # Alg. 1, line 2
        w = A.distribution()  # Alg. 1, line 3
        z = np.array([a.distribution()[1] for a in A_i])  # Alg. 1, line 4
        p = z * w / (z * w).sum()  # Alg. 1, line 5
        r = p @ ell - ell  # Alg. 1, line 6
        c = -z * r  # Alg. 1, line 6
        A.feed(c)  # Alg. 1, line 6
        for i in range(K):
            A_i[i].feed([0, 5 * eta - r[i]])  # Alg. 1, line 7
        played.append(p)
    return np.array(played)


def learning_rates(horizon: int) -> Floats:
    """Return the learning rates of Algorithm 2, its line 1.

    Parameters
    ----------
    horizon : int
        Number of rounds T, at least 25; below that the paper's formula gives no rate.

    Returns
    -------
    ndarray of shape (n_rates,)
        The rates η_1, …, η_M.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import learning_rates
    >>> learning_rates(10_000)
    array([0.01, 0.02, 0.04, 0.08, 0.16])
    """
    if horizon < 25:
        raise ValueError(f"horizon={horizon} gives no learning rate in line 1 of Algorithm 2: use 25 rounds or more")
    M = int(np.floor(np.log2(np.sqrt(horizon) / 5))) + 1  # Alg. 2, line 1
    return np.array([min(1 / 5, 2 ** (j - 1) / np.sqrt(horizon)) for j in range(1, M + 1)])  # Alg. 2, line 1


def best_of_both_worlds(
    losses: ArrayLike,
    horizon: int,
    static: Callable[..., Any] = HedgeVariant2,
    switching: Callable[..., Any] = FixedShareVariant,
) -> Floats:
    """Run Algorithm 2 of the paper, "A Parameter-free Reduction for Best-of-both-worlds".

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_experts)
        Losses in [-1, 1].
    horizon : int
        Number of rounds T, at least 25, for the learning rates and the share γ = 1/T of the switching algorithms.
    static : callable, default=HedgeVariant2
        ``static(n_actions, eta)`` makes the paper's A, an expert algorithm over the K·M pairs of an expert and a
        learning rate, with ``eta`` of shape (K·M,).
    switching : callable, default=FixedShareVariant
        ``switching(2, eta, gamma)`` makes one of the paper's A_ij, an expert algorithm over the actions {0, 1}.

    Returns
    -------
    ndarray of shape (n_rounds, n_experts)
        Weights p used in each round.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import best_of_both_worlds
    >>> best_of_both_worlds([[-1, 1], [-1, 1], [1, -1]], horizon=30).round(3)
    array([[0.5  , 0.5  ],
           [0.609, 0.391],
           [0.729, 0.271]])
    """
    losses = np.asarray(losses, dtype=np.float64)
    K = losses.shape[1]
    eta = learning_rates(horizon)  # Alg. 2, line 1
    M = len(eta)
    A = static(K * M, np.tile(eta, K))  # Alg. 2, line 2
    A_ij = [[switching(2, eta[j], 1 / horizon) for j in range(M)] for _ in range(K)]  # Alg. 2, line 2
    played = []
    for ell in losses:  # Alg. 2, line 3
        w = A.distribution().reshape(K, M)  # Alg. 2, line 4
        z = np.array([[a.distribution()[1] for a in row] for row in A_ij])  # Alg. 2, line 5
        p = (z * w).sum(axis=1) / (z * w).sum()  # Alg. 2, line 6
        r = p @ ell - ell  # Alg. 2, line 7
        c = -z * r[:, np.newaxis]  # Alg. 2, line 7
        A.feed(c.ravel())  # Alg. 2, line 7
        for i in range(K):
            for j in range(M):
                A_ij[i][j].feed([0, 5 * eta[j] * abs(r[i]) - r[i]])  # Alg. 2, line 8
        played.append(p)
    return np.array(played)


def mixing_past_posteriors(losses: ArrayLike, horizon: int, n_segments: int, n_distinct: int) -> Floats:
    """Run Algorithm 7 of the paper, "Mixing Past Posteriors with Doubling Trick".

    In the first round after a restart there is no past, and the sum in line 3 is empty; p is then the uniform
    distribution.

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_experts)
        Losses in [-1, 1].
    horizon : int
        Number of rounds T.
    n_segments : int
        Number S of segments of the comparator.
    n_distinct : int
        Number n of distinct experts of the comparator.

    Returns
    -------
    ndarray of shape (n_rounds, n_experts)
        Weights p used in each round.

    Examples
    --------
    >>> from ltm_sklearn.experts.reference import mixing_past_posteriors
    >>> mixing_past_posteriors([[-1, 1], [-1, 1], [1, -1]], horizon=30, n_segments=2, n_distinct=2).round(3)
    array([[0.5  , 0.5  ],
           [0.595, 0.405],
           [0.5  , 0.5  ]])
    """
    losses = np.asarray(losses, dtype=np.float64)
    T, K, S, n = horizon, losses.shape[1], n_segments, n_distinct

    def rate(D: float) -> float:
        return min(1 / 5, np.sqrt((S * np.log(T) + n * np.log(K)) / D))

    gamma, V, D, eta, p_tilde = 1 / T, 0.0, 1.0, rate(1.0), np.full(K, 1 / K)  # Alg. 7, line 1
    past: list[Floats] = []  # p̃ of the rounds t_0, …, t - 1
    played = []
    for ell in losses:  # Alg. 7, line 2
        p = (1 - gamma) * p_tilde + gamma * np.mean(past, axis=0) if past else p_tilde  # Alg. 7, line 3
        past.append(p_tilde)
        r = p @ ell - ell  # Alg. 7, line 5
        p_tilde = p * np.exp(eta * r) / (p * np.exp(eta * r)).sum()  # Alg. 7, line 5
        V = V + (p * r**2).sum()  # Alg. 7, line 6
        if V > D:  # Alg. 7, line 7
            V, past, D, eta, p_tilde = 0.0, [], 2 * D, rate(2 * D), np.full(K, 1 / K)  # Alg. 7, line 8
        played.append(p)
    return np.array(played)
