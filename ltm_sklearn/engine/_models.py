"""What the engine and the memory know of models."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats


class Models(Protocol):
    """What a skin does with its models; it must pickle, as it may run in other processes."""

    def fresh(self, source: str) -> Any:
        """An untrained model of the estimator with this name."""

    def copy(self, model: Any) -> Any:
        """A copy to keep, which will not be trained."""

    def last_rows(self, X: Any, most: int) -> Any:
        """A copy of the last rows, at most so many."""

    def chosen(self, X: Any, rows: NDArray[np.intp]) -> Any:
        """Some of the rows."""

    def concatenated(self, batches: list[Any]) -> Any:
        """Batches of rows as one."""

    def predict(self, model: Any, X: Any) -> Floats | None:
        """Predictions of shape (n_rows, n_outputs): class probabilities, or one column of numbers; NaN: none.

        None is a model that has nothing to say yet, which is no failure.
        """

    def learn(self, source: str, model: Any, X: Any, y: Any, first: bool) -> Any:
        """The model, trained on some rows more."""

    def salvaged(self, source: str, model: Any) -> Any:
        """What goes on in the place of an untrained model that could not learn."""


def ask(models: Models, model: Any, X: Any, shape: tuple[int, int]) -> Floats | None:
    """A model's predictions, which must have this shape."""
    predictions = models.predict(model, X)
    if predictions is not None and predictions.shape != shape:
        raise ValueError(f"its predictions have shape {predictions.shape}, not {shape}")
    return predictions


@dataclass(eq=False)
class Expert:
    """A model that takes part."""

    name: str
    source: str  #: name of the estimator it comes from
    #: "live", "restarted" (live, but begun afresh now and then), "snapshot", "frozen", or "stack", which takes together
    #: what the live and frozen ones say
    kind: str
    model: Any
    born: int  #: rows the ensemble had seen when the model began to learn or, of a snapshot, was copied
    trained: bool = False  #: whether it can predict
    joined: int = field(init=False)  #: rows the ensemble had seen when it took its seat, perhaps with another model

    def __post_init__(self) -> None:
        self.joined = self.born

    @property
    def answers(self) -> bool:
        """Whether it can be asked about rows; the stack is only told what others say."""
        return self.trained and self.kind != "stack"

    @property
    def held_up(self) -> bool:
        """Whether the model is on a worker that has not finished its last call within the timeout."""
        return bool(getattr(self.model, "is_late", False))

    @property
    def learns(self) -> bool:
        """Whether it is trained."""
        return self.kind in ("live", "restarted")
