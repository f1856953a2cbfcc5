"""Rounds of one row, as streams of River are made of them, at compiled speed where all is as usual."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ._attempts import Failure
from ._drawing import Drawing
from ._engine import Engine
from ._models import Models
from ._weighting import FollowAndBlend
from .experts import LongTermMemory
from .experts._compiled import compiled
from .experts._long_term_memory import PatientMemory
from .losses import AbsoluteError, Pinball, SquaredError
from .losses._classes import ROUNDING_OF_PROBABILITIES, SAFE_MARGIN, SMALLEST_PROBABILITY, brier, log_loss, zero_one
from .losses._numbers import ROUNDING_OF_MIXTURE
from .losses._own import IMPLAUSIBLE, LARGEST
from .losses._targets import FADING, MARGIN, RANGE_GROWTH, TargetScore
from .memory import Told

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
    watched = engine.history is not None or engine.watcher.listens
    plain = not engine.failures.raises and not watched and engine.combine == "average"
    if kernel is None or not plain or not all(expert.trained for expert in engine.experts):
        return None
    if isinstance(engine.weighting, Drawing) or engine.time_limit is not None:
        return None  # not all are asked, or each apart
    if isinstance(engine.score, TargetScore) and not engine.score.high > engine.score.low:
        return None  # no scale is known yet
    asks = [None if expert.kind == "stack" else models.asker(expert.model) for expert in engine.experts]
    learns = [(at, models.learner(expert.model)) for at, expert in enumerate(engine.experts) if expert.learns]
    live = [at for at, expert in enumerate(engine.experts) if expert.kind == "live"]
    voices, between = _voices(engine.weighting)
    seats = asks, learns, live, voices, between, engine.accounts.table
    if isinstance(engine.score, TargetScore):
        return _new_target_row(kernel, seats, engine.score)
    return _new_class_row(kernel, seats, engine, models.classes or {})


def _voices(weighting: Any) -> tuple[list[Any], Any]:
    """The algorithms that are charged, with their compiled rounds, and the one that weighs them."""
    if isinstance(weighting, FollowAndBlend):
        return [_voice(member.algorithm) for member in weighting.members], _voice(weighting.between)
    return [_voice(weighting.algorithm)], None


def _voice(algorithm: Any) -> tuple[Any, Any]:
    # a horizon is watched by the algorithm's own code
    plain = type(algorithm) in (LongTermMemory, PatientMemory) and algorithm.horizon is None
    return algorithm, algorithm._compiled_rounds() if plain else None


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


def _new_target_row(kernel: Any, seats: tuple[Any, ...], score: TargetScore) -> Any:
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
        failure = Failure(error)
        if failure.passes:
            passing = failure
        elif not engine.is_infant(engine.experts[seat]):
            reports.append(engine.failures.report(engine.experts[seat], "learn", failure))
    if engine.memory is not None:
        told = Told(row.answers(), None, row.losses_of_live())
        reports += engine.remember(models, [x], np.array([target]), told)
    engine.note(reports)
    if passing is not None:
        raise passing.error
    return True
