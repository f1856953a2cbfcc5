"""Protocols of the model operations that the engine calls; the interfaces to scikit-learn and River implement them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


class Models(Protocol):
    """Operations on the models of one library. Instances must pickle, as they are sent to other processes."""

    def fresh(self, source: str) -> Any:
        """Return an untrained model of the estimator with this name."""

    def copy(self, model: Any) -> Any:
        """Return a copy to keep, which will not be trained."""

    def last_rows(self, X: Any, most: int) -> Any:
        """Return a copy of the last ``most`` rows."""

    def chosen(self, X: Any, rows: NDArray[np.intp]) -> Any:
        """Return some of the rows."""

    def concatenated(self, batches: list[Any]) -> Any:
        """Concatenate batches of rows."""

    def predict(self, model: Any, X: Any) -> Floats | None:
        """Predict class probabilities, or one column of numbers, of shape (n_rows, n_outputs).

        NaN marks a row without a prediction. None means that the model cannot predict yet, which is no failure.
        """

    def learn(self, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
        """Train a model on more rows and return it."""

    def salvaged(self, source: str, model: Any) -> Any:
        """Return the model that replaces an untrained one whose training has failed."""


class RowModels(Models, Protocol):
    """Models that also predict and learn single rows, which the compiled round needs."""

    @property
    def classes(self) -> dict[Any, int] | None:
        """Index of each label; None for regressors."""

    def asker(self, model: Any) -> Callable[[Any], Any]:
        """Return the method that takes a row and returns probabilities by label, or a number."""

    def learner(self, model: Any) -> Callable[[Any, Any], Any]:
        """Return the method that takes a row and a target."""
