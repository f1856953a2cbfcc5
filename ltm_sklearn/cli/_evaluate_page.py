"""The page of a report on a stream, and its verdict."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from ..display import number
from ..evaluation import Difference
from ._evaluate_run import WITH, WITHOUT, Run, memory_rows
from ._page import end, figure, said, shown_cards, table, whole
from ._picture import Picture

#: What the columns of the table are called, and how they are written.
HEADS = {
    "accuracy": ("accuracy", "{:.4f}"),
    "kappa": ("kappa", "{:.3f}"),
    "log_loss": ("log loss", "{:.4f}"),
    "mae": ("mean absolute error", "{:,.5g}"),
    "rmse": ("root mean squared error", "{:,.5g}"),
    "after_change": ("after a change", "{:,.5g}"),
    "after_return": ("after a return", "{:,.5g}"),
}
INTERVAL = (
    "The interval: the stream is cut into {n} stretches, and how much the difference varies from one to the next tells "
    "how far chance could have moved its mean (batch means with Student's t, 95 %). Single rows would not do, as "
    "neighbours are alike. It speaks of streams like this one, not of what comes after a change that it never saw."
)
HONEST = (
    "Each batch was predicted before its targets were learned, by all models, in the order of the file. Models scale "
    "and fill features with what they saw before. Known in advance were the columns, their kinds, and, for classes, "
    "their names."
)
#: What it means if a baseline is better than the pool.
BEATEN_BY = {
    "last target": "The order of the targets tells more than the features do; past targets as columns of the file may "
    "help all models."
}
BEATEN = "So far nothing was learned from the features that is worth more than that."


def verdict(run: Run) -> str:
    """Does memory help? In a sentence."""
    found = run.differences[WITHOUT]
    if math.isnan(found.low):
        return "The stream is too short to tell whether memory helps."
    if not found.told:
        return f"No difference that can be told from noise: with memory {_gain(run, found)}."
    return f"Memory {'helps' if found.mean > 0.0 else 'hurts'} on this stream: {_gain(run, found)}."


def remarks(run: Run) -> list[str]:
    """What else a person should know before they believe it."""
    notes = []
    baseline, expert = run.best_baseline, run.best_expert
    found = run.differences[baseline]
    if found.mean < 0.0:
        notes.append(
            f"Beware: to say the {baseline} each time, without a look at any feature, does better than the pool "
            f"({_score(run, baseline)} against {_score(run, WITH)}). {BEATEN_BY.get(baseline, BEATEN)}"
        )
    elif _row_by_row(run) is not None:
        notes.append(
            f"Beware: targets come in runs. Were each one known before the next row, to say it again would do better "
            f"({_row_by_row(run)}) than the pool does in batches of {run.batch} ({_score(run, WITH)})."
        )
    against = run.differences[expert]
    if math.isnan(against.low):
        notes.append(f"The best expert, {expert}, has {_score(run, expert)}, the pool with memory {_score(run, WITH)}.")
    elif against.told:
        better = "better" if against.mean > 0.0 else "worse"
        notes.append(f"Against the best expert, {expert}, the pool with memory is {better}: {_gain(run, against)}.")
    else:
        notes.append(f"Against the best expert, {expert}, it is no different beyond noise: {_gain(run, against)}.")
    if run.result.segments:
        n, back = run.result.n_changes, run.result.n_returns
        notes.append(f"The concept changes {n} times; {back} of the changes bring back an old one.")
    return notes


def _row_by_row(run: Run) -> str | None:
    """What it scores to say the target of the row before; None if that is no better than the pool."""
    y, is_class = run.file.y, run.file.is_class
    score = float(np.mean(y[1:] == y[:-1]) if is_class else np.mean(np.abs(np.diff(y))))
    if score > run.score(WITH) if is_class else score < run.score(WITH):
        return f"{score:.1%}" if is_class else number(score)
    return None


def _gain(run: Run, found: Difference) -> str:
    """A difference with its interval."""
    if run.file.is_class:
        low, high = f"{100.0 * found.low:+.1f}", f"{100.0 * found.high:+.1f}"
        return f"{100.0 * found.mean:+.1f} points of accuracy [{low}, {high}]"
    return f"{_error(found.mean)} of mean absolute error saved [{_error(found.low)}, {_error(found.high)}]"


def _error(value: float) -> str:
    return ("+" if value >= 0.0 else "") + number(value)


def _score(run: Run, name: str) -> str:
    return f"{run.score(name):.1%}" if run.file.is_class else number(run.score(name))


def lines_of(run: Run) -> list[list[str]]:
    """The table: a header, and a line for each model."""
    first = next(iter(run.result.scores.values()))
    columns = [name for name in HEADS if name in first]
    unit = "points" if run.file.is_class else "error saved"
    head = ["model", *(HEADS[name][0] for name in columns), f"gain ({unit})", "95 % interval", "seconds"]
    styles = {name: HEADS[name][1] for name in columns}
    if run.file.is_class:  # after a change there are accuracies, too
        styles |= {name: HEADS["accuracy"][1] for name in columns if name.startswith("after_")}
    lines = [head]
    for name, scores in run.result.scores.items():
        cells = ["" if math.isnan(scores[column]) else styles[column].format(scores[column]) for column in columns]
        found = run.differences.get(name)
        if found is None or math.isnan(found.mean):
            cells += ["", ""]
        else:
            mean, low, high = (f"{100 * x:+.2f}" if run.file.is_class else _error(x) for x in found[:3])
            cells += [mean, "" if math.isnan(found.low) else f"{low} to {high}"]
        lines.append([name, *cells, f"{scores['predict_seconds'] + scores['learn_seconds']:.1f}"])
    return lines


def markdown(run: Run) -> str:
    """The table and the verdict, to paste."""
    head, *lines = lines_of(run)
    rows = [head, ["---"] + ["---:"] * (len(head) - 1), *lines]
    words = [verdict(run), *remarks(run)]
    return "\n\n".join([*words, "\n".join("| " + " | ".join(row) + " |" for row in rows)]) + "\n"


def text(run: Run) -> str:
    """The same for a terminal."""
    lines = lines_of(run)
    lines[0] = ["", *lines[0][1:-3], "gain", "95 % interval", "seconds"]
    widths = [max(len(line[at]) for line in lines) for at in range(len(lines[0]))]
    shown = [
        "  ".join(
            cell.ljust(w) if at == 0 else cell.rjust(w) for at, (cell, w) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([*shown, "", verdict(run), *remarks(run)])


def page(run: Run, title: str, pictures: Sequence[Picture], facts: Mapping[str, str], tables: Mapping[str, str]) -> str:
    """The HTML."""
    notes = "".join(f"<p>{said(note)}</p>" for note in remarks(run))
    n = len(run.differences[WITHOUT].stretches)
    parts = [
        f"<h2>In numbers</h2>{_scores_table(run)}<p class='soft'>{said(INTERVAL.format(n=n))}</p>"
        f"<p class='soft'>{said(HONEST)}</p>{_failures(run)}",
        "<p class='soft narrow'>On a narrow screen, wide pictures and tables scroll sideways.</p>",
        *(figure(picture) for picture in pictures),
        f"<h2>Who is in the pool at the end</h2>{_memory_table(run)}",
        f"<h2>What was learned from</h2>{_columns_table(run)}",
        end(facts, tables, pictures),
    ]
    lead = f"<p class='lead'><strong>{said(verdict(run))}</strong></p>{notes}{_cards(run)}"
    return whole(title, lead, parts)


def _cards(run: Run) -> str:
    measure = "accuracy" if run.file.is_class else "mean absolute error"
    cards = [("With memory", _score(run, WITH), measure), ("Without memory", _score(run, WITHOUT), measure)]
    cards.append((f"Best expert: {run.best_expert}", _score(run, run.best_expert), measure))
    cards.append((f"Better baseline: {run.best_baseline}", _score(run, run.best_baseline), measure))
    return shown_cards(cards)


def _scores_table(run: Run) -> str:
    head, *lines = lines_of(run)
    kinds = {WITH: "mixture"} | dict.fromkeys(run.baselines, "mean")
    caption = (
        f"{run.result.n_rows:,} rows, in batches of {run.batch}. Gain: how much better the pool with memory is than "
        "this one; above zero it is better. Seconds are those of predicting and learning."
    )
    if run.result.segments:
        caption += f" After a change, and a return: in the {run.result.window} rows that follow it."
    return table("Scores of the models", head, [(kinds.get(line[0], ""), line) for line in lines], caption)


def _failures(run: Run) -> str:
    if not run.failures:
        return ""
    shown = sorted(run.failures.items(), key=lambda pair: -pair[1])[:5]
    words = "; ".join(f"{what} ({count:,} times)" for what, count in shown)
    return f"<p class='soft'>Experts that had no answer at times: {said(words)}.</p>"


def _memory_table(run: Run) -> str:
    words = {
        "live": "learns always",
        "restarted": "begins afresh now and then",
        "snapshot": "a snapshot, never trained",
    }
    words["stack"] = "corrects what the others say"
    rows = []
    for name, kind, born, weight, loss, led in memory_rows(run):
        shown = "" if np.isnan(loss) else f"{loss:.4f}"
        rows.append(("", [name, words.get(kind, kind), f"{born:,}", f"{weight:.1%}", shown, f"{led:.0%}"]))
    head = ["expert", "what it is", "since or as of row", "mean weight", "mean loss", "led"]
    what = "mistakes" if run.file.is_class else "its error, scaled to between 0 and 1"
    caption = f"The weightiest first. Mean weight and loss ({what}) are since it joined; led: the share of all rows."
    return table("Experts at the end", head, rows, caption, {1: "words"})


def _columns_table(run: Run) -> str:
    rows = [("", [each.name, each.kind, each.what, str(len(each.features))]) for each in run.file.columns]
    head = ["column", "kind", "how it was used", "features"]
    caption = f"{len(run.file.names)} features in all."
    return table("Columns of the file", head, rows, caption, {1: "words", 2: "words"})
