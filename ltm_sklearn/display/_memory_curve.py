"""The picture of what switches and memory are worth."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..evaluation import oracles
from ..evaluation.oracles import MemoryCurve
from ..recording import RunRecord, read_log
from ._axes import axes_of, legend, plain
from ._base import check_every_row, recorded_by, recorded_in
from ._look import mean_called

MOST_LINES = 9  #: that the legend names
WIDE = 50  #: switches from which on their axis is logarithmic
_MARKS = ("--", ":", "-.")


class MemoryCurveDisplay:
    """What the best sequence of experts loses, over its number of switches; a line for each number of distinct experts.

    Lines that lie together say that a few experts that return are enough; lines that fan out, that new ones are needed.

    Parameters
    ----------
    switches : array-like of shape (n_S,)
        Numbers of switches.
    distinct : array-like of shape (n_n,)
        Numbers of distinct experts.
    losses : array-like of shape (n_n, n_S)
        Least loss of a sequence with at most so many; NaN where there is none.
    marks : dict, optional
        Losses to mark by a horizontal line, by name: that of the mixture, say.
    loss_name : str, default="loss"
        What the losses are, for the axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One for each number of distinct experts.
    mark_lines_ : list of matplotlib Line2D
    """

    def __init__(
        self,
        switches: Any,
        distinct: Any,
        losses: Any,
        marks: Mapping[str, float] | None = None,
        loss_name: str = "loss",
    ) -> None:
        self.switches: NDArray[Any] = np.asarray(switches)
        self.distinct: NDArray[Any] = np.asarray(distinct)
        self.losses: Floats = np.asarray(losses, dtype=np.float64)
        self.marks = marks
        self.loss_name = loss_name
        shape = (len(self.distinct), len(self.switches))
        if self.losses.shape != shape:
            raise ValueError(f"losses must have shape {shape}, distinct by switches; it has {self.losses.shape}")

    @classmethod
    def from_curve(
        cls,
        curve: MemoryCurve,
        *,
        marks: Mapping[str, float] | None = None,
        loss_name: str = "loss",
        ax: Any = None,
    ) -> Self:
        """Draw a curve of :func:`ltm_sklearn.evaluation.oracles.memory_curve`, with a line for all experts.

        Where the least loss is not known exactly, the best that was found is drawn.

        Parameters
        ----------
        curve : MemoryCurve
        marks : dict, optional
            Losses to mark by a horizontal line, by name.
        loss_name : str, default="loss"
            What the losses are, for the axis.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        fewer = curve.distinct < curve.n_experts
        distinct = np.append(curve.distinct[fewer], curve.n_experts)
        losses = np.vstack([curve.upper[fewer], curve.of_all])
        return cls(curve.switches, distinct, losses, marks, loss_name).plot(ax=ax)

    @classmethod
    def _from_trace(cls, run_record: RunRecord, max_switches: int, max_distinct: int, ax: Any) -> Self:
        curve, marks = memory_curve_of(run_record, max_switches, max_distinct)
        return cls.from_curve(curve, marks=marks, loss_name=mean_called(run_record.loss_name), ax=ax)

    @classmethod
    def from_estimator(
        cls, estimator: Any, *, max_switches: int = 50, max_distinct: int = 3, ax: Any = None, **which: Any
    ) -> Self:
        """Draw the curve of what an estimator has recorded row by row, with what it lost itself.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``record=``; or a pipeline that ends in one.
        max_switches, max_distinct : int
            How far the curve goes.
        ax : matplotlib Axes, optional
            None: a new figure.
        **which
            Of an estimator that has several records, which one.
        """
        return cls._from_trace(recorded_by(estimator, **which), max_switches, max_distinct, ax)

    @classmethod
    def from_result(
        cls, result: Any, *, model: Any = None, max_switches: int = 50, max_distinct: int = 3, ax: Any = None
    ) -> Self:
        """Draw the curve of what a model has recorded in a prequential run.

        Parameters
        ----------
        result : PrequentialResult
        model : optional
            The model's name. None: the only one that has recorded.
        max_switches, max_distinct : int
            How far the curve goes.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        return cls._from_trace(recorded_in(result, model), max_switches, max_distinct, ax)

    @classmethod
    def from_log(
        cls, path: str | PathLike[str], *, max_switches: int = 50, max_distinct: int = 3, ax: Any = None
    ) -> Self:
        """Draw the curve of a run from its log, while that holds every row.

        Parameters
        ----------
        path : str or path
            What was given to the estimator as ``record=``.
        max_switches, max_distinct : int
            How far the curve goes.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        return cls._from_trace(read_log(path).run_record(), max_switches, max_distinct, ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        ax = axes_of(ax, (7.5, 4.5))
        self.ax_, self.figure_ = ax, ax.figure
        mpl = import_extra("matplotlib", "pictures", "plot")
        colours = mpl.colormaps["viridis"](np.linspace(0.9, 0.0, len(self.distinct)))
        marker = "o" if len(self.switches) <= 25 else None
        self.lines_ = []
        for number, losses, colour in zip(self.distinct.tolist(), self.losses, colours, strict=True):
            label = "1 expert" if number == 1 else f"{number} experts"
            look = {"color": colour, "lw": 1.6, "marker": marker, "ms": 4, "label": label}
            (line,) = ax.plot(self.switches, np.where(np.isfinite(losses), losses, np.nan), **look)
            self.lines_.append(line)
        self.mark_lines_ = []
        for at, (name, loss) in enumerate((self.marks or {}).items()):
            style = _MARKS[at % len(_MARKS)]
            look = {"color": "black" if at == 0 else "0.45", "ls": style, "lw": 1.4, "label": f"{name}: {loss:.4g}"}
            self.mark_lines_.append(ax.axhline(loss, **look))
        if np.max(self.switches) > WIDE:
            ax.set_xscale("symlog", linthresh=1)
            ax.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:.0f}"))
        else:
            ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        ax.set(xlabel="switches at most", ylabel=self.loss_name, title="Best sequence of experts in hindsight")
        plain(ax)
        chosen = np.unique(np.linspace(0, len(self.lines_) - 1, MOST_LINES).round().astype(int))
        legend(ax, [*(self.lines_[at] for at in chosen), *self.mark_lines_])
        return self


def memory_curve_of(
    run_record: RunRecord, max_switches: int, max_distinct: int
) -> tuple[MemoryCurve, dict[str, float]]:
    """The curve of what was recorded, and what to mark: the losses of the mixture and of the plain mean."""
    check_every_row(run_record)
    most = min(max_switches, len(run_record.loss) - 1)
    curve = oracles.memory_curve(run_record.losses, most, min(max_distinct, len(run_record.names)))
    marks = {"mixture": float(run_record.loss.mean())}
    if run_record.uniform is not None:
        marks["plain mean"] = float(run_record.uniform.mean())
    return curve, marks
