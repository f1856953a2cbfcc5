"""The classifier and the regressor for River."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import base, linear_model, naive_bayes, preprocessing

from ..losses import ClassScore, TargetScore
from ._base import RiverEnsemble


class LongTermMemoryClassifier(RiverEnsemble, base.Classifier):
    """Weights classifiers by how they fare, and remembers those of concepts that went away.

    Parameters
    ----------
    models
        River's classifiers. They stay as they are: copies of them are trained.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`.
    loss
        What the experts are charged: "auto" (mistakes), "zero_one", "brier", "log", or a function.
    combine
        "average", "leader" or "sample".
    memory
        "auto", `Snapshots(...)` or None.
    on_error
        Whether an expert that fails sleeps with a warning ("warn"), or its error is raised ("raise").
    record
        How many records of rounds to keep in `history_`.
    seed
        Of the draws of `combine="sample"`.

    Examples
    --------
    >>> from river import evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryClassifier
    >>> from ltm_sklearn.streams import stagger
    >>> model = LongTermMemoryClassifier([
    ...     naive_bayes.GaussianNB(),
    ...     preprocessing.StandardScaler() | linear_model.LogisticRegression(),
    ... ])
    >>> stream = stagger(order="random", length=250, n_segments=8, seed=0)
    >>> evaluate.progressive_val_score(stream, model, metrics.Accuracy())
    Accuracy: 91.05%
    """

    _classes: dict[Any, int]

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self)

    def learn_one(self, x: dict[Any, Any], y: Any, w: float | None = None) -> None:
        """A round: the experts predict the row, are charged, and learn it."""
        self._learn([x], [y], w)

    def predict_proba_one(self, x: dict[Any, Any], **kwargs: Any) -> dict[Any, float]:
        """Class probabilities; before anything is known, none, or even ones where there are two classes by nature."""
        if not hasattr(self, "_engine"):
            return {} if self._multiclass else {False: 0.5, True: 0.5}
        score: Any = self._engine.score
        probabilities = score.normalised(self._issue([x]).mixture)[0]
        return dict(zip(self._classes, probabilities.tolist(), strict=True))

    def _score(self) -> ClassScore:
        self._classes = {} if self._multiclass else {False: 0, True: 1}
        return ClassScore(self.loss, len(self._classes))

    def _check_targets(self, y: list[Any]) -> None:
        for label in y:
            if label is None or (isinstance(label, float) and math.isnan(label)):
                raise ValueError(f"the label is {label!r}")

    def _targets(self, y: list[Any]) -> Any:
        for label in y:
            self._classes.setdefault(label, len(self._classes))
        self._engine.score.grow(len(self._classes))  # type: ignore[union-attr]
        return np.array([self._classes[label] for label in y])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        scaled = preprocessing.StandardScaler() | linear_model.LogisticRegression()
        yield {"models": [scaled, naive_bayes.GaussianNB()]}


class LongTermMemoryRegressor(RiverEnsemble, base.Regressor):
    """Weights regressors by how they fare, and remembers those of concepts that went away.

    Parameters
    ----------
    models
        River's regressors. They stay as they are: copies of them are trained.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`.
    loss
        "auto" (squared), "squared", "absolute", "pinball", or a function.
    combine
        "average", "leader" or "sample".
    memory
        "auto", `Snapshots(...)` or None.
    on_error
        Whether an expert that fails sleeps with a warning ("warn"), or its error is raised ("raise").
    record
        How many records of rounds to keep in `history_`.
    seed
        Of the draws of `combine="sample"`.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, preprocessing
    >>> from ltm_sklearn.river import LongTermMemoryRegressor
    >>> model = preprocessing.StandardScaler() | LongTermMemoryRegressor([
    ...     linear_model.LinearRegression(intercept_lr=0.1),
    ...     linear_model.PARegressor(),
    ... ])
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 0.476597
    """

    def learn_one(self, x: dict[Any, Any], y: float, w: float | None = None) -> None:
        """A round: the experts predict the row, are charged, and learn it."""
        self._learn([x], [y], w)

    def predict_one(self, x: dict[Any, Any]) -> float:
        """The experts' combined prediction; 0 before anything is known."""
        if not hasattr(self, "_engine"):
            return 0.0
        return float(self._issue([x]).mixture[0, 0])

    def _score(self) -> TargetScore:
        return TargetScore(self.loss, average=self.combine == "average")

    def _check_targets(self, y: list[Any]) -> None:
        for target in y:
            if target is None or not math.isfinite(target):
                raise ValueError(f"the target is {target!r}")

    def _targets(self, y: list[Any]) -> Any:
        return np.array(y, dtype=np.float64)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {
            "models": [
                preprocessing.StandardScaler() | linear_model.LinearRegression(intercept_lr=0.1),
                preprocessing.StandardScaler() | linear_model.PARegressor(),
            ]
        }
