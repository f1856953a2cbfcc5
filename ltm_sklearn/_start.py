"""From the parameters that the estimators of both skins share to a fresh engine."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from ._engine import Engine
from ._weighting import weighting_of
from .experts import ExpertAlgorithm, LongTermMemory
from .experts._validation import check_count, check_option
from .losses import ClassScore, TargetScore
from .memory import Remembering, Snapshots


def check_shared_parameters(ensemble: Any) -> None:
    """Raise a ValueError that names a parameter outside its domain."""
    check_option("combine", ensemble.combine, ("average", "leader", "sample"))
    check_option("on_error", ensemble.on_error, ("warn", "raise"))
    if ensemble.record is not None:
        check_count("record", ensemble.record)
    if not (ensemble.memory is None or ensemble.memory == "auto" or isinstance(ensemble.memory, Snapshots)):
        raise ValueError(f"memory={ensemble.memory!r} is neither 'auto', None nor Snapshots(...)")
    if not (ensemble.algorithm is None or isinstance(ensemble.algorithm, ExpertAlgorithm)):
        raise ValueError(f"algorithm={ensemble.algorithm!r} is no expert algorithm of ltm_sklearn.experts")


def fresh_engine(ensemble: Any, score: ClassScore | TargetScore, each_row: bool, seed: int) -> Engine:
    """An engine without experts, run by an estimator's parameters."""
    memory = Snapshots() if isinstance(ensemble.memory, str) else ensemble.memory
    algorithm = LongTermMemory() if ensemble.algorithm is None else clone(ensemble.algorithm)
    return Engine(
        weighting_of(algorithm, score),
        score,
        ensemble.combine,
        each_row,
        ensemble.on_error == "raise",
        None if memory is None else Remembering(clone(memory)),
        ensemble.record,
        seed,
    )
