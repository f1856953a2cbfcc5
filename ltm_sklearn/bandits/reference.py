"""The bandit algorithm of the paper as it prints it: one line of code for one line of pseudocode.

Read this module beside Section 4 of "Equipping Experts/Bandits with Long-term Memory" (NeurIPS 2019). The comments give
the line in the printed algorithm; all lines count, including "Input", "Define" and "Initialize". Symbols are those of
the paper, and all losses lie in [-1, 1]. :class:`~ltm_sklearn.bandits.SparseLongTermMemory` computes the same
probabilities faster and is tested against this module. Algorithms 1 and 2 are in
:mod:`ltm_sklearn.experts.reference`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["follow_the_regularised_leader", "sparse_bandit"]

Floats = NDArray[np.float64]


def follow_the_regularised_leader(losses: ArrayLike, eta: float, gamma: float, start: ArrayLike) -> Floats:
    """Return the distribution w that minimises ``w·C + ψ(w)``, line 8 of Algorithm 3, by Newton's method.

    The regulariser of line 2 is ``ψ(w) = (1/η) Σ w ln w + γ Σ ln(1/w)``.

    Parameters
    ----------
    losses : array-like of shape (n_arms,)
        Cumulative losses C of the arms.
    eta : float
        Rate η > 0.
    gamma : float
        Weight γ > 0 of the log barrier.
    start : array-like of shape (n_arms,)
        Distribution from which Newton's method starts; all entries are positive.

    Returns
    -------
    ndarray of shape (n_arms,)
        The minimiser.

    Examples
    --------
    >>> from ltm_sklearn.bandits.reference import follow_the_regularised_leader
    >>> follow_the_regularised_leader([0.0, 10.0], eta=0.1, gamma=1.0, start=[0.5, 0.5]).round(3)
    array([0.694, 0.306])
    """
    C, w = np.asarray(losses, dtype=np.float64), np.asarray(start, dtype=np.float64)
    for _ in range(1_000):
        gradient = C + (np.log(w) + 1) / eta - gamma / w
        hessian = 1 / (eta * w) + gamma / w**2  # diagonal
        multiplier = (gradient / hessian).sum() / (1 / hessian).sum()  # keeps Σ w = 1
        step = (multiplier - gradient) / hessian
        size = np.abs(step / w).max()
        w = w + step / (1 + size if size > 0.1 else 1)  # damped: no weight becomes negative
        if size < 1e-14:
            break
    return np.asarray(w / w.sum())


def sparse_bandit(
    losses: ArrayLike,
    eta: float,
    gamma: float,
    delta: float,
    sample: Callable[[Floats], int],
) -> tuple[Floats, NDArray[np.intp]]:
    """Run Algorithm 3 of the paper, "A Sparse MAB Algorithm with Long-term Memory".

    Parameters
    ----------
    losses : array-like of shape (n_rounds, n_arms)
        Losses in [-1, 1]; only those of the sampled arms are used.
    eta : float
        Rate η; at most 1/500 for the theorem.
    gamma : float
        Weight γ of the log barrier; 200 K² for the theorem.
    delta : float
        Least confidence δ in (0, 1].
    sample : callable
        ``sample(probabilities)`` returns the index of an arm, drawn with these probabilities.

    Returns
    -------
    probabilities : ndarray of shape (n_rounds, n_arms)
        Probabilities with which the arm of each round was sampled.
    arms : ndarray of shape (n_rounds,)
        Sampled arms.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.bandits.reference import sparse_bandit
    >>> rng = np.random.default_rng(0)
    >>> losses = np.tile([0.0, -1.0, 0.0], (300, 1))
    >>> probabilities, arms = sparse_bandit(losses, 0.1, 1.0, 0.1, lambda p: rng.choice(3, p=p))
    >>> probabilities[[0, -1]].round(2)
    array([[0.33, 0.33, 0.33],
           [0.04, 0.93, 0.04]])
    """
    losses = np.asarray(losses, dtype=np.float64)
    K = losses.shape[1]
    w, z, C = np.full(K, 1 / K), np.ones(K), np.zeros(K)  # Alg. 3, line 3
    probabilities, arms = [], []
    for ell in losses:  # Alg. 3, line 4
        p = z * w / (z * w).sum()  # Alg. 3, line 5
        p_tilde = (1 - eta) * p + eta / K  # Alg. 3, line 5
        I = sample(p_tilde)  # Alg. 3, line 6  # noqa: E741
        ell_hat = np.where(np.arange(K) == I, ell[I] / p_tilde[I], 0.0)  # Alg. 3, line 6
        r = p @ ell_hat - ell_hat  # Alg. 3, line 7
        c = -z * r - eta * z * ell_hat**2  # Alg. 3, line 7
        C = C + c  # Alg. 3, line 8: the sum of the losses fed to A
        w = follow_the_regularised_leader(C, eta, gamma, start=w)  # Alg. 3, line 8
        L = 1 / (eta * z) - r  # the slope of line 9 without φ, as in the proof of Lemma 14
        z = np.clip(1 / (eta * np.maximum(L, 1 / eta)), delta, 1)  # Alg. 3, line 9: argmin of L z + φ(z) on [δ, 1]
        probabilities.append(p_tilde)
        arms.append(I)
    return np.array(probabilities), np.array(arms, dtype=np.intp)
