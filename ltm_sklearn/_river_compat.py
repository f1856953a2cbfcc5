"""Kind, weights and probabilities of River's models, without importing River."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import Parameter, signature
from typing import Any


def river_model_kind(model: Any) -> str | None:
    """Return "classifier" or "regressor" for a supervised model with River's methods; None for any other object."""
    if isinstance(model, type) or not (hasattr(model, "learn_one") and hasattr(model, "clone")):
        return None
    last = last_step(model)
    if not getattr(last, "_supervised", True) or not hasattr(last, "predict_one"):
        return None
    return "classifier" if hasattr(last, "predict_proba_one") else "regressor"


def takes_weights(model: Any) -> bool:
    """Return whether ``learn_one`` takes ``w``; pipelines pass it to their last step, some wrappers to their model."""
    last = last_step(model)
    parameters = signature(last.learn_one).parameters
    passes_keywords = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    return "w" in parameters or (
        passes_keywords and hasattr(last, "_wrapped_model") and takes_weights(last._wrapped_model)
    )


def last_step(model: Any) -> Any:
    """Return the last model of a River pipeline; return any other model unchanged."""
    while (steps := getattr(model, "steps", None)) and isinstance(steps, Mapping):
        model = list(steps.values())[-1]
    return model


def probabilities_by_label(model: Any, x: dict[Any, Any]) -> dict[Any, float]:
    """Return the probabilities by label; empty if there is no prediction, 1 for the label of models without them."""
    try:
        probabilities: dict[Any, float] = model.predict_proba_one(x)
    except NotImplementedError:
        label = model.predict_one(x)
        return {} if label is None else {label: 1.0}
    return probabilities
