"""Rounds of one row, as streams of River are made of them, at compiled speed where all is as usual."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .._optional import compiled
from ..aggregation import BanditWeighting, FollowOrBlend
from ..experts import LongTermMemory, PatientMemory
from ..losses import (
    FADING,
    IMPLAUSIBLE,
    LARGEST,
    MARGIN,
    RANGE_GROWTH,
    ROUNDING_OF_MIXTURE,
    ROUNDING_OF_PROBABILITIES,
    SAFE_MARGIN,
    SMALLEST_PROBABILITY,
    AbsoluteError,
    Pinball,
    RegressionScore,
    SquaredError,
    brier,
    log_loss,
    zero_one,
)
from ._engine import Engine
from ._model_calls import CallFailure
from ._models import Models
from ._snapshots import RoundObservation

kernel = compiled("_row", __package__)


class RowModels(Models, Protocol):
    """What a skin must know besides, to have rounds of one row."""

    @property
    def classes(self) -> dict[Any, int] | None:
        """Where each label stands; None for regressors."""

    def asker(self, model: Any) -> Any:
        """The function that takes a row and returns probabilities by label, or a number."""

    def learner(self, model: Any) -> Any:
        """The function that takes a row and a target."""


def row_of(engine: Engine, models: RowModels) -> Any:
    """The engine's compiled round, or None where its own code is needed."""
    if engine.row is None and engine.n_rounds >= engine.row_from:
        engine.row = _new_row(engine, models)
    return engine.row


def _new_row(engine: Engine, models: RowModels) -> Any:
    watched = engine.history is not None or engine.callback.listens
    plain = not engine.failures.raises and not watched and engine.combine == "average"
    if kernel is None or not plain or not all(expert.trained for expert in engine.experts):
        return None
    if isinstance(engine.weighting, BanditWeighting):
        return None  # not all are asked
    if isinstance(engine.score, RegressionScore) and not engine.score.high > engine.score.low:
        return None  # no scale is known yet
    asks = [None if expert.kind == "stack" else models.asker(expert.model) for expert in engine.experts]
    learns = [(at, models.learner(expert.model)) for at, expert in enumerate(engine.experts) if expert.learns]
    live = [at for at, expert in enumerate(engine.experts) if expert.kind == "live"]
    members, between = _members(engine.weighting)
    seats = asks, learns, live, members, between, engine.expert_stats.table
    if isinstance(engine.score, RegressionScore):
        return _new_target_row(kernel, seats, engine.score)
    return _new_class_row(kernel, seats, engine, models.classes or {})


def _members(weighting: Any) -> tuple[list[Any], Any]:
    """The algorithms that are charged, with their compiled rounds, and the one that weighs them."""
    if isinstance(weighting, FollowOrBlend):
        return [_member(member.algorithm) for member in weighting.members], _member(weighting.arbiter)
    return [_member(weighting.algorithm)], None


def _member(algorithm: Any) -> tuple[Any, Any]:
    # a horizon is watched by the algorithm's own code
    plain = type(algorithm) in (LongTermMemory, PatientMemory) and algorithm.horizon is None
    return algorithm, algorithm.compiled_rounds() if plain else None


def _new_class_row(kernel: Any, seats: tuple[Any, ...], engine: Engine, classes: dict[Any, int]) -> Any:
    known = {zero_one: kernel.ZERO_ONE, brier: kernel.BRIER, log_loss: kernel.LOG}
    if engine.score.loss not in known or not classes:
        return None
    stack = engine.stack()
    return kernel.ClassRow(
        *seats,
        classes,
        known[engine.score.loss],
        ROUNDING_OF_PROBABILITIES,
        SMALLEST_PROBABILITY,
        SAFE_MARGIN,
        IMPLAUSIBLE,
        None if stack is None else stack.model,
    )


def _new_target_row(kernel: Any, seats: tuple[Any, ...], score: RegressionScore) -> Any:
    slopes = {SquaredError: lambda _: None, AbsoluteError: lambda _: (1.0, 1.0), Pinball: _pinball_slopes}
    if type(score.loss) not in slopes:
        return None
    limits = MARGIN, RANGE_GROWTH, FADING, LARGEST, ROUNDING_OF_MIXTURE
    return kernel.TargetRow(*seats, score, slopes[type(score.loss)](score.loss), *limits)


def _pinball_slopes(loss: Pinball) -> tuple[float, float]:
    """Above the target and below it."""
    return 1.0 - loss.quantile, loss.quantile


def learn_row(engine: Engine, models: RowModels, x: Any, y: Any, target: Any) -> bool:
    """A round, noted; False if it is left to the engine, and nothing has changed."""
    row = row_of(engine, models)
    if row is None:
        return False
    failed = row.learn(x, target) if models.classes is None else row.learn(x, y, target, engine.score)
    if failed is None:
        return False
    engine.n_rounds += 1
    engine.n_rows += 1
    reports, passing = [], None
    for seat, error in failed:
        failure = CallFailure(error)
        if failure.passes:
            passing = failure
        elif not engine.is_warming_up(engine.experts[seat]):
            reports.append(engine.failures.report(engine.experts[seat], "learn", failure))
    if engine.memory is not None:
        told = RoundObservation(row.answers(), None, row.losses_of_live())
        reports += engine.remember(models, [x], np.array([target]), told)
    engine.note(reports)
    if passing is not None:
        raise passing.error
    return True
