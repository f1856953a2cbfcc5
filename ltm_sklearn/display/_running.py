"""The picture of what is lost lately."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats
from ._axes import label_time, legend, moments, number, plain, powers_of_ten
from ._base import TraceDisplay
from ._look import MIXTURE, UNIFORM, Look, mean_called
from ._losses import best_expert, charged_losses

WINDOW = 20  #: part of the run, or one in so many records, over which means are taken


class RunningLossDisplay(TraceDisplay):
    """What the mixture loses lately, beside the best expert of the whole run and the plain mean of the experts.

    Each point is the mean over the rows before it, a twentieth of the run. While the best expert sleeps it is charged
    what the mixture loses.

    Parameters
    ----------
    run_record : RunRecord
        What the run was.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict
        Lines by name: "mixture", "best expert" and, where all experts were asked, "plain mean".
    """

    def _draw(self, ax: Any, look: Look) -> None:
        run_record, at = self.run_record, moments(self.run_record)
        best = best_expert(run_record)
        self.lines_ = {}
        mixture = self._running(run_record.loss)
        of_best = self._running(charged_losses(run_record)[:, best])
        label = f"best expert ({look.names[best]}): {number(of_best[-1])}"
        colour = look.colour(best) if best in look.named else "0.65"
        (self.lines_["best expert"],) = ax.plot(at, of_best, color=colour, lw=1.4, label=label)
        if run_record.uniform is not None:
            uniform = self._running(run_record.uniform)
            look_of = {"color": UNIFORM, "ls": "--", "lw": 1.4, "label": f"plain mean: {number(uniform[-1])}"}
            (self.lines_["plain mean"],) = ax.plot(at, uniform, **look_of)
        look_of = {"color": MIXTURE, "lw": 2.0, "label": f"mixture: {number(mixture[-1])}"}
        (self.lines_["mixture"],) = ax.plot(at, mixture, **look_of)
        rows = int(np.median(self._summed(run_record.counts)))
        ax.set(ylabel=mean_called(run_record.loss_name), title=f"Loss lately (running means of {rows:,} rows)")
        ax.set_ylim(0.0, None)
        powers_of_ten(ax, "y")
        label_time(ax, run_record, means=False)
        plain(ax)
        legend(ax, list(self.lines_.values())[::-1])

    def _running(self, losses: Floats) -> Floats:
        """Means over the records of a window, each with all its rows; what is not known is left out."""
        known = ~np.isnan(losses)
        rows = self._summed(self.run_record.counts * known)
        sums = self._summed(self.run_record.counts * np.where(known, losses, 0.0))
        return np.divide(sums, rows, out=np.full(len(losses), np.nan), where=rows > 0)

    def _summed(self, values: Any) -> Any:
        """Sums over the records of a window."""
        total = np.concatenate([[0], np.cumsum(values)])
        ends = np.arange(1, len(values) + 1)
        return total[ends] - total[np.maximum(ends - max(len(values) // WINDOW, 1), 0)]
