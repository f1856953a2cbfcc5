"""Data of one round: the predictions of the experts, their losses, and the result."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._expert_pool import Expert
from ._failure_log import ExpertFailure
from ._model_calls import error_text


@dataclass
class RoundPredictions:
    """Predictions of the experts for some rows, with the weights that were in force."""

    experts: list[Expert]
    born: list[int]  #: of the models that were queried: experts may have other models by now
    predictions: Floats  #: (n_experts, n_rows, n_outputs); 0 where asleep
    awake: NDArray[np.bool_]  #: (n_experts, n_rows)
    weights: Floats  #: (n_experts,)
    parts: Floats  #: (n_parts, n_experts): the weights of each algorithm that takes part
    mixture: Floats  #: (n_rows, n_outputs); a fallback where all experts sleep
    chances: Floats | None = None  #: query probabilities as in :class:`SelectedExperts`; None: all were queried
    errors: list[BaseException] = field(default_factory=list)  #: of the experts that raised one
    reports: list[ExpertFailure] = field(default_factory=list)  #: of the experts whose failure is unexpected

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Mask (n_experts, n_rows) of the predictions that are scored."""
        return self.awake if self.chances is None else self.chances > 0.0

    def recalled(self, rows: NDArray[np.intp], experts: list[Expert], n_outputs: int) -> RoundPredictions:
        """Return the predictions for some of the rows, in the order of the current experts and classes.

        Experts that joined later, or have another model now, slept. Classes that came later have probability zero.
        """
        index_then = {known: index for index, known in enumerate(zip(self.experts, self.born, strict=True))}
        known = [(now, index_then.get((expert, expert.born))) for now, expert in enumerate(experts)]
        now, then = np.array([pair for pair in known if pair[1] is not None], dtype=np.intp).reshape(-1, 2).T
        n_then = self.predictions.shape[2]
        predictions = np.zeros((len(experts), len(rows), n_outputs))
        mixture = np.zeros((len(rows), n_outputs))
        awake = np.zeros((len(experts), len(rows)), dtype=np.bool_)
        weights, parts = np.zeros(len(experts)), np.zeros((len(self.parts), len(experts)))
        predictions[now, :, :n_then] = self.predictions[np.ix_(then, rows)]
        mixture[:, :n_then] = self.mixture[rows]
        awake[now] = self.awake[np.ix_(then, rows)]
        weights[now], parts[:, now] = self.weights[then], self.parts[:, then]
        chances = None
        if self.chances is not None:
            chances = np.zeros(awake.shape)
            chances[now] = self.chances[np.ix_(then, rows)]
        born = [expert.born for expert in experts]
        return RoundPredictions(list(experts), born, predictions, awake, weights, parts, mixture, chances)

    def cut(self, rows: NDArray[np.intp]) -> RoundPredictions:
        """Return the predictions for some of the rows."""
        return replace(
            self,
            predictions=self.predictions[:, rows],
            awake=self.awake[:, rows],
            mixture=self.mixture[rows],
            chances=None if self.chances is None else self.chances[:, rows],
            errors=[],
            reports=[],
        )

    def by_name(self, values: Floats, where: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """Return a value for each expert, or for some of them, by name."""
        indices = range(len(self.experts)) if where is None else np.flatnonzero(where).tolist()
        return {self.experts[index].name: float(values[index]) for index in indices}

    @property
    def all_were_queried(self) -> bool:
        """Whether all experts that can be queried were queried about all rows."""
        if self.chances is None:
            return True
        able = np.array([expert.can_be_queried for expert in self.experts])
        return bool((self.chances[able] > 0.0).all())

    def check(self) -> None:
        """Raise a ValueError if all experts that can be queried raised an error: then the rows are to blame.

        Where only some were queried, others might have predicted, and a fallback is issued.
        """
        if self.errors and len(self.errors) == sum(expert.can_be_queried for expert in self.experts):
            raise ValueError(f"no expert could predict these rows: {error_text(self.errors[0])}") from self.errors[0]


@dataclass
class RoundResult:
    """Losses of a round, in the loss's own units, and the weights after it."""

    losses: Floats  #: (n_experts,); NaN where asleep
    awake: Floats  #: (n_experts,): the part of the round in which each expert took part
    mixture: Floats  #: (n_rows, n_outputs): as issued; where each row is a round, with that round's weights
    weights: Floats  #: (n_experts,): after the round; where each row is one, their mean

    @classmethod
    def all_asleep(cls, predictions: RoundPredictions) -> RoundResult:
        """Return the result of a round in which no expert took part."""
        n_experts = len(predictions.experts)
        return cls(np.full(n_experts, np.nan), np.zeros(n_experts), predictions.mixture, predictions.weights)

    def losses_of_live(self, experts: list[Expert]) -> list[float]:
        """Return the losses of the live experts that were awake."""
        rounds = zip(experts, self.losses.tolist(), self.awake.tolist(), strict=True)
        return [loss for expert, loss, part in rounds if expert.kind == "live" and part > 0.0]
