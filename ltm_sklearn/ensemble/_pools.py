"""The experts that are used when none are given: few, cheap, and unlike each other.

Their modules are imported with them, as they would be most of the time that ``import ltm_sklearn`` takes.
"""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import StandardScaler
from sklearn.utils.metadata_routing import _routing_enabled

from ._pipeline import IncrementalPipeline
from ._window import SlidingWindow


def _weighted(estimator: Any, wanted: bool = True) -> Any:
    """With metadata routing, an estimator must say whether it wants the rows' weights."""
    return estimator.set_partial_fit_request(sample_weight=wanted) if _routing_enabled() else estimator


def _scaled(sgd: Any) -> IncrementalPipeline:
    scale = _weighted(StandardScaler(), wanted=False)
    return IncrementalPipeline([("scale", scale), ("sgd", _weighted(sgd))])


def classifiers(seed: int | None) -> list[tuple[str, Any]]:
    """Naive Bayes, two logistic regressions of different pace, and a forest.

    The forest's window is long: for what has just changed there are the memory's young learners.
    """
    from sklearn.ensemble import ExtraTreesClassifier
    from sklearn.linear_model import SGDClassifier
    from sklearn.naive_bayes import GaussianNB

    def logistic(rate: float) -> Any:
        sgd = SGDClassifier(loss="log_loss", learning_rate="constant", eta0=rate, alpha=1e-5, random_state=seed or 0)
        return _scaled(sgd)

    forest = ExtraTreesClassifier(30, random_state=seed or 0)
    return [
        ("bayes", _weighted(GaussianNB())),
        ("logistic", logistic(0.1)),
        ("nimble", logistic(1.0)),
        ("forest", _weighted(SlidingWindow(forest, window=5000))),
    ]


def regressors(seed: int | None) -> list[tuple[str, Any]]:
    """A linear model that never forgets, one of the latest rows, and a forest on them."""
    from sklearn.ensemble import ExtraTreesRegressor
    from sklearn.linear_model import Ridge, SGDRegressor

    sgd = SGDRegressor(random_state=seed or 0)
    return [
        ("linear", _scaled(sgd)),
        ("ridge", _weighted(SlidingWindow(Ridge()))),
        ("forest", _weighted(SlidingWindow(ExtraTreesRegressor(30, random_state=seed or 0)))),
    ]
