"""Best experts, combinations and sequences in hindsight, from tables with one column for each expert.

All losses are means per row. An expert whose loss is NaN sleeps in that row, and no sequence can follow it there. For
combinations of forecasts, only rows in which no forecast is NaN count: fixed weights cannot be shared out anew.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._param_checks import check_count, check_option
from ..losses import LOSSES, RegressionLoss
from ._combinations import best_weights
from ._oracle_results import ExpertSequence, MemoryCurve, Oracle, SequenceAmong, round_numbers
from ._sequence_search import SequenceSearch
from ._sequences import best_path
from ._tables import LossTable, check_forecasts, check_losses, check_switches

__all__ = [
    "ExpertSequence",
    "MemoryCurve",
    "Oracle",
    "SequenceAmong",
    "best_convex",
    "best_expert",
    "best_linear",
    "best_sequence",
    "best_sequence_among",
    "memory_curve",
]


def best_expert(losses: ArrayLike) -> Oracle:
    """Return the best single expert in hindsight.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps. An expert that sleeps in any row cannot be the best: its mean would be over fewer,
        perhaps easier, rows.

    Returns
    -------
    Oracle
        Weight 1 for the best expert.

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> best = oracles.best_expert([[0.1, 0.4], [0.5, 0.1]])
    >>> best.expert, best.loss
    (1, 0.25)
    """
    checked = check_losses(losses)
    means = checked.means(checked.values.sum(axis=0))
    expert = int(means.argmin())
    _check_awake(means[expert], checked, 0)
    return Oracle(float(means[expert]), np.eye(len(means))[expert], len(checked.values))


def best_convex(forecasts: ArrayLike, y: ArrayLike, loss: str | Callable[..., Any] = "squared_error") -> Oracle:
    """Return the best fixed convex combination in hindsight: weights of at least 0 that sum to 1.

    Parameters
    ----------
    forecasts : array-like of shape (n_rows, n_experts)
        Only rows without NaN count.
    y : array-like of shape (n_rows,)
        Targets.
    loss : str or callable, default="squared_error"
        A name from ``ltm_sklearn.losses.LOSSES``, or a convex loss ``loss(y, prediction)`` with a method
        ``gradient`` that takes the same arguments. The squared error and piecewise linear losses, such as
        "absolute_error" and "pinball", are solved exactly, others by Newton steps.

    Returns
    -------
    Oracle
        Weights of the experts, and their loss.

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> best = oracles.best_convex([[1.0, 3.0], [2.0, 6.0], [4.0, 4.0]], [2.5, 5.0, 4.0])
    >>> best.weights
    array([0.25, 0.75])
    """
    return _best_combination(forecasts, y, loss, convex=True)


def best_linear(forecasts: ArrayLike, y: ArrayLike, loss: str | Callable[..., Any] = "squared_error") -> Oracle:
    """Return the best fixed linear combination in hindsight: any weights, no intercept.

    Parameters
    ----------
    forecasts, y, loss
        As in :func:`best_convex`.

    Returns
    -------
    Oracle
        Weights of the experts, and their loss.

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> oracles.best_linear([[1.0], [2.0], [4.0]], [2.0, 4.0, 9.0], loss="absolute_error").weights
    array([2.25])
    """
    return _best_combination(forecasts, y, loss, convex=False)


def best_sequence(losses: ArrayLike, max_switches: int) -> ExpertSequence:
    """Return the best sequence of experts in hindsight with at most ``max_switches`` switches.

    The result is exact; the time is proportional to rows x experts x switches.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps.
    max_switches : int
        Most switches of the sequence.

    Returns
    -------
    ExpertSequence
        The sequence and its loss, and the least losses with fewer switches.

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> best = oracles.best_sequence([[0, 1], [0, 1], [1, 0], [0, 1]], max_switches=2)
    >>> best.losses
    array([0.25, 0.25, 0.  ])
    >>> best.path
    array([0, 0, 1, 0])
    """
    checked = check_losses(losses)
    check_switches(max_switches)
    totals, path = best_path(checked.values, min(max_switches, len(checked.values) - 1))
    means = _padded(checked.means(totals), max_switches)
    _check_awake(means[-1], checked, max_switches)
    return ExpertSequence(float(means[-1]), means, path)


def best_sequence_among(losses: ArrayLike, max_switches: int, n_distinct: int) -> SequenceAmong:
    """Return the best sequence in hindsight with limits on the switches and on the distinct experts.

    The regret bounds of algorithms with long-term memory are against this sequence. Finding it is a hard problem. The
    result is exact if all groups of experts can be examined, or if bounds leave few of them. Otherwise the search ends
    after some seconds with a lower and an upper bound on the loss.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps.
    max_switches, n_distinct : int
        Most switches and most distinct experts of the sequence.

    Returns
    -------
    SequenceAmong
        The sequence that was found, and bounds on the least loss.

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> losses = [[0, 1, 2], [1, 0, 2], [0, 1, 2], [2, 1, 0]]
    >>> best = oracles.best_sequence_among(losses, max_switches=3, n_distinct=2)
    >>> best.experts, best.upper, best.exact
    ([0, 1], 0.25, True)
    """
    checked = check_losses(losses)
    check_switches(max_switches)
    check_count("n_distinct", n_distinct)
    n_rows, n_experts = checked.values.shape
    n, last = min(n_distinct, n_experts), min(max_switches, n_rows - 1)
    search = SequenceSearch(checked.values, last, n, [last], [n])
    group = np.sort(search.groups[-1][-1])
    total, path = best_path(checked.values[:, group], last)
    _check_awake(float(checked.means(total)[-1]), checked, max_switches, f" among {n_distinct} experts")
    lower, upper = (float(checked.means(bound)[-1, -1]) for bound in (search.lower, search.upper))
    return SequenceAmong(lower, upper, bool(search.exact[-1, -1]), group[path])


def memory_curve(losses: ArrayLike, max_switches: int, max_distinct: int) -> MemoryCurve:
    """Return the least losses in hindsight by numbers of switches and of distinct experts.

    The curve shows whether memory can help on these losses. If three experts with 50 switches are nearly as good as all
    experts with 50 switches, good experts return, and an algorithm with memory finds them again. If only more experts
    reduce the loss, there is little to remember. If more switches do not reduce it, one expert is enough.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps.
    max_switches, max_distinct : int
        Largest numbers of switches and of distinct experts.

    Returns
    -------
    MemoryCurve
        Bounds on the least losses, as in :func:`best_sequence_among`; most are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.evaluation import oracles
    >>> losses = np.ones((60, 8))
    >>> losses[np.arange(60), np.arange(60) // 10 % 2] = 0.0  # experts 0 and 1 alternate
    >>> oracles.memory_curve(losses, max_switches=5, max_distinct=3)
    least mean loss of 60 rows, by switches and distinct ones of 8 experts
    switches    1       2       3     all
           0  0.5     0.5     0.5     0.5
           1  0.5  0.3333  0.3333  0.3333
           2  0.5  0.3333  0.3333  0.3333
           5  0.5       0       0       0
    """
    checked = check_losses(losses)
    check_switches(max_switches)
    check_count("max_distinct", max_distinct)
    n_rows, n_experts = checked.values.shape
    n, last = min(max_distinct, n_experts), min(max_switches, n_rows - 1)
    search = SequenceSearch(checked.values, last, n, round_numbers(last), list(range(2, n + 1)))
    return MemoryCurve(
        n_rows=n_rows,
        n_experts=n_experts,
        switches=np.arange(max_switches + 1),
        distinct=np.arange(1, n + 1),
        lower=_padded(checked.means(search.lower), max_switches),
        upper=_padded(checked.means(search.upper), max_switches),
        exact=_padded(search.exact, max_switches),
        of_all=_padded(checked.means(search.of_all), max_switches),
    )


def _best_combination(forecasts: ArrayLike, y: ArrayLike, loss: str | Callable[..., Any], convex: bool) -> Oracle:
    if not callable(loss):
        check_option("loss", loss, tuple(LOSSES))
    used: Any = loss if callable(loss) else LOSSES[loss]
    if not hasattr(used, "gradient"):
        raise ValueError(f"loss={loss!r} has no method gradient(y, prediction), which the search for weights needs")
    table, targets = check_forecasts(forecasts, y, "forecasts")
    complete = ~np.isnan(table).any(axis=1)
    if not complete.any():
        raise ValueError("forecasts have a NaN in every row: at least one row must have a forecast of each expert")
    table, targets = table[complete], targets[complete]
    if isinstance(used, RegressionLoss):
        used.check_targets(targets)
    for name, function in (("loss", used), ("gradient of the loss", used.gradient)):
        with np.errstate(over="ignore"):
            values = np.asarray(function(targets, table[:, 0]))
        if values.shape != targets.shape:
            raise ValueError(f"the {name} must return one number for each row; got shape {values.shape}")
        if not np.isfinite(values).all():
            row = int((~np.isfinite(values)).argmax())
            raise ValueError(f"the {name} must be finite; it is {values[row]} in row {row}")
    weights = best_weights(table, targets, used, convex)
    # combining the errors, not the forecasts, avoids cancellation with large targets
    prediction = targets + (table - targets[:, np.newaxis]) @ weights if convex else table @ weights
    return Oracle(float(np.mean(used(targets, prediction))), weights, len(targets))


def _padded(values: NDArray[Any], max_switches: int) -> NDArray[Any]:
    """Repeat the last column: more switches than rows change nothing."""
    missing = max_switches + 1 - values.shape[-1]
    return np.concatenate([values, np.repeat(values[..., -1:], missing, axis=-1)], axis=-1)


def _check_awake(mean: float, losses: LossTable, max_switches: int, among: str = "") -> None:
    if np.isinf(mean):
        raise ValueError(
            f"no sequence with at most {max_switches} switches{among} was found that never follows an expert asleep; "
            f"among all experts it takes {losses.fewest_switches()} switches"
        )
