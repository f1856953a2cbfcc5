"""Whether memory can pay: loss against the number of switches and of experts to switch among."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats


@dataclass(frozen=True, eq=False, repr=False)
class MemoryCurve:
    """Mean losses per row of the best sequences of experts in hindsight.

    Made by :func:`~ltm_sklearn.evaluation.oracles.memory_curve`.

    Attributes
    ----------
    n_rows, n_experts : int
        Size of the table of losses.
    switches : ndarray of shape (n_switches,)
        0, 1, ...: how many switches are allowed.
    distinct : ndarray of shape (n_distinct,)
        1, 2, ...: how many distinct experts are.
    lower, upper : ndarray of shape (n_distinct, n_switches)
        The least mean loss lies between them. ``upper`` is that of a sequence that was found, infinite if in none that
        was looked at somebody is always awake.
    exact : ndarray of bool of shape (n_distinct, n_switches)
        Where the two are the same.
    of_all : ndarray of shape (n_switches,)
        The least mean loss among all experts.
    """

    n_rows: int
    n_experts: int
    switches: NDArray[np.intp]
    distinct: NDArray[np.intp]
    lower: Floats
    upper: Floats
    exact: NDArray[np.bool_]
    of_all: Floats

    def frame(self) -> Any:
        """A pandas frame of ``upper``: a row for each number of switches, a column for each of experts, and "all"."""
        pandas = import_extra("pandas", "frames")
        columns = dict(zip(self.distinct.tolist(), self.upper, strict=True)) | {"all": self.of_all}
        return pandas.DataFrame(columns, index=pandas.Index(self.switches, name="switches"))

    def __repr__(self) -> str:
        header = ["switches", *map(str, self.distinct.tolist()), "all"]
        lines = [header]
        for at in round_numbers(int(self.switches[-1])):
            bounds = zip(self.lower[:, at].tolist(), self.upper[:, at].tolist(), strict=True)
            lines.append([str(at), *(_between(low, high) for low, high in bounds), f"{self.of_all[at]:.4g}"])
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        table = ("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines)
        title = f"least mean loss of {self.n_rows} rows, by switches and distinct ones of {self.n_experts} experts"
        return "\n".join([title, *table])


def round_numbers(last: int) -> list[int]:
    """0, 1, 2, 5, 10, 20, 50, ... and the last."""
    tens = [10**power for power in range(len(str(last)))]
    return sorted({0, last, *(n * ten for ten in tens for n in (1, 2, 5) if n * ten < last)})


def _between(low: float, high: float) -> str:
    shown_low, shown_high = f"{low:.4g}", f"{high:.4g}"
    return shown_low if shown_low == shown_high else f"{shown_low}..{shown_high}"
