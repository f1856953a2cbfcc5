"""Domains of the parameters of ExpertMixture."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from .._param_checks import as_floats, check_count, check_flag, check_jobs, check_number, check_option
from ..experts import expert_algorithm
from ..losses import LOSSES
from ..recording import check_record, check_verbose

#: Most rows of a block or a lag: sums of rows must stay exact.
MOST_ROWS = 2**40


def check_algorithm_and_loss(algorithm: Any, loss: Any) -> None:
    """Raise a ValueError that names the argument, ``algorithm`` or ``loss``, that is none."""
    expert_algorithm(algorithm).check_parameters()
    if isinstance(loss, type):
        raise ValueError(f"loss={loss.__name__} is a class: give an instance, {loss.__name__}()")
    if not callable(loss):
        check_option("loss", loss, tuple(LOSSES))


def check_mixture(mixture: Any) -> None:
    """Raise a ValueError that names a parameter of ExpertMixture outside its domain."""
    check_algorithm_and_loss(mixture.algorithm, mixture.loss)
    if mixture.prior is not None and getattr(mixture.algorithm, "prior", None) is not None:
        raise ValueError("prior is given twice: here, and to the algorithm")
    for name in ("gradient", "pooled", "shared", "bias"):
        check_flag(name, getattr(mixture, name))
    if (
        isinstance(mixture.lag, bool)
        or not isinstance(mixture.lag, int | np.integer)
        or not 0 <= mixture.lag <= MOST_ROWS
    ):
        raise ValueError(f"lag={mixture.lag!r} must be a whole number, 0 or more")
    if not isinstance(mixture.block, str):
        check_count("block", mixture.block, MOST_ROWS)
    if mixture.pooled and mixture.group is None:
        raise ValueError("pooled=True is for groups: give group, a column")
    check_record(mixture.record)
    if isinstance(mixture.record, str | os.PathLike) and mixture.series is not None:
        raise ValueError(
            f"record={mixture.record!r}: a file is for one series; with series= give the number of records"
        )
    check_verbose(mixture.verbose)
    check_jobs(mixture.n_jobs)
    special = [name for name in (mixture.series, mixture.group, mixture.time) if name is not None]
    special += [mixture.block] if isinstance(mixture.block, str) else []
    for name in special:
        if special.count(name) > 1 and not (special.count(name) == 2 and name == mixture.block == mixture.group):
            raise ValueError(f"column {name!r} cannot be two of series, group, time and block")
    _check_quantiles(mixture)


def _check_quantiles(mixture: Any) -> None:
    if mixture.quantiles is None:
        return
    if mixture.loss != "squared_error" if isinstance(mixture.loss, str) else True:
        raise ValueError(f"quantiles have the pinball loss: leave loss alone; it is {mixture.loss!r}")
    levels = as_floats(mixture.quantiles, "quantiles")
    if levels.ndim != 1 or not len(levels):
        raise ValueError(f"quantiles={mixture.quantiles!r} must be a list of numbers in (0, 1)")
    for level in levels.tolist():
        check_number("quantiles", level, 0.0, 1.0, low_open=True, high_open=True)
    if len(np.unique(levels)) < len(levels):
        raise ValueError(f"quantiles={mixture.quantiles!r} has a level twice")
