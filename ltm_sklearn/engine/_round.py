"""What is known of a round: what the experts said, what it cost them, and which of them failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._model_calls import error_text
from ._models import Expert


@dataclass
class Issued:
    """What the experts said of some rows, and the weights that were in force."""

    experts: list[Expert]
    born: list[int]  #: of the models that were asked: experts may have gone on with others since
    predictions: Floats  #: (n_experts, n_rows, n_outputs); 0 where asleep
    awake: NDArray[np.bool_]  #: (n_experts, n_rows)
    weights: Floats  #: (n_experts,)
    parts: Floats  #: (n_parts, n_experts): those of the algorithms that take part
    mixture: Floats  #: (n_rows, n_outputs); a fallback where all sleep
    errors: list[BaseException]  #: of the experts that raised one
    reports: list[FailureReport]  #: of those that failed and should not have
    chances: Floats | None = None  #: as in :class:`SelectedExperts`; None: all were asked

    @property
    def scored(self) -> NDArray[np.bool_]:
        """(n_experts, n_rows): who will be charged for which rows."""
        return self.awake if self.chances is None else self.chances > 0.0

    def recalled(self, rows: NDArray[np.intp], experts: list[Expert], n_outputs: int) -> Issued:
        """The same of some of the rows, for the experts and classes that there are now.

        Experts that came later, or have another model now, slept; classes that came later were given no chance.
        """
        seat_of = {asked: seat for seat, asked in enumerate(zip(self.experts, self.born, strict=True))}
        known = [(now, seat_of.get((expert, expert.born))) for now, expert in enumerate(experts)]
        seats = [(now, seat) for now, seat in known if seat is not None]
        now, then = np.array(seats, dtype=np.intp).reshape(-1, 2).T
        then_known = self.predictions.shape[2]
        predictions = np.zeros((len(experts), len(rows), n_outputs))
        mixture = np.zeros((len(rows), n_outputs))
        awake = np.zeros((len(experts), len(rows)), dtype=np.bool_)
        weights, parts = np.zeros(len(experts)), np.zeros((len(self.parts), len(experts)))
        predictions[now, :, :then_known] = self.predictions[np.ix_(then, rows)]
        mixture[:, :then_known] = self.mixture[rows]
        awake[now] = self.awake[np.ix_(then, rows)]
        weights[now], parts[:, now] = self.weights[then], self.parts[:, then]
        chances = None
        if self.chances is not None:
            chances = np.zeros(awake.shape)
            chances[now] = self.chances[np.ix_(then, rows)]
        born = [expert.born for expert in experts]
        return Issued(list(experts), born, predictions, awake, weights, parts, mixture, [], [], chances)

    def cut(self, rows: NDArray[np.intp]) -> Issued:
        """The same of some of the rows."""
        return replace(
            self,
            predictions=self.predictions[:, rows],
            awake=self.awake[:, rows],
            mixture=self.mixture[rows],
            errors=[],
            reports=[],
            chances=None if self.chances is None else self.chances[:, rows],
        )

    def named(self, values: Floats, where: NDArray[np.bool_] | None = None) -> dict[str, float]:
        """A value for each expert, or for some of them, by its name."""
        seats = range(len(self.experts)) if where is None else np.flatnonzero(where).tolist()
        return {self.experts[seat].name: float(values[seat]) for seat in seats}

    @property
    def all_were_asked(self) -> bool:
        """Whether everyone who had answers was asked about all rows."""
        if self.chances is None:
            return True
        had = np.array([expert.answers for expert in self.experts])
        return bool((self.chances[had] > 0.0).all())

    @property
    def all_raised(self) -> bool:
        """Whether all experts that have answers were asked and raised an error: then the rows are to blame.

        Where only some were asked, others might have known better, and a fallback is issued.
        """
        return bool(self.errors) and len(self.errors) == sum(expert.answers for expert in self.experts)

    def check(self) -> None:
        """Raise an error if all did."""
        if self.all_raised:
            raise ValueError(f"no expert could predict these rows: {error_text(self.errors[0])}") from self.errors[0]


class FailureReport(NamedTuple):
    """That an expert failed."""

    expert: str  #: a snapshot's source stands for it: snapshots come and go, and each would make a new warning
    verb: str
    error: str
    message: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What makes it the same failure as another."""
        return self.expert, self.verb, self.error


@dataclass
class RoundResult:
    """What a round cost, in the loss's own units."""

    losses: Floats  #: (n_experts,); NaN where asleep
    awake: Floats  #: (n_experts,): the part of the round in which each took part
    mixture: Floats  #: (n_rows, n_outputs): what was issued; where each row is a round, with that round's weights
    weights: Floats  #: (n_experts,): after the round; where each row is one, their mean

    @classmethod
    def unheard(cls, issued: Issued) -> RoundResult:
        """A round in which nobody took part."""
        nobody = np.zeros(len(issued.experts))
        return cls(np.full(len(nobody), np.nan), nobody, issued.mixture, issued.weights)

    def losses_of_live(self, issued: Issued) -> list[float]:
        """The losses of the live learners that were awake."""
        expert_stats = zip(issued.experts, self.losses.tolist(), self.awake.tolist(), strict=True)
        return [loss for expert, loss, part in expert_stats if expert.kind == "live" and part > 0.0]


def mean_numbers(
    issued: Issued, mixture: Floats, targets: Floats, row_weights: Floats
) -> tuple[float, float, dict[str, float]]:
    """Means over the rows where targets are numbers: of the targets, of what was issued, of what each expert said."""
    heard = issued.awake * row_weights
    totals = heard.sum(axis=1)
    sums = np.einsum("en,en->e", issued.predictions[..., 0], heard)
    said = zip(issued.experts, sums.tolist(), totals.tolist(), strict=True)
    return (
        float(np.average(targets, weights=row_weights)),
        float(np.average(mixture[:, 0], weights=row_weights)),
        {expert.name: sum_ / total for expert, sum_, total in said if total > 0.0},
    )
