"""Tables of forecasts, and mixtures of them."""

import numpy as np
import pandas as pd

from ltm_sklearn import ExpertMixture


def returning(n_rows=1200, n_experts=4, length=150, seed=0):
    """Forecasts of which one is accurate in each segment, three in turns, again and again."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n_rows).cumsum()
    good = np.arange(n_rows) // length % min(3, n_experts)
    noise = np.where(np.arange(n_experts) == good[:, np.newaxis], 0.1, 2.0)
    return y[:, np.newaxis] + noise * rng.normal(size=(n_rows, n_experts)), y


def sleepy(X, share=0.3, seed=0):
    """Replace a share of the forecasts by NaN, but none in the first column."""
    X = X.copy()
    X[:, 1:][np.random.default_rng(seed).random(X[:, 1:].shape) < share] = np.nan
    return X


def frame(X, **columns):
    """A table with a column for each expert, and further columns."""
    names = [f"model {at}" for at in range(X.shape[1])]
    return pd.DataFrame(X, columns=names).assign(**columns)


def fitted(X, y, **parameters):
    """A mixture that has recorded all rows."""
    return ExpertMixture(record=10_000, **parameters).fit(X, y)


def issued(mixture, **which):
    """Predictions of each row, as issued."""
    return mixture.run_record(**which).predictions
