"""Run benchmarks: all of them, a group, or one.

    python -m benchmarks --list
    python -m benchmarks                                     # all; some ten hours on two cores
    python -m benchmarks --quick                             # all with tiny sizes; about three minutes
    python -m benchmarks forecasting                         # a group
    python -m benchmarks recurring synthetic --batches 10    # one, with options of its own
    python -m benchmarks recurring synthetic --help

Tables (CSV and Markdown) and pictures go to benchmarks/results. What cannot run is skipped with a word.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
import traceback
from importlib.util import find_spec
from pathlib import Path

from . import ROOT
from .catalogue import BENCHMARKS, Benchmark
from .report import RESULTS, Report

DATA = ROOT.parent / "shared" / "data"


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options that every benchmark has."""
    parser.add_argument("--quick", action="store_true", help="tiny sizes, to see that it runs; not into the results")
    parser.add_argument("--out", type=Path, help="folder of the results (default: benchmarks/results)")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of the data (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=2, help="processes, where several are used (default: %(default)s)")
    parser.add_argument(
        "--cache",
        type=Path,
        help="folder for finished runs of the recurring ones, so that a stopped one can go on; empty it when the "
        "code has changed",
    )


def named(words: list[str]) -> list[Benchmark]:
    """Return the benchmarks whose names begin with these words."""
    return [each for each in BENCHMARKS if each.name.split()[: len(words)] == words]


def listing() -> str:
    """Return a table of all benchmarks, one line each."""
    lines = [("name", "takes", "needs (peers)", "shows")]
    lines += [(each.name, each.takes.split(",")[0], each.needs, each.shows) for each in BENCHMARKS]
    widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]]
    return "\n".join(
        "  ".join([*(cell.ljust(width) for cell, width in zip(line, widths, strict=False)), line[-1]]) for line in lines
    )


def run(benchmark: Benchmark, arguments: list[str]) -> None:
    """Run one benchmark with these options."""
    module = benchmark.load()
    command = f"python -m benchmarks {benchmark.name}"
    parser = argparse.ArgumentParser(
        command, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, allow_abbrev=False
    )
    add_common(parser)
    module.add_options(parser)
    common = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    add_common(common)
    given, own = common.parse_known_args(arguments)
    if given.quick:
        tiny = shlex.split(benchmark.quick)
        own, arguments = [*tiny, *own], [*tiny, *arguments]
    options = parser.parse_args(arguments)
    began = time.perf_counter()
    module.run(Report(options.out, f"{command} {shlex.join(own)}".strip()), options)
    print(f"{benchmark.name}: {time.perf_counter() - began:.0f} s, results in {options.out}", flush=True)


def run_all(benchmarks: list[Benchmark], arguments: list[str], data: Path) -> int:
    """Run several benchmarks; return the number that failed."""
    failed = []
    for each in benchmarks:
        missing = each.missing(data)
        if missing:
            print(f"{each.name}: skipped, as {missing}", flush=True)
            continue
        print(f"{each.name}: {each.shows} ({each.takes})", flush=True)
        try:
            run(each, arguments)
        except Exception:  # the others are to run all the same
            traceback.print_exc()
            failed.append(each.name)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return len(failed)


def check_compiled() -> None:
    """Raise if the benchmarks would run without the compiled kernels."""
    if find_spec("ltm_sklearn.experts._kernel") is None:
        raise ModuleNotFoundError(
            "ltm_sklearn has no compiled kernels here: pip install '.[benchmarks]' in the project's folder"
        )


def main(arguments: list[str]) -> int:
    """Run the command; return its exit code."""
    n_words = next((at for at, word in enumerate(arguments) if word.startswith("-")), len(arguments))
    words, arguments = arguments[:n_words], arguments[n_words:]
    chosen = named(words)
    parser = argparse.ArgumentParser(
        "python -m benchmarks",
        usage="%(prog)s [NAME [PART]] [options]",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        add_help=len(chosen) != 1,
        allow_abbrev=False,
    )
    parser.add_argument("--list", action="store_true", help="say which benchmarks there are")
    add_common(parser)
    if not chosen:
        parser.error(f"there is no benchmark {' '.join(words)!r}; --list says which there are")
    options, others = parser.parse_known_args(arguments)
    if options.list:
        print(listing())
        return 0
    if others and len(chosen) > 1:
        parser.error(f"{' '.join(others)}: options of a single benchmark, and these are {len(chosen)}")
    if options.quick and options.out is not None and options.out.resolve() == RESULTS:
        parser.error("--quick does not write over the saved results")
    try:
        check_compiled()
    except ModuleNotFoundError as error:
        print(error, file=sys.stderr)
        return 1
    if options.out is None:
        options.out = Path(tempfile.mkdtemp(prefix="benchmarks_")) if options.quick else RESULTS
        arguments = [*arguments, "--out", str(options.out)]
    if len(chosen) > 1:
        return min(run_all(chosen, arguments, options.data), 1)
    missing = chosen[0].missing(options.data)
    if missing and not {"-h", "--help"} & {*arguments}:
        print(f"{chosen[0].name} cannot run, as {missing}", file=sys.stderr)
        return 1
    run(chosen[0], arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
