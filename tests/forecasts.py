"""Tables of forecasts to test with."""

import numpy as np


def returning(n_rows=1200, n_experts=4, length=150, seed=0):
    """Forecasts of which one is good, another one in each segment, three in all, again and again."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows).cumsum()
    good = np.arange(n_rows) // length % min(3, n_experts)
    noise = np.where(np.arange(n_experts) == good[:, np.newaxis], 0.1, 2.0)
    return y[:, np.newaxis] + noise * rng.normal(size=(n_rows, n_experts)), y


def sleepy(X, share=0.3, seed=0):
    """The same with NaN here and there, but never in the first column."""
    X = X.copy()
    X[:, 1:][np.random.default_rng(seed).random(X[:, 1:].shape) < share] = np.nan
    return X
