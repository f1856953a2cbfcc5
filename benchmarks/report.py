"""What every benchmark shares: where results go, and what is said about how they were made."""

from __future__ import annotations

import csv
import platform
from collections.abc import Sequence
from datetime import date
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

RESULTS = Path(__file__).parent / "results"


def provenance(*packages: str) -> str:
    """Versions, processor and date in one line."""

    def known(package: str) -> str:
        try:
            return f"{package} {version(package)}"
        except PackageNotFoundError:
            return f"{package} absent"

    names = ("ltm_sklearn", "numpy", "scikit-learn", *packages)
    return f"{date.today()}, Python {platform.python_version()}, {processor()}, " + ", ".join(map(known, names))


def processor() -> str:
    """The processor's name, where the system tells it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def save_table(name: str, header: Sequence[str], rows: Sequence[Sequence[object]], notes: Sequence[str]) -> str:
    """Write ``results/name.csv`` and ``results/name.md``; returns the latter's text."""
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    lines = [header, ["---"] * len(header), *rows]
    text = "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
    text = "\n\n".join([text, *notes]) + "\n"
    (RESULTS / f"{name}.md").write_text(text)
    return text
