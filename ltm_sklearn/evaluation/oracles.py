"""What could have been reached in hindsight, on a table of losses or forecasts, one column for each expert.

All losses here are means per row.

An expert whose loss is NaN sleeps in that row, and cannot be followed there. Of forecasts, only rows count in which all
experts have one: weights that are shared out anew in each row are no fixed combination.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._param_checks import check_count, check_option
from ..losses import LOSSES, RegressionLoss
from ._combinations import best_weights
from ._few_experts import Search
from ._hindsight import ExpertSequence, Oracle, SequenceAmong
from ._memory_curve import MemoryCurve, round_numbers
from ._sequences import best_path
from ._tables import Losses, check_forecasts, check_losses, check_switches, fewest_switches

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
    """The best single expert.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps. One that sleeps in any row cannot be the best: its mean would be over other rows,
        perhaps easier ones.

    Returns
    -------
    Oracle

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> best = oracles.best_expert([[0.1, 0.4], [0.5, 0.1]])
    >>> best.expert, best.loss
    (1, 0.25)
    """
    checked = check_losses(losses)
    means = checked.means(checked.table.sum(axis=0))
    expert = int(means.argmin())
    _check_awake(means[expert], checked, 0)
    return Oracle(float(means[expert]), np.eye(len(means))[expert], len(checked.table))


def best_convex(forecasts: ArrayLike, y: ArrayLike, loss: str | Callable[..., Any] = "squared_error") -> Oracle:
    """The best fixed convex combination: weights of at least 0 that sum to 1.

    Parameters
    ----------
    forecasts : array-like of shape (n_rows, n_experts)
        Only rows count in which none is NaN.
    y : array-like of shape (n_rows,)
        Targets.
    loss : str or callable, default="squared_error"
        A name from ``ltm_sklearn.losses.LOSSES``, or a convex loss ``loss(y, prediction)`` that has a method
        ``gradient`` with the same arguments. Squares and losses with a kink, as "absolute_error" and "pinball", are
        solved
        exactly, others by Newton's steps.

    Returns
    -------
    Oracle

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> best = oracles.best_convex([[1.0, 3.0], [2.0, 6.0], [4.0, 4.0]], [2.5, 5.0, 4.0])
    >>> best.weights
    array([0.25, 0.75])
    """
    return _best_combination(forecasts, y, loss, convex=True)


def best_linear(forecasts: ArrayLike, y: ArrayLike, loss: str | Callable[..., Any] = "squared_error") -> Oracle:
    """The best fixed linear combination: any weights, no intercept.

    Parameters
    ----------
    forecasts, y, loss
        As in :func:`best_convex`.

    Returns
    -------
    Oracle

    Examples
    --------
    >>> from ltm_sklearn.evaluation import oracles
    >>> oracles.best_linear([[1.0], [2.0], [4.0]], [2.0, 4.0, 9.0], loss="absolute_error").weights
    array([2.25])
    """
    return _best_combination(forecasts, y, loss, convex=False)


def best_sequence(losses: ArrayLike, max_switches: int) -> ExpertSequence:
    """The best sequence of experts with at most so many switches, and what those with fewer lose.

    Exact, in time proportional to rows x experts x switches.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps, and cannot be followed.
    max_switches : int

    Returns
    -------
    ExpertSequence

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
    totals, path = best_path(checked.table, min(max_switches, len(checked.table) - 1))
    means = _padded(checked.means(totals), max_switches)
    _check_awake(means[-1], checked, max_switches)
    return ExpertSequence(float(means[-1]), means, path)


def best_sequence_among(losses: ArrayLike, max_switches: int, n_distinct: int) -> SequenceAmong:
    """The best sequence with at most so many switches among at most so many experts: what memory competes with.

    To find it is hard: it is exact where all groups of experts can be gone through, or bounds leave only few of them.
    Otherwise it says between which bounds the least loss lies, after a few seconds' work.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps, and cannot be followed.
    max_switches, n_distinct : int

    Returns
    -------
    SequenceAmong

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
    n_rows, n_experts = checked.table.shape
    n, last = min(n_distinct, n_experts), min(max_switches, n_rows - 1)
    search = Search(checked.table, last, n, [last], [n])
    group = np.sort(search.groups[-1][-1])
    total, path = best_path(checked.table[:, group], last)
    _check_awake(float(checked.means(total)[-1]), checked, max_switches, f" among {n_distinct} experts")
    lower, upper = (float(checked.means(bound)[-1, -1]) for bound in (search.lower, search.upper))
    return SequenceAmong(lower, upper, bool(search.exact[-1, -1]), group[path])


def memory_curve(losses: ArrayLike, max_switches: int, max_distinct: int) -> MemoryCurve:
    """Whether memory can pay on this data: the least loss against switches and the experts to switch among.

    One expert is the best fixed one. If three experts with 50 switches are nearly as good as all of them with 50, the
    good ones return, and an algorithm with memory finds them again; if only more experts help, it has little to
    remember; if more switches do not help, one expert is enough.

    Parameters
    ----------
    losses : array-like of shape (n_rows, n_experts)
        NaN where an expert sleeps, and cannot be followed.
    max_switches, max_distinct : int
        Where to stop.

    Returns
    -------
    MemoryCurve
        Bounds, as in :func:`best_sequence_among`; most are exact.

    Examples
    --------
    >>> import numpy as np
    >>> from ltm_sklearn.evaluation import oracles
    >>> losses = np.ones((60, 8))
    >>> losses[np.arange(60), np.arange(60) // 10 % 2] = 0.0  # experts 0 and 1 take turns
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
    n_rows, n_experts = checked.table.shape
    n, last = min(max_distinct, n_experts), min(max_switches, n_rows - 1)
    search = Search(checked.table, last, n, round_numbers(last), list(range(2, n + 1)))
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
        raise ValueError(f"loss={loss!r} has no method gradient(y, prediction), without which there is no best weight")
    table, targets = check_forecasts(forecasts, y, "forecasts")
    complete = ~np.isnan(table).any(axis=1)
    if not complete.any():
        raise ValueError("forecasts have a NaN in every row: only rows count in which all experts have a forecast")
    table, targets = table[complete], targets[complete]
    if isinstance(used, RegressionLoss):
        used.check_targets(targets)
    for name, function in (("loss", used), ("gradient of the loss", used.gradient)):
        with np.errstate(over="ignore"):
            values = np.asarray(function(targets, table[:, 0]))
        if values.shape != targets.shape:
            raise ValueError(f"the {name} must be one number for each row; got shape {values.shape}")
        if not np.isfinite(values).all():
            row = int((~np.isfinite(values)).argmax())
            raise ValueError(f"the {name} must be finite; it is {values[row]} in row {row}")
    weights = best_weights(table, targets, used, convex)
    # the error of a convex combination is that of the errors; large values of the target do not cancel in it
    prediction = targets + (table - targets[:, np.newaxis]) @ weights if convex else table @ weights
    return Oracle(float(np.mean(used(targets, prediction))), weights, len(targets))


def _padded(values: NDArray[Any], max_switches: int) -> NDArray[Any]:
    """More switches than there are rows to switch in change nothing."""
    missing = max_switches + 1 - values.shape[-1]
    return np.concatenate([values, np.repeat(values[..., -1:], missing, axis=-1)], axis=-1)


def _check_awake(mean: float, losses: Losses, max_switches: int, among: str = "") -> None:
    if np.isinf(mean):
        raise ValueError(
            f"found no sequence with at most {max_switches} switches{among} that never follows an expert asleep; "
            f"among all experts it takes {fewest_switches(losses)} switches"
        )
