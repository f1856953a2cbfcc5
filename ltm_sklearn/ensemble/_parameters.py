"""Checks of the parameters of the estimators, once per fit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._param_checks import check_count, check_jobs, check_option
from ..engine import check_query, check_shared_parameters
from ..recording import check_verbose
from ._from_river import as_sklearn_model
from ._named_estimators import named_pairs, no_pairs
from ._validation import is_frozen

if TYPE_CHECKING:
    from ._base import BaseLongTermMemory


def check_parameters(ensemble: BaseLongTermMemory) -> None:
    """Raise a ValueError that names a parameter outside its domain."""
    check_shared_parameters(ensemble)
    check_option("rounds", ensemble.rounds, ("batch", "row"))
    check_count("batch_size", ensemble.batch_size)
    check_count("max_pending", ensemble.max_pending)
    check_verbose(ensemble.verbose)
    check_jobs(ensemble.n_jobs)
    try:
        check_random_state(ensemble.random_state)
    except ValueError as error:
        raise ValueError(f"random_state={ensemble.random_state!r}: {error}") from None
    if ensemble.estimators is not None:
        _check_estimators(ensemble)
    check_query(ensemble.n_queries, len(ensemble._pool()))


def _check_estimators(ensemble: BaseLongTermMemory) -> None:
    kind = "classifier" if is_classifier(ensemble) else "regressor"
    pairs = named_pairs(ensemble.estimators)
    names = [name for name, _ in pairs]
    if not names:
        raise no_pairs(ensemble.estimators)
    ensemble._validate_names(names)
    if marked := [name for name in names if "@" in name]:
        raise ValueError(f"names of estimators must not contain @, which marks snapshots and the stack: {marked!r}")
    for name, estimator in pairs:
        if isinstance(estimator, str) and estimator == "drop":
            continue
        check_is_estimator(name, estimator)
        if get_tags(as_sklearn_model(estimator)).estimator_type != kind:
            raise ValueError(f"expert {name!r} ({type(estimator).__name__}) should be a {kind}")
        check_frozen(name, estimator)
    if not ensemble._pool():
        raise ValueError("all estimators are dropped: at least one is needed")


def check_is_estimator(name: str, estimator: Any) -> None:
    """Raise a ValueError unless an expert is an instance with ``fit``, or a model of River."""
    expert = as_sklearn_model(estimator)
    if isinstance(expert, type) or not hasattr(expert, "fit"):
        raise ValueError(
            f"expert {name!r} is {estimator!r}, which is no estimator and not 'drop': it has no fit, or is a class"
        )


def check_frozen(name: str, estimator: Any) -> None:
    """Raise a ValueError if an expert is frozen, and so never trained, but not fitted."""
    if is_frozen(estimator):
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            raise ValueError(f"expert {name!r} is frozen but not fitted: it could never predict") from None
