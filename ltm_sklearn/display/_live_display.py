"""Live display of a run from its log: recent loss, weights and leading expert, redrawn during the run."""

from __future__ import annotations

import io
import os
import time
from collections.abc import Callable
from datetime import datetime
from math import isnan
from pathlib import Path
from typing import Any, Self

from .._optional import import_extra
from ..recording import RunLog, number, pace_called, read_log
from ._loss_labels import mean_loss_label
from ._pages import data_url, render_page
from ._recurrence import RecurrenceDisplay
from ._run_display import RunDisplay
from ._running_loss import RunningLossDisplay
from ._weights import WeightStackDisplay

FIGSIZE = (10.0, 8.5)
DPI = 110
#: The displays from the top down, with the ratios of their heights.
PANELS: dict[type[RunDisplay], int] = {RunningLossDisplay: 4, WeightStackDisplay: 4, RecurrenceDisplay: 3}


class LiveDisplay:
    """Live display of a run from its log: recent loss, weights over time, leading expert.

    Parameters
    ----------
    path : str or path
        The file that was passed to the estimator as ``record=``.

    Attributes
    ----------
    figure_ : matplotlib Figure
    displays_ : list
        The displays of the panels, from the top down.
    log_ : RunLog
        The log as last read; ``log_.now`` is the status of the run.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    @classmethod
    def from_log(cls, path: str | os.PathLike[str], *, figure: Any = None) -> Self:
        """Draw the current state of a run from its log.

        Parameters
        ----------
        path : str or path
            The file that was passed to the estimator as ``record=``.
        figure : matplotlib Figure, optional
            None: a new figure.
        """
        return cls(path).plot(figure)

    def plot(self, figure: Any = None) -> Self:
        """Read the log and draw it; a second call redraws the same figure.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            None: the figure of the previous call, or a new one.
        """
        log = read_log(self.path)
        if figure is None:
            figure = getattr(self, "figure_", None)
        if figure is None:
            figure = import_extra("matplotlib.pyplot", "pictures", "plot").figure(figsize=FIGSIZE, layout="constrained")
        figure.clear()
        run_record = log.run_record()
        self.log_, self.figure_ = log, figure
        figure.suptitle("\n".join(status_lines(log, time.time())), x=0.01, ha="left", fontsize="medium")
        axes = figure.subplots(len(PANELS), 1, height_ratios=list(PANELS.values()))
        self.displays_ = [kind.from_run_record(run_record, ax=ax) for kind, ax in zip(PANELS, axes, strict=True)]
        for ax in axes[:-1]:
            ax.set_xlabel("")
        return self

    def watch(self, refresh: float = 1.0, out: str | os.PathLike[str] | None = None) -> None:
        """Redraw the run until an interrupt (Ctrl-C, or the stop button of a notebook).

        Parameters
        ----------
        refresh : float, default=1.0
            Seconds between drawings.
        out : str or path, optional
            A file that is replaced with each drawing: a picture, or an ``.html`` page that reloads itself (needs
            jinja2). None: the figure is shown in a window or in the notebook.
        """
        show = self._window() if out is None else None
        try:
            while True:
                start = time.monotonic()
                self.plot()
                if out is not None:
                    self.save(out, refresh)
                left = max(refresh - (time.monotonic() - start), 0.01)
                if show is None:
                    time.sleep(left)
                else:
                    show(left)
        except KeyboardInterrupt:
            return

    def save(self, out: str | os.PathLike[str], refresh: float = 1.0) -> None:
        """Write the figure to a file: a picture, or a page that reloads itself if the name ends in ``.html``.

        The figure is drawn first if :meth:`plot` was not called. The file is replaced atomically.

        Parameters
        ----------
        out : str or path
        refresh : float, default=1.0
            Seconds after which the page reloads itself.
        """
        if not hasattr(self, "figure_"):
            self.plot()
        path = Path(out)
        kind = path.suffix.lower().removeprefix(".")
        formats = self.figure_.canvas.get_supported_filetypes()
        if kind not in (*formats, "html"):
            raise ValueError(
                f"{out} is neither a page nor a picture: its name must end in .html, .{', .'.join(sorted(formats))}"
            )
        content = self._page(refresh) if kind == "html" else self._picture(kind)
        # os.replace is atomic: a reader of the file sees the previous version or this one.
        new = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            new.write_bytes(content)
            os.replace(new, path)
        finally:
            new.unlink(missing_ok=True)

    def _page(self, refresh: float) -> bytes:
        """Return an HTML page with the figure, which reloads itself every ``refresh`` seconds."""
        return render_page(
            __package__,
            "live.html.jinja",
            title=os.path.basename(self.log_.path),
            status=" · ".join(status_lines(self.log_, self.log_.moments[-1])),
            picture=data_url(self._picture("png")),
            seconds=max(round(refresh), 1),
            written=datetime.now(),
        ).encode()

    def _picture(self, kind: str) -> bytes:
        """Return the figure as a picture file of this kind."""
        buffer = io.BytesIO()
        self.figure_.savefig(buffer, format=kind, dpi=DPI)
        return buffer.getvalue()

    def _window(self) -> Callable[[float], None]:
        """Return a function that shows the figure for some seconds, in a notebook or in a window."""
        pyplot = import_extra("matplotlib.pyplot", "pictures", "plot")
        if "inline" in pyplot.get_backend().lower():
            self.plot()
            handle = import_extra("IPython.display", "notebooks").display(self.figure_, display_id=True)
            pyplot.close(self.figure_)  # otherwise the notebook shows it a second time at the end of the cell

            def show(seconds: float) -> None:
                handle.update(self.figure_)
                time.sleep(seconds)

            return show
        if pyplot.get_backend().lower() == "agg":
            raise ValueError(
                "the matplotlib backend 'agg' has no window. Pass out=, a file to write, or choose another backend"
            )
        pause: Callable[[float], None] = pyplot.pause
        return pause


def status_lines(log: RunLog, now: float) -> list[str]:
    """Return the status of a run at the time ``now`` in three lines of text."""
    status, header = log.now, log.header
    n_led = status.row - status.since
    rounds = "" if status.round == status.row else f" ({status.round:,} rounds)"
    pace = "" if isnan(status.pace) else f", {pace_called(status.pace)}"
    uniform = "" if isnan(status.uniform) else f" (plain mean of the experts: {number(status.uniform)})"
    snapshots = f", {status.remembered} of them snapshots" if status.remembered else ""
    return [
        f"{header.get('estimator', 'run')} in {os.path.basename(log.path)}: row {status.row:,}{rounds}{pace}, "
        f"last round {ago(now - log.moments[-1])}",
        f"recent {mean_loss_label(str(header.get('loss')))}: {number(status.loss)}{uniform}",
        f"{status.leader} leads ({status.share:.0%}) for {n_led:,} row{'s' * (n_led != 1)}; {status.experts} experts"
        f"{snapshots}",
    ]


def ago(seconds: float) -> str:
    """Return a duration as text: seconds, minutes, hours or days ago."""
    seconds = max(seconds, 0.0)
    for unit, length, most in (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 172800.0)):
        if seconds < most:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds / 86400.0:.0f} days ago"
