"""Losses that the mixture is compared with: those of the best expert, and of oracles with hindsight."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .._typing import Floats
from ..evaluation import oracles
from ..evaluation.oracles import MemoryCurve
from ..recording import RunRecord


def losses_with_imputation(run_record: RunRecord) -> Floats:
    """Return the experts' losses, shape (R, K), with the mixture's loss where an expert was asleep."""
    return np.where(np.isnan(run_record.losses), run_record.loss[:, np.newaxis], run_record.losses)


def best_expert(run_record: RunRecord) -> int:
    """Return the expert with the smallest total loss among those that were awake in at least half of the rows.

    If no expert was awake that often, those that were awake most often are compared.
    """
    counts = run_record.counts[:, np.newaxis]
    total = (counts * losses_with_imputation(run_record)).sum(axis=0)
    awake = (~np.isnan(run_record.losses) * counts).sum(axis=0)
    often = 2 * awake >= min(2 * awake.max(), run_record.counts.sum())
    return int(np.where(often, total, np.inf).argmin())


def best_sequences(run_record: RunRecord, switches: Sequence[int]) -> dict[str, Floats]:
    """Return the losses (R,) of the best sequences of experts in hindsight with at most so many switches, by label."""
    found = {}
    for most in switches:
        _check_for_oracles(run_record)
        path = oracles.best_sequence(run_record.losses, most).path
        found[f"best sequence, {most} switch{'es' * (most != 1)}"] = run_record.losses[np.arange(len(path)), path]
    return found


def memory_curve_of(
    run_record: RunRecord, max_switches: int, max_distinct: int
) -> tuple[MemoryCurve, dict[str, float]]:
    """Return the memory curve of a run, and the mean losses of the mixture and of the plain mean."""
    _check_for_oracles(run_record)
    most = min(max_switches, len(run_record.loss) - 1)
    curve = oracles.memory_curve(run_record.losses, most, min(max_distinct, len(run_record.names)))
    marks = {"mixture": float(run_record.loss.mean())}
    if run_record.uniform is not None:
        marks["plain mean"] = float(run_record.uniform.mean())
    return curve, marks


def _check_for_oracles(run_record: RunRecord) -> None:
    """Raise an error unless the record has the loss of every expert in every row."""
    if not run_record.all_were_queried:
        raise ValueError(
            "oracles need the losses of all experts in each round; this run selected experts (feedback='bandit'), and "
            "the losses of the others are unknown"
        )
    most = int(max(run_record.counts))
    if most > 1:
        raise ValueError(
            f"oracles need every row, and each record is the mean of up to {most} rows. Pass a larger record= to the "
            "estimator, and rows one by one"
        )
