"""Attributes of fitted ensembles, for scikit-learn and for River."""

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
    """One expert in ``experts_``: its name, kind, weights and mean loss."""

    name: str
    kind: str
    born: int
    weight: float
    long_term_weight: float
    loss: float


class FittedAttributes:
    """Base class with the fitted attributes that are read from the engine."""

    _engine: Engine

    def _read(self, name: str, reader: Callable[[Engine], Value]) -> Value:
        """Read a value from the engine, between two rounds."""
        with lock_of(self):
            if not hasattr(self, "_engine"):
                raise AttributeError(f"{type(self).__name__} has no attribute {name!r} before it is fitted")
            return reader(self._engine)

    @property
    def n_rounds_(self) -> int:
        """Number of rounds so far."""
        return self._read("n_rounds_", lambda engine: engine.n_rounds)

    @property
    def n_samples_seen_(self) -> int:
        """Number of rows so far."""
        return self._read("n_samples_seen_", lambda engine: engine.n_rows)

    @property
    def weights_(self) -> Floats:
        """Current weights of the experts, in the order of ``experts_``; for bandits, their probabilities."""
        return self._read("weights_", lambda engine: engine.pool.weights())

    @property
    def leader_(self) -> str:
        """Name of the expert with the largest weight among those that can predict."""
        return self._read("leader_", lambda engine: engine.pool.leader().name)

    @property
    def loss_(self) -> Floats:
        """Mean loss of each expert since it joined, in the order of ``experts_``; NaN before its first prediction."""
        return self._read("loss_", lambda engine: engine.pool.stats.mean_losses())

    @property
    def experts_(self) -> list[ExpertSummary]:
        """All experts: live and restarted learners, frozen models, snapshots, the stack. Fits ``pandas.DataFrame``."""
        return self._read("experts_", _summaries)

    @property
    def history_(self) -> list[Record]:
        """Records of the run: loss and weights of each round, or means over a few neighbouring rounds."""
        return self._read("history_", _records)

    def run_record(self) -> RunRecord:
        """Return the records of the run for displays and analyses; needs ``record=``."""
        kind = type(self).__name__
        with lock_of(self):
            if not hasattr(self, "_engine"):
                raise NotFittedError(f"this {kind} has not been fitted. Train it first, with record=")
            history = self._engine.history
            if history is None:
                raise ValueError(
                    f"this {kind} keeps no history to draw: give it record=, the number of records to keep"
                )
            return run_record_of_history(history.records, loss_name(self._engine.score.loss))

    @property
    def estimators_(self) -> list[Any]:
        """Fitted live and frozen estimators; later rounds train them further."""
        return self._read("estimators_", lambda engine: list(_given(engine).values()))

    @property
    def named_estimators_(self) -> Bunch:
        """Fitted live and frozen estimators by name; later rounds train them further."""
        return self._read("named_estimators_", lambda engine: Bunch(**_given(engine)))


def _given(engine: Engine) -> dict[str, Any]:
    return {expert.name: expert.model for expert in engine.pool.experts if expert.name == expert.source}


def _summaries(engine: Engine) -> list[ExpertSummary]:
    numbers = [engine.pool.weights(), engine.pool.stats.mean_weights(), engine.pool.stats.mean_losses()]
    columns = zip(engine.pool.experts, *[column.tolist() for column in numbers], strict=True)
    return [ExpertSummary(expert.name, expert.kind, expert.born, *row) for expert, *row in columns]


def _records(engine: Engine) -> list[Record]:
    if engine.history is None:
        raise AttributeError("there is no history_ without record=, the number of records to keep, or a file")
    return list(engine.history.records)
