"""The pool of experts: models with their weights and loss statistics."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from .._typing import Floats
from ..aggregation import RoundWeighting


@dataclass(eq=False)
class Expert:
    """A model that takes part in the rounds."""

    name: str
    source: str  #: name of the estimator it comes from
    #: "live" (trained in each round), "restarted" (also trained, restarted at each snapshot), "snapshot", "frozen", or
    #: "stack" (a model of the predictions of the live and frozen experts)
    kind: str
    model: Any
    born: (
        int  #: rows that the ensemble had seen when training of the model began or, for a snapshot, when it was copied
    )
    trained: bool = False  #: whether it can predict
    joined: int = field(init=False)  #: rows that the ensemble had seen when it joined, perhaps with another model

    def __post_init__(self) -> None:
        self.joined = self.born

    @property
    def can_be_queried(self) -> bool:
        """Whether it can predict rows; the stack predicts from the others' predictions."""
        return self.trained and self.kind != "stack"

    @property
    def is_late(self) -> bool:
        """Whether the model is on a worker that has not finished its last call within the timeout."""
        return bool(getattr(self.model, "is_late", False))

    @property
    def learns(self) -> bool:
        """Whether it is trained in each round."""
        return self.kind in ("live", "restarted")


@dataclass
class ExpertStats:
    """Sums over the rounds of each expert, arrays of shape (n_experts,); a part of a round counts as that part."""

    rounds: Floats  #: in which it took part
    loss: Floats
    weight: Floats
    recent_rounds: Floats  #: since the last snapshot
    recent_loss: Floats
    skipped_rounds: Floats  #: in which it was not queried
    skipped_weight: Floats

    @classmethod
    def zeros(cls, n_experts: int) -> ExpertStats:
        """Return the statistics of experts before their first round."""
        return cls(*(np.zeros(n_experts) for _ in fields(cls)))

    def extended(self) -> ExpertStats:
        """Return a copy with one more expert."""
        return ExpertStats(*(np.append(values, 0.0) for values in vars(self).values()))

    def without(self, index: int) -> ExpertStats:
        """Return a copy without one expert."""
        return ExpertStats(*(np.delete(values, index) for values in vars(self).values()))

    def add_round(self, losses: Floats, weights: Floats, rounds: Floats) -> None:
        """Add mean losses and mean weights over so many rounds, or parts of one."""
        total = rounds * losses
        total[rounds == 0.0] = 0.0  # the loss of an expert that slept is NaN
        self.rounds += rounds
        self.loss += total
        self.weight += rounds * weights
        self.recent_rounds += rounds
        self.recent_loss += total

    def add_skipped(self, weights: Floats, rounds: Floats) -> None:
        """Add mean weights over so many rounds in which the experts were not queried."""
        self.skipped_rounds += rounds
        self.skipped_weight += rounds * weights

    def reset_recent(self) -> None:
        """Count recent rounds and losses from here on."""
        self.recent_rounds[:] = 0.0
        self.recent_loss[:] = 0.0

    def mean_losses(self) -> Floats:
        """Return the mean loss of each expert since it joined; NaN before its first round."""
        return _means(self.loss, self.rounds, np.nan)

    def mean_recent_losses(self) -> Floats:
        """Return the mean loss of each expert since the last snapshot; infinite before its first round."""
        return _means(self.recent_loss, self.recent_rounds, np.inf)

    def mean_weights(self) -> Floats:
        """Return the mean weight of each expert since it joined."""
        return _means(self.weight + self.skipped_weight, self.rounds + self.skipped_rounds, 0.0)


def _means(totals: Floats, rounds: Floats, before: float) -> Floats:
    return np.divide(totals, rounds, out=np.full(len(totals), before), where=rounds > 0.0)


class ExpertPool:
    """The experts, the algorithms that weight them, and their statistics, all in the same order.

    Experts join and leave in one assignment, so that an interrupt leaves three lists of one length.

    Parameters
    ----------
    weighting : RoundWeighting
        Before its first round.
    """

    def __init__(self, weighting: RoundWeighting) -> None:
        self.weighting = weighting
        self.experts: list[Expert] = []
        self.stats = ExpertStats.zeros(0)
        self.compiled_round: Any = None  #: the compiled round of one row with these models, if there is one

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "compiled_round": None}

    def begin(self, experts: Iterable[Expert]) -> None:
        """Start with these experts; a prior that was given is one over them."""
        self.experts = list(experts)
        self.stats = ExpertStats.zeros(len(self.experts))
        self.weighting.begin(len(self.experts))

    def add_expert(self, expert: Expert, like: Expert | None = None) -> None:
        """Add an expert, with the same prior as the expert ``like``, or with an even share."""
        share = None
        if like is not None:
            prior = self.weighting.prior_of(self.experts.index(like))
            share = prior / (1.0 + prior)  # the priors of the others will shrink by the factor 1 - share
        weighting = self.weighting.copy()
        weighting.add_expert(share)
        self._replace([*self.experts, expert], weighting, self.stats.extended())

    def remove_expert(self, expert: Expert) -> None:
        """Remove an expert."""
        index = self.experts.index(expert)
        weighting = self.weighting.copy()
        weighting.drop_expert(index)
        others = [other for other in self.experts if other is not expert]
        self._replace(others, weighting, self.stats.without(index))
        expert.model = None  # earlier predictions still refer to the expert

    def _replace(self, experts: list[Expert], weighting: RoundWeighting, stats: ExpertStats) -> None:
        self.__dict__.update(experts=experts, weighting=weighting, stats=stats, compiled_round=None)

    def replace_model(self, expert: Expert, model: Any, born: int, trained: bool) -> None:
        """Replace the model of an expert, which keeps its weight and statistics."""
        expert.model, expert.trained, expert.born = model, trained, born
        self.compiled_round = None

    def with_weighting(self, weighting: RoundWeighting) -> ExpertPool:
        """Return a pool of the same experts with updated weights."""
        if weighting is self.weighting:
            return self
        pool = copy.copy(self)
        pool.weighting, pool.compiled_round = weighting, None
        return pool

    def weights(self) -> Floats:
        """Return the current weights."""
        return self.weighting.weights_in_use(self.weighting.member_weights())

    def stack(self) -> Expert | None:
        """Return the expert that is a model of the others' predictions, if there is one."""
        return next((expert for expert in self.experts if expert.kind == "stack"), None)

    def leader(self) -> Expert:
        """Return the expert with the largest weight; experts that cannot predict yet come last."""
        weights = self.weights() + np.array([1.0 if expert.trained else 0.0 for expert in self.experts])
        return self.experts[int(weights.argmax())]
