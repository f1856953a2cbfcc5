"""Command line of the package, as ``python -m ltm_sklearn``; the script ``ltm-sklearn`` is the same."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
