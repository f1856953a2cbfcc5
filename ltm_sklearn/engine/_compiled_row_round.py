"""Rounds of one row, as River's streams have them, at compiled speed where nothing unusual happens."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._optional import import_kernel
from ..aggregation import BanditWeighting, FollowOrBlend
from ..experts import ExpertAlgorithm, LongTermMemory, PatientMemory
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
from ._models import RowModels
from ._snapshot_memory import RoundObservation

kernel = import_kernel("_row", __package__)


def compiled_round(engine: Engine, models: RowModels) -> Any:
    """Return the compiled round of one row for the engine's pool; None where the engine must do the round."""
    if engine.pool.compiled_round is None and engine.n_rounds >= engine.compiled_from:
        engine.pool.compiled_round = _new_round(engine, models)
    return engine.pool.compiled_round


def _new_round(engine: Engine, models: RowModels) -> Any:
    pool, score = engine.pool, engine.score
    is_followed = engine.history is not None or engine.callback.listens
    is_plain = not engine.failures.raises and not is_followed and engine.combine == "average"
    if kernel is None or not is_plain or not all(expert.trained for expert in pool.experts):
        return None
    if isinstance(pool.weighting, BanditWeighting):
        return None  # not all experts are queried
    predictors = [None if expert.kind == "stack" else models.asker(expert.model) for expert in pool.experts]
    trainers = [(at, models.learner(expert.model)) for at, expert in enumerate(pool.experts) if expert.learns]
    live = [at for at, expert in enumerate(pool.experts) if expert.kind == "live"]
    experts = predictors, trainers, live, *_members(pool.weighting), pool.stats
    if isinstance(score, RegressionScore):
        slopes = {SquaredError: lambda _: None, AbsoluteError: lambda _: (1.0, 1.0), Pinball: _pinball_slopes}
        if not score.high > score.low or type(score.loss) not in slopes:
            return None  # the scale is not known yet
        limits = MARGIN, RANGE_GROWTH, FADING, LARGEST, ROUNDING_OF_MIXTURE
        return kernel.RegressionRound(*experts, score, slopes[type(score.loss)](score.loss), *limits)
    known = {zero_one: kernel.ZERO_ONE, brier: kernel.BRIER, log_loss: kernel.LOG}
    if score.loss not in known or not models.classes:
        return None
    stack = pool.stack()
    return kernel.ClassificationRound(
        *experts,
        models.classes,
        known[score.loss],
        ROUNDING_OF_PROBABILITIES,
        SMALLEST_PROBABILITY,
        SAFE_MARGIN,
        IMPLAUSIBLE,
        None if stack is None else stack.model,
    )


def _members(weighting: Any) -> tuple[list[Any], Any]:
    """Return the algorithms with their compiled rounds, and the arbiter between two of them, or None."""
    if isinstance(weighting, FollowOrBlend):
        return [_member(member.algorithm) for member in weighting.members], _member(weighting.arbiter)
    return [_member(weighting.algorithm)], None


def _member(algorithm: ExpertAlgorithm) -> tuple[ExpertAlgorithm, Any]:
    # with a horizon the algorithm's own code counts the rounds
    if type(algorithm) in (LongTermMemory, PatientMemory) and algorithm.horizon is None:
        return algorithm, algorithm.compiled_rounds()
    return algorithm, None


def _pinball_slopes(loss: Pinball) -> tuple[float, float]:
    """Return the slopes above and below the target."""
    return 1.0 - loss.quantile, loss.quantile


def learn_row(engine: Engine, models: RowModels, x: Any, y: Any, target: Any) -> bool:
    """Do a complete round of one row; return False, without any change, if the engine must do it."""
    round_ = compiled_round(engine, models)
    if round_ is None:
        return False
    failed = round_.learn(x, target) if models.classes is None else round_.learn(x, y, target, engine.score)
    if failed is None:
        return False
    engine.complete_round(n_rows=1)
    reports, exit_ = [], None
    for at, error in failed:
        failure, expert = CallFailure(error), engine.pool.experts[at]
        if failure.is_exit:
            exit_ = error
        elif not engine.is_warming_up(expert):
            reports.append(engine.failures.report(expert, "learn", failure))
    if engine.memory is not None:
        losses = round_.losses_of_live()
        observation = RoundObservation([x], np.array([target]), round_.predictions(), None, losses, engine.n_rows)
        reports += engine.remember(models, observation)
    engine.note(reports)
    if exit_ is not None:
        raise exit_
    return True
