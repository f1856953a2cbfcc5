"""Seconds that a fresh Python takes to import the package, beside scikit-learn.

Both are imported in turns, so that what else the machine does falls on both; ratios are of neighbours.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from statistics import median
from time import perf_counter

from .report import Report

IMPORTED = ("sklearn", "ltm_sklearn", "ltm_sklearn.river", "river")


def seconds(module: str) -> float:
    """Return the seconds of a process that imports the installed module; -P keeps this folder off its path."""
    start = perf_counter()
    subprocess.run([sys.executable, "-P", "-c", f"import {module}"], check=True)
    return perf_counter() - start


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the option of the number of repetitions."""
    parser.add_argument("--repeats", type=int, default=30)


def run(report: Report, options: argparse.Namespace) -> None:
    """Write the table of seconds."""
    for module in IMPORTED:  # once, for the system's cache of files
        seconds(module)
    taken = [{module: seconds(module) for module in IMPORTED} for _ in range(options.repeats)]
    rows = []
    for module in IMPORTED:
        ratios = [turn[module] / turn["sklearn"] for turn in taken]
        rows.append([f"`import {module}`", f"{median(turn[module] for turn in taken):.2f}", f"{median(ratios):.2f}"])
    notes = [
        f"Medians of {options.repeats} turns, each import in a Python of its own, whose start is in the figures. "
        "`import sklearn` loads none of scikit-learn's estimators; the base class alone loads more.",
    ]
    report.table("import_time", ["", "seconds", "over scikit-learn"], rows, notes)
