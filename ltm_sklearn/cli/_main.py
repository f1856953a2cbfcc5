"""The parser of the command line, and the exit codes."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from .._version import __version__
from . import _demo, _evaluate, _mixture, _watch
from ._report import UsageError

DESCRIPTION = """\
Online ensembles and model selection with long-term memory: models that were accurate in an earlier
regime regain their weight as soon as that regime returns.
"""
EPILOG = """\
which command?

  compare the default algorithm with others, in seconds
    ltm-sklearn demo --out demo.png
  test whether memory helps on rows with a target
    ltm-sklearn evaluate stream.csv --target y
  combine the forecasts of several models
    ltm-sklearn mixture prices.csv --target price --time hour --block 24
  watch a model that runs in another process with record="run.jsonl"
    ltm-sklearn watch run.jsonl

ltm-sklearn COMMAND --help lists the options of a command. A report is one HTML page that needs no
network, with pictures and tables beside it. The commands need pandas, matplotlib and jinja2:
pip install 'ltm_sklearn[cli]'. See also docs/command_line.md.

exit codes: 0 done, 1 failed, 2 wrong usage, 130 Ctrl-C
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command of the command line.

    Parameters
    ----------
    arguments : sequence of str, default=None
        The command and its options; None: those of the process.

    Returns
    -------
    int
        Exit code: 0 done, 1 failed, 2 wrong usage, 130 Ctrl-C.
    """
    parser = argparse.ArgumentParser(
        prog="ltm-sklearn", description=DESCRIPTION, epilog=EPILOG, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"ltm_sklearn {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, title="commands", metavar="COMMAND")
    for command in (_demo, _evaluate, _mixture, _watch):
        command.add_parser(commands).set_defaults(run=command.run)
    options = parser.parse_args(arguments)
    options.arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        options.run(options)
    except (ValueError, ImportError, OSError) as error:
        print(f"ltm-sklearn {options.command}:", *str(error).split(), file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        folder = getattr(options, "checkpoint", None)
        hint = "nothing was written" if folder is None else f"the same command resumes the run from {folder}"
        print(f"stopped: {hint}", file=sys.stderr)
        return 130
    return 0
