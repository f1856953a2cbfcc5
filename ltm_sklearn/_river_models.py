"""What River's models are, told without importing River."""

from __future__ import annotations

from inspect import signature
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
    """Whether a model's ``learn_one`` takes ``w``; a pipeline of River hands it to its last step."""
    return "w" in signature(last_step(model).learn_one).parameters


def is_known(value: Any) -> bool:
    """Whether a value is there: neither None nor NaN, nor what pandas has for them."""
    if value is None:
        return False
    try:
        return bool(value == value)
    except TypeError:  # pandas.NA is neither equal to itself nor not
        return False
    except ValueError:  # an array, which compares item by item
        return True


def last_step(model: Any) -> Any:
    """Of a pipeline, the model at its end; any other model itself."""
    while getattr(model, "steps", None):
        model = list(model.steps.values())[-1]
    return model
