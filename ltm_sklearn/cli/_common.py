"""What commands that write a report have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Collection, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from .._optional import import_extra
from .._version import versions
from ..persistence import Checkpoint
from ._folder import PAGE, check_free, write_folder


def add_folder_options(parser: Any) -> None:
    """Where the report goes."""
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("report"), help="where to (default: report)")
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder with other files: those of the same names are replaced",
    )


def add_checkpoint_options(parser: Any) -> None:
    """Where a run is saved on the way."""
    parser.add_argument(
        "--checkpoint",
        metavar="FOLDER",
        type=Path,
        help="save the run there on the way; if it was stopped, the same command goes on from there",
    )
    parser.add_argument(
        "--every",
        metavar="N",
        type=int,
        help="rows from one checkpoint to the next, at least (default: about a minute)",
    )


def checkpoint_of(options: Any) -> Checkpoint | None:
    """What the options ask for; None if nothing."""
    if options.checkpoint is None:
        if options.every is not None:
            raise ValueError("--every is for checkpoints: say with --checkpoint where they go")
        return None
    if options.every is not None and options.every < 1:
        raise ValueError(f"--every {options.every}: it must be 1 or more")
    out, folder = options.out.resolve(), options.checkpoint.resolve()
    if out in (folder, *folder.parents):  # the next report would take it for a file of somebody else
        raise ValueError(f"{options.out} is for the report (--out): checkpoints need a folder of their own outside it")
    return Checkpoint(options.checkpoint, every=options.every)


def check_apart(options: Any, names: Iterable[str]) -> None:
    """Raise a ValueError if the report, which may have files of these names, would overwrite the file it is about."""
    if options.file.resolve() in [options.out.resolve() / name for name in names]:
        raise ValueError(f"the report in {options.out} would overwrite {options.file}: choose another folder")


def say(words: str) -> None:
    """Print; names with letters that the terminal lacks are no reason to fail."""
    encoding = sys.stdout.encoding or "utf-8"
    print(words.encode(encoding, "replace").decode(encoding), flush=True)


def failed(command: str, message: str, code: int) -> int:
    """Say on stderr, in one line, why a command could not be done; returns the exit code."""
    print(f"ltm-sklearn {command}: " + " ".join(message.split()), file=sys.stderr)
    return code


def make_report(
    command: str,
    options: Any,
    names: Collection[str],
    *,
    check: Callable[[Any], Any],
    work: Callable[[Any, Any], Any],
    files: Callable[[Any, Any], dict[str, bytes]],
    told: Callable[[Any, Any], str],
) -> int:
    """Check the options, do the work, write its files and say how it went; returns the exit code.

    ``names`` are all files that the report may have. ``check(options)`` gives what ``work(asked, options)`` needs, and
    ``files`` and ``told`` are asked about its outcome. All that can fail before the work is tried before it.
    """
    try:
        asked = check(options)
    except ValueError as error:
        return failed(command, str(error), 2)
    try:
        import_extra("pandas", "tables")
        import_extra("matplotlib", "pictures", "plot")
        check_free(options.out, names, options.force)
        done = work(asked, options)
    except (ValueError, ImportError, OSError) as error:
        return failed(command, str(error), 1)
    try:
        write_folder(options.out, files(done, options), names)
    except (OSError, ValueError) as error:
        return failed(command, f"the report could not be written: {error}", 1)
    say(f"{told(done, options)}\n\nreport: {options.out / PAGE}")
    return 0


def command_line(options: Any) -> str:
    """The command, to be given again."""
    return shlex.join(["ltm-sklearn", *options.arguments])


def made_with() -> dict[str, str]:
    """With what and when a report was made."""
    installed = versions(["numpy", "scikit-learn", "pandas", "matplotlib"])
    return {
        "Versions": ", ".join(f"{name} {known}" for name, known in installed.items()),
        "Date": datetime.now().astimezone().isoformat(sep=" ", timespec="minutes"),
    }
