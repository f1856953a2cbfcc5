"""Plot of a prequential run."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._optional import import_extra
from .._typing import Floats
from ..streams import Segment
from ._result import PrequentialResult

MOST_POINTS = 600  #: of all lines together: more points are averaged, because a dozen noisy lines hide one another
FEWEST_POINTS = 50  #: of a line
LINE_STYLES = ("-", "--", ":", "-.")
N_COLOURS = 10  #: of matplotlib's colour cycle; further lines have the next line style
MOST_CONCEPTS = 10  #: in the legend


class PrequentialDisplay:
    """Plot of accuracy or mean absolute error over time, with concepts as coloured bands; colours repeat after nine.

    Parameters
    ----------
    rows : ndarray of shape (n_points,)
        Last row of each block.
    values : ndarray of shape (n_points, n_models)
        Score of each model in each block.
    names : list
        Names of the models.
    measure : {"accuracy", "mae"}
        Measure of the values.
    segments : list of Segment
        Segments of the stream.
    concept_names : list, optional
        Names of concepts that are numbers.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the plot.
    figure_ : matplotlib Figure
        Figure of the axes.
    lines_ : list of matplotlib Line2D
        Line of each model.
    """

    def __init__(
        self,
        rows: NDArray[Any],
        values: Floats,
        names: list[Any],
        measure: str,
        segments: list[Segment],
        concept_names: list[Any] | None = None,
    ) -> None:
        self.rows = rows
        self.values = values
        self.names = names
        self.measure = measure
        self.segments = segments
        self.concept_names = concept_names

    @classmethod
    def from_result(cls, result: PrequentialResult, *, ax: Any = None) -> Self:
        """Draw a result and return the display.

        Parameters
        ----------
        result : PrequentialResult
            Result to draw.
        ax : matplotlib Axes, optional
            Axes to draw in. None: a new figure.
        """
        names = list(result.scores)
        display = cls(
            result.curve_rows, result.curve_values, names, result.measure, result.segments, result.concept_names
        )
        return display.plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves and the concepts; return the display.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Axes to draw in. None: a new figure.
        """
        is_new = ax is None
        if is_new:
            pyplot = import_extra("matplotlib.pyplot", "pictures", "plot")
            _, ax = pyplot.subplots(figsize=(10, 4.5), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        patches = self._draw_concepts(ax)
        rows, values = _thinned(self.rows, self.values)
        n_models = len(self.names)
        width = 1.8 if n_models <= 4 else 1.3
        self.lines_ = []
        for at, name in enumerate(self.names):
            style = LINE_STYLES[at // N_COLOURS % len(LINE_STYLES)]
            look = {"color": f"C{at % N_COLOURS}", "ls": style, "lw": width, "zorder": 2 + (n_models - at) / n_models}
            (line,) = ax.plot(rows, values[:, at], label=str(name), marker="o" if len(rows) == 1 else None, **look)
            self.lines_.append(line)
        ax.set(xlabel="row", ylabel="accuracy" if self.measure == "accuracy" else "mean absolute error")
        ax.set_xlim(0, self.rows[-1])
        handles = [*self.lines_, *patches]
        if is_new:
            ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize="small", frameon=False)
        else:  # a given figure may have no room beside the axes
            ax.legend(handles=handles, loc="best", fontsize="x-small", ncols=1 + len(handles) // 6)
        return self

    def _draw_concepts(self, ax: Any) -> list[Any]:
        """Draw a band for each segment; return one band of each concept for the legend."""
        colours = import_extra("matplotlib", "pictures", "plot").colormaps["Pastel1"].colors
        indices: dict[Any, int] = {}
        patches = []
        for concept, start, length in self.segments:
            is_first = concept not in indices
            at = indices.setdefault(concept, len(indices))
            name = concept if self.concept_names is None else self.concept_names[concept]
            band = ax.axvspan(start, start + length, color=colours[at % len(colours)], alpha=0.6, lw=0, zorder=0)
            if is_first:
                band.set_label(f"concept {name}")
                patches.append(band)
        return patches if len(patches) <= MOST_CONCEPTS else []


def _thinned(rows: NDArray[Any], values: Floats) -> tuple[NDArray[Any], Floats]:
    """Average neighbouring points, and place each in the middle of its rows."""
    step = -(-len(rows) // max(MOST_POINTS // values.shape[1], FEWEST_POINTS))
    starts = np.arange(0, len(rows), step)
    counts = np.add.reduceat(~np.isnan(values), starts, axis=0)
    sums = np.add.reduceat(np.nan_to_num(values), starts, axis=0)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    ends = rows[np.minimum(starts + step, len(rows)) - 1]
    return (np.concatenate([[0], ends[:-1]]) + ends) / 2.0, means
