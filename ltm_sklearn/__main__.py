"""The command line: ``python -m ltm_sklearn`` or ``ltm-sklearn``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._version import __version__
from .cli import demo, evaluate, mixture, watch

DESCRIPTION = """\
Online ensembles and model selection with long-term memory: what was right once is found again
when it returns.
"""
EPILOG = """\
which one?

  see it work, in seconds
    ltm-sklearn demo --out demo.png
  I have rows with a target, and wonder whether memory helps
    ltm-sklearn evaluate stream.csv --target y
  I have the forecasts of several models, and want to combine them
    ltm-sklearn mixture prices.csv --target price --time hour --block 24
  a model runs somewhere with record="run.jsonl", and I want to see how it stands
    ltm-sklearn watch run.jsonl

ltm-sklearn COMMAND --help tells a command's options. Reports are one HTML page that needs no
network, with pictures and tables beside it. evaluate and mixture need pandas and matplotlib:
pip install 'ltm_sklearn[pandas,plot]'. More is in docs/command_line.md.

exit codes: 0 done, 1 it could not be done, 2 it was asked wrongly, 130 stopped by hand
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 it could not be done, 2 it was asked wrongly."""
    parser = argparse.ArgumentParser(
        prog="ltm-sklearn",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"ltm_sklearn {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, title="commands", metavar="COMMAND")
    for command in (demo, evaluate, mixture, watch):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        folder = getattr(options, "checkpoint", None)
        left = "nothing was written" if folder is None else f"the same command goes on from the checkpoint in {folder}"
        print(f"stopped; {left}", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
