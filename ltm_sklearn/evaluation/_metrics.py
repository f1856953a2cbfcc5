"""Metrics of one model over a whole run, in constant memory."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from .._typing import Floats

SMALLEST_PROBABILITY = float(np.finfo(np.float64).eps)  #: to which scikit-learn's log_loss clips, too


class ClassificationMetrics:
    """Accuracy, Cohen's kappa, kappa-M and log loss of one model; rows without a prediction do not count."""

    def __init__(self) -> None:
        self._n_right = 0
        self._predicted: Counter[Any] = Counter()
        self._true: Counter[Any] = Counter()
        self._log_loss, self._n_probabilities = 0.0, 0

    def add(self, y: list[Any], predictions: list[Any], probabilities: Floats | None) -> Floats:
        """Update the metrics; return the loss of each row, 1 for a mistake and NaN without a prediction."""
        pairs = list(zip(predictions, y, strict=True))
        for (prediction, label), count in Counter(pairs).items():
            if prediction is not None:
                self._n_right += count * (prediction == label)
                self._predicted[prediction] += count
                self._true[label] += count
        if probabilities is not None:
            known = probabilities[~np.isnan(probabilities)]
            self._log_loss -= float(np.log(np.clip(known, SMALLEST_PROBABILITY, 1.0)).sum())
            self._n_probabilities += len(known)
        return np.array([np.nan if prediction is None else float(prediction != label) for prediction, label in pairs])

    def summary(self, majority_accuracy: float) -> dict[str, float]:
        """Return the metrics; ``majority_accuracy`` is the accuracy of predicting the most frequent class so far."""
        n_rows = self._true.total()
        accuracy = _ratio(self._n_right, n_rows)
        by_chance = _ratio(sum(self._predicted[label] * count for label, count in self._true.items()), n_rows**2)
        return {
            "rows": n_rows,
            "accuracy": accuracy,
            "kappa": _ratio(accuracy - by_chance, 1.0 - by_chance),
            "kappa_m": _ratio(accuracy - majority_accuracy, 1.0 - majority_accuracy),
            "log_loss": _ratio(self._log_loss, self._n_probabilities),
        }


class RegressionMetrics:
    """Mean absolute and root mean squared error of one model; rows without a finite prediction do not count."""

    def __init__(self) -> None:
        self._n_rows, self._absolute, self._squared = 0, 0.0, 0.0

    def add(self, y: list[Any], predictions: list[Any], probabilities: Floats | None) -> Floats:
        """Update the metrics; return the absolute error of each row, NaN without a finite prediction."""
        predicted = np.array([np.nan if each is None else each for each in predictions], dtype=np.float64)
        losses = np.abs(predicted - np.array(y, dtype=np.float64))
        losses[np.isinf(losses)] = np.nan
        known = losses[~np.isnan(losses)]
        self._n_rows += len(known)
        self._absolute += float(known.sum())
        self._squared += float(known @ known)
        return losses

    def summary(self, majority_accuracy: float) -> dict[str, float]:
        """Return the metrics; ``majority_accuracy`` is for classes only."""
        return {
            "rows": self._n_rows,
            "mae": _ratio(self._absolute, self._n_rows),
            "rmse": math.sqrt(_ratio(self._squared, self._n_rows)),
        }


class MajorityClass:
    """Accuracy of predicting the most frequent class among the labels learned so far."""

    def __init__(self) -> None:
        self._counts: Counter[Any] = Counter()
        self._n_right, self._n_rows = 0, 0

    def predict(self, y: list[Any]) -> None:
        """Predict rows and compare with their labels, which are not learned yet."""
        if self._counts:
            [(label, _)] = self._counts.most_common(1)
            self._n_right += y.count(label)
            self._n_rows += len(y)

    def learn(self, y: list[Any]) -> None:
        """Count labels."""
        self._counts.update(y)

    @property
    def accuracy(self) -> float:
        """Share of correct predictions; NaN without any."""
        return _ratio(self._n_right, self._n_rows)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
