"""The table a person pastes in a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._optional import import_extra

#: Gains beyond this say nothing.
MOST_GAIN = 100.0


class SummaryRow(NamedTuple):
    """What one lost."""

    name: str
    kind: str  #: "mixture", "mean", "expert" or "oracle"
    loss: float  #: mean over the rows in which it had a forecast
    awake: float  #: the share of these rows
    gain: float  #: how much less the mixture lost in the same rows, as a part of this one's loss


@dataclass(frozen=True, repr=False)
class MixtureSummary:
    """What a mixture lost, its experts, their plain mean, and oracles; made by :meth:`ExpertMixture.summary`.

    Attributes
    ----------
    rows : list of SummaryRow
    loss_name : str
    n_rows : int
        Rows that were learned.
    note : str
        What is missing, and why; empty if nothing is.
    """

    rows: list[SummaryRow]
    loss_name: str
    n_rows: int
    note: str

    def frame(self) -> Any:
        """A pandas frame; for the squared loss with a column ``rmse``."""
        pandas = import_extra("pandas", "frames")
        frame = pandas.DataFrame(self.rows, columns=SummaryRow._fields).set_index("name")
        if self.loss_name == "squared_error":
            frame.insert(2, "rmse", np.sqrt(frame["loss"]))
        return frame

    def markdown(self) -> str:
        """A table for a text in Markdown."""
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
            # beyond a hundredfold, one of the two is rounding
            shown = row.kind != "mixture" and abs(row.gain) < MOST_GAIN
            lines.append([*cells, f"{row.gain:+.1%}" if shown else ""])
        return lines


def summarised(mixture: Any, series: Any, max_switches: int) -> MixtureSummary:
    """Make one."""
    code = None if series is None else mixture._series_code(series)
    lost, heard, mixtures = mixture._tally("summary", code)
    total = heard[-1]
    if not total > 0.0:
        seen, block = int(mixture._panel.n_rows.sum()), mixture._in_force.block
        raise ValueError(
            f"no round is complete yet, after {seen} rows with block={block!r}: there is nothing to sum up"
        )

    def row(name: str, kind: str, at: int) -> SummaryRow:
        loss = lost[at] / heard[at] if heard[at] > 0.0 else math.nan
        gain = 1.0 - mixtures[at] / lost[at] if lost[at] > 0.0 else math.nan
        return SummaryRow(name, kind, float(loss), float(heard[at] / total), float(gain))

    experts = [row(str(name), "expert", at) for at, name in enumerate(mixture.experts_)]
    experts.sort(key=lambda each: (math.isnan(each.loss), each.loss))
    own = row("mixture", "mixture", len(lost) - 2)
    oracles, note = _oracles(mixture, series, max_switches)
    rows = [own, row("plain mean", "mean", len(lost) - 1), *experts, *oracles]
    seen, waiting = mixture._panel.n_rows, mixture._panel.n_waiting
    learned = seen - waiting
    n_rows = int(learned.sum() if code is None else learned[code])
    return MixtureSummary(rows, mixture._in_force._loss_name(), n_rows, note)


def _oracles(mixture: Any, series: Any, max_switches: int) -> tuple[list[SummaryRow], str]:
    """What could have been reached in hindsight, from what was recorded; and why not, if it was not."""
    from ..evaluation import oracles

    if mixture._in_force.record is None:
        return [], "No oracles: nothing was recorded (record=)."
    if series is None and len(mixture._known.series) > 1:
        return [], "No oracles: there are several series; ask for one."
    if mixture._known.n_outputs > 1:
        return [], "No oracles: there are several outputs."
    run_record = mixture.run_record(series=series)
    learned = len(run_record.loss) - int(mixture._panel.n_waiting[mixture._series_code(series)])
    if run_record.counts.max() > 1:
        return [], f"No oracles: only means of {run_record.counts.max()} rows were recorded; they need all (record=)."
    losses, forecasts, targets = (
        run_record.losses[:learned],
        run_record.forecasts[:learned],
        run_record.targets[:learned],
    )
    own = float(run_record.loss[:learned].mean())

    def row(name: str, loss: float) -> SummaryRow:
        return SummaryRow(name, "oracle", loss, 1.0, 1.0 - own / loss if loss > 0.0 else math.nan)

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
    most = min(max_switches, learned - 1)
    if not np.isfinite(losses[~np.isnan(losses)].sum()):
        return rows, " ".join([*notes, "No best sequences: losses are too large to be summed."])
    try:
        by_switches = oracles.best_sequence(losses, most).losses
    except ValueError as error:  # none is awake throughout
        return rows, " ".join([*notes, f"No best sequences: {error}."])
    for switches in sorted({0, min(1, most), most // 2, most}):
        if np.isfinite(by_switches[switches]):
            name = "best expert" if switches == 0 else f"best sequence, {switches} switch{'es' * (switches > 1)}"
            rows.append(row(name, float(by_switches[switches])))
    return rows, " ".join(notes)
