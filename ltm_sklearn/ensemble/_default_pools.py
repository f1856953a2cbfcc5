"""Default experts: few, cheap and different estimators, used when none are given.

The modules of the estimators are imported when needed: they would make up most of the time of ``import ltm_sklearn``.
"""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import _routing_enabled

from ._incremental_pipeline import IncrementalPipeline
from ._sliding_window import SlidingWindow


def _with_request(estimator: Any, wanted: bool = True) -> Any:
    """Set the request for ``sample_weight``, which estimators must have when metadata routing is enabled."""
    return estimator.set_partial_fit_request(sample_weight=wanted) if _routing_enabled() else estimator


def _scaled(sgd: Any) -> IncrementalPipeline:
    scale = _with_request(StandardScaler(), wanted=False)
    return IncrementalPipeline([("scale", scale), ("sgd", _with_request(sgd))])


def classifiers(seed: int | None) -> list[tuple[str, Any]]:
    """Return naive Bayes, a slow and a fast logistic regression, and a forest.

    The forest has a long window: the restarted learners of the memory cover recent changes.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    def logistic(rate: float) -> Any:
        sgd = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=rate, alpha=1e-5, random_state=seed or 0)
        return _scaled(sgd)

    forest = ExtraTreesClassifier(30, random_state=seed or 0)
    return [
        ("bayes", _with_request(GaussianNB())),
        ("logistic", logistic(0.1)),
        ("nimble", logistic(1.0)),
        ("forest", _with_request(SlidingWindow(forest, window=5000))),
    ]


def regressors(seed: int | None) -> list[tuple[str, Any]]:
    """Return a linear model of all rows, a ridge regression of recent rows, and a forest of recent rows."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import Ridge, SGDRegressor

    sgd = SGDRegressor(random_state=seed or 0)
    return [
        ("linear", _scaled(sgd)),
        ("ridge", _with_request(SlidingWindow(Ridge()))),
        ("forest", _with_request(SlidingWindow(ExtraTreesRegressor(30, random_state=seed or 0)))),
    ]
