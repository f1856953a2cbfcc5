"""What River's models are, told without importing River."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any


def kind_of(model: Any) -> str | None:
    """Whether a model is a classifier or regressor of River, or what looks like one."""
    if isinstance(model, type) or not (hasattr(model, "learn_one") and hasattr(model, "clone")):
        return None
    last = last_step(model)
    if not getattr(last, "_supervised", True) or not hasattr(last, "predict_one"):
        return None
    return "classifier" if hasattr(last, "predict_proba_one") else "regressor"


def takes_weights(model: Any) -> bool:
    """Whether ``learn_one`` takes ``w``; pipelines hand it to their last step, some wrappers to their model."""
    last = last_step(model)
    parameters = signature(last.learn_one).parameters
    hands_on = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    return "w" in parameters or (hands_on and hasattr(last, "_wrapped_model") and takes_weights(last._wrapped_model))


def last_step(model: Any) -> Any:
    """Of a pipeline of River, the model at its end; any other model itself."""
    while (steps := getattr(model, "steps", None)) and isinstance(steps, Mapping):
        model = list(steps.values())[-1]
    return model


def chances_of(model: Any, x: dict[Any, Any]) -> dict[Any, float]:
    """Probabilities by label, none if the model has nothing to say; all for its label if it knows labels only."""
    try:
        chances: dict[Any, float] = model.predict_proba_one(x)
    except NotImplementedError:
        label = model.predict_one(x)
        return {} if label is None else {label: 1.0}
    return chances
