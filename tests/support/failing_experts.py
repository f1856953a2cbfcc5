"""Experts that fail in other processes, which import this module."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

BAD = 77.0  #: the first value of bad rows


class Fails(RegressorMixin, BaseEstimator):
    """Expert whose process dies, or whose model cannot be pickled, after bad rows."""

    def __init__(self, way="dies"):
        self.way = way

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y):
        if X[0, 0] == BAD:
            if self.way == "dies":
                os._exit(1)
            self.kept_ = (each for each in ())  # which no process can send
        return self

    def predict(self, X):
        return np.ones(len(X))


class Takes(RegressorMixin, BaseEstimator):
    """Expert that takes a second to learn bad rows."""

    def __init__(self, value=0.0):
        self.value = value

    def fit(self, X, y):
        return self

    def partial_fit(self, X, y):
        if X[0, 0] == BAD:
            time.sleep(1.0)
        self.n_ = getattr(self, "n_", 0) + 1
        return self

    def predict(self, X):
        return np.full(len(X), self.value)


class Demanding(Exception):
    """Error that cannot be unpickled."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code = code


class RaisesDemanding(Fails):
    def partial_fit(self, X, y):
        if X[0, 0] == BAD:
            raise Demanding(3, "no")
        return self
