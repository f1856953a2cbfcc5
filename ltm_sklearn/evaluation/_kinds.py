"""Whether a run is about classes or about numbers."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor


def predicts_classes(models: Mapping[Any, Any], y: NDArray[Any]) -> bool:
    """As the models say; if none does, real targets are numbers and all others are classes."""
    kinds = {name: _kind(model) for name, model in models.items()}
    classifiers = [name for name, kind in kinds.items() if kind == "classifier"]
    regressors = [name for name, kind in kinds.items() if kind == "regressor"]
    if classifiers and regressors:
        raise ValueError(f"models {classifiers} are classifiers and {regressors} are regressors: run them apart")
    return bool(classifiers) or (not regressors and y.dtype.kind != "f")


def _kind(model: Any) -> str | None:
    if hasattr(model, "learn_one"):
        if find_spec("river") is None:
            return None
        from river import base

        if isinstance(model, base.Classifier):
            return "classifier"
        return "regressor" if isinstance(model, base.Regressor) else None
    if not hasattr(model, "__sklearn_tags__"):
        return None
    if is_classifier(model):
        return "classifier"
    return "regressor" if is_regressor(model) else None
