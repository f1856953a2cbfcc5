"""Labels of a mixture's tables: names of experts and outputs, codes of series and groups, where each series stands."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class TableLabels:
    """Names and codes that tables have had so far."""

    experts: list[Any] = field(default_factory=list)
    columns: list[Any] = field(default_factory=list)  #: all columns of the frames
    outputs: list[Any] = field(default_factory=list)  #: names of the outputs, where the columns have two levels
    targets: list[Any] = field(default_factory=list)  #: names of the targets, where they have columns
    n_outputs: int = 1
    flat: bool = True  #: whether targets have one dimension
    named: bool = False  #: whether tables are frames
    series: dict[Any, int] = field(default_factory=dict)
    groups: dict[Any, int] = field(default_factory=dict)
    last_block: dict[int, Any] = field(default_factory=dict)  #: of each series
    last_time: dict[int, Any] = field(default_factory=dict)  #: of each series
    largest_weight: float = 0.0  #: of a row

    def copy(self) -> TableLabels:
        """Return a copy whose lists and dictionaries can be changed."""
        return TableLabels(
            **{name: value.copy() if hasattr(value, "copy") else value for name, value in vars(self).items()}
        )
