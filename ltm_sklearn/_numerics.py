"""Normalisation of weights along the last axis."""

from __future__ import annotations

import numpy as np

from ._typing import Floats

#: A sum of weights that is not larger than this counts as zero.
TINY = 1e-300


def normalise(weights: Floats) -> Floats:
    """Scale weights to sum to one along the last axis; where their sum is zero, return uniform weights."""
    total = weights.sum(axis=-1, keepdims=True)
    is_positive = ~(total <= TINY)  # not `>`, which would hide a NaN
    if is_positive.all():
        return weights / total
    return np.divide(weights, total, out=np.full_like(weights, 1.0 / weights.shape[-1]), where=is_positive)


def softmax(log_weights: Floats) -> Floats:
    """Return the softmax of log weights along the last axis."""
    weights: Floats = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def restrict_to_awake(weights: Floats, confidence: Floats) -> Floats:
    """Return ``p(i) ∝ z(i) w(i)`` along the last axis: the weights in use when the experts have confidences ``z``.

    If all experts with positive confidence have weight zero, the result is proportional to the confidences. If all
    experts sleep, or all have confidence 1, the weights are returned unchanged.
    """
    largest = confidence.max(axis=-1, keepdims=True)
    relative = confidence / np.where(largest > 0.0, largest, 1.0)
    shares = relative * weights
    restricted = normalise(np.where(shares.sum(axis=-1, keepdims=True) > TINY, shares, relative))
    is_unchanged = (confidence == 1.0).all(axis=-1, keepdims=True) | (largest == 0.0)
    return np.where(is_unchanged, weights, restricted)
