"""Pictures of what the experts and their mixture lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Self

import numpy as np

from .._typing import Floats
from ..evaluation import oracles
from ..recording import RunRecord, read_log
from ._axes import (
    MOST_RECORDS,
    edges,
    height_of_rows,
    label_rows,
    label_time,
    legend,
    number,
    plain,
    powers_of_ten,
    rows_that_fit,
    split,
    write_beside,
)
from ._base import TraceDisplay, check_every_row, recorded_by, recorded_in
from ._look import MIXTURE, OTHERS, UNIFORM, Look, expert_called, mean_called, others_called, sum_called

#: Of regrets against oracles, in turn; apart from the experts' colours by their line.
_ORACLE_STYLES = (":", "-.", (0, (5, 1)), (0, (1, 3)))


class CumulativeLossDisplay(TraceDisplay):
    """What the mixture, the experts and their plain mean lost, added up over time; and, below, regret.

    Regret is what the mixture lost beyond the best expert of the whole run, beyond the plain mean of the experts, and
    beyond oracles. An expert that slept is charged what the mixture lost meanwhile: neither gains by it. The best
    expert is one of those that were awake in half of the rows, if there are any.

    Parameters
    ----------
    run_record : RunRecord
        What the run was.
    oracles : dict, optional
        Mean losses of each record, shape (R,), of what else the mixture is compared with, by name.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Of the losses.
    regret_ax_ : matplotlib Axes
        Of regret.
    figure_ : matplotlib Figure
    lines_ : dict
        Lines of the losses by name; "mixture" and "plain mean" among them.
    regret_lines_ : dict
        Lines of regret, by what it is measured against.
    """

    def __init__(self, run_record: RunRecord, oracles: Mapping[str, Floats] | None = None) -> None:
        super().__init__(run_record)
        self.oracles = oracles
        for name, losses in (oracles or {}).items():
            if np.shape(losses) != np.shape(run_record.loss):
                shapes = f"it has {np.shape(losses)}, the run_record's loss {np.shape(run_record.loss)}"
                raise ValueError(f"oracle {name!r} must have one loss a record: {shapes}")

    @classmethod
    def from_estimator(cls, estimator: Any, *, switches: Sequence[int] = (), ax: Any = None, **which: Any) -> Self:
        """Draw what an estimator has recorded.

        Parameters
        ----------
        estimator : estimator
            Fitted, with ``record=``; or a pipeline that ends in one.
        switches : sequence of int, default=()
            Show regret also against the best sequences of experts, in hindsight, with at most so many switches.
        ax : matplotlib Axes, optional
            None: a new figure.
        **which
            Of an estimator that has several records, which one.
        """
        run_record = recorded_by(estimator, **which)
        return cls(run_record, best_sequences(run_record, switches)).plot(ax=ax)

    @classmethod
    def from_result(cls, result: Any, *, model: Any = None, switches: Sequence[int] = (), ax: Any = None) -> Self:
        """Draw what a model has recorded in a prequential run.

        Parameters
        ----------
        result : PrequentialResult
        model : optional
            The model's name. None: the only one that has recorded.
        switches : sequence of int, default=()
            Show regret also against the best sequences of experts, in hindsight, with at most so many switches.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        run_record = recorded_in(result, model)
        return cls(run_record, best_sequences(run_record, switches)).plot(ax=ax)

    @classmethod
    def from_log(cls, path: str | PathLike[str], *, switches: Sequence[int] = (), ax: Any = None) -> Self:
        """Draw a run from its log, in any process, while it goes on or afterwards.

        Parameters
        ----------
        path : str or path
            What was given to the estimator as ``record=``.
        switches : sequence of int, default=()
            Show regret also against the best sequences of experts, in hindsight, with at most so many switches.
        ax : matplotlib Axes, optional
            None: a new figure.
        """
        run_record = read_log(path).run_record()
        return cls(run_record, best_sequences(run_record, switches)).plot(ax=ax)

    def _size(self) -> tuple[float, float]:
        return 9.0, 5.5

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = self.run_record
        self.regret_ax_ = split(ax, (3, 2), below=True)
        charged = charged_losses(run_record)
        mixture, of_experts = self._summed(run_record.loss), self._summed(charged)
        best = best_expert(run_record)
        chosen = _picked(len(run_record.ends))
        at = edges(run_record)[chosen]
        self.lines_ = {}
        top = 1.05 * max(mixture[-1], of_experts[-1, look.named].max())
        for expert in look.others:
            look_of = {"color": OTHERS, "lw": 0.8, "zorder": 1.5, "label": self._others_called(look, of_experts, top)}
            (self.lines_[expert_called(run_record.names[expert])],) = ax.plot(at, of_experts[chosen, expert], **look_of)
        for expert in look.named[::-1]:
            look_of = {"color": look.colour(expert), "lw": 1.4, "zorder": 2, "label": look.names[expert]}
            (self.lines_[expert_called(run_record.names[expert])],) = ax.plot(at, of_experts[chosen, expert], **look_of)
        against: dict[str, tuple[Floats, str, Any]] = {}
        colour = look.colour(best) if best in look.named else "0.65"
        against[f"best expert ({look.names[best]})"] = of_experts[:, best], colour, "-"
        if run_record.uniform is not None:
            uniform = self._summed(run_record.uniform)
            top = max(top, 1.05 * uniform[-1])
            look_of = {"color": UNIFORM, "ls": "--", "lw": 1.6, "zorder": 3, "label": "plain mean"}
            (self.lines_["plain mean"],) = ax.plot(at, uniform[chosen], **look_of)
            against["plain mean"] = uniform, UNIFORM, "--"
        for nth, (name, losses) in enumerate((self.oracles or {}).items()):
            style = _ORACLE_STYLES[nth % len(_ORACLE_STYLES)]
            against[str(name)] = self._summed(np.asarray(losses)), "black", style
        (self.lines_["mixture"],) = ax.plot(at, mixture[chosen], color=MIXTURE, lw=2.0, zorder=4, label="mixture")
        self.regret_lines_ = {}
        for name, (summed, colour, style) in against.items():
            look_of = {"color": colour, "ls": style, "lw": 1.6, "label": name}
            (self.regret_lines_[name],) = self.regret_ax_.plot(at, (mixture - summed)[chosen], **look_of)
        ax.set_ylim(0.0, top if top > 0.0 else None)
        self._dress(ax, look)

    def _others_called(self, look: Look, of_experts: Floats, top: float) -> str:
        """The others do not stretch the axis: a few that are far off would press all else to the ground."""
        beyond = int((of_experts[-1, look.others] > top).sum())
        return others_called(len(look.others)) + (f" ({beyond} off the scale)" if beyond else "")

    def _summed(self, losses: Floats) -> Floats:
        """Sums of means over records, from 0 on."""
        counts = self.run_record.counts.reshape(-1, *[1] * (losses.ndim - 1))
        with np.errstate(over="ignore"):
            summed = np.concatenate([np.zeros((1, *losses.shape[1:])), np.cumsum(counts * losses, axis=0)])
        if np.isinf(summed).any():
            raise ValueError("the losses of the run_record add up to more than a float holds: they cannot be drawn")
        return summed

    def _dress(self, ax: Any, look: Look) -> None:
        below = self.regret_ax_
        ax.set(ylabel=sum_called(self.run_record.loss_name), title="Cumulative loss, and regret")
        powers_of_ten(ax, "y")
        powers_of_ten(below, "y")
        below.set_ylabel("regret")
        below.axhline(0.0, color="0.6", lw=0.8, zorder=1)
        label_time(below, self.run_record, means=False)
        ax.tick_params(axis="x", labelbottom=False)
        ax.xaxis.get_offset_text().set_visible(False)
        plain(ax)
        plain(below)
        lines = self.lines_
        first = [lines["mixture"], *([lines["plain mean"]] if "plain mean" in lines else [])]
        others = [lines[expert_called(self.run_record.names[look.others[0]])]] if look.others else []
        legend(ax, [*first, *(lines[expert_called(self.run_record.names[expert])] for expert in look.named), *others])
        legend(below, list(self.regret_lines_.values()), "mixture against")


def charged_losses(run_record: RunRecord) -> Floats:
    """Of each expert, (R, K); while it sleeps, what the mixture lost."""
    return np.where(np.isnan(run_record.losses), run_record.loss[:, np.newaxis], run_record.losses)


def best_expert(run_record: RunRecord) -> int:
    """The one that lost least, of those that were awake in half of the rows, if there are any."""
    total = (run_record.counts[:, np.newaxis] * charged_losses(run_record)).sum(axis=0)
    awake = (~np.isnan(run_record.losses) * run_record.counts[:, np.newaxis]).sum(axis=0)
    often = 2 * awake >= min(2 * awake.max(), run_record.counts.sum())  # one that was there for a moment proves little
    return int(np.where(often, total, np.inf).argmin())


def best_sequences(run_record: RunRecord, switches: Sequence[int]) -> dict[str, Floats]:
    """Losses (R,) of the best sequences of experts in hindsight, by name."""
    found = {}
    for most in switches:
        check_every_row(run_record)
        path = oracles.best_sequence(run_record.losses, most).path
        found[f"best sequence, {most} switch{'es' * (most != 1)}"] = run_record.losses[np.arange(len(path)), path]
    return found


def _picked(n_records: int) -> Any:
    """Which edges of records are drawn: sums need no averaging."""
    return np.unique(np.linspace(0, n_records, min(n_records, MOST_RECORDS) + 1).round().astype(np.intp))


class AverageLossDisplay(TraceDisplay):
    """Average loss of each expert, the best at the top; lines mark the mixture and the plain mean of the experts.

    An expert that slept is judged by the rows in which it was awake, and its label says how many they were.

    Parameters
    ----------
    run_record : RunRecord
        What the run was.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    bars_ : list of matplotlib Rectangle
        From the top down.
    """

    def _size(self) -> tuple[float, float]:
        return 7.0, height_of_rows(len(self.run_record.names)) + 0.3

    def _draw(self, ax: Any, look: Look) -> None:
        run_record = self.run_record
        awake = ~np.isnan(run_record.losses) * run_record.counts[:, np.newaxis]
        total = awake.sum(axis=0)
        sums = (awake * np.nan_to_num(run_record.losses)).sum(axis=0)
        means = np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0)
        order = [int(expert) for expert in np.argsort(means, kind="stable") if total[expert] > 0]
        n_shown = rows_that_fit(ax, len(order))
        shown, rest = order[:n_shown], order[n_shown:]
        parts = total / run_record.counts.sum()
        labels = [look.names[expert] + ("" if parts[expert] == 1 else _awake(parts[expert])) for expert in shown]
        values = [float(means[expert]) for expert in shown]
        written = [number(value) for value in values]
        colours = [look.colour(expert) for expert in shown]
        if rest:
            labels.append(others_called(len(rest)))
            values.append(float(means[rest].min()))  # not their mean, which a single bad one would make the longest bar
            written.append(f"{number(means[rest].min())} to {number(means[rest].max())}")
            colours.append(OTHERS)
        bars = ax.barh(range(len(values)), values, color=colours, height=0.7)
        self.bars_ = list(bars)
        write_beside(ax, written, "")
        marks = {"mixture": (run_record.loss, MIXTURE, "-")}
        if run_record.uniform is not None:
            marks["plain mean"] = run_record.uniform, UNIFORM, "--"
        lines = []
        for name, (losses, colour, style) in marks.items():
            mean = float(np.average(losses, weights=run_record.counts))
            lines.append(ax.axvline(mean, color=colour, ls=style, lw=1.6, label=f"{name}: {number(mean)}"))
        ax.legend(handles=lines, loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False, fontsize="small")
        label_rows(ax, labels)
        ax.set_xlabel(mean_called(run_record.loss_name))
        ax.set_title("Average loss of each expert", pad=24)
        powers_of_ten(ax, "x")


def _awake(part: float) -> str:
    return f" (awake {part:.0%})" if part >= 0.01 else " (awake < 1%)"
