"""Normalisation of weights along the last axis."""

from __future__ import annotations

import numpy as np

from ._typing import Floats

#: Below this a sum of weights counts as zero.
TINY = 1e-300


def normalise(weights: Floats) -> Floats:
    """Scale the last axis to sum to one; uniform where nothing is left."""
    total = weights.sum(axis=-1, keepdims=True)
    left = ~(total <= TINY)  # not `>`, which would hide a NaN
    if left.all():
        return weights / total
    return np.divide(weights, total, out=np.full_like(weights, 1.0 / weights.shape[-1]), where=left)


def softmax(log_weights: Floats) -> Floats:
    """Normalised exponentials along the last axis."""
    weights: Floats = np.exp(log_weights - log_weights.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def restrict(weights: Floats, confidence: Floats) -> Floats:
    """``p(i) ∝ z(i) w(i)`` along the last axis: what is played when the experts have confidences ``z``.

    If all confident experts have weight zero the confidences alone decide; where all sleep, or all are fully awake,
    the weights stay as they are.
    """
    largest = confidence.max(axis=-1, keepdims=True)
    relative = confidence / np.where(largest > 0.0, largest, 1.0)
    shares = relative * weights
    played = normalise(np.where(shares.sum(axis=-1, keepdims=True) > TINY, shares, relative))
    plain = (confidence == 1.0).all(axis=-1, keepdims=True) | (largest == 0.0)
    return np.where(plain, weights, played)
