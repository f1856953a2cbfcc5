"""The base of the adapters for scikit-learn estimators: rows that come one by one are gathered in batches."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from river import base
from river.utils import dataframe
from sklearn import config_context
from sklearn.base import clone

from .._frames import as_list
from .._param_checks import check_count
from .._typing import Floats
from ..ensemble import SlidingWindow, is_frozen, takes_nan, takes_sample_weight
from ._features import FeatureColumns, Row
from ._row_batch import checked_weights


class BatchedEstimator(base.Estimator):
    """Base class of the adapters: trains an estimator whenever a batch of rows has been gathered."""

    _model: Any  #: the estimator that is trained; None before the first batch

    def __init__(self, estimator: Any, batch_size: int) -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        check_count("batch_size", batch_size)
        if is_frozen(estimator):
            raise ValueError(f"estimator={estimator!r} is frozen: it cannot be trained")
        self._weighted = takes_sample_weight(estimator)
        self._features = FeatureColumns(takes_nan(estimator))
        self._waiting: list[tuple[Row, Any, float]] = []
        self._model = None

    @abstractmethod
    def _check_targets(self, y: list[Any]) -> None:
        """Raise a ValueError that names an invalid target."""

    @abstractmethod
    def _train(self, X: Floats, y: Any, weights: Floats) -> None:
        """Train the estimator on a batch."""

    def _count_targets(self, y: list[Any]) -> None:
        """Count targets as they come, before the estimator is trained on them."""

    def _add_row(self, x: Row, y: Any, w: float) -> None:
        if type(w) is not float or w != 1.0:
            w = float(checked_weights(w, 1)[0])
        self._check_targets([y])
        self._features.check(x)
        if w > 0.0:
            self._waiting.append((dict(x), y, w))
            self._count_targets([y])
            if len(self._waiting) >= self.batch_size:
                self._train_waiting()

    def _train_waiting(self) -> None:
        rows, y, weights = (list(part) for part in zip(*self._waiting, strict=True))
        self._waiting = []  # also after an error: a bad batch is not tried again
        features = self._features.fixed(rows)
        if features.names:
            self._train(features.matrix(rows), y, np.array(weights))
            self._features = features

    def _add_frame(self, X: Any, y: Any, w: Any) -> None:
        frame, y = dataframe.into_frame(X), as_list(y, "y")
        if len(y) != len(frame):
            raise ValueError(f"there are {len(frame)} rows and {len(y)} targets")
        weights = checked_weights(w, len(y))
        self._check_targets(y)
        features = self._features.fixed([x for x, _, _ in self._waiting]).fixed([frame.columns])
        matrix = features.matrix_of_frame(frame)
        if self._waiting:
            self._train_waiting()
        if weights.any():
            weighted = np.flatnonzero(weights)
            y = [y[at] for at in weighted]
            self._count_targets(y)
            self._train(matrix[weighted], y, weights[weighted])
            self._features = features

    def _partial_fit(self, model: Any, X: Floats, y: Any, weights: Floats, **params: Any) -> Any:
        if self._weighted and (weights != 1.0).any():
            params["sample_weight"] = weights
        with self._without_repeated_checks():
            return model.partial_fit(X, y, **params)

    def _fresh(self) -> Any:
        fresh = clone(self.estimator)
        return fresh if hasattr(fresh, "partial_fit") else SlidingWindow(fresh)

    def _without_repeated_checks(self) -> Any:
        """Return a context in which the estimator does not check rows again, nor parameters after the first batch."""
        checked = not self._features.allow_nan
        return config_context(assume_finite=checked, skip_parameter_validation=self._model is not None)

    def _query(self, method: str, x: Row) -> Any:
        """Return the prediction of the estimator for a row."""
        self._features.check(x)
        with self._without_repeated_checks():
            return getattr(self._model, method)(self._features.matrix([x]))[0]

    def _query_frame(self, method: str, frame: Any) -> Any:
        matrix = self._features.matrix_of_frame(frame)
        with self._without_repeated_checks():
            return getattr(self._model, method)(matrix)

    def _unit_test_skips(self) -> set[str]:
        # A frame is one batch; rows that come one by one are gathered in batches of another size.
        return {"check_learn_many_matches_learn_one"}
