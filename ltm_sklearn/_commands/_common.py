"""What commands that write a report have in common."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from .._show_versions import versions


def add_folder_options(parser: Any) -> None:
    """Where the report goes."""
    parser.add_argument("--out", metavar="FOLDER", type=Path, default=Path("report"), help="where to (default: report)")
    parser.add_argument(
        "--force",
        action="store_true",
        help="write into a folder with other files: those of the same names are replaced",
    )


def check_apart(options: Any, names: Iterable[str]) -> None:
    """Raise a ValueError if the report, which may have files of these names, would overwrite the file it is about."""
    if options.file.resolve() in [options.out.resolve() / name for name in names]:
        raise ValueError(f"the report in {options.out} would overwrite {options.file}: choose another folder")


def say(words: str) -> None:
    """Print; names with letters that the terminal lacks are no reason to fail."""
    encoding = sys.stdout.encoding or "utf-8"
    print(words.encode(encoding, "replace").decode(encoding))


def failed(command: str, message: str, code: int) -> int:
    """Say on stderr, in one line, why a command could not be done; returns the exit code."""
    print(f"ltm-sklearn {command}: " + " ".join(message.split()), file=sys.stderr)
    return code


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
