"""Display of the experts' average losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._expert_styles import MIXTURE, OTHERS, PLAIN_MEAN, ExpertStyles, others_label
from ._layout import annotate_rows, four_digits, height_of_rows, label_rows, n_rows_that_fit, powers_of_ten
from ._loss_labels import mean_loss_label
from ._run_display import RunDisplay


class AverageLossDisplay(RunDisplay):
    """Average loss of each expert, the smallest at the top; lines mark the mixture and the plain mean of the experts.

    The average of an expert covers the rows in which it was awake. Its label has their share, if it is not all rows.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : list of matplotlib Rectangle
        The bars from the top down.
    """

    @property
    def figsize(self) -> tuple[float, float]:
        return 7.0, height_of_rows(len(self.run_record.names)) + 0.3

    def _draw(self, ax: Any) -> None:
        run_record, styles = self.run_record, ExpertStyles(self.run_record)
        awake = ~np.isnan(run_record.losses) * run_record.counts[:, np.newaxis]
        n_awake = awake.sum(axis=0)
        sums = (awake * np.nan_to_num(run_record.losses)).sum(axis=0)
        means = np.divide(sums, n_awake, out=np.full(len(n_awake), np.nan), where=n_awake > 0)
        order = [int(expert) for expert in np.argsort(means, kind="stable") if n_awake[expert] > 0]
        n_shown = n_rows_that_fit(ax, len(order))
        shown, rest = order[:n_shown], order[n_shown:]
        shares = n_awake / run_record.counts.sum()
        labels = [styles.labels[expert] + _awake_note(shares[expert]) for expert in shown]
        values = [float(means[expert]) for expert in shown]
        notes = [four_digits(value) for value in values]
        colours = [styles.colour(expert) for expert in shown]
        if rest:
            labels.append(others_label(len(rest)))
            values.append(float(means[rest].min()))  # not their mean: one bad expert would make it the longest bar
            notes.append(f"{four_digits(means[rest].min())} to {four_digits(means[rest].max())}")
            colours.append(OTHERS)
        self.bars_ = list(ax.barh(range(len(values)), values, color=colours, height=0.7))
        annotate_rows(ax, notes, "")
        marks = {"mixture": (run_record.loss, MIXTURE, "-")}
        if run_record.uniform is not None:
            marks["plain mean"] = run_record.uniform, PLAIN_MEAN, "--"
        lines = []
        for name, (losses, colour, linestyle) in marks.items():
            mean = float(np.average(losses, weights=run_record.counts))
            lines.append(ax.axvline(mean, color=colour, ls=linestyle, lw=1.6, label=f"{name}: {four_digits(mean)}"))
        ax.legend(handles=lines, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize="small")
        label_rows(ax, labels)
        ax.set_xlabel(mean_loss_label(run_record.loss_name))
        ax.set_title("Average loss of each expert", pad=24)
        powers_of_ten(ax, "x")


def _awake_note(share: float) -> str:
    if share == 1:
        return ""
    return f" (awake {share:.0%})" if share >= 0.01 else " (awake < 1%)"
