"""Experts that fail in other processes, which import them from here."""

import os
import time

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

BAD = 77.0  #: the first value of rows that they cannot bear


class Fails(RegressorMixin, BaseEstimator):
    """In a way of its own, when it learns bad rows."""

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
    """Its time to learn such rows."""

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
    """Which cannot be unpickled."""

    def __init__(self, code, why):
        super().__init__(why)
        self.code = code


class RaisesDemanding(Fails):
    def partial_fit(self, X, y):
        if X[0, 0] == BAD:
            raise Demanding(3, "no")
        return self
