"""Recent rows, with the predictions of the snapshots for them."""

from __future__ import annotations

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._typing import Floats
from ._expert_pool import Expert
from ._model_calls import CallFailure, predict_rows
from ._models import Models


class RecentRound(NamedTuple):
    """The rows of one round."""

    X: Any
    targets: Any
    experts: list[Expert | None]  #: the snapshots; one list for all rounds between two changes of the pool
    predictions: Floats  #: (n_experts, n_rows, n_outputs); NaN where asleep


class RecentRounds:
    """The last rounds that together have ``n_rows`` rows, with the predictions of the snapshots.

    Querying the snapshots again would double their cost.
    """

    def __init__(self, n_rows: int) -> None:
        self.most = n_rows
        self.rounds: list[RecentRound] = []
        self.n_rows = 0
        self.follow([])

    def follow(self, experts: list[Expert]) -> None:
        """Store the predictions of the snapshots among these experts from now on."""
        self.indices = [at for at, expert in enumerate(experts) if expert.kind == "snapshot"]
        self.experts: list[Expert | None] = [experts[at] for at in self.indices]

    def forget(self, expert: Expert) -> None:
        """Drop the stored predictions of an expert whose model was replaced."""
        for experts in [self.experts, *(each.experts for each in self.rounds)]:
            if expert in experts:
                experts[experts.index(expert)] = None

    def add(self, models: Models, X: Any, targets: Any, predictions: Floats, awake: NDArray[np.bool_] | None) -> None:
        """Add a round with predictions (n_experts, n_rows, n_outputs); drop the oldest rounds that are not needed."""
        predictions = predictions[self.indices, -self.most :]
        if awake is not None:
            predictions[~awake[self.indices, -self.most :]] = np.nan
        targets = targets[-self.most :].copy()
        self.rounds.append(RecentRound(models.last_rows(X, self.most), targets, self.experts, predictions))
        self.n_rows += len(targets)
        while self.n_rows - len(self.rounds[0].targets) >= self.most:
            self.n_rows -= len(self.rounds.pop(0).targets)

    def targets(self) -> Any:
        """Return the targets of the rows."""
        return np.concatenate([each.targets for each in self.rounds])

    def predict(self, models: Models, model: Any, n_outputs: int) -> Floats:
        """Return the predictions of a model for the rows, (n_rows, n_outputs); NaN if it cannot predict."""
        return _predict(models, model, self.rounds, n_outputs)

    def predictions_of(self, models: Models, experts: list[Expert], n_outputs: int) -> Floats:
        """Return stored predictions for the recent rows; query the experts for the missing ones."""
        predictions = np.empty((len(experts), self.n_rows, n_outputs))
        start = 0
        for _, group in groupby(self.rounds, key=lambda each: id(each.experts)):
            rounds = list(group)
            known = rounds[0].experts
            stored = np.concatenate([_widened(each.predictions, n_outputs) for each in rounds], axis=1)
            here = slice(start, start + stored.shape[1])
            for at, expert in enumerate(experts):
                if expert in known:
                    predictions[at, here] = stored[known.index(expert)]
                else:
                    predictions[at, here] = _predict(models, expert.model, rounds, n_outputs)
            start = here.stop
        return predictions


def _widened(predictions: Floats, n_outputs: int) -> Floats:
    """Add the classes that came later, with probability zero."""
    missing = n_outputs - predictions.shape[2]
    return np.pad(predictions, ((0, 0), (0, 0), (0, missing))) if missing else predictions


def _predict(models: Models, model: Any, rounds: list[RecentRound], n_outputs: int) -> Floats:
    shape = sum(len(each.targets) for each in rounds), n_outputs
    with np.errstate(all="ignore"):
        predictions = predict_rows(model, models, models.concatenated([each.X for each in rounds]), shape)
    if predictions is None or isinstance(predictions, CallFailure):  # reported when it fails in a round
        return np.full(shape, np.nan)
    return predictions
