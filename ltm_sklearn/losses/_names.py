"""What losses are called."""

from __future__ import annotations

from typing import Any

from ._classification import CLASS_LOSSES
from ._regression_losses import LOSSES, RegressionLoss


def loss_name(loss: Any) -> str:
    """What a loss is called; of one's own, the name of the function or class."""
    if isinstance(loss, str):
        return loss
    for name, known in {**CLASS_LOSSES, **LOSSES}.items():
        if loss is known or (isinstance(known, RegressionLoss) and type(loss) is type(known)):
            return name
    return str(getattr(loss, "__name__", type(loss).__name__))
