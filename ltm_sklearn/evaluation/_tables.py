"""Tables of losses and forecasts, and their checks; messages count rows and columns from 0."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .._param_checks import as_floats, is_integer
from .._typing import Floats

MOST_SWITCHES = 100_000  #: memory is proportional to experts x switches


class LossTable(NamedTuple):
    """Table of losses in which a sleeping expert has a loss larger than all other losses together."""

    values: Floats
    most: float  #: upper bound of the total loss of a sequence that follows no sleeping expert

    def means(self, totals: Floats) -> Floats:
        """Return total losses divided by the number of rows, infinite for sequences that follow a sleeping expert."""
        # totals are at most `most`, or above 2 most + 1 with a sleeping expert; the threshold is halfway
        return np.where(totals > 1.5 * self.most + 0.5, np.inf, totals / len(self.values))

    def fewest_switches(self) -> int:
        """Return the fewest switches of a sequence that follows no sleeping expert: it stays as long as possible."""
        can_stay = np.ones(self.values.shape[1], dtype=np.bool_)
        n_switches = 0
        for awake in self.values <= self.most:
            still = can_stay & awake
            n_switches += not still.any()
            can_stay = still if still.any() else awake
        return n_switches


def check_losses(losses: ArrayLike) -> LossTable:
    """Check losses of shape (n_rows, n_experts), NaN where an expert sleeps; one must be awake in each row."""
    table = check_table(losses, "losses")
    asleep = np.isnan(table)
    all_asleep = asleep.all(axis=1)
    if all_asleep.any():
        raise ValueError(f"all experts are asleep in row {int(all_asleep.argmax())}: its losses are NaN in all columns")
    largest = np.abs(np.where(asleep, 0.0, table)).max(axis=1)
    most = float(largest.sum())
    return LossTable(np.ascontiguousarray(np.where(asleep, 3.0 * most + 1.0, table)), most)


def check_forecasts(forecasts: ArrayLike, y: ArrayLike, name: str) -> tuple[Floats, Floats]:
    """Check forecasts of shape (n_rows, n_columns), which may be NaN, and finite targets of shape (n_rows,)."""
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
    """Check a table: it has rows and columns, and no infinite values; NaN is allowed."""
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
    """Raise a ValueError unless ``max_switches`` is a whole number from 0 to the largest one."""
    if not is_integer(max_switches) or not 0 <= max_switches <= MOST_SWITCHES:
        raise ValueError(f"max_switches={max_switches!r} must be a whole number from 0 to {MOST_SWITCHES:,}")
