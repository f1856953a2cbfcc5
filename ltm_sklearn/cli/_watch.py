"""``ltm-sklearn watch``: show the status of a run from its log, again and again."""

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

from .._optional import import_extra
from .._typing import Floats
from ..display import SIZE, LiveDisplay, ago, best_expert
from ..evaluation import format_table
from ..recording import RunLog, RunRecord, number, read_log
from ._report import UsageError, leaders, print_safely

MOST_EXPERTS = 12  #: experts with a line of their own
BAR_WIDTH = 24  #: letters of the bar of a weight of one

DESCRIPTION = """\
Show the status of a run in another process: its recent loss beside the plain mean of its experts
and the best of them, which expert leads, and how fast it runs. The run is an estimator of
ltm_sklearn that has the file as record=.

A terminal shows a table that is kept up to date; other outputs get a line whenever rows have come.
Ctrl-C ends the view, not the run.
"""
EPILOG = """\
examples:

  ltm-sklearn watch run.jsonl
  ltm-sklearn watch run.jsonl --once
  ltm-sklearn watch run.jsonl --every 5 --out status.html

exit codes: 0 done, or ended by Ctrl-C; 1 the log cannot be read, or the file not be written, at the
start (later such errors are shown, and the view goes on); 2 wrong usage
"""


def add_parser(commands: Any) -> argparse.ArgumentParser:
    """Add the parser of this command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "watch",
        help="show the status of a run from its log: in the terminal, or as a page that reloads itself",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="the log: the record= of the estimator")
    parser.add_argument("--once", action="store_true", help="show the status once, and exit")
    parser.add_argument(
        "--every", metavar="SECONDS", type=float, default=2.0, help="time between two updates (default: %(default)g)"
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        help="write the view to this file at each update: .html for a page that reloads itself, or a picture as .png",
    )
    return parser


def run(options: Any) -> None:
    """Run the command."""
    if not 0.1 <= options.every <= 86400.0:
        raise UsageError(f"--every {options.every:g}: it must lie between 0.1 and 86400 seconds")
    if options.out is not None and options.out.resolve() == options.file.resolve():
        raise UsageError(f"--out {options.out} is the log itself")
    read = _reader(options)
    log = read()
    if options.once:
        print_safely("\n".join(status_lines(log, time.time())))
        return
    error = ""
    with suppress(KeyboardInterrupt), _screen() as show:
        while True:
            show(log, error)
            time.sleep(options.every)
            try:
                log, error = read(), ""
            except (OSError, ValueError) as failure:  # the next update may succeed
                error = str(failure)


def _reader(options: Any) -> Callable[[], RunLog]:
    """Return the function that reads the log and writes the file of ``--out``, if there is one."""
    if options.out is None:
        return lambda: read_log(options.file)
    make_figure = import_extra("matplotlib.figure", "pictures", "plot").Figure
    if not options.out.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {options.out.absolute().parent} for {options.out.name}")
    display = LiveDisplay(options.file)
    figure = make_figure(figsize=SIZE, layout="constrained")

    def read() -> RunLog:
        display.plot(figure).save(options.out, options.every)
        return display.log_

    return read


@contextmanager
def _screen() -> Iterator[Callable[[RunLog, str], None]]:
    """Yield the function that shows a log: a table in place on a terminal with rich installed, otherwise lines."""
    if not sys.stdout.isatty() or find_spec("rich") is None:
        printed = ""

        def print_if_changed(log: RunLog, error: str) -> None:
            nonlocal printed
            line = error or str(log.now)
            if line != printed:
                print_safely(line)
            printed = line

        yield print_if_changed
        return
    from rich.live import Live
    from rich.text import Text

    with Live(auto_refresh=False) as live:

        def update(log: RunLog, error: str) -> None:
            lines = [*status_lines(log, time.time()), *(["", error] if error else []), "", "Ctrl-C ends this view."]
            live.update(Text("\n".join(lines)), refresh=True)

        yield update


def status_lines(log: RunLog, now: float) -> list[str]:
    """Return the status of a run at the time ``now`` as lines of text."""
    run_record, header = log.run_record(), log.header
    losses = np.ma.masked_invalid(run_record.losses)
    mean_losses = np.ma.filled(np.ma.average(losses, axis=0, weights=run_record.counts), np.nan)
    overall = [f"loss {number(float(np.average(run_record.loss, weights=run_record.counts)))}"]
    if run_record.uniform is not None:
        overall.append(f"plain mean {number(float(np.average(run_record.uniform, weights=run_record.counts)))}")
    best = best_expert(run_record)
    overall.append(f"best expert {run_record.names[best]} {number(mean_losses[best])}")
    started = datetime.fromtimestamp(header.get("started", log.moments[0])).isoformat(sep=" ", timespec="seconds")
    return [
        f"{os.path.basename(log.path)}: {header.get('estimator')}, {run_record.loss_name} loss, process "
        f"{header.get('process')}, started {started}, last round {ago(now - log.moments[-1])}",
        str(log.now),
        f"overall {', '.join(overall)}",
        "",
        *_expert_lines(run_record, mean_losses),
    ]


def _expert_lines(run_record: RunRecord, mean_losses: Floats) -> list[str]:
    """Return a table of the experts, the largest weight first."""
    weights, led = run_record.weights[-1], dict(leaders(run_record))
    present = [at for at in np.argsort(-weights, kind="stable").tolist() if weights[at] > 0.0]
    rows = []
    for at in present[:MOST_EXPERTS]:
        name, loss = run_record.names[at], "" if np.isnan(mean_losses[at]) else number(mean_losses[at])
        rows.append((name, weights[at], loss, f"{led[name]:.0%}" if name in led else ""))
    others = present[MOST_EXPERTS:]
    if others:
        rows.append((f"{len(others)} others", weights[others].sum(), "", ""))
    lines = [["expert", "weight", " " * BAR_WIDTH, "mean loss", "led"]]
    for name, weight, loss, share in rows:
        lines.append([name, f"{weight:.0%}", f"{'█' * round(BAR_WIDTH * weight):{BAR_WIDTH}}", loss, share])
    return [line.rstrip() for line in format_table(lines, "<").splitlines()]
