"""Baselines that ignore the features; every useful model beats them."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


class LastTarget:
    """Baseline that predicts the last known target; it is hard to beat where equal targets follow one another."""

    def partial_fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Remember the last target."""
        self._last = y[-1]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the last target for each row."""
        return np.full(len(X), self._last)


class MostFrequent:
    """Baseline that predicts the most frequent class so far, with the class frequencies as probabilities."""

    classes_: NDArray[Any]

    def partial_fit(self, X: Any, y: NDArray[Any], classes: NDArray[Any] | None = None) -> Self:
        """Count labels; the first call needs all classes."""
        if classes is not None:
            self.classes_, self._counts = classes, Counter[Any]()
        self._counts.update(y.tolist())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the most frequent class for each row."""
        return np.full(len(X), max(self._counts, key=self._counts.__getitem__))

    def predict_proba(self, X: Any) -> Floats:
        """Return the class frequencies for each row; each class is counted once in advance."""
        counts = np.array([1.0 + self._counts[label] for label in self.classes_.tolist()])
        return np.tile(counts / counts.sum(), (len(X), 1))


class RunningMean:
    """Baseline that predicts the mean of all targets so far."""

    def __init__(self) -> None:
        self._n_rows, self._mean = 0, 0.0

    def partial_fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Update the mean."""
        self._n_rows += len(y)
        self._mean += (float(np.mean(y)) - self._mean) * len(y) / self._n_rows
        return self

    def predict(self, X: Any) -> Floats:
        """Return the mean for each row."""
        return np.full(len(X), self._mean)
