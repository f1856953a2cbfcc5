"""Rows that come one by one are gathered for estimators that want batches."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from river import base
from river.utils import dataframe
from sklearn import config_context
from sklearn.base import clone

from .._frames import listed
from .._param_checks import check_count
from .._typing import Floats
from ..ensemble import SlidingWindow, is_frozen, takes_nan, takes_sample_weight
from ._features import Features, Row
from ._rows import checked_weights


class InBatches(base.Estimator):
    """Base of the two: trains an estimator when enough rows have come for a batch."""

    _model: Any  #: the estimator that is trained; None before the first batch

    def __init__(self, estimator: Any, batch_size: int) -> None:
        self.estimator = estimator
        self.batch_size = batch_size
        check_count("batch_size", batch_size)
        if is_frozen(estimator):
            raise ValueError(f"estimator={estimator!r} is frozen: it cannot learn")
        self._weighted = takes_sample_weight(estimator)
        self._features = Features(takes_nan(estimator))
        self._waiting: list[tuple[Row, Any, float]] = []
        self._model = None

    @abstractmethod
    def _check_targets(self, y: list[Any]) -> None:
        """Raise a ValueError that names a target that is none."""

    @abstractmethod
    def _train(self, X: Floats, y: Any, weights: Floats) -> None:
        """Train the estimator on a batch."""

    def _saw(self, y: list[Any]) -> None:
        """Hear of targets as they come, before they are trained on."""

    def _take_in(self, x: Row, y: Any, w: float) -> None:
        if type(w) is not float or w != 1.0:
            w = float(checked_weights(w, 1)[0])
        self._check_targets([y])
        self._features.check(x)
        if w > 0.0:
            self._waiting.append((dict(x), y, w))
            self._saw([y])
            if len(self._waiting) >= self.batch_size:
                self._learn_waiting()

    def _learn_waiting(self) -> None:
        rows, y, weights = (list(part) for part in zip(*self._waiting, strict=True))
        self._waiting = []  # a batch that cannot be learned is not tried again
        features = self._features.fixed(rows)
        if features.names:
            self._train(features.matrix(rows), y, np.array(weights))
            self._features = features

    def _take_in_many(self, X: Any, y: Any, w: Any) -> None:
        frame, y = dataframe.into_frame(X), listed(y, "y")
        if len(y) != len(frame):
            raise ValueError(f"there are {len(frame)} rows and {len(y)} targets")
        weights = checked_weights(w, len(y))
        self._check_targets(y)
        features = self._features.fixed([x for x, _, _ in self._waiting]).fixed([frame.columns])
        matrix = features.matrix_of_frame(frame)
        if self._waiting:
            self._learn_waiting()
        if weights.any():
            heavy = np.flatnonzero(weights)
            y = [y[at] for at in heavy]
            self._saw(y)
            self._train(matrix[heavy], y, weights[heavy])
            self._features = features

    def _trained(self, model: Any, X: Floats, y: Any, weights: Floats, **params: Any) -> Any:
        if self._weighted and (weights != 1.0).any():
            params["sample_weight"] = weights
        with self._trusting():
            return model.partial_fit(X, y, **params)

    def _fresh(self) -> Any:
        fresh = clone(self.estimator)
        return fresh if hasattr(fresh, "partial_fit") else SlidingWindow(fresh)

    def _trusting(self) -> Any:
        """Rows have been checked; the estimator need not do it again."""
        checked = not self._features.allow_nan
        return config_context(assume_finite=checked, skip_parameter_validation=self._model is not None)

    def _asked(self, method: str, x: Row) -> Any:
        """What the estimator says of a row."""
        self._features.check(x)
        with self._trusting():
            return getattr(self._model, method)(self._features.matrix([x]))[0]

    def _asked_many(self, method: str, frame: Any) -> Any:
        matrix = self._features.matrix_of_frame(frame)
        with self._trusting():
            return getattr(self._model, method)(matrix)

    def _unit_test_skips(self) -> set[str]:
        # A whole frame is one batch, and rows that come one by one are gathered into others.
        return {"check_learn_many_matches_learn_one"}
