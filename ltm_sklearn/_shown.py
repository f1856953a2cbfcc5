"""What is shown of a fitted ensemble."""

from __future__ import annotations

from typing import Any, NamedTuple

from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from ._engine import Engine
from ._history import Record
from ._trace import Trace, trace_of_history
from .experts._validation import Floats
from .losses._names import loss_name


class ExpertSummary(NamedTuple):
    """An expert as ``experts_`` shows it."""

    name: str
    kind: str
    born: int
    weight: float
    long_term_weight: float
    loss: float


class Shown:
    """Attributes that are read off the engine."""

    _engine: Engine

    def _fitted(self, name: str) -> Engine:
        if not hasattr(self, "_engine"):
            raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
        return self._engine

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return self._fitted("n_rounds_").n_rounds

    @property
    def n_samples_seen_(self) -> int:
        """Rows so far."""
        return self._fitted("n_samples_seen_").n_rows

    @property
    def weights_(self) -> Floats:
        """The experts' weights now, in the order of ``experts_``; of a bandit, its probabilities."""
        return self._fitted("weights_").weights()

    @property
    def leader_(self) -> str:
        """Name of the expert with the largest weight, of those that can predict."""
        return self._fitted("leader_").leader().name

    @property
    def loss_(self) -> Floats:
        """Mean loss of each expert since it joined, in the order of ``experts_``; NaN before its first answer."""
        return self._fitted("loss_").accounts.mean_losses()

    @property
    def experts_(self) -> list[ExpertSummary]:
        """All experts: live and young learners, frozen ones, snapshots, the stack; ``pandas.DataFrame`` takes it."""
        engine = self._fitted("experts_")
        numbers = [engine.weights(), engine.accounts.mean_weights(), engine.accounts.mean_losses()]
        columns = zip(engine.experts, *[column.tolist() for column in numbers], strict=True)
        return [ExpertSummary(expert.name, expert.kind, expert.born, *row) for expert, *row in columns]

    @property
    def history_(self) -> list[Record]:
        """What was recorded: for each round, or each few neighbouring ones, the loss and the experts' weights."""
        engine = self._fitted("history_")
        if engine.history is None:
            raise AttributeError("there is no history_ without record=, the number of records to keep, or a file")
        return list(engine.history.records)

    def trace(self) -> Trace:
        """What was recorded, for pictures and for analyses of one's own; needs ``record=``."""
        kind = type(self).__name__
        if not hasattr(self, "_engine"):
            raise NotFittedError(f"this {kind} has not been fitted: there is nothing to draw")
        history = self._engine.history
        if history is None:
            raise ValueError(f"this {kind} keeps no history to draw: give it record=, the number of records to keep")
        return trace_of_history(history.records, loss_name(self._engine.score.loss))

    @property
    def estimators_(self) -> list[Any]:
        """The live and frozen estimators, as fitted."""
        return [expert.model for expert in self._fitted("estimators_").experts if expert.name == expert.source]

    @property
    def named_estimators_(self) -> Bunch:
        """The live and frozen estimators by name."""
        experts = self._fitted("named_estimators_").experts
        return Bunch(**{expert.name: expert.model for expert in experts if expert.name == expert.source})
