"""Benchmarks: ``python -m benchmarks --list`` lists them, and README.md in this folder says what they show."""

import sys
from pathlib import Path

# Run from the project's folder, Python looks there first, and would import the sources of ltm_sklearn without compiled
# kernels. (Only an editable install precedes the path.) So the folder goes to the end of the path, behind the installed
# package. It cannot leave the path: worker processes get the same path and must find this package by it.
ROOT = Path(__file__).resolve().parents[1]
_others = [entry for entry in sys.path if Path(entry or ".").resolve() != ROOT]
if len(_others) < len(sys.path):
    sys.path[:] = [*_others, str(ROOT)]
