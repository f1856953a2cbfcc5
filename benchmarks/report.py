"""Tables and pictures of benchmarks, with the command and the versions that made them, and seeds."""

from __future__ import annotations

import argparse
import csv
import os
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True)
class Report:
    """The folder of the results, and the command that makes them."""

    folder: Path
    command: str

    def table(
        self,
        name: str,
        header: Sequence[str],
        rows: Sequence[Sequence[object]],
        notes: Sequence[str],
        packages: Sequence[str] = (),
    ) -> None:
        """Write a table to ``name.csv`` and ``name.md``, with notes and provenance below it, and print it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with (self.folder / f"{name}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
        lines = [header, ["---"] * len(header), *rows]
        text = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
        text = "\n\n".join([text, *notes, f"Made by `{self.command}`.", provenance(*packages)]) + "\n"
        (self.folder / f"{name}.md").write_text(text)
        print(text, flush=True)

    def picture(self, name: str, figure: Any) -> None:
        """Write a figure of matplotlib to ``name.png``."""
        self.folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(self.folder / f"{name}.png", dpi=140)


def provenance(*packages: str) -> str:
    """Return date, machine and versions in one line."""

    def known(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} absent"

    machine = f"{processor()}, {os.cpu_count()} cores"
    names = ("ltm_sklearn", "numpy", "scikit-learn", *packages)
    return f"{date.today()}, Python {platform.python_version()}, {machine}, " + ", ".join(map(known, names))


def processor() -> str:
    """Return the name of the processor, if the system has it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def add_seeds(parser: argparse.ArgumentParser, number: int, first: int = 0) -> None:
    """Add the options of the seeds."""
    parser.add_argument("--seeds", type=int, default=number, help="how many (default: %(default)s)")
    parser.add_argument("--first-seed", type=int, default=first, help="(default: %(default)s)")


def seeds_of(options: argparse.Namespace) -> range:
    """Return the seeds that the options ask for."""
    return range(options.first_seed, options.first_seed + options.seeds)


def seeds_in_words(seeds: range) -> str:
    """Return the seeds in words."""
    return f"seed {seeds[0]}" if len(seeds) == 1 else f"seeds {seeds[0]} to {seeds[-1]}"


def standard_error(values: Sequence[float]) -> float:
    """Return the standard error of the mean; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    mean = sum(values) / len(values)
    return (sum((value - mean) ** 2 for value in values) / (len(values) - 1) / len(values)) ** 0.5
