"""The command line: ``python -m ltm_sklearn`` or ``ltm-sklearn``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from ._commands import demo, mixture, watch
from ._version import __version__


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code: 0 done, 1 it could not be done, 2 it was asked wrongly."""
    parser = argparse.ArgumentParser(
        prog="ltm-sklearn", description="Online ensembles and model selection with long-term memory."
    )
    parser.add_argument("--version", action="version", version=f"ltm_sklearn {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    for command in (demo, mixture, watch):
        command.add_to(commands)
    options = parser.parse_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        return int(options.run(options))
    except KeyboardInterrupt:
        print("stopped; nothing was written", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
