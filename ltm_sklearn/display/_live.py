"""The live view of a run, from its log."""

from __future__ import annotations

import io
import os
import time
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from .._optional import import_extra
from ..recording import RunLog, number, pace_called, read_log
from ._look import mean_called
from ._pages import data_url, render_page
from ._recurrence import RecurrenceDisplay
from ._running import RunningLossDisplay
from ._weights import WeightStackDisplay

SIZE = (10.0, 8.5)
DPI = 110
PANELS: dict[Any, int] = {
    RunningLossDisplay: 4,
    WeightStackDisplay: 4,
    RecurrenceDisplay: 3,
}  #: and their parts of the height


class LiveDisplay:
    """How a run stands, and how it came there: loss lately, weights, who leads; drawn from its log again and again.

    Parameters
    ----------
    path : str or path
        What was given to the estimator as ``record=``.

    Attributes
    ----------
    figure_ : matplotlib Figure
    displays_ : list
        Of the panels, from the top down.
    log_ : RunLog
        What was read: ``log_.now`` says how the run stands.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path

    @classmethod
    def from_log(cls, path: str | os.PathLike[str], *, figure: Any = None) -> Self:
        """Draw a run from its log, as it stands now.

        Parameters
        ----------
        path : str or path
            What was given to the estimator as ``record=``.
        figure : matplotlib Figure, optional
            None: a new one.
        """
        return cls(path).plot(figure)

    def plot(self, figure: Any = None) -> Self:
        """Read the log, and draw it; again, into the same figure, if it was drawn before.

        Parameters
        ----------
        figure : matplotlib Figure, optional
            None: the one from before, or a new one.
        """
        return self._draw(read_log(self.path), figure)

    def _draw(self, log: RunLog, figure: Any) -> Self:
        if figure is None:
            figure = getattr(self, "figure_", None)
        if figure is None:
            figure = import_extra("matplotlib.pyplot", "pictures", "plot").figure(figsize=SIZE, layout="constrained")
        figure.clear()
        run_record = log.run_record()
        self.log_, self.figure_ = log, figure
        figure.suptitle("\n".join(headlines(log, time.time())), x=0.01, ha="left", fontsize="medium")
        axes = figure.subplots(len(PANELS), 1, height_ratios=list(PANELS.values()))
        self.displays_ = [kind(run_record).plot(ax=ax) for kind, ax in zip(PANELS, axes, strict=True)]
        for ax in axes[:-1]:
            ax.set_xlabel("")
        return self

    def watch(self, refresh: float = 1.0, out: str | os.PathLike[str] | None = None) -> None:
        """Draw it again and again, until it is interrupted (Ctrl-C, or the notebook's stop).

        Parameters
        ----------
        refresh : float, default=1.0
            Seconds between drawings.
        out : str or path, optional
            A file that is written each time: a picture, or an ``.html`` page that reloads itself (needs jinja2). None:
            the figure is shown in a window or in the notebook.
        """
        show = self._shower() if out is None else None
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
            status=" · ".join(headlines(self.log_, self.log_.moments[-1])),
            picture=data_url(self._picture("png")),
            seconds=max(round(refresh), 1),
            written=datetime.now(),
        ).encode()

    def _picture(self, kind: str) -> bytes:
        """Return the figure as a picture file of this kind."""
        buffer = io.BytesIO()
        self.figure_.savefig(buffer, format=kind, dpi=DPI)
        return buffer.getvalue()

    def _shower(self) -> Any:
        """What shows the figure for some seconds: in a notebook, or in a window."""
        pyplot = import_extra("matplotlib.pyplot", "pictures", "plot")
        if "inline" in pyplot.get_backend().lower():
            self.plot()
            handle = import_extra("IPython.display", "notebooks").display(self.figure_, display_id=True)
            pyplot.close(self.figure_)  # which would be shown once more

            def show(seconds: float) -> None:
                handle.update(self.figure_)
                time.sleep(seconds)

            return show
        if pyplot.get_backend().lower() == "agg":
            raise ValueError("there is no window to show it in: give out=, a file")
        return pyplot.pause


def headlines(log: RunLog, when: float) -> list[str]:
    """What run it is, and how it stands, in a few lines."""
    now, header = log.now, log.header
    led = now.row - now.since
    uniform = "" if now.uniform != now.uniform else f", of the plain mean {number(now.uniform)}"
    rounds = "" if now.round == now.row else f" ({now.round:,} rounds)"
    experts = f"{now.experts} experts" + (f", {now.remembered} of them remembered" if now.remembered else "")
    pace = "" if now.pace != now.pace else f", {pace_called(now.pace)}"
    return [
        f"{header.get('estimator', 'run')} in {os.path.basename(log.path)}: row {now.row:,}{rounds}{pace}, "
        f"last round {ago(when - log.moments[-1])}",
        f"{mean_called(str(header.get('loss')))} lately {number(now.loss)}{uniform}",
        f"led by {now.leader} ({now.share:.0%}) for {led:,} row{'s' * (led != 1)}; {experts}",
    ]


def ago(seconds: float) -> str:
    """How long ago something was."""
    seconds = max(seconds, 0.0)
    for unit, length, most in (("s", 1.0, 120.0), ("min", 60.0, 7200.0), ("h", 3600.0, 172800.0)):
        if seconds < most:
            return f"{seconds / length:.0f} {unit} ago"
    return f"{seconds / 86400.0:.0f} days ago"
