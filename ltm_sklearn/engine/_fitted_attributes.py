"""What is shown of a fitted ensemble."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from .._typing import Floats
from ..losses import loss_name
from ..recording import Record, RunRecord, run_record_of_history
from ._engine import Engine
from ._locks import lock_of

Value = TypeVar("Value")


class ExpertSummary(NamedTuple):
    """An expert as ``experts_`` shows it."""

    name: str
    kind: str
    born: int
    weight: float
    long_term_weight: float
    loss: float


class FittedAttributes:
    """Attributes that are read off the engine."""

    _engine: Engine

    def _read(self, name: str, reader: Callable[[Engine], Value]) -> Value:
        """What a reader finds in the engine, between two rounds."""
        with lock_of(self):
            if not hasattr(self, "_engine"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
            return reader(self._engine)

    @property
    def n_rounds_(self) -> int:
        """Rounds so far."""
        return self._read("n_rounds_", lambda engine: engine.n_rounds)

    @property
    def n_samples_seen_(self) -> int:
        """Rows so far."""
        return self._read("n_samples_seen_", lambda engine: engine.n_rows)

    @property
    def weights_(self) -> Floats:
        """The experts' weights now, in the order of ``experts_``; of a bandit, its probabilities."""
        return self._read("weights_", lambda engine: engine.weights())

    @property
    def leader_(self) -> str:
        """Name of the expert with the largest weight, of those that can predict."""
        return self._read("leader_", lambda engine: engine.leader().name)

    @property
    def loss_(self) -> Floats:
        """Mean loss of each expert since it joined, in the order of ``experts_``; NaN before its first answer."""
        return self._read("loss_", lambda engine: engine.expert_stats.mean_losses())

    @property
    def experts_(self) -> list[ExpertSummary]:
        """All experts: live and young learners, frozen ones, snapshots, the stack; ``pandas.DataFrame`` takes it."""
        return self._read("experts_", _summaries)

    @property
    def history_(self) -> list[Record]:
        """What was recorded: for each round, or each few neighbouring ones, the loss and the experts' weights."""
        return self._read("history_", _records)

    def run_record(self) -> RunRecord:
        """What was recorded, for pictures and for analyses of one's own; needs ``record=``."""
        kind = type(self).__name__
        with lock_of(self):
            if not hasattr(self, "_engine"):
                raise NotFittedError(f"this {kind} has not been fitted: there is nothing to draw")
            history = self._engine.history
            if history is None:
                raise ValueError(
                    f"this {kind} keeps no history to draw: give it record=, the number of records to keep"
                )
            return run_record_of_history(history.records, loss_name(self._engine.score.loss))

    @property
    def estimators_(self) -> list[Any]:
        """The live and frozen estimators, as fitted; they go on learning."""
        return self._read("estimators_", lambda engine: list(_given(engine).values()))

    @property
    def named_estimators_(self) -> Bunch:
        """The live and frozen estimators by name; they go on learning."""
        return self._read("named_estimators_", lambda engine: Bunch(**_given(engine)))


def _given(engine: Engine) -> dict[str, Any]:
    return {expert.name: expert.model for expert in engine.experts if expert.name == expert.source}


def _summaries(engine: Engine) -> list[ExpertSummary]:
    numbers = [engine.weights(), engine.expert_stats.mean_weights(), engine.expert_stats.mean_losses()]
    columns = zip(engine.experts, *[column.tolist() for column in numbers], strict=True)
    return [ExpertSummary(expert.name, expert.kind, expert.born, *row) for expert, *row in columns]


def _records(engine: Engine) -> list[Record]:
    if engine.history is None:
        raise AttributeError("there is no history_ without record=, the number of records to keep, or a file")
    return list(engine.history.records)
