"""Axis labels of losses."""

from __future__ import annotations

#: Labels of a mean and of a sum of losses.
_LABELS = {
    "zero_one": ("share of mistakes", "mistakes"),
    "brier": ("mean Brier loss", "sum of Brier losses"),
    "log_loss": ("mean log loss", "sum of log losses"),
    "squared_error": ("mean squared error", "sum of squared errors"),
    "absolute_error": ("mean absolute error", "sum of absolute errors"),
    "pinball": ("mean pinball loss", "sum of pinball losses"),
    "absolute_percentage_error": ("mean absolute percentage error / 100", "sum of percentage errors / 100"),
    "huber": ("mean Huber loss", "sum of Huber losses"),
    "log_cosh": ("mean log-cosh loss", "sum of log-cosh losses"),
}


def mean_loss_label(loss_name: str) -> str:
    """Return the axis label of a mean of losses."""
    return _LABELS.get(loss_name, (f"mean loss ({loss_name})", ""))[0]


def sum_loss_label(loss_name: str) -> str:
    """Return the axis label of a sum of losses."""
    return _LABELS.get(loss_name, ("", f"sum of losses ({loss_name})"))[1]
