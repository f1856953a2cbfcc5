"""``ltm-sklearn demo``."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def add_to(commands: Any) -> None:
    """Make the command known."""
    demo = commands.add_parser(
        "demo",
        help="the default against its rivals on a recurring stream: a table and a picture, in seconds",
        description="Runs the default algorithm and its rivals over a loss stream whose regimes return, prints what "
        "each lost, and draws how the default's weights find the old experts again.",
    )
    demo.add_argument(
        "--out", type=Path, default=Path("demo.png"), help="where to write the picture (default: %(default)s)"
    )
    demo.add_argument("--seed", type=int, default=0, help="seed of the stream (default: %(default)s)")
    demo.set_defaults(run=run)


def run(options: Any) -> int:
    """Returns the exit code."""
    if find_spec("matplotlib") is None:
        print('the picture needs matplotlib: pip install "ltm_sklearn[plot]"', file=sys.stderr)
        return 1
    from matplotlib.figure import Figure

    formats = Figure().canvas.get_supported_filetypes()
    if options.out.is_dir() or options.out.suffix.lower().removeprefix(".") not in formats:
        print(f"{options.out} is no picture's file: it should end in .{', .'.join(sorted(formats))}", file=sys.stderr)
        return 1
    if not options.out.parent.is_dir():
        print(f"there is no folder {options.out.parent} to write {options.out.name} into", file=sys.stderr)
        return 1
    if options.seed < 0:
        print(f"--seed {options.seed}: a seed is 0 or more", file=sys.stderr)
        return 2
    from ._demo_run import run_demo

    try:
        run_demo(options.out, options.seed)
    except OSError as error:
        print(f"the picture could not be written: {error}", file=sys.stderr)
        return 1
    return 0
