"""What every model should beat: models that look at no feature."""

from __future__ import annotations

from collections import Counter
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


class LastTarget:
    """Says the last target it was told: hard to beat where targets come in runs."""

    def partial_fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Take in rows."""
        self._last = y[-1]
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The last target, for each row."""
        return np.full(len(X), self._last)


class MostFrequent:
    """Says the most frequent class so far, and how frequent each has been."""

    classes_: NDArray[Any]

    def partial_fit(self, X: Any, y: NDArray[Any], classes: NDArray[Any] | None = None) -> Self:
        """Take in rows; the first time with all classes."""
        if classes is not None:
            self.classes_, self._seen = classes, Counter[Any]()
        self._seen.update(y.tolist())
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """That class, for each row."""
        return np.full(len(X), max(self._seen, key=self._seen.__getitem__))

    def predict_proba(self, X: Any) -> Floats:
        """Shares of the classes, one row of each counted in advance."""
        counts = np.array([1.0 + self._seen[label] for label in self.classes_.tolist()])
        return np.tile(counts / counts.sum(), (len(X), 1))


class RunningMean:
    """Says the mean of all targets so far."""

    def __init__(self) -> None:
        self._n, self._mean = 0, 0.0

    def partial_fit(self, X: Any, y: NDArray[Any]) -> Self:
        """Take in rows."""
        self._n += len(y)
        self._mean += (float(np.mean(y)) - self._mean) * len(y) / self._n
        return self

    def predict(self, X: Any) -> Floats:
        """That mean, for each row."""
        return np.full(len(X), self._mean)
