"""Reports of commands: shared options, tables, pictures, the HTML page, and the folder they are written to."""

from __future__ import annotations

import argparse
import io
import math
import os
import shlex
import shutil
import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

from .._optional import import_extra
from .._version import __version__, versions
from ..display import data_url, leaders_of, render_page
from ..persistence import Checkpoint
from ..recording import RunRecord

PAGE = "index.html"
GENERATOR = "ltm_sklearn"
#: The beginning of the tag by which the page of an earlier report is recognized.
GENERATOR_TAG = f'<meta name="generator" content="{GENERATOR}'
DPI = 150  #: sharp on screens with a pixel ratio of two, and in print

# Options ----------------------------------------------------------------------------------------------------------


class UsageError(ValueError):
    """Options that lie outside their domain or contradict each other."""


def new_report_parser(commands: Any, name: str, target_help: str, **texts: str) -> argparse.ArgumentParser:
    """Add the parser of a command that writes a report about a file, with the options that come first."""
    parser: argparse.ArgumentParser = commands.add_parser(
        name,
        usage="%(prog)s FILE --target COLUMN [options]",  # the file first: after --drop it would be one more column
        formatter_class=argparse.RawDescriptionHelpFormatter,
        **texts,
    )
    parser.add_argument("file", metavar="FILE", type=Path, help="CSV or Parquet, ordered by time")
    parser.add_argument("--target", metavar="COLUMN", required=True, help=target_help)
    return parser


def add_report_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of a report that come last: columns to drop, checkpoints, and the folder."""
    add = parser.add_argument
    add("--drop", metavar="COLUMN", nargs="+", action="extend", default=[], help="columns that are not used")
    add(
        "--checkpoint",
        metavar="FOLDER",
        type=Path,
        help="save the run in this folder at intervals; after an interruption, the same command resumes it",
    )
    add(
        "--every",
        metavar="N",
        type=int,
        help="minimum number of rows between two checkpoints (default: about a minute's worth)",
    )
    add("--out", metavar="FOLDER", type=Path, default=Path("report"), help="folder of the report (default: report)")
    add(
        "--force",
        action="store_true",
        help="write into a folder that holds other files; files of the same names are replaced",
    )


def check_named_once(columns: Mapping[str, Iterable[str]]) -> None:
    """Raise a UsageError if a column is named by two options; ``columns`` has the names by option."""
    option_of: dict[str, str] = {}
    for option, names in columns.items():
        for name in {*names}:
            if name in option_of:
                raise UsageError(f"column {name!r} is named by two options: {option_of[name]} and {option}")
            option_of[name] = option


def checkpoint_of(options: Any) -> Checkpoint | None:
    """Return the checkpoint of the options, or None; raise a UsageError if they contradict each other."""
    if options.checkpoint is None:
        if options.every is not None:
            raise UsageError("--every needs --checkpoint FOLDER, the folder in which the run is saved")
        return None
    if options.every is not None and options.every < 1:
        raise UsageError(f"--every {options.every}: it must be 1 or more")
    out, folder = options.out.resolve(), options.checkpoint.resolve()
    if out in (folder, *folder.parents):  # the next report would be refused: its folder would hold unknown files
        raise UsageError(
            f"{options.out} is the folder of the report (--out): checkpoints need a folder of their own outside it"
        )
    return Checkpoint(options.checkpoint, every=options.every)


def check_report_can_be_written(options: Any, names: Collection[str]) -> None:
    """Raise an error before the long run if the report could not be written after it.

    ``names`` are the files that reports may have. A folder that holds only such files, among them a page of this
    package, is an earlier report and may be replaced.
    """
    folder = options.out
    if options.file.resolve() in [folder.resolve() / name for name in names]:
        raise UsageError(f"the report in {folder} would overwrite {options.file}: choose another folder with --out")
    for module in ("pandas", "matplotlib", "jinja2"):
        import_extra(module, "reports", "cli")
    if folder.exists() and not folder.is_dir():
        raise FileExistsError(f"{folder} is a file, not a folder")
    parent = folder.absolute().parent
    if not parent.is_dir():
        raise FileNotFoundError(f"there is no folder {parent} in which {folder.name} could be made")
    place = folder if folder.is_dir() else parent
    if not os.access(place, os.W_OK | os.X_OK):
        raise PermissionError(f"{place} cannot be written to")
    held = {entry.name: entry for entry in folder.iterdir()} if folder.is_dir() else {}
    for name in {*held} & {*names}:
        if held[name].is_dir():
            raise FileExistsError(f"{held[name]} is a folder, and the report has a file of that name")
    others = sorted({*held} - {*names})
    if others and not options.force:
        raise FileExistsError(f"{folder} holds other files, as {others[0]}: choose another folder, or use --force")
    if held and not options.force and not _is_report(folder):
        raise FileExistsError(
            f"{folder} holds files that are not an earlier report: choose another folder, or use --force"
        )


# Tables -----------------------------------------------------------------------------------------------------------


class TableRow(NamedTuple):
    """One row of a table: its cells, of which the first is the row's header, and a CSS class."""

    cells: Sequence[str]
    css_class: str = ""


class ReportTable(NamedTuple):
    """A table of the page; its caption is in the template."""

    header: Sequence[str]
    rows: Sequence[TableRow]
    column_classes: Mapping[int, str] = {}  #: CSS classes of columns by position


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


def leaders(run_record: RunRecord) -> list[tuple[str, float]]:
    """Return each expert that ever had the largest weight, with the share of the rows, the largest share first."""
    leading = leaders_of(run_record)
    shares = {at: run_record.counts[leading == at].sum() / run_record.counts.sum() for at in {*leading} - {-1}}
    return [(run_record.names[at], float(shares[at])) for at in sorted(shares, key=lambda at: (-shares[at], at))]


# Pictures ---------------------------------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A picture of the report; its title and caption are in the template."""

    png: bytes
    alt: str  #: alternative text: what the picture shows, in numbers
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


def draw_picture(plot: Callable[[Any], Any], height: float, alt: str) -> Picture:
    """Return the picture that ``plot`` draws on the axes of a new figure of this height in inches."""
    # not through pyplot, which would keep the figure
    figure = import_extra("matplotlib.figure", "pictures", "plot").Figure(figsize=(9.0, height), layout="constrained")
    plot(figure.subplots())
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=DPI)
    return Picture(buffer.getvalue(), alt, round(9.0 * DPI), round(height * DPI))


# Output -----------------------------------------------------------------------------------------------------------


def print_safely(text: str) -> None:
    """Print text; letters that the encoding of the terminal lacks are replaced instead of raising an error."""
    encoding = sys.stdout.encoding or "utf-8"
    print(text.encode(encoding, "replace").decode(encoding), flush=True)


def write_report(
    template: str,
    options: Any,
    names: Collection[str],
    *,
    title: str,
    tables: Mapping[str, Any],
    pictures: Mapping[str, Picture],
    facts: Mapping[str, str],
    **values: Any,
) -> None:
    """Write a report: the page from a template that extends ``report.html.jinja``, tables and pictures.

    Parameters
    ----------
    template : str
        File name of the template.
    options : argparse.Namespace
    names : collection of str
        Names of all files that the report may have; those of an earlier report are deleted.
    title : str
    tables : dict
        Text, or pandas frames, by name of the file.
    pictures : dict
        Pictures by name of the file, without .png.
    facts : dict
        What was run, by name.
    **values
        Further variables of the template.
    """
    installed = versions(["numpy", "scikit-learn", "pandas", "matplotlib"])
    provenance = {
        "Versions": ", ".join(f"{name} {known}" for name, known in installed.items()),
        "Date": datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
    }
    page = render_page(
        __package__,
        template,
        title=title,
        generator=f"{GENERATOR} {__version__}",
        command=shlex.join(["ltm-sklearn", *options.arguments]),
        version=__version__,
        pictures=pictures,
        facts={**facts, **provenance},
        tables=tables,
        **values,
    )
    files = {f"{name}.png": picture.png for name, picture in pictures.items()}
    for name, table in tables.items():
        text = table if isinstance(table, str) else table.to_csv(index=False, float_format="%.10g")
        files[name] = text.encode()
    _write_folder(options.out.resolve(), files | {PAGE: page.encode()}, names)


def _write_folder(folder: Path, files: Mapping[str, bytes], names: Collection[str]) -> None:
    """Write files to a temporary folder, then move them into place; stale files of an earlier report are deleted."""
    # not tempfile, whose folders only the owner may read; the folder of a killed run is passed over
    temporary = next(path for at in count() if not (path := folder.parent / f".{folder.name}.{at}.part").exists())
    temporary.mkdir()
    try:
        for name, content in files.items():
            (temporary / name).write_bytes(content)
        if not folder.exists():
            temporary.rename(folder)
            return
        stale = {*names} - {*files} if _is_report(folder) else set()
        # file by file: the folder may hold other files, or be the working folder of a process; the page comes last
        for name in files:
            os.replace(temporary / name, folder / name)
        for name in stale:
            (folder / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _is_report(folder: Path) -> bool:
    page = folder / PAGE
    return page.is_file() and GENERATOR_TAG in page.read_text(encoding="utf-8", errors="replace")[:2000]
