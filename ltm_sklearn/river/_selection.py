"""The expert algorithms behind the interface of River's model selection."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from river import metrics
from river.model_selection.base import ModelSelectionClassifier, ModelSelectionRegressor, ModelSelector
from sklearn.base import clone

from .._typing import Floats
from ..experts import ExpertAlgorithm, LongTermMemory
from ..losses import LossRange
from ._from_sklearn import as_river_model
from ._targets import check_labels, check_numbers


class _Selection(ModelSelector):
    """What the two share: all models learn each row, and the one with the largest weight predicts.

    The loss of a row is what the metric says of that row alone, so it must be one that means something for one row:
    accuracy, log loss, absolute or squared error, but not a recall or an R².
    """

    def __init__(self, models: Any, metric: metrics.base.Metric, algorithm: ExpertAlgorithm | None) -> None:
        models = [as_river_model(model) for model in models]
        super().__init__(models, metric)
        if not (algorithm is None or isinstance(algorithm, ExpertAlgorithm)):
            raise ValueError(f"algorithm={algorithm!r} is no expert algorithm of ltm_sklearn.experts")
        self.algorithm = algorithm
        self._weighting = LongTermMemory() if algorithm is None else clone(algorithm)
        self._range = LossRange()
        self._of_row = metric.clone()  #: what it says of one row at a time
        self._silent = np.zeros(len(self), dtype=np.bool_)  #: who had no answer in the last round

    def clone(self, new_params: dict[str, Any] | None = None, include_attributes: bool = False) -> Any:
        """A fresh selector with the same parameters and untrained models."""
        fresh = {"models": [model.clone() for model in self.models], **(new_params or {})}
        return super().clone(fresh, include_attributes)  # type: ignore[misc]

    @property
    def weights(self) -> Floats:
        """The models' weights now."""
        return self._weighting.weights(len(self))

    @property
    def best_model(self) -> Any:
        """The model with the largest weight, of those that had an answer when last asked."""
        return self[int((self.weights - 2.0 * self._silent).argmax())]

    def learn_one(self, x: dict[Any, Any], y: Any) -> None:
        """All models are charged for the row, and learn it.

        A model that raises ends this: weights are as before, but the models before it have learned the row.
        """
        self._check_target(y)
        losses = np.empty(len(self))
        asked = None
        try:
            for at, asked in enumerate(self):
                losses[at] = self._loss(asked, x, y)
            for asked in self:
                asked.learn_one(x, y)
        except Exception as error:
            error.add_note(f"raised by the model {type(asked).__name__}, given the row {x!r}")
            raise
        self._silent = ~np.isfinite(losses)
        losses[self._silent] = np.nan
        if not self._silent.all():
            self._weighting.update(self._range.rescale(losses[np.newaxis])[0])

    @abstractmethod
    def _check_target(self, y: Any) -> None:
        """Raise a ValueError that names a target that is none."""

    def _loss(self, model: Any, x: dict[Any, Any], y: Any) -> float:
        """NaN, and so asleep, where a model has nothing to say yet."""
        predict = model.predict_one
        if isinstance(self.metric, metrics.base.ClassificationMetric) and not self.metric.requires_labels:
            predict = model.predict_proba_one
        said = predict(x)
        if said is None or said == {}:
            return float("nan")
        value: float | None = None
        try:
            self._of_row.update(y, said)
            value = self._of_row.get()
            self._of_row.revert(y, said)
        except Exception:
            self._of_row = self.metric.clone()
            if value is None:
                raise  # otherwise the row's value is known, and the metric only could not go back, as R² cannot
        assert value is not None
        return -value if self.metric.bigger_is_better else value


class ExpertSelectionClassifier(_Selection, ModelSelectionClassifier):
    """Predicts with the classifier that an expert algorithm trusts most now.

    Beside River's other ways to select a model; :class:`LongTermMemoryClassifier` also averages and remembers.

    Parameters
    ----------
    models
        The models to select from, River's or scikit-learn's; River's are trained in place, as by its own selectors.
    metric
        What it says of one row is the loss: `metrics.Accuracy()` if not given.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`.

    Examples
    --------
    >>> from river import datasets, evaluate, linear_model, metrics, naive_bayes, preprocessing
    >>> from ltm_sklearn.experts import FixedShare
    >>> from ltm_sklearn.river import ExpertSelectionClassifier
    >>> model = preprocessing.StandardScaler() | ExpertSelectionClassifier(
    ...     [linear_model.LogisticRegression(), naive_bayes.GaussianNB()], algorithm=FixedShare()
    ... )
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    Accuracy: 89.20%
    >>> type(model["ExpertSelectionClassifier"].best_model).__name__
    'LogisticRegression'
    """

    def __init__(
        self, models: Any, metric: metrics.base.Metric | None = None, algorithm: ExpertAlgorithm | None = None
    ) -> None:
        super().__init__(models, metrics.Accuracy() if metric is None else metric, algorithm)

    @property
    def _multiclass(self) -> bool:
        return all(model._multiclass for model in self)

    def _check_target(self, y: Any) -> None:
        check_labels([y], self.models)

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield from ModelSelectionClassifier._unit_test_params()


class ExpertSelectionRegressor(_Selection, ModelSelectionRegressor):
    """Predicts with the regressor that an expert algorithm trusts most now.

    Beside River's other ways to select a model; :class:`LongTermMemoryRegressor` also averages and remembers.

    Parameters
    ----------
    models
        The models to select from, River's or scikit-learn's; River's are trained in place, as by its own selectors.
    metric
        What it says of one row is the loss: `metrics.MAE()` if not given.
    algorithm
        Any of `ltm_sklearn.experts`. None: `LongTermMemory()`.

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
        self, models: Any, metric: metrics.base.Metric | None = None, algorithm: ExpertAlgorithm | None = None
    ) -> None:
        super().__init__(models, metrics.MAE() if metric is None else metric, algorithm)

    def _check_target(self, y: Any) -> None:
        check_numbers([y])

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield from ModelSelectionRegressor._unit_test_params()
