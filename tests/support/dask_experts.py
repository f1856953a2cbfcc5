"""Experts for the tests on Dask's workers, which import them from here."""

import copy
import threading
import time
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB


class Sluggish(GaussianNB):
    """Naive Bayes that dawdles while a file exists: for ``seconds`` before it learns or predicts, or one of these."""

    def __init__(self, flag="", seconds=1.0, while_it="", priors=None, var_smoothing=1e-9):
        super().__init__(priors=priors, var_smoothing=var_smoothing)
        self.flag = flag
        self.seconds = seconds
        self.while_it = while_it

    def _dawdle(self, does):
        if self.while_it in ("", does) and Path(self.flag).exists():
            time.sleep(self.seconds)

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        self._dawdle("learns")
        return super().partial_fit(X, y, classes, sample_weight)

    def predict_proba(self, X):
        self._dawdle("predicts")
        return super().predict_proba(X)


class Refusing(GaussianNB):
    """Naive Bayes that refuses rows whose first number is above 100."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        if np.max(X[:, 0]) > 100.0:
            raise ValueError("too large for me")
        return super().partial_fit(X, y, classes, sample_weight)


class Locked(GaussianNB):
    """Naive Bayes that cannot be pickled once it has learned."""

    def partial_fit(self, X, y, classes=None, sample_weight=None):
        super().partial_fit(X, y, classes, sample_weight)
        self.lock_ = threading.Lock()
        return self


def copied_slowly(model):
    """A copy, after a second."""
    time.sleep(1.0)
    return copy.deepcopy(model)
