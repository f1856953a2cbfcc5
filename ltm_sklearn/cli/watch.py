"""``ltm-sklearn watch``: how a run stands, from its log, again and again."""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from ..recording import RunLog, number, read_log
from ._common import failed, say

MOST_EXPERTS = 12  #: that have a line
BAR = 24  #: letters of a weight of one

DESCRIPTION = """\
Shows how a run stands that another process is doing: what it loses lately, beside the plain mean
of its experts and the best of them, who leads, and how fast it goes. The run is an estimator of
ltm_sklearn that was given the file as record=.

In a terminal it is a table that is kept up to date, otherwise a line each time that rows have come.
Ctrl-C ends it; the run does not notice.
"""
EPILOG = """\
examples:

  ltm-sklearn watch run.jsonl
  ltm-sklearn watch run.jsonl --once
  ltm-sklearn watch run.jsonl --every 5 --out status.html

exit codes: 0 done, or ended by Ctrl-C; 1 at the first look the log cannot be read, or the file not be
written (later that is said, and tried again); 2 wrong usage
"""


def add_to(commands: Any) -> None:
    """Make the command known."""
    parser = commands.add_parser(
        "watch",
        help="watch a run from its log: in the terminal, or as a page that is kept up to date",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the log: what the estimator has as record=")
    parser.add_argument("--once", action="store_true", help="tell how the run stands, and end")
    parser.add_argument(
        "--every", metavar="SECONDS", type=float, default=2.0, help="between two looks (default: %(default)g)"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write the live view here at each look: .html, a page that loads itself anew, or .png and the like",
    )
    parser.set_defaults(run=run)


def run(options: Any) -> int:
    """Returns the exit code."""
    if not 0.1 <= options.every <= 86400.0:
        return failed("watch", f"--every {options.every:g}: it takes 0.1 to 86400 seconds", 2)
    if options.out is not None and options.out.resolve() == options.file.resolve():
        return failed("watch", f"--out {options.out} is the log itself", 2)
    try:
        look = _looker(options)
        log = look()
    except (OSError, ValueError, ImportError) as error:
        return failed("watch", str(error), 1)
    if options.once:
        say("\n".join(table(log, time.time())))
        return 0
    with suppress(KeyboardInterrupt):
        _watch(options.every, look, log)
    return 0


def _watch(every: float, look: Callable[[], RunLog], log: RunLog) -> None:
    """Until it is interrupted."""
    with _screen() as show:
        trouble = ""
        while True:
            show(log, trouble)
            time.sleep(every)
            try:
                log, trouble = look(), ""
            except (OSError, ValueError) as error:  # it may be there again next time
                trouble = str(error)


def _looker(options: Any) -> Callable[[], RunLog]:
    """What reads the log and, if that is wanted, writes the page or picture of what it read."""
    if options.out is None:
        return lambda: read_log(options.file)
    if find_spec("matplotlib") is None:
        raise ImportError("pictures need matplotlib: pip install 'ltm_sklearn[plot]'")
    from matplotlib.figure import Figure

    from ..display import SIZE, LiveDisplay

    if not options.out.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {options.out.absolute().parent} to write {options.out.name} into")
    display = LiveDisplay(options.file)
    figure = Figure(figsize=SIZE, layout="constrained")

    def look() -> RunLog:
        display.plot(figure).save(options.out, options.every)
        return display.log_

    return look


@contextmanager
def _screen() -> Iterator[Callable[[RunLog, str], None]]:
    """What shows a log: a table in the same place if this is a terminal and rich is installed, otherwise lines."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        yield _lines()
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as live:

        def show(log: RunLog, trouble: str) -> None:
            words = [*table(log, time.time()), *(["", trouble] if trouble else []), "", "Ctrl-C ends this view."]
            live.update(Text("\n".join(words)), refresh=True)

        yield show


def _lines() -> Callable[[RunLog, str], None]:
    shown = ""

    def show(log: RunLog, trouble: str) -> None:
        nonlocal shown
        words = trouble or str(log.now)
        if words != shown:
            say(words)
        shown = words

    return show


def table(log: RunLog, when: float) -> list[str]:
    """How a run stands, in lines for people."""
    from ..display import ago, best_expert, leaders_of

    run_record, header = log.run_record(), log.header
    best = best_expert(run_record)
    awake = ~np.isnan(run_record.losses) * run_record.counts[:, np.newaxis]
    sums = (awake * np.nan_to_num(run_record.losses)).sum(axis=0)
    means = np.divide(sums, awake.sum(axis=0), out=np.full(len(sums), np.nan), where=awake.any(axis=0))
    leaders = leaders_of(run_record)
    started = datetime.fromtimestamp(header.get("started", log.moments[0])).isoformat(sep=" ", timespec="seconds")
    in_all = [f"loss {number(float(np.average(run_record.loss, weights=run_record.counts)))}"]
    if run_record.uniform is not None:
        in_all.append(f"plain mean {number(float(np.average(run_record.uniform, weights=run_record.counts)))}")
    in_all.append(f"best expert {run_record.names[best]} {number(means[best])}")
    rows = [("expert", "weight", "", "mean loss", "led")]
    order = np.argsort(-run_record.weights[-1], kind="stable")
    there = [at for at in order.tolist() if run_record.weights[-1, at] > 0.0]
    for at in there[:MOST_EXPERTS]:
        weight, led = (
            float(run_record.weights[-1, at]),
            run_record.counts[leaders == at].sum() / run_record.counts.sum(),
        )
        loss = "" if np.isnan(means[at]) else number(means[at])
        rows.append(
            (run_record.names[at], f"{weight:.0%}", "█" * round(BAR * weight), loss, f"{led:.0%}" if led else "")
        )
    if len(there) > MOST_EXPERTS:
        weight = float(run_record.weights[-1, there[MOST_EXPERTS:]].sum())
        rows.append((f"{len(there) - MOST_EXPERTS} others", f"{weight:.0%}", "█" * round(BAR * weight), "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    aligned = [
        f"{name:<{widths[0]}}  {weight:>{widths[1]}} {bar:<{BAR}}  {loss:>{widths[3]}}  {led:>{widths[4]}}".rstrip()
        for name, weight, bar, loss, led in rows
    ]
    return [
        f"{os.path.basename(log.path)}: {header.get('estimator')}, {run_record.loss_name} loss, process "
        f"{header.get('process')}, started {started}, last round {ago(when - log.moments[-1])}",
        str(log.now),
        f"in all {', '.join(in_all)}",
        "",
        *aligned,
    ]
