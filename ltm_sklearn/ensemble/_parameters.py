"""What the parameters of the two estimators may be."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils import check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted

from .._param_checks import check_count, check_jobs, check_option
from ..engine import check_query, check_shared_parameters
from ..recording import check_verbose
from ._from_river import as_sklearn_model
from ._validation import is_frozen


def check_parameters(ensemble: Any) -> None:
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
    _check_estimators(ensemble)
    check_query(ensemble.n_queries, len(ensemble._pool()))


def _check_estimators(ensemble: Any) -> None:
    if ensemble.estimators is None:
        return
    kind = "classifier" if is_classifier(ensemble) else "regressor"
    names = [name for name, _ in pairs_of(ensemble.estimators)]
    if not names:
        raise ValueError(NO_PAIRS.format(ensemble.estimators))
    ensemble._validate_names(names)
    if marked := [name for name in names if "@" in name]:
        raise ValueError(f"estimators' names must not contain @, which marks experts of the ensemble's own: {marked!r}")
    for name, estimator in ensemble.estimators:
        if isinstance(estimator, str) and estimator == "drop":
            continue
        expert = as_sklearn_model(estimator)
        check_is_estimator(name, estimator)
        if get_tags(expert).estimator_type != kind:
            raise ValueError(f"expert {name!r} ({type(estimator).__name__}) should be a {kind}")
        check_frozen(name, estimator)
    if not ensemble._pool():
        raise ValueError("all estimators are dropped: at least one is needed")


# Of one expert, wherever it is to be ------------------------------------------------------------------------------

NO_PAIRS = "estimators={!r} must be a non-empty list of (name, estimator) pairs"


def pairs_of(estimators: Any) -> list[tuple[str, Any]]:
    """Names and estimators, if these are such pairs."""
    try:
        pairs = [(name, estimator) for name, estimator in estimators]
    except (TypeError, ValueError):
        raise ValueError(NO_PAIRS.format(estimators)) from None
    if not all(isinstance(name, str) for name, _ in pairs):
        raise ValueError(f"estimators need strings for names; got {[name for name, _ in pairs]!r}")
    return pairs


def check_is_estimator(name: str, estimator: Any) -> None:
    """An instance that can learn."""
    expert = as_sklearn_model(estimator)
    if isinstance(expert, type) or not hasattr(expert, "fit"):
        raise ValueError(
            f"expert {name!r} is {estimator!r}, which is no estimator and not 'drop': it has no fit, or is a class"
        )


def check_frozen(name: str, estimator: Any) -> None:
    """One that is never trained must know something."""
    if is_frozen(estimator):
        try:
            check_is_fitted(estimator)
        except NotFittedError:
            raise ValueError(f"expert {name!r} is frozen but not fitted: it could never predict") from None
