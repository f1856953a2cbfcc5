"""Names of losses, as records and pages show them."""

from __future__ import annotations

from typing import Any

from ._classification_score import CLASS_LOSSES
from ._regression_losses import LOSSES, RegressionLoss


def loss_name(loss: Any) -> str:
    """Return the name of a loss; of a custom loss, the name of its function or class."""
    if isinstance(loss, str):
        return loss
    for name, known in {**CLASS_LOSSES, **LOSSES}.items():
        if loss is known or (isinstance(known, RegressionLoss) and type(loss) is type(known)):
            return name
    return str(getattr(loss, "__name__", type(loss).__name__))
