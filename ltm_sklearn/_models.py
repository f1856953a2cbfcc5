"""What the engine and the memory know of models: a few functions, and an account of how each model fared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

from .experts._validation import Floats


class Models(Protocol):
    """What a skin does with its models; it must pickle, as it may run in other processes."""

    def fresh(self, source: str) -> Any:
        """An untrained model of the estimator with this name."""

    def copy(self, model: Any) -> Any:
        """A copy to keep, which will not be trained."""

    def last_rows(self, X: Any, most: int) -> Any:
        """A copy of the last rows, at most so many."""

    def stack(self, batches: list[Any]) -> Any:
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
    """A model that takes part, and how it has fared."""

    name: str
    source: str  #: name of the estimator it comes from
    kind: str  #: "live", "young" (live, but begun afresh now and then), "snapshot" or "frozen"
    model: Any
    born: int  #: rows the ensemble had seen when the model began to learn or, of a snapshot, was copied
    trained: bool = False  #: whether it can predict
    n_rounds: float = 0.0  #: rounds in which it took part, the parts of a round included
    total_loss: float = 0.0
    total_weight: float = 0.0
    rounds_lately: float = 0.0  #: since its learner's last snapshot
    lost_lately: float = 0.0
    joined: int = field(init=False)  #: rows the ensemble had seen when it took its seat, perhaps with another model

    def __post_init__(self) -> None:
        self.joined = self.born

    @property
    def long_term_weight(self) -> float:
        """Its mean weight since it joined."""
        return self.total_weight / self.n_rounds if self.n_rounds else 0.0

    @property
    def mean_loss(self) -> float:
        """Its mean loss since it joined; NaN before its first round."""
        return self.total_loss / self.n_rounds if self.n_rounds else float("nan")

    @property
    def mean_loss_lately(self) -> float:
        """Its mean loss since its learner's last snapshot; infinite before the first round."""
        return self.lost_lately / self.rounds_lately if self.rounds_lately else float("inf")

    @property
    def learns(self) -> bool:
        """Whether it is trained."""
        return self.kind in ("live", "young")

    def charge(self, loss: float, weight: float, rounds: float) -> None:
        """Take part in some rounds, or in a part of one, with a mean loss and a mean weight."""
        self.n_rounds += rounds
        self.total_loss += rounds * loss
        self.total_weight += rounds * weight
        self.rounds_lately += rounds
        self.lost_lately += rounds * loss
