"""The command line: ``python -m ltm_sklearn`` or ``ltm-sklearn``."""

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
