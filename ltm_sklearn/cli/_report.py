"""Reports of commands: shared options, the order of work, tables, pictures, and the HTML page."""

from __future__ import annotations

import io
import math
import shlex
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from .._optional import import_extra
from .._version import __version__, versions
from ..display import data_url, render_page
from ..persistence import Checkpoint
from ._report_folder import GENERATOR, PAGE, check_free, write_folder

CSV_NUMBERS = "%.10g"  #: format of numbers in CSV files
DPI = 150  #: sharp on screens with a pixel ratio of two, and in print

# Options ----------------------------------------------------------------------------------------------------------


def add_folder_options(parser: Any) -> None:
    """Add the options that say where the report is written."""
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=Path("report"), help="folder of the report (default: report)"
    )
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder that holds other files; files of the same names are replaced",
    )


def add_checkpoint_options(parser: Any) -> None:
    """Add the options that save the run, so that the same command can resume it."""
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        type=Path,
        help="save the run in this folder at intervals; after an interruption, the same command resumes it",
    )
    parser.add_argument(
        "--every",
        metavar="N",
        type=int,
        help="minimum number of rows between two checkpoints (default: about a minute's worth)",
    )


def checkpoint_from(options: Any) -> Checkpoint | None:
    """Return the checkpoint that the options ask for, or None; raise a ValueError if they contradict each other."""
    if options.checkpoint is None:
        if options.every is not None:
            raise ValueError("--every needs --checkpoint FOLDER, the folder in which the run is saved")
        return None
    if options.every is not None and options.every < 1:
        raise ValueError(f"--every {options.every}: it must be 1 or more")
    out, folder = options.out.resolve(), options.checkpoint.resolve()
    if out in (folder, *folder.parents):  # the next report would be refused: its folder would hold unknown files
        raise ValueError(
            f"{options.out} is the folder of the report (--out): checkpoints need a folder of their own outside it"
        )
    return Checkpoint(options.checkpoint, every=options.every)


def check_input_is_kept(options: Any, names: Iterable[str]) -> None:
    """Raise a ValueError if a file of the report, which may have these names, would overwrite the input file."""
    if options.file.resolve() in [options.out.resolve() / name for name in names]:
        raise ValueError(
            f"the report in {options.out} would overwrite {options.file}: choose another folder with --out"
        )


# The command ------------------------------------------------------------------------------------------------------


def print_safely(text: str) -> None:
    """Print text; letters that the encoding of the terminal lacks are replaced instead of raising an error."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


def fail(command: str, message: str, code: int) -> int:
    """Print an error of a command on stderr, in one line; return the exit code."""
    print(f"ltm-sklearn {command}: " + " ".join(message.split()), file=sys.stderr)
    return code


def make_report(
    command: str,
    options: Any,
    names: Collection[str],
    *,
    validate: Callable[[Any], Any],
    execute: Callable[[Any, Any], Any],
    build_files: Callable[[Any, Any], dict[str, bytes]],
    summarize: Callable[[Any, Any], str],
) -> int:
    """Run a command that writes a report; return its exit code.

    Everything that can be checked before the long run is checked before it: options, optional dependencies and the
    folder of the report.

    Parameters
    ----------
    command : str
        Name of the command.
    options : argparse.Namespace
    names : collection of str
        Names of all files that the report may have.
    validate : callable
        ``validate(options)`` checks the options and returns the settings of the run; a ValueError is wrong usage.
    execute : callable
        ``execute(settings, options)`` reads the input file and returns the finished run.
    build_files : callable
        ``build_files(run, options)`` returns the files of the report by name.
    summarize : callable
        ``summarize(run, options)`` returns the text to print.
    """
    try:
        settings = validate(options)
    except ValueError as error:
        return fail(command, str(error), 2)
    try:
        for module in ("pandas", "matplotlib", "jinja2"):
            import_extra(module, "reports", "cli")
        check_free(options.out, names, options.force)
        run = execute(settings, options)
    except (ValueError, ImportError, OSError) as error:
        return fail(command, str(error), 1)
    try:
        write_folder(options.out, build_files(run, options), names)
    except (OSError, ValueError) as error:
        return fail(command, f"the report cannot be written: {error}", 1)
    print_safely(f"{summarize(run, options)}\n\nreport: {options.out / PAGE}")
    return 0


def provenance() -> dict[str, str]:
    """Return the versions of the packages and the date, for the table of what was run."""
    installed = versions(["numpy", "scikit-learn", "pandas", "matplotlib"])
    return {
        "Versions": ", ".join(f"{name} {known}" for name, known in installed.items()),
        "Date": datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
    }


# Tables -----------------------------------------------------------------------------------------------------------


class TableRow(NamedTuple):
    """One row of a table: its cells, of which the first is the row's header, and a CSS class."""

    cells: Sequence[str]
    css_class: str = ""


@dataclass(frozen=True)
class ReportTable:
    """A table of the page."""

    label: str  #: for screen readers
    caption: str
    header: Sequence[str]
    rows: Sequence[TableRow]
    column_classes: Mapping[int, str] = field(default_factory=dict)  #: CSS classes of columns by position


class Card(NamedTuple):
    """A key figure at the top of the page."""

    name: str
    value: str
    note: str


def aligned_numbers(values: Iterable[float]) -> list[str]:
    """Format a column of numbers with equally many decimals, so that the smallest has four significant digits."""
    numbers = list(values)
    sizes = [abs(value) for value in numbers if math.isfinite(value) and value]
    places = min(max(3 - math.floor(math.log10(min(sizes))), 0), 8) if sizes else 0
    return [f"{value:,.{places}f}" if math.isfinite(value) else "" for value in numbers]


# Pictures ---------------------------------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A picture of the report."""

    name: str  #: name of the file, without .png
    title: str
    caption: str  #: how to read the picture
    alt: str  #: alternative text: what the picture shows, in numbers
    png: bytes
    width: int  #: in pixels
    height: int

    @property
    def source(self) -> str:
        """The picture as the ``src`` attribute of an image."""
        return data_url(self.png)


@contextmanager
def default_style() -> Iterator[None]:
    """Draw in the default style of matplotlib, whatever the user's style is; letters that the font lacks are boxes."""
    style = import_extra("matplotlib.style", "pictures", "plot")
    with style.context("default"), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield


def draw_picture(
    name: str, plot: Callable[[Any], Any], size: tuple[float, float], title: str, caption: str, alt: str
) -> Picture:
    """Return the picture that ``plot`` draws on the axes of a new figure of this size in inches."""
    # not through pyplot, which would keep the figure
    figure = import_extra("matplotlib.figure", "pictures", "plot").Figure(figsize=size, layout="constrained")
    plot(figure.subplots())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return Picture(name, title, caption, alt, buffer.getvalue(), round(size[0] * DPI), round(size[1] * DPI))


# The page ---------------------------------------------------------------------------------------------------------


def render_report(
    template: str,
    options: Any,
    *,
    title: str,
    pictures: Sequence[Picture],
    facts: Mapping[str, str],
    files: Mapping[str, str],
    **values: Any,
) -> bytes:
    """Render the page of a report from a template that extends ``report.html.jinja``.

    Parameters
    ----------
    template : str
        File name of the template.
    options : argparse.Namespace
    title : str
    pictures : sequence of Picture
    facts : dict
        What was run, by name.
    files : dict
        Tables that lie beside the page, with what they hold. The pictures lie there, too.
    **values
        Further variables of the template.
    """
    return render_page(
        __package__,
        template,
        title=title,
        generator=f"{GENERATOR} {__version__}",
        command=shlex.join(["ltm-sklearn", *options.arguments]),
        version=__version__,
        pictures=pictures,
        facts={**facts, **provenance()},
        files=files,
        **values,
    ).encode()
