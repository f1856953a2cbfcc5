"""Display of cumulative losses and regret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._typing import Floats
from ..recording import RunRecord
from ._comparators import best_expert, best_sequences, losses_with_imputation
from ._expert_styles import MIXTURE, OTHERS, PLAIN_MEAN, ExpertStyles, others_label, unambiguous
from ._layout import add_legend, hide_frame, powers_of_ten, split_axes
from ._loss_labels import sum_loss_label
from ._run_display import RunDisplay
from ._time_axis import MAX_DRAWN, label_time_axis, record_edges

#: Line styles of the regrets against oracles, in turn.
_ORACLE_STYLES = (":", "-.", (0, (5, 1)), (0, (1, 3)))


class CumulativeLossDisplay(RunDisplay):
    """Cumulative losses of the mixture, of the experts and of their plain mean; below them, the regret of the mixture.

    Regret is measured against the best expert of the run, the plain mean of the experts, and oracles. Where an expert
    was asleep, the mixture's loss stands in for its own, so that sleeping changes no regret. The best expert is chosen
    among those that were awake in at least half of the rows, if there are any.

    Parameters
    ----------
    run_record : RunRecord
        The recorded run.
    oracles : dict, optional
        Further comparators: mean losses of each record, shape (R,), by name.
    switches : sequence of int, default=()
        For each number, show also the regret against the best sequence of experts in hindsight with at most so many
        switches.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the losses.
    regret_ax_ : matplotlib Axes
        The axes of the regret.
    figure_ : matplotlib Figure
    lines_ : dict
        Lines of the losses by name, with "mixture" and "plain mean".
    regret_lines_ : dict
        Lines of the regret by comparator.
    """

    def __init__(
        self, run_record: RunRecord, oracles: Mapping[str, Floats] | None = None, switches: Sequence[int] = ()
    ) -> None:
        super().__init__(run_record)
        for name, losses in (oracles or {}).items():
            if np.shape(losses) != np.shape(run_record.loss):
                raise ValueError(
                    f"oracles[{name!r}] has shape {np.shape(losses)}; it must have one loss per record of the "
                    f"run_record, shape {np.shape(run_record.loss)}"
                )
        self.oracles = {**(oracles or {}), **best_sequences(run_record, switches)}

    @property
    def figsize(self) -> tuple[float, float]:
        return 9.0, 5.5

    def _draw(self, ax: Any) -> None:
        run_record, styles = self.run_record, ExpertStyles(self.run_record)
        self.regret_ax_ = split_axes(ax, (3, 2), below=True)
        n_records = len(run_record.ends)
        # cumulative sums need no averaging: drawing every so many edges is enough
        drawn = np.unique(np.linspace(0, n_records, min(n_records, MAX_DRAWN) + 1).round().astype(np.intp))
        times = record_edges(run_record)[drawn]
        mixture = self._cumulated(run_record.loss)[drawn]
        experts = self._cumulated(losses_with_imputation(run_record))[drawn]
        uniform = None if run_record.uniform is None else self._cumulated(run_record.uniform)[drawn]
        self._draw_losses(ax, styles, times, mixture, experts, uniform)
        best = best_expert(run_record)
        comparators: dict[str, tuple[Floats, str, Any]] = {
            f"best expert ({styles.labels[best]})": (experts[:, best], styles.colour(best, otherwise="0.65"), "-")
        }
        if uniform is not None:
            comparators["plain mean"] = uniform, PLAIN_MEAN, "--"
        for nth, (name, losses) in enumerate(self.oracles.items()):
            style = _ORACLE_STYLES[nth % len(_ORACLE_STYLES)]
            comparators[str(name)] = self._cumulated(np.asarray(losses))[drawn], "black", style
        below = self.regret_ax_
        self.regret_lines_ = {}
        for name, (cumulated, colour, style) in comparators.items():
            line = below.plot(times, mixture - cumulated, color=colour, ls=style, lw=1.6, label=name)
            (self.regret_lines_[name],) = line
        below.axhline(0.0, color="0.6", lw=0.8, zorder=1)
        ax.set(ylabel=sum_loss_label(run_record.loss_name), title="Cumulative loss and regret")
        below.set_ylabel("regret")
        label_time_axis(below, run_record, means=False)
        ax.tick_params(axis="x", labelbottom=False)
        ax.xaxis.get_offset_text().set_visible(False)
        for each in (ax, below):
            powers_of_ten(each, "y")
            hide_frame(each)
        add_legend(ax, self._legend_lines(styles))
        add_legend(below, list(self.regret_lines_.values()), "regret against")

    def _draw_losses(
        self, ax: Any, styles: ExpertStyles, times: Floats, mixture: Floats, experts: Floats, uniform: Floats | None
    ) -> None:
        """Draw a line of cumulative losses for each expert, the plain mean and the mixture."""
        names = [unambiguous(name) for name in self.run_record.names]
        # experts without a colour do not stretch the axis: a few bad ones would flatten all other lines
        top = 1.05 * max(mixture[-1], experts[-1, styles.coloured].max())
        n_beyond = int((experts[-1, styles.others] > top).sum())
        others = others_label(len(styles.others)) + (f" ({n_beyond} off the scale)" if n_beyond else "")
        self.lines_ = {}
        for expert in styles.others:
            style = {"color": OTHERS, "lw": 0.8, "zorder": 1.5, "label": others}
            (self.lines_[names[expert]],) = ax.plot(times, experts[:, expert], **style)
        for expert in styles.coloured[::-1]:
            style = {"color": styles.colour(expert), "lw": 1.4, "zorder": 2, "label": styles.labels[expert]}
            (self.lines_[names[expert]],) = ax.plot(times, experts[:, expert], **style)
        if uniform is not None:
            top = max(top, 1.05 * uniform[-1])
            style = {"color": PLAIN_MEAN, "ls": "--", "lw": 1.6, "zorder": 3, "label": "plain mean"}
            (self.lines_["plain mean"],) = ax.plot(times, uniform, **style)
        (self.lines_["mixture"],) = ax.plot(times, mixture, color=MIXTURE, lw=2.0, zorder=4, label="mixture")
        ax.set_ylim(0.0, top if top > 0.0 else None)

    def _legend_lines(self, styles: ExpertStyles) -> list[Any]:
        """Return the lines of the legend: mixture, plain mean, experts with a colour, and one of the others."""
        experts = [*styles.coloured, *styles.others[:1]]
        names = ["mixture", "plain mean", *(unambiguous(self.run_record.names[expert]) for expert in experts)]
        return [self.lines_[name] for name in names if name in self.lines_]

    def _cumulated(self, losses: Floats) -> Floats:
        """Return the cumulative sums over rows of the records' mean losses, beginning with 0."""
        counts = self.run_record.counts.reshape(-1, *[1] * (losses.ndim - 1))
        with np.errstate(over="ignore"):
            cumulated = np.concatenate([np.zeros((1, *losses.shape[1:])), np.cumsum(counts * losses, axis=0)])
        if np.isinf(cumulated).any():
            raise ValueError("the sum of the run_record's losses exceeds the range of floats; it cannot be drawn")
        return cumulated
