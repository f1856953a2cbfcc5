"""Scores of one model over a whole run, in constant memory."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from .._typing import Floats

SMALLEST_CHANCE = float(np.finfo(np.float64).eps)  #: as scikit-learn's log_loss has it


class ClassScores:
    """Accuracy, the two kappas, log loss. Rows without an answer do not count."""

    def __init__(self) -> None:
        self._right = 0
        self._said: Counter[Any] = Counter()
        self._true: Counter[Any] = Counter()
        self._surprise, self._n_chances = 0.0, 0

    def add(self, y: list[Any], answers: list[Any], chances: Floats | None) -> Floats:
        """Take in rows; returns what each is charged: 1 for a mistake, NaN if there is no answer."""
        pairs = list(zip(answers, y, strict=True))
        for (answer, label), count in Counter(pairs).items():
            if answer is not None:
                self._right += count * (answer == label)
                self._said[answer] += count
                self._true[label] += count
        if chances is not None:
            known = chances[~np.isnan(chances)]
            self._surprise -= float(np.log(np.clip(known, SMALLEST_CHANCE, 1.0)).sum())
            self._n_chances += len(known)
        return np.array([np.nan if answer is None else float(answer != label) for answer, label in pairs])

    def summary(self, majority: float) -> dict[str, float]:
        """The scores; ``majority`` is the accuracy of saying the most frequent class so far."""
        n_rows = self._true.total()
        accuracy = _ratio(self._right, n_rows)
        by_chance = _ratio(sum(self._said[label] * count for label, count in self._true.items()), n_rows**2)
        return {
            "rows": n_rows,
            "accuracy": accuracy,
            "kappa": _ratio(accuracy - by_chance, 1.0 - by_chance),
            "kappa_m": _ratio(accuracy - majority, 1.0 - majority),
            "log_loss": _ratio(self._surprise, self._n_chances),
        }


class NumberScores:
    """Mean absolute and root mean squared error. Rows without an answer do not count."""

    def __init__(self) -> None:
        self._n_rows, self._absolute, self._squared = 0, 0.0, 0.0

    def add(self, y: list[Any], answers: list[Any], chances: Floats | None) -> Floats:
        """Take in rows; returns what each is charged: the absolute error, NaN if there is no answer."""
        said = np.array([np.nan if answer is None else answer for answer in answers], dtype=np.float64)
        losses = np.abs(said - np.array(y, dtype=np.float64))
        losses[np.isinf(losses)] = np.nan  # infinity is no answer
        known = losses[~np.isnan(losses)]
        self._n_rows += len(known)
        self._absolute += float(known.sum())
        self._squared += float(known @ known)
        return losses

    def summary(self) -> dict[str, float]:
        """The scores."""
        return {
            "rows": self._n_rows,
            "mae": _ratio(self._absolute, self._n_rows),
            "rmse": math.sqrt(_ratio(self._squared, self._n_rows)),
        }


class Majority:
    """Says the most frequent class of those it has learned."""

    def __init__(self) -> None:
        self._seen: Counter[Any] = Counter()
        self._right, self._n_rows = 0, 0

    def predict(self, y: list[Any]) -> None:
        """Take in rows that are not learned yet."""
        if self._seen:
            [(label, _)] = self._seen.most_common(1)
            self._right += y.count(label)
            self._n_rows += len(y)

    def learn(self, y: list[Any]) -> None:
        """Rows more."""
        self._seen.update(y)

    @property
    def accuracy(self) -> float:
        """Share of right answers."""
        return _ratio(self._right, self._n_rows)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan
