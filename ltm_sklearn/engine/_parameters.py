"""From the parameters that the estimators of both skins share to a fresh engine."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.base import clone

from .._param_checks import check_count, check_option
from ..aggregation import BanditWeighting, RoundWeighting, new_weighting
from ..bandits import bandit_algorithm
from ..experts import expert_algorithm
from ..losses import ClassificationScore, RegressionScore, loss_name
from ..recording import History, check_record, log_file, n_records
from ._engine import Engine
from ._snapshots import SnapshotMemory, Snapshots


def check_shared_parameters(ensemble: Any) -> None:
    """Raise a ValueError that names a parameter outside its domain."""
    check_option("combine", ensemble.combine, ("average", "leader", "sample"))
    check_option("on_error", ensemble.on_error, ("warn", "raise"))
    check_record(ensemble.record)
    if not (ensemble.memory is None or ensemble.memory == "auto" or isinstance(ensemble.memory, Snapshots)):
        raise ValueError(f"memory={ensemble.memory!r} is neither 'auto', None nor Snapshots(...)")
    check_option("feedback", ensemble.feedback, ("full", "bandit"))
    check_count("n_queries", ensemble.n_queries)
    if ensemble.feedback == "bandit":
        _check_bandit(ensemble)
    elif ensemble.n_queries != 1:
        raise ValueError(
            f"n_queries={ensemble.n_queries!r} needs feedback='bandit': with feedback='full' all experts are asked"
        )
    else:
        with _naming_feedback("full"):
            expert_algorithm(ensemble.algorithm)


def _check_bandit(ensemble: Any) -> None:
    with _naming_feedback("bandit"):
        algorithm = bandit_algorithm(ensemble.algorithm)
    algorithm.check_parameters()
    low, high = algorithm.known_loss_range()
    if low > 0.0 or high < 1.0:
        raise ValueError(
            f"algorithm={ensemble.algorithm!r} takes losses from {low:g} to {high:g}; the losses of experts lie in "
            "[0, 1]. Set loss_range so that it contains them."
        )
    if isinstance(ensemble.memory, Snapshots) and ensemble.memory.merge is not None:
        raise ValueError(
            f"memory={ensemble.memory!r} asks models again to see which agree, and with feedback='bandit' only those "
            "that are drawn are asked: use Snapshots(merge=None)"
        )


@contextmanager
def _naming_feedback(feedback: str) -> Iterator[None]:
    """Add to an error about ``algorithm`` which kind of feedback the estimator has."""
    try:
        yield
    except ValueError as error:
        raise ValueError(f"{error} feedback={feedback!r} needs one of these.") from None


def check_query(n_queries: int, n_experts: int) -> None:
    """Not more experts can be asked than there are."""
    if n_queries > n_experts:
        raise ValueError(f"n_queries={n_queries!r} is more than the {n_experts} experts that there are")


def _fresh_weighting(ensemble: Any, score: ClassificationScore | RegressionScore) -> RoundWeighting:
    """How the experts of a score are weighted."""
    if ensemble.feedback == "bandit":
        return BanditWeighting(bandit_algorithm(ensemble.algorithm), ensemble.n_queries)
    return new_weighting(expert_algorithm(ensemble.algorithm), score)


def new_engine(ensemble: Any, score: ClassificationScore | RegressionScore, each_row: bool, seed: int) -> Engine:
    """An engine without experts, run by an estimator's parameters."""
    memory = ensemble.memory
    if isinstance(memory, str):  # each snapshot is one more to find out about, which bandits have to pay for
        memory = Snapshots() if ensemble.feedback == "full" else None
    return Engine(
        _fresh_weighting(ensemble, score),
        score,
        ensemble.combine,
        each_row,
        ensemble.on_error == "raise",
        None if memory is None else SnapshotMemory(clone(memory)),
        None if ensemble.record is None else History(n_records(ensemble.record)),
        seed,
        log_file(ensemble, loss_name(score.loss)),
    )


def averages(ensemble: Any) -> bool:
    """Whether the predictions of all experts are averaged, so that losses can be those of the average."""
    return bool(ensemble.combine == "average" and ensemble.feedback == "full")
