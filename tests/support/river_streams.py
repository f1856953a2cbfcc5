"""Models of River for tests of frames, ids and selection."""

from river import (
    linear_model,
    preprocessing,
)


def scaled_logistic():
    return preprocessing.StandardScaler() | linear_model.LogisticRegression()


def scaled_linear():
    return preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1)
