"""Model selection for River with the weights of an expert algorithm."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import metrics
from river.model_selection.base import ModelSelectionClassifier, ModelSelectionRegressor, ModelSelector

from .._typing import Floats
from ..experts import ExpertAlgorithm, expert_algorithm
from ..losses import LossRange
from ._from_sklearn import as_river_model
from ._target_checks import check_labels, check_numbers


class ExpertSelection(ModelSelector):
    """Base class of the selectors: all models learn each row, and the one with the largest weight predicts.

    Models are a list without names, which River's check of model selectors requires.

    The loss of a row is the metric of that row alone, so the metric must make sense for one row: accuracy, log loss,
    absolute or squared error, but not recall or R².
    """

    def __init__(self, models: Any, metric: metrics.base.Metric, algorithm: ExpertAlgorithm | str | None) -> None:
        super().__init__([as_river_model(model) for model in models], metric)  # type: ignore[arg-type]
        self.algorithm = algorithm
        self._weighting = expert_algorithm(algorithm)
        self._range = LossRange()
        self._row_metric = metric.clone()  #: evaluates one row at a time
        self._asleep = np.zeros(len(self), dtype=np.bool_)  #: models without a prediction in the last round

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Any:
        """Return a fresh selector with the same parameters and untrained models."""
        params = {"models": [model.clone() for model in self], **(new_params or {})}
        return super().clone(params, include_attributes)  # type: ignore[misc]

    @property
    def weights(self) -> Floats:
        """The current weights, in the order of the models."""
        return self._weighting.weights(len(self))

    @property
    def best_model(self) -> Any:
        """The model with the largest weight, of those that had a prediction in the last round."""
        return self[int((self.weights - 2.0 * self._asleep).argmax())]

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """Score the predictions of all models, update the weights, then train the models.

        If a model raises an error, the weights are unchanged, but the models before it have learned the row.
        """
        self._check_target(y)
        losses = np.empty(len(self))
        model = None
        try:
            for at, model in enumerate(self):
                losses[at] = self._loss(model, x, y)
            for model in self:
                model.learn_one(x, y)
        except Exception as error:
            error.add_note(f"raised by the model {type(model).__name__}, given the row {x!r}")
            raise
        self._asleep = ~np.isfinite(losses)
        losses[self._asleep] = np.nan
        if not self._asleep.all():
            self._weighting.update(self._range.rescale(losses[np.newaxis])[0])

    @abstractmethod
    def _check_target(self, y: Any) -> None:
        """Raise a ValueError that names an invalid target."""

    def _loss(self, model: Any, x: dict[Any, Any], y: Any) -> float:
        """Return the loss of a model in a row; NaN, so that it sleeps, where it has no prediction."""
        predict = model.predict_one
        if isinstance(self.metric, metrics.base.ClassificationMetric) and not self.metric.requires_labels:
            predict = model.predict_proba_one
        prediction = predict(x)
        if prediction is None or prediction == {}:
            return float("nan")
        value: float | None = None
        try:
            self._row_metric.update(y, prediction)
            value = self._row_metric.get()
            self._row_metric.revert(y, prediction)
        except Exception:
            self._row_metric = self.metric.clone()
            if value is None:
                raise  # otherwise the value is known, and only revert failed, which R², for example, does not support
        assert value is not None
        return -value if self.metric.bigger_is_better else value


class ExpertSelectionClassifier(ExpertSelection, ModelSelectionClassifier):
    """Model selection that predicts with the classifier of the largest weight.

    :class:`LongTermMemoryClassifier` also averages the predictions and keeps snapshots.

    Parameters
    ----------
    models
        A list of models of River or scikit-learn. River's models are trained in place, as in River's own selectors.
    metric
        Its value for one row is the loss. None: `metrics.Accuracy()`.
    algorithm
        Any of `ltm_sklearn.experts`, or its name in snake case, such as `"fixed_share"`. None: `LongTermMemory()`.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> from ltm_sklearn.river import ExpertSelectionClassifier
    >>> model = preprocessing.StandardScaler() | ExpertSelectionClassifier(
    ...     [linear_model.LogisticRegression(), naive_bayes.GaussianNB()], algorithm="fixed_share"
    ... )
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.20%
    >>> type(model["ExpertSelectionClassifier"].best_model).__name__
    'LogisticRegression'
    """

    def __init__(
        self, models: Any, metric: metrics.base.Metric | None = None, algorithm: ExpertAlgorithm | str | None = None
    ) -> None:
        super().__init__(models, metrics.Accuracy() if metric is None else metric, algorithm)

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self)

    def _check_target(self, y: Any) -> None:
        check_labels([y], self)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield from ModelSelectionClassifier._unit_test_params()


class ExpertSelectionRegressor(ExpertSelection, ModelSelectionRegressor):
    """Model selection that predicts with the regressor of the largest weight.

    :class:`LongTermMemoryRegressor` also averages the predictions and keeps snapshots.

    Parameters
    ----------
    models
        A list of models of River or scikit-learn. River's models are trained in place, as in River's own selectors.
    metric
        Its value for one row is the loss. None: `metrics.MAE()`.
    algorithm
        Any of `ltm_sklearn.experts`, or its name in snake case, such as `"fixed_share"`. None: `LongTermMemory()`.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, optim, preprocessing
    >>> from ltm_sklearn.river import ExpertSelectionRegressor
    >>> model = preprocessing.StandardScaler() | ExpertSelectionRegressor(
    ...     [linear_model.LinearRegression(optimizer=optim.SGD(lr=lr)) for lr in [1e-4, 1e-3, 1e-2]]
    ... )
    >>> evaluate.progressive_val_score(datasets.TrumpApproval(), model, metrics.MAE())
    MAE: 1.200549
    """

    def __init__(
        self, models: Any, metric: metrics.base.Metric | None = None, algorithm: ExpertAlgorithm | str | None = None
    ) -> None:
        super().__init__(models, metrics.MAE() if metric is None else metric, algorithm)

    def _check_target(self, y: Any) -> None:
        check_numbers([y])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield from ModelSelectionRegressor._unit_test_params()
