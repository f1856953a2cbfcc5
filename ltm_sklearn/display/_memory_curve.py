"""The picture of what switches and memory are worth."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..experts._validation import Floats
from ..streams._batches import import_extra
from ._axes import axes_of, legend, plain

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
