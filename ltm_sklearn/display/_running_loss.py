"""Display of recent losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._typing import Floats
from ._comparators import best_expert, losses_with_imputation
from ._expert_styles import MIXTURE, PLAIN_MEAN, ExpertStyles
from ._layout import add_legend, four_digits, hide_frame, powers_of_ten
from ._loss_labels import mean_loss_label
from ._run_display import RunDisplay
from ._time_axis import label_time_axis, record_times

N_WINDOWS = 20  #: a running mean covers one window: this part of the run


class RunningLossDisplay(RunDisplay):
    """Running means of the losses of the mixture, of the best expert of the run and of the plain mean of the experts.

    Each point is a mean over the last twentieth of the run. Where the best expert was asleep, the mixture's loss stands
    in for its own.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    lines_ : dict
        Lines by name: "mixture", "best expert" and, unless experts were selected, "plain mean".
    """

    def _draw(self, ax: Any) -> None:
        run_record, styles = self.run_record, ExpertStyles(self.run_record)
        times, best = record_times(run_record), best_expert(run_record)
        best_losses = losses_with_imputation(run_record)[:, best]
        best_style = {"color": styles.colour(best, otherwise="0.65"), "lw": 1.4}
        curves = {"best expert": (best_losses, f"best expert ({styles.labels[best]})", best_style)}
        if run_record.uniform is not None:
            curves["plain mean"] = run_record.uniform, "plain mean", {"color": PLAIN_MEAN, "ls": "--", "lw": 1.4}
        curves["mixture"] = run_record.loss, "mixture", {"color": MIXTURE, "lw": 2.0}
        self.lines_ = {}
        for name, (losses, label, style) in curves.items():
            means = self._running_means(losses)
            (self.lines_[name],) = ax.plot(times, means, label=f"{label}: {four_digits(means[-1])}", **style)
        n_rows = int(np.median(self._window_sums(run_record.counts)))
        ax.set(ylabel=mean_loss_label(run_record.loss_name), title=f"Recent loss (running means of {n_rows:,} rows)")
        ax.set_ylim(0.0, None)
        powers_of_ten(ax, "y")
        label_time_axis(ax, run_record, means=False)
        hide_frame(ax)
        add_legend(ax, list(self.lines_.values())[::-1])

    def _running_means(self, losses: Floats) -> Floats:
        """Return the means of the known losses over windows, each record with the number of its rows."""
        known = ~np.isnan(losses)
        n_rows = self._window_sums(self.run_record.counts * known)
        sums = self._window_sums(self.run_record.counts * np.where(known, losses, 0.0))
        return np.divide(sums, n_rows, out=np.full(len(losses), np.nan), where=n_rows > 0)

    def _window_sums(self, values: Any) -> Any:
        """Return the sums over the window that ends at each record."""
        total = np.concatenate([[0], np.cumsum(values)])
        ends = np.arange(1, len(values) + 1)
        return total[ends] - total[np.maximum(ends - max(len(values) // N_WINDOWS, 1), 0)]
