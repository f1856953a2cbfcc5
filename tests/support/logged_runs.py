"""A fitted model with the log of its run."""

import numpy as np
from sklearn.linear_model import SGDRegressor

from ltm_sklearn import LongTermMemoryRegressor


def logged_run(path):
    """Return a regressor that was fitted to 1,200 rows in two recurring regimes, with its log at this path."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1200, 2))
    y = np.where(np.arange(1200) // 300 % 2 == 0, X @ [1.0, -1.0], X @ [-2.0, 1.0])
    experts = [(f"sgd{at}", SGDRegressor(eta0=0.01 * at, random_state=0)) for at in (1, 3)]
    return LongTermMemoryRegressor(experts, batch_size=10, record=path).fit(X, y)
