"""Display of the memory curve: what switches and distinct experts are worth in hindsight."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..evaluation.oracles import MemoryCurve
from ..recording import RunRecord
from ._comparators import memory_curve_of
from ._layout import add_legend, hide_frame
from ._loss_labels import mean_loss_label
from ._run_display import RunDisplay

MAX_LEGEND_LINES = 9
LOGARITHMIC_FROM = 50  #: switches from which on their axis is logarithmic
_MARK_STYLES = ("--", ":", "-.")


class MemoryCurveDisplay(RunDisplay):
    """Loss of the best sequence of experts by its number of switches; a line for each number of distinct experts.

    If the lines coincide, a few experts that return are enough. If they fan out, new experts are needed over time.

    Parameters
    ----------
    switches : array-like of shape (n_S,)
        Numbers of switches.
    distinct : array-like of shape (n_n,)
        Numbers of distinct experts.
    losses : array-like of shape (n_n, n_S)
        Least loss of a sequence with at most so many switches and experts; NaN where there is none.
    marks : dict, optional
        Losses to mark with a horizontal line, by name, for example the loss of the mixture.
    loss_name : str, default="loss"
        The label of the loss axis.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : list of matplotlib Line2D
        One line for each number of distinct experts.
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
            raise ValueError(
                f"losses has shape {self.losses.shape}; it must have a row for each of distinct and a column for each "
                f"of switches, shape {shape}"
            )

    @property
    def figsize(self) -> tuple[float, float]:
        return 7.5, 4.5

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

        Where the least loss is not known exactly, the upper bound is drawn.

        Parameters
        ----------
        curve : MemoryCurve
        marks : dict, optional
            Losses to mark with a horizontal line, by name.
        loss_name : str, default="loss"
            The label of the loss axis.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        fewer = curve.distinct < curve.n_experts
        distinct = np.append(curve.distinct[fewer], curve.n_experts)
        losses = np.vstack([curve.upper[fewer], curve.of_all])
        return cls(curve.switches, distinct, losses, marks, loss_name).plot(ax=ax)

    @classmethod
    def from_run_record(  # type: ignore[override]  # options of its own, and no others
        cls, run_record: RunRecord, *, ax: Any = None, max_switches: int = 50, max_distinct: int = 3
    ) -> Self:
        """Draw the memory curve of a run that was recorded row by row; mark the mixture and the plain mean.

        Parameters
        ----------
        run_record : RunRecord
        ax : matplotlib Axes, optional
            None: a new figure.
        max_switches, max_distinct : int
            The largest numbers of switches and of distinct experts.
        """
        curve, marks = memory_curve_of(run_record, max_switches, max_distinct)
        return cls.from_curve(curve, marks=marks, loss_name=mean_loss_label(run_record.loss_name), ax=ax)

    def _draw(self, ax: Any) -> None:
        mpl = import_extra("matplotlib", "pictures", "plot")
        colours = mpl.colormaps["viridis"](np.linspace(0.9, 0.0, len(self.distinct)))
        marker = "o" if len(self.switches) <= 25 else None
        self.lines_ = []
        for n_distinct, losses, colour in zip(self.distinct.tolist(), self.losses, colours, strict=True):
            label = "1 expert" if n_distinct == 1 else f"{n_distinct} experts"
            style = {"color": colour, "lw": 1.6, "marker": marker, "ms": 4, "label": label}
            (line,) = ax.plot(self.switches, np.where(np.isfinite(losses), losses, np.nan), **style)
            self.lines_.append(line)
        self.mark_lines_ = []
        for nth, (name, loss) in enumerate((self.marks or {}).items()):
            style = {"color": "black" if nth == 0 else "0.45", "ls": _MARK_STYLES[nth % len(_MARK_STYLES)], "lw": 1.4}
            self.mark_lines_.append(ax.axhline(loss, label=f"{name}: {loss:.4g}", **style))
        if np.max(self.switches) > LOGARITHMIC_FROM:
            ax.set_xscale("symlog", linthresh=1)
            ax.xaxis.set_major_formatter(mpl.ticker.StrMethodFormatter("{x:.0f}"))
        else:
            ax.xaxis.set_major_locator(mpl.ticker.MaxNLocator(integer=True))
        title = "Best sequence of experts in hindsight"
        ax.set(xlabel="maximum number of switches", ylabel=self.loss_name, title=title)
        hide_frame(ax)
        chosen = np.unique(np.linspace(0, len(self.lines_) - 1, MAX_LEGEND_LINES).round().astype(int))
        add_legend(ax, [*(self.lines_[nth] for nth in chosen), *self.mark_lines_])
