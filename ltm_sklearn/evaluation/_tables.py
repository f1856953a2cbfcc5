"""Checks of tables of losses and forecasts; every message names the row and the column, counted from 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import as_floats, is_whole
from .._typing import Floats

MOST_SWITCHES = 100_000  #: each takes room for every expert


class Losses(NamedTuple):
    """A table of losses in which to sleep costs more than all other losses together."""

    table: Floats
    most: float  #: no sequence that is always awake loses more in all

    def means(self, totals: Floats) -> Floats:
        """Per row; infinite where some round had to be slept through."""
        # those that sleep are above 2 most + 1; half-way, so that rounding does not decide
        return np.where(totals > 1.5 * self.most + 0.5, np.inf, totals / len(self.table))


def check_losses(losses: ArrayLike) -> Losses:
    """Losses (n_rows, n_experts), NaN where an expert sleeps; somebody is awake in each row."""
    table = check_table(losses, "losses")
    asleep = np.isnan(table)
    nobody = asleep.all(axis=1)
    if nobody.any():
        raise ValueError(f"all experts are asleep in row {int(nobody.argmax())}: losses are NaN in all columns")
    largest = np.abs(np.where(asleep, 0.0, table)).max(axis=1)
    most = float(largest.sum())
    return Losses(np.ascontiguousarray(np.where(asleep, 3.0 * most + 1.0, table)), most)


def check_forecasts(forecasts: ArrayLike, y: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """Forecasts (n_rows, n_columns), which may be NaN, and finite targets (n_rows,)."""
    table = check_table(forecasts, name)
    targets = as_floats(y, "y")
    if targets.shape != (len(table),):
        raise ValueError(
            f"y must have one target for each of the {len(table)} rows of {name}; got shape {targets.shape}"
        )
    if not np.isfinite(targets).all():
        row = int((~np.isfinite(targets)).argmax())
        raise ValueError(f"y must be finite: row {row} has {float(targets[row])!r}")
    return table, targets


def check_table(values: ArrayLike, name: str) -> Floats:
    """A table that is not empty; NaN may be in it, infinity may not."""
    table = as_floats(values, name)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(
            f"{name} must be a table with at least one row and one column for each expert; got shape {table.shape}"
        )
    infinite = np.isinf(table)
    if infinite.any():
        row, column = np.argwhere(infinite)[0]
        raise ValueError(f"{name} must not be infinite: row {row}, column {column} has {float(table[row, column])!r}")
    return table


def check_switches(max_switches: Any) -> None:
    """A number of switches: a whole number, 0 or more."""
    if not is_whole(max_switches) or not 0 <= max_switches <= MOST_SWITCHES:
        raise ValueError(f"max_switches={max_switches!r} must be a whole number from 0 to {MOST_SWITCHES:,}")


def fewest_switches(losses: Losses) -> int:
    """Switches without which no sequence is awake in all rows: stay as long as anybody can, again and again."""
    able = np.ones(losses.table.shape[1], dtype=np.bool_)
    n_switches = 0
    for awake in losses.table <= losses.most:
        still = able & awake
        n_switches += not still.any()
        able = still if still.any() else awake
    return n_switches
