"""Summary of a mixture: a table of losses for reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._optional import import_extra

#: Gains beyond this are not shown: one of the two losses is rounding.
MOST_GAIN = 100.0


class SummaryRow(NamedTuple):
    """Loss of the mixture, the plain mean, an expert or an oracle."""

    name: str
    kind: str  #: "mixture", "mean", "expert" or "oracle"
    loss: float  #: mean over the rows with a forecast
    awake: float  #: share of these rows
    gain: float  #: how much smaller the loss of the mixture is in the same rows, relative to this loss


@dataclass(frozen=True, repr=False)
class MixtureSummary:
    """Losses of a mixture, its experts, their plain mean and oracles; made by :meth:`ExpertMixture.summary`.

    Attributes
    ----------
    rows : list of SummaryRow
    loss_name : str
    n_rows : int
        Number of rows that were learned.
    note : str
        Which rows are missing, and why; empty if none are.
    """

    rows: list[SummaryRow]
    loss_name: str
    n_rows: int
    note: str

    def frame(self) -> Any:
        """Return a pandas frame; for the squared loss with a column ``rmse``."""
        pandas = import_extra("pandas", "frames")
        frame = pandas.DataFrame(self.rows, columns=SummaryRow._fields).set_index("name")
        if self.loss_name == "squared_error":
            frame.insert(2, "rmse", np.sqrt(frame["loss"]))
        return frame

    def markdown(self) -> str:
        """Return a table in Markdown."""
        lines = self._lines()
        rule = ["---"] + ["---:"] * (len(lines[0]) - 1)
        clean = [[" ".join(cell.replace("|", "\\|").split()) for cell in line] for line in [lines[0], rule, *lines[1:]]]
        return "\n".join("| " + " | ".join(line) + " |" for line in clean)

    def __repr__(self) -> str:
        lines = self._lines()
        widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
        table = [
            "  ".join(
                [
                    line[0].ljust(widths[0]),
                    *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True)),
                ]
            )
            for line in lines
        ]
        return "\n".join([f"{self.n_rows} rows, {self.loss_name} loss", *table, *([self.note] if self.note else [])])

    def _lines(self) -> list[list[str]]:
        squared = self.loss_name == "squared_error"
        slept = any(row.awake < 1.0 for row in self.rows)
        header = ["", "mean loss", *(["rmse"] if squared else []), *(["awake"] if slept else []), "gain"]
        lines = [header]
        for row in self.rows:
            cells = [row.name, f"{row.loss:.5g}"]
            cells += [f"{math.sqrt(row.loss):.5g}"] if squared else []
            cells += [f"{row.awake:.0%}"] if slept else []
            shown = row.kind != "mixture" and abs(row.gain) < MOST_GAIN
            lines.append([*cells, f"{row.gain:+.1%}" if shown else ""])
        return lines


def new_summary(mixture: Any, series: Any, max_switches: int) -> MixtureSummary:
    """Return the summary of a fitted mixture, or of one of its series."""
    code = None if series is None else mixture._series_code(series)
    sums = mixture._loss_sums("summary", code)
    means = sums.means
    total = sums.weights[-1]
    rows_seen, rows_waiting = mixture._panel.n_rows, mixture._panel.n_waiting
    if not total > 0.0:
        seen, block = int(rows_seen.sum()), mixture._in_force.block
        raise ValueError(
            f"no round is complete yet, after {seen} rows with block={block!r}. Learn at least one complete block first"
        )

    def row(name: str, kind: str, at: int) -> SummaryRow:
        gain = 1.0 - sums.mixture_losses[at] / sums.losses[at] if sums.losses[at] > 0.0 else math.nan
        return SummaryRow(name, kind, float(means[at]), float(sums.weights[at] / total), float(gain))

    names = mixture.experts_
    experts = [row(str(name), "expert", at) for at, name in enumerate(names)]
    experts.sort(key=lambda each: (math.isnan(each.loss), each.loss))
    oracle_rows, note = _oracles(mixture, series, max_switches)
    rows = [row("mixture", "mixture", len(names)), row("plain mean", "mean", len(names) + 1), *experts, *oracle_rows]
    learned = rows_seen - rows_waiting
    n_rows = int(learned.sum() if code is None else learned[code])
    return MixtureSummary(rows, mixture._in_force._loss_name(), n_rows, note)


def _oracles(mixture: Any, series: Any, max_switches: int) -> tuple[list[SummaryRow], str]:
    """Return losses that were possible in hindsight, from what was recorded, and a note on those that are missing."""
    from ..evaluation import oracles

    if mixture._in_force.record is None:
        return [], "No oracles: nothing was recorded (record=)."
    if series is None and len(mixture._labels.series) > 1:
        return [], "No oracles: there are several series. Pass series= to select one."
    if mixture._labels.n_outputs > 1:
        return [], "No oracles: there are several outputs."
    record = mixture.run_record(series=series)
    if record.counts.max() > 1:
        return [], f"No oracles: only means of {record.counts.max()} rows were recorded; they need all (record=)."
    learned = slice(len(record.loss) - int(mixture._panel.n_waiting[mixture._series_code(series)]))
    losses, forecasts, targets = record.losses[learned], record.forecasts[learned], record.targets[learned]
    mixture_loss = float(record.loss[learned].mean())

    def row(name: str, loss: float) -> SummaryRow:
        return SummaryRow(name, "oracle", loss, 1.0, 1.0 - mixture_loss / loss if loss > 0.0 else math.nan)

    rows, notes = [], []
    loss = mixture._panel.losses.losses[0]
    if np.isnan(losses).any():
        notes.append("No best combinations: experts slept.")
    elif not hasattr(loss, "gradient"):
        notes.append("No best combinations: the loss has no gradient.")
    else:
        try:
            rows.append(row("best convex combination", oracles.best_convex(forecasts, targets, loss).loss))
            rows.append(row("best linear combination", oracles.best_linear(forecasts, targets, loss).loss))
        except (ValueError, RuntimeError, np.linalg.LinAlgError) as error:  # numbers of absurd sizes
            notes.append(f"No best combinations: {error}.")
    if not np.isfinite(losses[~np.isnan(losses)].sum()):
        return rows, " ".join([*notes, "No best sequences: losses are too large to be summed."])
    most = min(max_switches, len(losses) - 1)
    try:
        by_switches = oracles.best_sequence(losses, most).losses
    except ValueError as error:  # no expert is awake throughout
        return rows, " ".join([*notes, f"No best sequences: {error}."])
    for switches in sorted({0, min(1, most), most // 2, most}):
        if np.isfinite(by_switches[switches]):
            name = "best expert" if switches == 0 else f"best sequence, {switches} switch{'es' * (switches > 1)}"
            rows.append(row(name, float(by_switches[switches])))
    return rows, " ".join(notes)
