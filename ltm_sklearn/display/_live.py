"""The live view of a run, from its log."""

from __future__ import annotations

import os
import time
from typing import Any, Self

from .._optional import import_extra
from ..recording import RunLog, number, pace_called, read_log
from ._look import mean_called
from ._recurrence import RecurrenceDisplay
from ._running import RunningLossDisplay
from ._weights import WeightStackDisplay

SIZE = (10.0, 8.5)
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
            A file that is written each time: a picture, or an ``.html`` page that loads itself anew. None: it is shown
            in a window or in the notebook.
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
        """Write what was drawn: a picture or, if the file is ``.html``, a page that loads itself anew.

        What was not drawn yet is drawn first. Whoever looks at the file meanwhile sees the one before, or this one,
        whole.

        Parameters
        ----------
        out : str or path
        refresh : float, default=1.0
            Seconds after which the page loads itself anew.
        """
        from ._live_page import write

        if not hasattr(self, "figure_"):
            self.plot()
        write(self, os.fspath(out), refresh)

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
