"""Results of the oracles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ._text_table import format_table


@dataclass(frozen=True, eq=False)
class Oracle:
    """Best combination of the experts in hindsight, with weights that never change.

    Attributes
    ----------
    loss : float
        Mean loss per row.
    weights : ndarray of shape (n_experts,)
        Weights of the experts; for a single expert, 1 for it and 0 for all others.
    n_rows : int
        Number of rows that count.
    """

    loss: float
    weights: Floats
    n_rows: int

    @property
    def expert(self) -> int:
        """Column of the expert with the largest weight, the first one in a tie."""
        return int(self.weights.argmax())


@dataclass(frozen=True, eq=False)
class ExpertSequence:
    """Best sequence of experts in hindsight with a limited number of switches.

    Attributes
    ----------
    loss : float
        Mean loss per row with at most ``max_switches`` switches.
    losses : ndarray of shape (max_switches + 1,)
        Mean loss per row with at most 0, 1, ... switches; infinite where every such sequence follows a sleeping expert.
    path : ndarray of shape (n_rows,)
        Expert that the sequence follows in each row. In a tie it is a sequence with the fewest switches.
    """

    loss: float
    losses: Floats
    path: NDArray[np.intp]

    @property
    def n_switches(self) -> int:
        """Number of switches of the path."""
        return int(np.count_nonzero(np.diff(self.path)))

    @property
    def n_distinct(self) -> int:
        """Number of distinct experts of the path."""
        return len(np.unique(self.path))


@dataclass(frozen=True, eq=False)
class SequenceAmong:
    """Best sequence in hindsight with limited numbers of switches and of distinct experts, or bounds on its loss.

    Attributes
    ----------
    lower, upper : float
        Bounds on the least mean loss per row.
    exact : bool
        Whether the bounds are equal. The path is then the best one.
    path : ndarray of shape (n_rows,)
        Expert that a sequence with mean loss ``upper`` follows in each row.
    """

    lower: float
    upper: float
    exact: bool
    path: NDArray[np.intp]

    @property
    def experts(self) -> list[int]:
        """Columns of the experts of the path."""
        return [int(expert) for expert in np.unique(self.path)]


@dataclass(frozen=True, eq=False, repr=False)
class MemoryCurve:
    """Mean losses per row of the best sequences in hindsight, by numbers of switches and of distinct experts.

    Returned by :func:`~ltm_sklearn.evaluation.oracles.memory_curve`.

    Attributes
    ----------
    n_rows, n_experts : int
        Shape of the table of losses.
    switches : ndarray of shape (n_switches,)
        Allowed numbers of switches: 0, 1, ...
    distinct : ndarray of shape (n_distinct,)
        Allowed numbers of distinct experts: 1, 2, ...
    lower, upper : ndarray of shape (n_distinct, n_switches)
        Bounds on the least mean loss. ``upper`` is the loss of a sequence that was found; it is infinite if each one
        that was examined follows a sleeping expert.
    exact : ndarray of bool of shape (n_distinct, n_switches)
        Whether the bounds are equal.
    of_all : ndarray of shape (n_switches,)
        Least mean loss with any number of distinct experts.
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
        """Return ``upper`` as a pandas frame: rows are numbers of switches, columns numbers of experts, and "all"."""
        pandas = import_extra("pandas", "frames")
        columns = dict(zip(self.distinct.tolist(), self.upper, strict=True)) | {"all": self.of_all}
        return pandas.DataFrame(columns, index=pandas.Index(self.switches, name="switches"))

    def __repr__(self) -> str:
        lines = [["switches", *map(str, self.distinct.tolist()), "all"]]
        for at in round_numbers(int(self.switches[-1])):
            bounds = zip(self.lower[:, at].tolist(), self.upper[:, at].tolist(), strict=True)
            lines.append([str(at), *(_format_bounds(low, high) for low, high in bounds), f"{self.of_all[at]:.4g}"])
        title = f"least mean loss of {self.n_rows} rows, by switches and distinct ones of {self.n_experts} experts"
        return f"{title}\n{format_table(lines)}"


def round_numbers(last: int) -> list[int]:
    """Return 0, 1, 2, 5, 10, 20, 50, ... up to and including ``last``."""
    tens = [10**power for power in range(len(str(last)))]
    return sorted({0, last, *(n * ten for ten in tens for n in (1, 2, 5) if n * ten < last)})


def _format_bounds(lower: float, upper: float) -> str:
    low, high = f"{lower:.4g}", f"{upper:.4g}"
    return low if low == high else f"{low}..{high}"
