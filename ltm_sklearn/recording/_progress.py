"""Progress bars."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec

EVERY = 1.0  #: seconds between lines without a bar


@contextmanager
def progress_bar(what: str, shown: bool, n_rows: int | None) -> Iterator[Callable[[int], None]]:
    """Yield a function to call with the number of rows done; show a bar if rich is installed, otherwise lines."""
    if not shown:
        yield lambda done: None
        return
    if find_spec("rich") is None:
        yield _lines(what, n_rows)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("rows", total=n_rows)
        yield lambda done: bar.update(task, completed=done)


def _lines(what: str, n_rows: int | None) -> Callable[[int], None]:
    of_all = "" if n_rows is None else f" of {n_rows}"
    last = time.monotonic()

    def show(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= EVERY or done == n_rows:
            print(f"{what}: {done}{of_all} rows", file=sys.stderr)
            last = time.monotonic()

    return show
