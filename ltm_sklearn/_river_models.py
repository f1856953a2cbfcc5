"""What River's models are, told without importing River."""

from __future__ import annotations

from inspect import signature
from typing import Any


def kind_of(model: Any) -> str | None:
    """Whether a model is a classifier or regressor of River, or what looks like one."""
    if isinstance(model, type) or not (hasattr(model, "learn_one") and hasattr(model, "clone")):
        return None
    last = _last_step(model)
    if not getattr(last, "_supervised", True) or not hasattr(last, "predict_one"):
        return None
    return "classifier" if hasattr(last, "predict_proba_one") else "regressor"


def takes_weights(model: Any) -> bool:
    """Whether a model's ``learn_one`` takes ``w``; a pipeline of River hands it to its last step."""
    return "w" in signature(_last_step(model).learn_one).parameters


def _last_step(model: Any) -> Any:
    while getattr(model, "steps", None):
        model = list(model.steps.values())[-1]
    return model
