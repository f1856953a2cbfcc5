"""Parameters that the estimators for scikit-learn and for River share: their checks, and the engine made from them."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone

from .._param_checks import check_count, check_option
from ..aggregation import BanditWeighting, RoundWeighting, new_weighting
from ..bandits import BanditAlgorithm, bandit_algorithm
from ..experts import expert_algorithm
from ..losses import ClassificationScore, RegressionScore, loss_name
from ..recording import History, check_record, log_file, n_records
from ._engine import Engine
from ._snapshot_memory import SnapshotMemory
from ._snapshots import Snapshots


def check_shared_parameters(ensemble: Any) -> None:
    """Raise a ValueError that names a parameter outside its domain."""
    check_option("combine", ensemble.combine, ("average", "leader", "sample"))
    check_option("on_error", ensemble.on_error, ("warn", "raise"))
    check_record(ensemble.record)
    if not (ensemble.memory is None or ensemble.memory == "auto" or isinstance(ensemble.memory, Snapshots)):
        raise ValueError(f"memory={ensemble.memory!r} is neither 'auto', None nor Snapshots(...)")
    check_option("feedback", ensemble.feedback, ("full", "bandit"))
    check_count("n_queries", ensemble.n_queries)
    is_bandit = ensemble.feedback == "bandit"
    if ensemble.n_queries != 1 and not is_bandit:
        raise ValueError(
            f"n_queries={ensemble.n_queries!r} needs feedback='bandit': with feedback='full' all experts are queried"
        )
    try:
        algorithm = bandit_algorithm(ensemble.algorithm) if is_bandit else expert_algorithm(ensemble.algorithm)
    except ValueError as error:
        raise ValueError(f"{error} feedback={ensemble.feedback!r} needs one of these.") from None
    if isinstance(algorithm, BanditAlgorithm):
        algorithm.check_parameters()
        low, high = algorithm.known_loss_range()
        if low > 0.0 or high < 1.0:
            raise ValueError(
                f"algorithm={ensemble.algorithm!r} takes losses from {low:g} to {high:g}; the losses of experts lie in "
                "[0, 1]. Set loss_range so that it contains them."
            )
    if is_bandit and isinstance(ensemble.memory, Snapshots) and ensemble.memory.merge is not None:
        raise ValueError(
            f"memory={ensemble.memory!r} queries models again to compare them, and with feedback='bandit' only "
            "selected experts are queried: use Snapshots(merge=None)"
        )


def check_query(n_queries: int, n_experts: int) -> None:
    """Raise a ValueError if there are fewer experts than ``n_queries``."""
    if n_queries > n_experts:
        raise ValueError(f"n_queries={n_queries!r} is more than the {n_experts} experts")


def new_engine(ensemble: Any, score: ClassificationScore | RegressionScore, each_row: bool, seed: int) -> Engine:
    """Return an engine without experts, configured by the parameters of an estimator."""
    weighting: RoundWeighting
    if ensemble.feedback == "bandit":
        weighting = BanditWeighting(bandit_algorithm(ensemble.algorithm), ensemble.n_queries)
    else:
        weighting = new_weighting(expert_algorithm(ensemble.algorithm), score)
    memory = ensemble.memory
    if isinstance(memory, str):  # "auto": each snapshot is one more arm to explore, so none with bandit feedback
        memory = Snapshots() if ensemble.feedback == "full" else None
    return Engine(
        weighting,
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
    """Return whether the predictions of all experts are averaged, so that losses can be those of the average."""
    return bool(ensemble.combine == "average" and ensemble.feedback == "full")
